"""What a memory keeps: one record for every layer, with its owner, its readers and its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memsim.clock import utc
from memsim.message import EPOCH

Layer = Literal["core", "working", "episodic", "semantic", "long_term", "workspace"]
LAYERS: tuple[Layer, ...] = ("core", "working", "episodic", "semantic", "long_term", "workspace")

Visibility = Literal["private", "shared", "public"]
"""`shared` is visible to the `readers` named; `public` to everybody who is somebody."""

FOUND_BY_KEY = ("found_by", "key")
"""The attribute of an entry whose key says something, so that it is found by its key as well."""

CATEGORIES = ("core", "daily", "conversation", "custom")
"""The categories that retention knows (PRX); any other word is treated as `custom`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What decides who may see an entry, and which searches look at it.

    Entries that agree in all of this are searched together, so that permission and filters come
    before ranking, and statistics are taken over permitted entries only.

    Attributes:
        readers: sorted; empty unless the visibility is `shared`.
        archived: put away by hygiene: kept, but not found by a search that does not ask for it.
        superseded: a later fact has taken its place.
    """

    owner: str
    visibility: Visibility = "private"
    readers: tuple[str, ...] = ()
    layer: Layer = "long_term"
    category: str = "conversation"
    archived: bool = False
    superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that is remembered.

    Attributes:
        key: the name that its owner knows it by; unique per owner and layer, never across owners.
        text: what is remembered, byte for byte.
        owner: the principal whose it is.
        subject: for facts, what they are about: the latest of one owner and subject is in force.
        session: the conversation that it came from; empty where it belongs to none.
        created: when it was first written.
        updated: when it was last written; retention counts from here.
        superseded: when a later fact took its place; None while it is in force.
        pinned: never compacted, archived or purged.
        archived: put away by hygiene.
        sources: ids of the original messages that it came from.
        attributes: anything else, as sorted pairs of words.

    Raises:
        ValueError: a time has no zone, a text cannot be encoded, a name is empty, or readers are
            named for an entry that is not shared.
    """

    key: str
    text: str
    owner: str
    layer: Layer = "long_term"
    category: str = "conversation"
    subject: str = ""
    session: str = ""
    created: datetime = EPOCH
    updated: datetime = EPOCH
    superseded: datetime | None = None
    visibility: Visibility = "private"
    readers: tuple[str, ...] = ()
    pinned: bool = False
    archived: bool = False
    sources: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("key", "owner", "category"):
            if not getattr(self, name):
                raise ValueError(f"an entry's {name} is empty")
        if self.layer not in LAYERS:
            raise ValueError(f"layer is {self.layer!r}: it is one of {', '.join(LAYERS)}")
        if self.readers and self.visibility != "shared":
            raise ValueError(f"readers are named, and the entry is {self.visibility}")
        _encodable(self.key, self.text, self.owner, self.category, self.subject, self.session)
        for name in ("created", "updated", "superseded"):
            moment = getattr(self, name)
            if moment is not None:
                object.__setattr__(self, name, utc(moment))
        object.__setattr__(self, "readers", tuple(sorted(set(self.readers))))
        object.__setattr__(self, "attributes", tuple(sorted(self.attributes)))

    @property
    def id(self) -> str:
        """What stores know it by; says nothing about owner or key to who does not know them."""
        return entry_id(self.owner, self.layer, self.key)

    @property
    def version(self) -> str:
        """A name for it as it was last written: what takes its place under its key has another."""
        return f"{self.id}@{self.updated.isoformat()}"

    @property
    def words(self) -> str:
        """What it is found by, in words and in meaning: its text, and its key where that counts."""
        return f"{self.key}\n{self.text}" if FOUND_BY_KEY in self.attributes else self.text

    @property
    def shelf(self) -> Shelf:
        """Where it stands for permission and search."""
        return Shelf(
            owner=self.owner,
            visibility=self.visibility,
            readers=self.readers,
            layer=self.layer,
            category=self.category,
            archived=self.archived,
            superseded=self.superseded is not None,
        )

    def shared_with(self, *principals: str) -> Entry:
        """The entry as one that these principals may read as well, and no others."""
        others = tuple(p for p in principals if p != self.owner)
        return replace(self, visibility="shared" if others else "private", readers=others)


def entry_id(owner: str, layer: str, key: str) -> str:
    """The id of an entry: injective over its parts, whatever delimiters they hold."""
    digest = hashlib.blake2b(digest_size=16, person=b"memsim.entry")
    for part in (owner, layer, key):
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def _encodable(*texts: str) -> None:
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"{text[:40]!r} cannot be encoded as UTF-8") from error


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the order in which every store lists them: by creation, then by id."""
    return sorted(entries, key=lambda e: (e.created, e.id))
