"""Outlines of entries, as the file holds them: read as they were made."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest

from memsim.memory.entry import DamagedRecord, Entry, instant
from memsim.memory.layers.entry_outline import PlainFacts, outline_made
from memsim.memory.layers.episodic import exchange
from memsim.memory.persistence.outline_codec import VERSION, OutlineCodec
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.stores.sqlite.written_outlines import WrittenOutlines, joined
from memsim.message import EPOCH, Role, said
from tests.memory.remembering import COUNTER

LATER = EPOCH + timedelta(days=1, microseconds=7)


def row_of(entry: Entry, about: str | None) -> WrittenOutlines:
    """The row of an entry with this outline."""
    return WrittenOutlines([instant(entry.created)], [entry.id], [about or ""], [entry.owner])


def read(codec: OutlineCodec, store: InMemory, row: WrittenOutlines) -> object:
    """The outline of a row."""
    if row.ids[0] in {FACT.id, ENTRIES["an episode"].id}:
        return next(codec.made(store, row))
    return next(codec.messages(store, row).outlines())


def spoken(text: str, role: str = "user", turn: int = 3) -> Entry:
    """The entry of a message."""
    kind: Role = "assistant" if role == "assistant" else "user"
    message = said(kind, text, id="m 1", principal="ana", session="own:ana", time=LATER, turn=turn)
    return exchange(message)


FACT = Entry(
    key="k",
    text="My desk is 4A.",
    owner="ana",
    layer="semantic",
    subject="my desk",
    session="own:ana",
    created=EPOCH,
    updated=LATER,
    superseded=LATER,
    sources=("m1", "m2"),
    attributes=(("amended", "~3"), ("words", "new")),
)

ENTRIES = {
    "a message": spoken("Ich wohne in Köln, wirklich."),
    "a question": spoken("Where did I leave the blue bicycle?"),
    "an instruction": spoken("From now on, always answer in Danish when I ask about trains."),
    "a preference": spoken("I prefer trains to flights, as you know by now."),
    "a short message": spoken("Yes.", turn=0),
    "a reply": spoken("From now on, I answer in Danish.", role="assistant"),
    "a fact": FACT,
    "an episode": Entry(
        key="episode\nown:ana",
        text="They spoke of desks.",
        owner="ana",
        layer="episodic",
        category="daily",
        session="own:ana",
        sources=("m1",),
        attributes=(("entities", "[]"),),
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_outline_is_read_as_it_was_made(name: str) -> None:
    """What a memory does with it is what it would do with the outline of the entry itself."""
    entry, codec = ENTRIES[name], OutlineCodec(COUNTER, "terms")

    assert codec.of(entry) == read(codec, InMemory(), row_of(entry, codec.write(entry)))


def test_what_was_not_made_of_messages_has_no_outline() -> None:
    """A text that was stored under a key is searched, and is no part of any conversation."""
    assert OutlineCodec(COUNTER, "terms").write(Entry(key="k", text="x", owner="ana")) is None


@pytest.mark.parametrize("analysis", ["terms", "other terms"])
def test_an_outline_of_other_terms_is_made_anew(analysis: str) -> None:
    """Its entry is read, whatever stands in the outline; else the entry is not read."""
    entry = ENTRIES["a question"]
    store = InMemory()
    if analysis != "terms":
        store.write([entry])
    row = row_of(entry, OutlineCodec(COUNTER, analysis).write(entry))
    codec = OutlineCodec(COUNTER, "terms")

    assert codec.of(entry) == read(codec, store, row)


def test_the_outline_of_another_entry_is_damage() -> None:
    """An outline that stands beside another entry, or another creation, is noticed."""
    entry, codec = FACT, OutlineCodec(COUNTER, "terms")
    row = row_of(entry, codec.write(entry))
    for other in (row._replace(ids=["f" * 32]), row._replace(created=[instant(LATER)])):
        with pytest.raises(DamagedRecord, match="check sum"):
            read(codec, InMemory(), other)


def test_the_version_goes_up_when_outlines_are_made_in_another_way() -> None:
    """Where this fails, raise `VERSION`: files hold outlines that were made as before."""
    codec = OutlineCodec(COUNTER, "terms")
    held = "\n".join((codec.write(entry) or "")[16:] for entry in ENTRIES.values())

    assert (1, "6c06d9aab372f338") == (VERSION, hashlib.sha256(held.encode()).hexdigest()[:16])


def plain(key: str, owner: str = "ana", **changed: object) -> Entry:
    """A fact of which there is no more to know than which message states it."""
    values = {"subject": "", "superseded": None, "attributes": (), **changed}
    return replace(FACT, key=key, owner=owner, **values)  # type: ignore[arg-type]


def test_plain_facts_come_together() -> None:
    """As far as they follow each other and are of one owner; all others come alone, in order."""
    codec = OutlineCodec(COUNTER, "terms")
    facts = [
        plain("a"),
        plain("b", sources=("m3",)),
        plain("c", subject="my desk"),
        plain("d"),
        plain("e", owner="ben"),
        plain("f", owner="ben", attributes=(("amended", "~3"),)),
    ]
    rows = joined([row_of(entry, codec.write(entry)) for entry in facts])
    a, b, c, d, e, f = facts
    own = "own:ana"

    assert [
        PlainFacts("ana", [a.id, b.id], [own, own], [("m1", "m2"), ("m3",)]),
        outline_made(c),
        PlainFacts("ana", [d.id], [own], [("m1", "m2")]),
        PlainFacts("ben", [e.id], [own], [("m1", "m2")]),
        outline_made(f),
    ] == [*codec.made(InMemory(), rows)]
