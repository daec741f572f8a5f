"""What a conversation is about, noted in working memory at the end of each turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memsim.errors import StoreError
from memsim.memory.codec import JSON
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import WorkingFull, WorkingMemory
from memsim.memory.layers.entities import LONGEST, NOTED, entities_in, names_in
from memsim.memory.options import MemoryOptions, ToolMode
from memsim.memory.retention import RetentionPolicy
from memsim.message import EPOCH, said
from tests.memory.remembering import Remembering

ANA = Conversation("ana", "ana's")
OPTIONS = MemoryOptions(vectors=False, window=2, entities=True)


def noted(it: Remembering, of: Conversation = ANA) -> list[tuple[Any, Any]]:
    """Names with how often they were said, as they stand there."""
    entities = it.memory.working.peek(of, it.clock.now()).get("entities", [])
    assert isinstance(entities, list)
    return [(e.get("name"), e.get("said")) for e in entities if isinstance(e, dict)]


def notes(it: Remembering) -> list[str]:
    """The lines of working memory in a context."""
    sections = [s for s in it.asked("And now?", budget=2000).sections if s.layer == "working"]
    return [line for s in sections for m in s.messages for line in m.text.splitlines()[1:]]


def test_names_are_counted_and_the_one_mentioned_last_stands_last() -> None:
    """In the conversation of who said them, and in their contexts as one line."""
    it = Remembering(options=OPTIONS)
    it.say("We met Olga and Olga in Graz.", "I live in Oslo.", "Yes.", "They said Olga is ill.")
    it.say("I met Pia.", who="ben")
    last = it.memory.working.entities(ANA, it.clock.now())[-1]

    assert [("Graz", 1), ("Oslo", 1), ("Olga", 2)] == noted(it)
    assert [("Pia", 1)] == noted(it, Conversation("ben", "ben's"))
    assert ["entities: Graz, Oslo, Olga"] == notes(it)
    assert isinstance(last, dict)
    assert (it.clock.now() - timedelta(minutes=1)).isoformat() == last["last"]


@pytest.mark.parametrize(
    ("entities", "mode", "names"),
    [(False, "both", []), (True, "agent", []), (True, "both", [("Oslo", 1)])],
)
def test_nothing_is_noted_where_nobody_wants_it(
    entities: bool,
    mode: ToolMode,
    names: list[tuple[Any, Any]],
) -> None:
    """Switched off, or left to the agent."""
    it = Remembering(options=MemoryOptions(vectors=False, entities=entities, mode=mode))
    it.say("I live in Oslo.")

    assert names == noted(it)


def test_a_message_counts_once_however_often_it_is_observed() -> None:
    """Within its turn, in a later one, and by a memory that has taken over in between."""
    it = Remembering(options=OPTIONS)
    message = it.message("I live in Oslo.")
    for _ in range(2):
        it.memory.observe(message)
        for _ in range(3):
            it.memory.observe(it.message("Yes."))
    it = it.again()
    for _ in range(2):
        it.memory.end_turn()
        it.memory.observe(message)
    it.memory.end_turn()

    assert [("Oslo", 1)] == noted(it)


def test_so_many_names_are_kept_of_so_many_characters() -> None:
    """The latest; what a host wrote is counted, and stays, and so do its other fields."""
    it = Remembering(options=OPTIONS)
    host: list[JSON] = [
        {"type": "well", "id": "7"},
        {"name": "Oslo", "kind": "city"},
        {"name": 5, "said": "x"},
    ]
    it.memory.working.put(ANA, {"entities": host, "well": [{"a": 1}]}, it.clock.now())
    it.say("I live in Oslo.", f"They call me A{'b' * 200}.")
    it.say(*(f"I met Olga{'abcdefghijklmnopqrst'[n]}." for n in range(20)))

    names = noted(it)
    assert [(None, None), (5, "x"), ("Oslo", 1)] == names[:3]
    assert [f"Olga{c}" for c in "efghijklmnopqrst"] == [name for name, _ in names[3:]]
    assert NOTED == len(names[3:])
    assert "entities: id 7 type well, name 5 said x, Oslo, Olgae" in notes(it)[0]
    assert notes(it)[1] == "well: [{'a': 1}]"
    it.say(f"They call me A{'b' * 200}.")
    assert noted(it)[-1] == (f"A{'b' * (LONGEST - 1)}", 1)


@pytest.mark.parametrize("field", ["text", {"a": 1}, ["Oslo"]], ids=repr)
def test_what_a_host_keeps_there_otherwise_stays(field: Any) -> None:  # noqa: ANN401 - any JSON
    """Whatever it is, and the turn is done."""
    it = Remembering(options=OPTIONS)
    it.memory.working.put(ANA, {"entities": []}, it.clock.now())
    state: Any = it.memory.save()
    state["working"][0][2]["fields"]["entities"] = field
    it.memory.load(state)

    it.say("I live in Oslo.")

    assert field == it.memory.working.peek(ANA, it.clock.now())["entities"]
    typed = WorkingMemory(types={"entities": dict})
    typed.merge_entities(ANA, lambda held: [*held], it.clock.now())
    assert {} == typed.peek(ANA, it.clock.now())


def test_a_failing_working_memory_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the turn is done, and the names are noted with the next one."""
    it = Remembering(options=OPTIONS)

    def failing(*_: object) -> bool:
        raise StoreError("the server is down")

    with monkeypatch.context() as patched:
        patched.setattr(it.memory.working.store, "swap", failing)
        with pytest.raises(StoreError, match="server is down"):
            it.say("I live in Oslo.")
    assert ["I live in Oslo."] == [e.text for e in it.memory.entries(None) if e.layer == "semantic"]

    it = it.again()
    it.say("Yes.")

    assert [("Oslo", 1)] == noted(it)


