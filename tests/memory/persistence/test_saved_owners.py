"""Owners of a saved memory are read when they are first asked or added to, and not before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memsim.context import Context
from memsim.errors import StoreError
from memsim.memory import SavedMemory, open_memory
from memsim.memory.deletion import original_of
from memsim.memory.entry import Entry, decode
from memsim.memory.permissions import ReadGrant
from memsim.memory.persistence import saved_memory
from memsim.memory.persistence.memory_file import FILE, MemoryFile
from memsim.memory.stores.sqlite import rows
from memsim.message import said

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

Open = Callable[..., SavedMemory]


@pytest.fixture
def open_it(tmp_path: Path) -> Iterator[Open]:
    """Opens the memory, and closes the one before."""
    opened: list[SavedMemory] = []

    def open_it(**given: Any) -> SavedMemory:  # noqa: ANN401 - as `open_memory`
        for memory in opened:
            memory.close()
        given = {"embedder": "hash:dim=16", "tokenizer": "chars/4", "wait": 0.02, **given}
        opened.append(open_memory(tmp_path / "memory", now=lambda: START, **given))
        return opened[-1]

    yield open_it
    opened[-1].close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """The entries that are decoded from rows, in order."""
    seen: list[Entry] = []

    def decoded(record: str, where: str) -> Entry:
        seen.append(entry := decode(record, where))
        return entry

    monkeypatch.setattr(rows, decode.__name__, decoded)
    return seen


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entries whose place in the order is read, in order."""
    seen: list[str] = []
    places = MemoryFile.places

    def asked(file: MemoryFile, owners: list[str]) -> dict[str, int]:
        found = places(file, owners)
        seen.extend(found)
        return found

    monkeypatch.setattr(MemoryFile, "places", asked)
    return seen


def tell(memory: SavedMemory, who: str, session: str, *numbers: int) -> None:
    """A principal says some things, a turn each."""
    for n in numbers:
        at = START + timedelta(minutes=n)
        text = f"My order number {n} is A-{7 * n} now, and {who} likes tea in Oslo {n % 3}."
        made = said("user", text, id=f"{who}{n}", principal=who, session=session, time=at)
        memory.observe(made)
        memory.end_turn()


def asked(memory: SavedMemory, who: str, session: str = "") -> Context:
    """What a principal's question is sent with."""
    question = "What is my order number now, and where do I like tea?"
    return memory.context(question, principal=who, session=session or f"own:{who}", budget=300)


def three(memory: SavedMemory) -> SavedMemory:
    """Two who share a conversation, and one who has her own."""
    for n in range(0, 24, 3):
        tell(memory, "ana", "trip", n)
        tell(memory, "bo", "trip", n + 1)
        tell(memory, "cy", "own:cy", n + 2)
    return memory


def test_nothing_of_anybody_is_read_on_opening(
    open_it: Open, read: list[Entry], placed: list[str]
) -> None:
    """To open a memory costs the same however much was said."""
    three(open_it()).close()
    read.clear()
    placed.clear()

    open_it()

    assert ([], []) == (read, placed)


def test_nothing_of_others_is_read_for_who_asks(
    open_it: Open, read: list[Entry], placed: list[str]
) -> None:
    """A context reads its own principal's entries, and places of theirs alone."""
    three(open_it()).close()
    memory = open_it()
    read.clear()

    asked(memory, "cy")

    assert {"cy"} == {entry.owner for entry in read}
    assert {e.id for e in read if original_of(e)} == set(placed)


def test_nothing_of_others_is_read_for_who_speaks(open_it: Open, read: list[Entry]) -> None:
    """Nor does a message of somebody's read what others have said."""
    three(open_it()).close()
    memory = open_it()
    asked(memory, "cy")  # the vectors are known to be there
    read.clear()

    tell(memory, "dee", "own:dee", 40)
    tell(memory, "cy", "own:cy", 41)

    assert {"cy", "dee"}.issuperset(entry.owner for entry in read)


def test_who_has_spoken_together_is_read_together(open_it: Open, read: list[Entry]) -> None:
    """What stands beside a message may be another owner's."""
    three(open_it()).close()
    memory = open_it()
    read.clear()

    asked(memory, "ana", "trip")

    assert {"ana", "bo"} == {entry.owner for entry in read}


@pytest.mark.parametrize("order", ["ana bo cy", "cy bo ana", "bo ana bo"])
def test_the_order_of_questions_changes_no_answer(open_it: Open, order: str) -> None:
    """What is read late is as if it had been read at once, and who is known by others too."""
    memory = three(open_it())
    for n in range(60, 72, 2):
        tell(memory, "bo", "work", n)
        tell(memory, "cy", "work", n + 1)
    talks = {"ana": "trip", "bo": "trip", "cy": "work"}
    expected = {who: asked(memory, who, talks[who]) for who in order.split()}

    again = open_it()

    for who in order.split():
        assert expected[who] == asked(again, who, talks[who])


def test_who_is_read_late_has_been_there_first(open_it: Open) -> None:
    """The order of messages is that in which they were said, not that in which they were read."""
    memory = three(open_it())
    tell(memory, "ana", "trip", 50, 51)
    expected = memory.save()["order"]

    again = open_it()
    asked(again, "cy")
    again.grant(ReadGrant(owner="ana", reader="cy"))
    asked(again, "cy")

    assert expected == again.save()["order"]


