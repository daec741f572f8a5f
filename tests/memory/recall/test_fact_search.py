"""Facts that are searched: a message is as near as what it states, and what changed is marked."""

from __future__ import annotations

import gc
from dataclasses import replace
from datetime import timedelta

import pytest

from memsim.errors import StoreError
from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.permissions import ReadGrant
from memsim.memory.recall import search
from memsim.memory.recall.search import HEADER, QuoteLine
from tests.memory.remembering import Remembering

CODE = "The gate code is 4711."
LONG = (
    "We met the whole choir by the lake, sang until it was dark, walked home over the hill and"
    " talked about boats, bread and the weather of the last ten summers."
)
QUESTION = "What is the gate code?"
MEANING = MemoryOptions(window=1, policy=RecallPolicy(vector=1.0, floor=0.0, sure=0.0))
TALK = "The rain keeps on and on."


def relevance(*, facts: bool) -> float:
    """How relevant a long message is to a question on one thing that it states."""
    it = Remembering(options=replace(MEANING, facts=facts))
    (told,) = it.say(f"{CODE}\n{LONG}")
    it.say(TALK, "The rain is over.")
    found = it.memory.search(QUESTION, principal="ana")
    return next(hit.score for hit in found if told in hit.entry.sources)


def recalled(it: Remembering, question: str, who: str = "ana") -> list[str]:
    """The lines that are recalled for a question."""
    text = it.asked(question, who=who).text()
    return text.partition(HEADER)[2].split("\n") if HEADER in text else []


def test_a_message_is_as_near_as_what_it_states() -> None:
    """However much else it says."""
    assert relevance(facts=True) > relevance(facts=False)


def test_a_fact_in_words_of_its_own_is_quoted_itself() -> None:
    """While it is in force; and its owner's permission holds for it."""
    it = Remembering(options=MEANING, budget=4096)
    it.say("Hi.", who="ben", session="both")
    it.model.fact = "ana: The gate opens with the code 4711."
    it.say("4711, as always.", session="both")
    it.model.fact = "-"
    it.say(TALK, "It is dry again.", session="both")
    line = "[2026-01-05] ana: The gate opens with the code 4711."

    assert line in recalled(it, QUESTION)
    assert line not in recalled(it, QUESTION, "ben")
    it.memory.grant(ReadGrant(owner="ana", reader="ben"))
    assert line in recalled(it, QUESTION, "ben")
    it.memory.forget("ana", ["ana-2"])
    assert line not in recalled(it, QUESTION)


def test_a_fact_whose_message_was_put_away_is_quoted_itself() -> None:
    """It leads to no message that a search does not look at."""
    it = Remembering(options=MEANING, budget=4096)
    (told,) = it.say(f"{CODE}\n{LONG}")
    it.say(TALK, "It is dry again.")
    line = f"[2026-01-05] ana: {CODE}"
    assert f"{line}\n{LONG}" in it.asked(QUESTION).text()
    entry = it.memory.vault.own("ana", "episodic", told)
    assert entry is not None
    it.memory.vault.put([replace(entry, archived=True)])

    lines = recalled(it, QUESTION)
    assert line in lines
    assert LONG not in lines
    assert entry.id not in {hit.entry.id for hit in it.memory.search(QUESTION, principal="ana")}


@pytest.mark.parametrize("restart", [False, True])
def test_a_line_says_when_it_was_replaced(*, restart: bool) -> None:
    """In part, where the rest of the message holds still, and wholly where it is quoted anyway."""
    it = Remembering(options=MEANING, budget=4096)
    it.say(f"{CODE}\nThe bell is broken.", "My bus is the 12.")
    it.clock.advance(timedelta(days=3))
    it.say("The gate code is 4712.", "My bus is the 7.", TALK)
    it = it.again() if restart else it

    lines = recalled(it, QUESTION)
    assert "[2026-01-05, partly replaced 2026-01-08] ana: The gate code is 4711." in lines
    assert "[2026-01-08] ana: The gate code is 4712." in lines
    kept = replace(MEANING.policy, superseded="keep")
    old = "[2026-01-05, replaced 2026-01-08] ana: My bus is the 12."
    assert old not in recalled(it, "My bus?")
    other = Remembering(options=replace(MEANING, policy=kept), budget=4096)
    other.clock.set(it.clock.now())
    other.memory.load(it.memory.save())
    assert old in recalled(other, "My bus?")


def test_an_entry_that_changes_is_read_anew() -> None:
    """However often it was found before, what is written in its place is quoted."""
    it = Remembering(options=MEANING, budget=4096)
    told, *_ = it.say(CODE, TALK)
    lines = [recalled(it, QUESTION) for _ in range(3)]

    assert lines[0] == lines[1] == lines[2]
    entry = it.memory.vault.own("ana", "episodic", told)
    assert entry is not None
    it.memory.vault.put([replace(entry, text=entry.text.replace("4711", "4712"))])
    assert any("4712" in line for line in recalled(it, QUESTION))


def test_a_context_leaves_no_lines_behind() -> None:
    """The garbage collector searches everything sooner, the more records stay."""
    it = Remembering(options=MEANING, budget=4096)
    it.say(CODE, TALK)

    assert recalled(it, QUESTION)
    gc.collect()
    assert not [held for held in gc.get_objects() if isinstance(held, QuoteLine)]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_rests_while_a_context_is_composed(
    monkeypatch: pytest.MonkeyPatch,
    enabled: bool,
) -> None:
    """It is as it was afterwards, also where that fails: it is the program's own."""
    it = Remembering(options=MEANING, budget=4096)
    it.say(CODE, TALK)
    seen: list[bool] = []

    def failing(*_: object, **__: object) -> object:
        seen.append(gc.isenabled())
        raise StoreError("gone")

    try:
        (gc.enable if enabled else gc.disable)()
        assert recalled(it, QUESTION)
        assert enabled == gc.isenabled()
        monkeypatch.setattr(search, "quote_section", failing)
        with pytest.raises(StoreError):
            recalled(it, QUESTION)
        assert enabled == gc.isenabled()
    finally:
        gc.enable()
    assert [False] == seen
