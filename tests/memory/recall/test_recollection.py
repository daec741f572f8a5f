"""Recalled messages as the model reads them: quoted, in order, and counted exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.context import ContextBuilder, Section
from memsim.memory.index.split import MARK, snippet
from memsim.memory.recall.search import HEADER, LEAST, Recollection
from memsim.message import ENCODINGS, EPOCH, Message, TokenCounter, load_tokenizer, said

COUNTERS = {name: TokenCounter(load_tokenizer(name)) for name in (*ENCODINGS, "chars/4")}
FEW = settings(max_examples=40)

spoken = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ("So.\n", "  both ends  ", "a/\n/b", "one\n\ntwo", "[2026-01-05] bo: hi", "...")
    ),
    st.text(alphabet="ab \n\t./[", max_size=20),
)


def message(number: int, text: str, principal: str = "user") -> Message:
    """Said in its hour."""
    at = EPOCH + timedelta(hours=9 * number)
    return said("user", text, id=f"m{number}", principal=principal, time=at)


def recalled(best: list[Message], budget: int, tokenizer: str = "o200k_base") -> Section:
    """The section of these messages for one question."""
    return Recollection(COUNTERS[tokenizer]).section(
        best,
        question="Where is the red kayak?",
        budget=budget,
        order=lambda source: int(source[1:]),
        id="recalled:1",
        time=EPOCH,
    )


@pytest.mark.parametrize("tokenizer", COUNTERS)
@FEW
@given(st.lists(spoken, max_size=5), st.sampled_from(("user", "Ana B.", "x/")), st.integers(0, 200))
def test_tokens_are_those_of_the_whole_message(
    tokenizer: str, texts: list[str], principal: str, budget: int
) -> None:
    """Adding up lines gives what counting the composed text gives, and never more than allowed."""
    best = [message(n, text, principal) for n, text in enumerate(texts)]
    section = recalled(best, budget, tokenizer)

    assert ContextBuilder(COUNTERS[tokenizer]).tokens(section.messages) == section.tokens
    assert section.tokens <= max(budget, 0)


def test_messages_are_quoted_in_the_order_in_which_they_were_said() -> None:
    """Best first decides who is in; time decides where."""
    section = recalled([message(3, "The third."), message(1, "The first.", "Ana")], 200)

    expected = f"{HEADER}\n[2026-01-05] Ana: The first.\n[2026-01-06] user: The third."
    assert (expected,) == tuple(m.text for m in section.messages)
    assert ("m1", "m3") == section.verbatim
    assert () == section.derived
    assert section.messages[0].role == "user"
    assert section.messages[0].composed


def test_each_line_names_who_said_it() -> None:
    """What an assistant or a tool said is no word of the user whom they answered."""
    lines = [
        said("user", "Is the inn free?", id="m1", principal="ana"),
        said("assistant", "I booked it for you.", id="m2", principal="ana"),
        said("tool", "booked: 2 nights", id="m3", principal="ana"),
    ]

    (quoted,) = recalled(lines, 200).messages

    assert quoted.text.splitlines()[1:] == [
        "[2026-01-05] ana: Is the inn free?",
        "[2026-01-05] assistant to ana: I booked it for you.",
        "[2026-01-05] tool for ana: booked: 2 nights",
    ]


def test_the_best_come_first_where_there_is_little_room() -> None:
    """What is ranked last is left out first."""
    best = [
        message(n, f"The red kayak number {n} is in the boat house by the lake.") for n in range(9)
    ]
    everything = recalled(best, 1000)
    less = recalled(best, everything.tokens - 1)

    assert tuple(f"m{n}" for n in range(9)) == everything.verbatim
    assert tuple(f"m{n}" for n in range(8)) == less.verbatim


def test_a_message_that_does_not_fit_is_clipped_to_what_matters() -> None:
    """A clipped quote is not verbatim, but made from the message; others still find room."""
    rows = [f"row {n}: nothing of note" for n in range(800)]
    rows[500] = "row 500: the red kayak lies behind the boat house"
    others = [
        message(n, f"The red kayak number {n} is mine, and so it has been.") for n in (2, 3, 4)
    ]
    section = recalled([message(1, "\n".join(rows)), *others], 300)

    assert ("m2", "m3", "m4") == section.verbatim
    assert ("m1",) == section.derived
    assert "the red kayak lies behind the boat house" in section.messages[0].text
    assert section.tokens > 150


def test_nothing_fits_into_no_room() -> None:
    """Where not even a line fits there is no section."""
    section = recalled([message(1, "The red kayak is mine.")], LEAST)

    assert () == section.messages
    assert section.tokens == 0


@given(st.text(max_size=300), st.text(max_size=10), st.integers(0, 120))
def test_a_snippet_is_a_part_of_its_text(text: str, question: str, size: int) -> None:
    """It is a substring between marks, within the size, and encodes wherever its text does."""
    limit = max(1, size - 2)
    part = snippet(text, question, size, lambda part: len(part) <= limit)

    inner = part.removeprefix(MARK).removesuffix(MARK)
    assert inner in text
    assert len(part) <= limit


def test_a_snippet_holds_most_of_the_questions_words() -> None:
    """Where words stand together they are shown together, not the first that comes."""
    text = "kayak " + "and so on " * 60 + "my red kayak is in Oslo " + "and so on " * 60 + "red"
    part = snippet(text, "Where is the red kayak, in Oslo?", 90, lambda _part: True)

    assert "red kayak is in Oslo" in part


def test_a_snippet_splits_no_character() -> None:
    """A family is not torn apart, whatever the size."""
    family = "\U0001f468‍\U0001f469‍\U0001f467"
    text = family * 60
    for size in range(40, 80):
        part = snippet(text, "", size, lambda _part: True)

        assert "" == part.strip(MARK).replace(family, "")


class Growing:
    """A tokenizer that counts more for lines together than for each alone."""

    name = "growing"

    def count(self, text: str) -> int:
        """The square of the lines, and the characters."""
        return len(text) + text.count("\n") ** 2


def test_a_section_never_exceeds_its_budget_however_tokens_are_counted() -> None:
    """Where parts are more together, as many as fit together stay, the best of them."""
    best = [message(n, "The red kayak.") for n in range(8)]
    section = Recollection(TokenCounter(Growing())).section(
        best, question="", budget=250, order=lambda s: int(s[1:]), id="recalled:1", time=EPOCH
    )

    assert 0 < section.tokens <= 250
    assert tuple(f"m{n}" for n in range(len(section.verbatim))) == section.verbatim


def test_parts_of_an_utterance_stand_in_one_line() -> None:
    """What somebody else says, or says in another turn, has a line of its own."""
    parts = [
        replace(message(n, text), turn=1, time=EPOCH)
        for n, text in enumerate(("I had a kayak.", "Red."))
    ]
    later = [replace(message(2, "It is old."), turn=2), replace(message(3, "Oh.", "ben"), turn=2)]
    section = recalled([*parts, *later], 200)
    (told,) = section.messages

    assert "I had a kayak. Red.\n" in told.text
    assert 3 == told.text.count("\n")
    assert ("m0", "m1", "m2", "m3") == told.quotes
    assert section.tokens == ContextBuilder(COUNTERS["o200k_base"]).tokens(section.messages)