def test_who_speaks_first_after_opening_speaks_last(open_it: Open) -> None:
    """What is said comes after all that was said before, though none of it has been read."""
    memory = three(open_it())
    expected = memory.save()["order"]

    again = open_it()
    tell(again, "dee", "own:dee", 70)

    *before, last = order_of(again)
    assert expected == before
    assert "dee" == again.vault.store.get([last])[0].owner


def order_of(memory: SavedMemory) -> list[str]:
    """Ids of the entries of messages, as they were said."""
    found = memory.save()["order"]
    assert isinstance(found, list)
    return [str(entry) for entry in found]


def test_who_joins_is_read_with_those_who_are_there(open_it: Open) -> None:
    """A message comes after what others have said in its conversation before."""
    memory = three(open_it())
    tell(memory, "cy", "trip", 60)
    expected = [asked(memory, who, "trip") for who in ("ana", "bo", "cy")]
    memory.close()

    again = open_it()

    assert expected == [asked(again, who, "trip") for who in ("ana", "bo", "cy")]


def test_a_joining_after_opening_changes_no_answer(open_it: Open, tmp_path: Path) -> None:
    """Whoever had been read before joined a conversation that had not."""
    memory = three(open_it())
    tell(memory, "cy", "trip", 60)
    expected = [asked(memory, who, "trip") for who in ("ana", "bo", "cy")]
    memory.close()

    (tmp_path / "memory" / "memory.sqlite3").unlink()
    three(open_it()).close()
    again = open_it()
    asked(again, "cy")
    tell(again, "cy", "trip", 60)

    assert expected == [asked(again, who, "trip") for who in ("ana", "bo", "cy")]


def test_what_is_let_go_is_read_again(
    open_it: Open, placed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound all are let go between turns, and no answer changes."""
    memory = three(open_it())
    tell(memory, "cy", "own:cy", 60)
    expected = [asked(memory, who, "trip") for who in ("ana", "bo")] + [asked(memory, "cy")]
    memory.close()
    (memory.folder / "memory.sqlite3").unlink()
    monkeypatch.setattr(saved_memory, "MOST", 20)
    again = three(open_it())
    tell(again, "cy", "own:cy", 60)
    placed.clear()

    assert expected == [asked(again, who, "trip") for who in ("ana", "bo")] + [asked(again, "cy")]
    assert len(placed) == 16


def test_a_long_absence_costs_no_message(open_it: Open) -> None:
    """An id that was used before is refused, though nothing of its owner has been read yet."""
    memory = three(open_it())
    for n in range(100, 112):
        tell(memory, "ana", "trip", n)
    memory.close()
    again = open_it()

    with pytest.raises(ValueError, match="another message is called 'ana0'"):
        again.observe(
            said("user", "Another.", id="ana0", principal="ana", session="own:ana", time=START)
        )


def test_what_is_forgotten_before_it_was_read_stays_forgotten(open_it: Open) -> None:
    """An erasure reaches what nobody has asked for since opening."""
    memory = three(open_it())
    memory.forget("cy", ["cy5"])
    expected = asked(memory, "cy")
    (before := open_it()).close()
    assert before.folder == memory.folder

    assert expected == asked(open_it(), "cy")
    again = open_it()
    again.forget("cy", ["cy8"])
    assert "A-56" not in asked(again, "cy").text()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE beside SET about = NULL",
        "UPDATE beside SET about = '00000000' || substr(about, 9)",
        "UPDATE beside SET about = 'x'",
    ],
    ids=["none", "made otherwise", "something else"],
)
def test_an_outline_that_cannot_be_used_is_made_anew(
    open_it: Open, tmp_path: Path, change: str
) -> None:
    """A context is the same with outlines and without them."""
    memory = three(open_it())
    expected = [asked(memory, "ana", "trip"), asked(memory, "cy")]
    memory.close()
    with sqlite3.connect(tmp_path / "memory" / FILE) as connection:
        connection.execute(change)
    connection.close()

    again = open_it()

    assert expected == [asked(again, "ana", "trip"), asked(again, "cy")]


def test_a_damaged_outline_is_an_error(open_it: Open, tmp_path: Path) -> None:
    """A letter of it that changed is noticed by its check sum, and the file is named."""
    three(open_it()).close()
    with sqlite3.connect(tmp_path / "memory" / FILE) as connection:
        connection.execute("UPDATE beside SET about = replace(about, 'own:cy', 'own:cx')")
    connection.close()
    memory = open_it()

    asked(memory, "ana", "trip")
    with pytest.raises(StoreError, match=r"memory\.sqlite3 is damaged: an outline"):
        asked(memory, "cy")


def test_what_was_said_is_not_read_for_a_context(
    open_it: Open, read: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context reads the entries that it looks at, and outlines of all others."""
    memory = open_it()
    for n in range(200):
        tell(memory, "ana", "trip", n)
    memory.close()
    again = open_it()
    read.clear()

    asked(again, "ana", "trip")

    assert 0 < len(read) < 150


def test_a_fact_is_replaced_whose_words_were_not_read(open_it: Open) -> None:
    """What is stated after opening takes the place of what was stated before it."""
    memory = open_it()
    for n, text in enumerate(["My gym bill is 40 euros a month.", "I live in Oslo."]):
        memory.add(text, user="ana", id=f"a{n}")
    memory.close()
    again = open_it()
    asked(again, "ana")

    again.add("Change of plan: my gym bill went up, it is 45 euros a month now.", user="ana")

    held = [fact.text for fact in again.semantic.in_force("ana")]
    assert not any("40 euros" in text for text in held)
    assert any("45 euros" in text for text in held)