def test_a_full_working_memory_is_told_once_and_stays_as_it_is() -> None:
    """What does not fit is not tried for ever; the turn is done."""
    it = Remembering(options=OPTIONS)
    it.memory._turns.working._limit = 30
    it.memory.working.put(ANA, {"a": "x" * 20}, it.clock.now())

    with pytest.raises(WorkingFull):
        it.say("I live in Oslo.")
    it.say("Yes.")

    assert {"a": "x" * 20} == it.memory.working.peek(ANA, it.clock.now())
    assert 2 == sum(e.layer == "episodic" for e in it.memory.entries(None))


def test_two_who_note_at_once_lose_nothing() -> None:
    """What another wrote meanwhile is merged, too."""
    working = WorkingMemory()
    asked: list[int] = []

    def merge(held: list[dict[str, Any]]) -> list[Any]:
        asked.append(len(held))
        if len(asked) == 1:
            working.put(ANA, {"entities": [{"name": "Graz"}]}, EPOCH)
        return [*held, {"name": "Oslo"}]

    working.merge_entities(ANA, merge, EPOCH)

    assert [0, 1] == asked
    assert [{"name": "Graz"}, {"name": "Oslo"}] == working.entities(ANA, EPOCH)


def test_names_that_go_by_time_make_nothing_beside_them_last_longer() -> None:
    """Hygiene is no use: what a host noted is gone a day after it was last used."""
    it = Remembering(options=replace(OPTIONS, hygiene=RetentionPolicy()))
    it.say("I live in Oslo.")
    it.clock.advance(timedelta(days=3, hours=-1))
    it.say("And Anna Berg in Graz.")
    used = it.clock.now()
    it.memory.working.put(ANA, {"by": "a host"}, used)
    it.clock.advance(timedelta(hours=2))
    it.memory.elapse(it.clock.now())

    left = {"by": "a host", "entities": []}
    assert left == it.memory.working.peek(ANA, used + timedelta(hours=23, minutes=59))
    assert {} == it.memory.working.peek(ANA, used + timedelta(days=1))


def test_forgotten_names_do_not_come_back() -> None:
    """Neither those that are noted nor those that are still to be."""
    it = Remembering(options=OPTIONS)
    (first,) = it.say("I live in Oslo.")
    waiting = it.message("I come from Graz.")
    it.memory.observe(waiting)

    it.memory.forget("ana", [first, waiting.id])
    it.memory.end_turn()
    it.say("Yes, Pia.")

    assert [("Pia", 1)] == noted(it)
    assert not any(name in it.saved() for name in ("Oslo", "Graz"))


def test_a_name_is_never_cut_within_a_character() -> None:
    """Vowel signs, accents of their own and joined signs stay with their letter."""
    for name in ("\u00c6rlig\u0ba8\u0bbf", "Cafe\u0301", "Zoe\u0308"):
        assert [name] == [e["name"] for e in entities_in(f"we met {name} in town")]
    long = "O" + "e\u0301" * LONGEST
    kept = names_in(said("user", f"we met {long} there", id="m1"))[0]
    assert len(kept) <= LONGEST
    assert long.startswith(kept)
    assert kept.endswith("\u0301")
