"""Contexts of memsim's own memories: what generated conversations with awkward texts found."""

from __future__ import annotations

from memsim.language.text import index_terms, whole
from memsim.memory.index.split import passages
from memsim.testing import Case, verify, world_of
from memsim.testing.generators.generated_conversations import TurnPlan, written

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
KSSI = "\u0915\u094d\u0937\u093f"


def tools(text: str) -> TurnPlan:
    """One turn of six messages: a question, three calls, their results and a reply."""
    return TurnPlan(0, 3, "tools", ("fact", text), 3, 1, rule=False, renewed=False, aside="")


def test_recalled_messages_of_one_turn_stand_in_the_order_in_which_they_were_said() -> None:
    """Not in the order of their ids, by which `m10` comes before `m9`."""
    case = Case(events=written([tools("Look for the parcel {code}.")] * 8), budget=400)
    world = world_of("layered:window=2", case)
    world.play(case.events)
    sight = world.ask("Where is the parcel in Oslo?", "ana")
    world.close()

    quoted = [int(i[1:]) for m in sight.messages for i in m.quotes]
    assert quoted
    assert sorted(quoted) == quoted


def test_no_part_of_the_question_is_shown() -> None:
    """The model is given the question as a whole beside the context."""
    long = TurnPlan(
        0, 3, "talk", ("fact", "Oslo and Bergen. " * 60), 1, 1, rule=False, renewed=False, aside=""
    )
    case = Case(events=written([long]), budget=120)

    for strategy in ("layered", "bm25", "hybrid"):
        assert verify("current_input", strategy, case) == 0


def test_passages_split_no_character() -> None:
    """A line of one long word is split between characters as readers see them."""
    found = passages("x" + FAMILY * 300, lambda text: len(text) // 4)

    assert len(found) > 1
    assert {""} == {p.replace(FAMILY, "").replace(" ", "").replace("x", "") for p in found}


def test_a_cut_splits_no_syllable() -> None:
    """A conjunct of Devanagari is one character to its readers."""
    assert whole("ab" + KSSI, 4) == 2


def test_a_very_long_word_is_indexed_at_once() -> None:
    """Without a joint, it is tried from its beginning alone."""
    assert len(index_terms("0123456789abcdef" * 4_000)) == 1
