"""What has to be known of an entry that was made of messages, without its key and its text."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memsim.memory.entry import Entry, Layer


class EntryOutline(NamedTuple):
    """A fact, or what a conversation came to; the fields are those of `Entry`."""

    id: str
    owner: str
    layer: Layer
    session: str
    subject: str
    created: datetime
    updated: datetime
    superseded: datetime | None
    sources: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]


class PlainFacts(NamedTuple):
    """Several facts of one owner, of which there is no more to know than which messages state them.

    Each is in force, and has neither a subject nor attributes. They stand in the order of the
    store, in columns: most facts are of this kind, and a record of each takes longer to make than
    all that is done with it.
    """

    owner: str
    ids: list[str]
    sessions: list[str]
    sources: list[tuple[str, ...]]


def outline_made(entry: Entry) -> EntryOutline:
    """The outline of an entry that was made of messages."""
    return EntryOutline(
        entry.id,
        entry.owner,
        entry.layer,
        entry.session,
        entry.subject,
        entry.created,
        entry.updated,
        entry.superseded,
        entry.sources,
        entry.attributes,
    )
