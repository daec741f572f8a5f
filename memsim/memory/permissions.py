"""Who may see what: readers, grants, and the filter that every read goes through.

Permission is a property of shelves, decided before anything is ranked or counted. A principal whose
name is empty or blank is nobody, and sees nothing at all, not even what is public: access fails
closed. A name that the memory has not met is somebody, and sees what is public.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memsim.errors import AccessError
from memsim.memory.codec import JSON, reading
from memsim.memory.entry import Entry, Layer, Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGrant:
    """One principal lets another read."""

    owner: str
    reader: str
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads, as the session says: arguments, metadata and texts never decide this.

    Attributes:
        principal: the name; empty or blank for nobody, who may see nothing.
        grants: what others let them read; only grants to this reader count.
        made: whether being named a reader opens what was made of messages.
    """

    principal: str
    grants: frozenset[ReadGrant] = frozenset()
    made: bool = True

    def may_see(self, shelf: Shelf) -> bool:
        """Whether this reader may see what stands on a shelf."""
        if is_nobody(self.principal):
            return False
        if shelf.owner == self.principal or shelf.visibility == "public":
            return True
        if self.principal in shelf.readers and (self.made or not _was_made(shelf)):
            return True
        return any(
            g.owner == shelf.owner
            and g.reader == self.principal
            and g.category in {None, shelf.category}
            for g in self.grants
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which entries an operation is about.

    Attributes:
        reader: who may see them; None for the keeper of the store, who sees all (hygiene, export).
        owner: only what is theirs; None for anybody's.
        layers: only these; empty for all.
        categories: only these; empty for all.
        archived: only what is put away, or only what is not; None for both.
        superseded: only what was superseded, or only what was not; None for both.
    """

    reader: Reader | None
    owner: str | None = None
    layers: frozenset[Layer] = frozenset()
    categories: frozenset[str] = frozenset()
    archived: bool | None = False
    superseded: bool | None = None

    def admits(self, shelf: Shelf) -> bool:
        """Whether what stands on a shelf is meant, and may be seen."""
        return (
            (self.reader is None or self.reader.may_see(shelf))
            and self.owner in {None, shelf.owner}
            and (not self.layers or shelf.layer in self.layers)
            and (not self.categories or shelf.category in self.categories)
            and self.archived in {None, shelf.archived}
            and self.superseded in {None, shelf.superseded}
        )


class Permissions:
    """Who takes part in which conversation, and who lets whom read what.

    Whoever takes part in a conversation may read all that was said there. Beyond that, an owner can
    share single messages, or grant all entries of a category, and take both back. What was made of
    messages, a fact or an episode, is the owner's alone, and theirs who have a grant of it: what
    else its owner said, and where, has a say in what it is, when, and whether it still holds.
    """

    def __init__(self) -> None:
        self._grants: set[ReadGrant] = set()
        self._parts: dict[str, dict[str, None]] = {}
        self._of: dict[str, dict[str, None]] = {}
        self._shared: dict[str, dict[str, set[str]]] = {}

    def reader(self, principal: str) -> Reader:
        """What the principal's reads go through. Raises `AccessError` if there is no principal."""
        return Reader(
            principal=require_principal(principal),
            grants=frozenset(g for g in self._grants if g.reader == principal),
            # An older version named who took part in the conversation, and entries stay as written.
            made=False,
        )

    def joins(self, principal: str, session: str) -> bool:
        """Note who takes part in a conversation; whether they did not before."""
        there = self._parts.setdefault(session, {})
        new = principal not in there
        there[principal] = None
        self._of.setdefault(principal, {})[session] = None
        return new

    def together(self, principals: Iterable[str]) -> set[str]:
        """These, all who take part in a conversation with them, and so on with those."""
        left = [*principals]
        found = set(left)
        seen: set[str] = set()
        while left:
            for session in self._of.get(left.pop(), {}):
                if session not in seen:
                    seen.add(session)
                    left += (new := self._parts[session].keys() - found)
                    found |= new
        return found

    def participants(self, session: str) -> list[str]:
        """Who takes part in a conversation."""
        return [*self._parts.get(session, ())]

    def known(self) -> list[str]:
        """Everybody who takes part in a conversation, by name in order."""
        return sorted({who for there in self._parts.values() for who in there})

    def conversations(self) -> list[str]:
        """Every conversation that somebody takes part in, by name in order."""
        return sorted(self._parts)

    def takes_part(self, principal: str, session: str) -> bool:
        """Whether a principal takes part in a conversation."""
        return principal in self._parts.get(session, {})

    def may_follow(self, principal: str, session: str) -> bool:
        """Whether a principal may read all of a conversation.

        Who takes part in it may, and who was let to read all that those say who do.
        """
        there = self._parts.get(session, {})
        if principal in there:
            return True
        lets = {g.owner for g in self._grants if g.reader == principal and g.category is None}
        return bool(there) and lets.issuperset(there)

    def grant(self, grant: ReadGrant) -> None:
        """An owner lets a reader see all entries of a category, or all of theirs."""
        self._grants.add(grant)

    def revoke(self, grant: ReadGrant) -> None:
        """The owner takes it back; what was not granted is nothing to take back."""
        self._grants.discard(grant)

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """An owner lets a reader see some messages."""
        self._shared.setdefault(owner, {}).setdefault(reader, set()).update(sources)

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """The owner takes it back."""
        self._shared.get(owner, {}).get(reader, set()).difference_update(sources)

    def forget(self, owner: str, sources: Iterable[str]) -> None:
        """Messages of an owner's are gone: whoever was let read them is let read no others by it.

        Another message may be given the id of one that is gone.
        """
        gone = frozenset(sources)
        for given in self._shared.get(owner, {}).values():
            given.difference_update(gone)

    def apply(self, entry: Entry) -> Entry:
        """The entry with the readers that it should have now; a public one stays public.

        What was made of messages loses those that an older version let read it.
        """
        if entry.visibility == "public":
            return entry
        return entry.shared_with(*self._readers(entry))

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "grants": [[g.owner, g.reader, g.category] for g in sorted(self._grants, key=_order)],
            "parts": {s: _listed(self._parts[s]) for s in sorted(self._parts)},
            "shared": {
                owner: {r: _listed(sorted(readers[r])) for r in sorted(readers)}
                for owner, readers in sorted(self._shared.items())
            },
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one.

        Raises:
            StateError: it is no such state; nothing has changed, so that access stays closed.
        """
        with reading("its permissions are damaged"):
            grants = {ReadGrant(owner=o, reader=r, category=c) for o, r, c in saved["grants"]}
            parts = {s: dict.fromkeys(who) for s, who in saved["parts"].items()}
            shared = {
                owner: {r: set(sources) for r, sources in readers.items()}
                for owner, readers in saved["shared"].items()
            }
            of: dict[str, dict[str, None]] = {}
            for session, there in parts.items():
                for principal in there:
                    of.setdefault(principal, {})[session] = None
        self._grants, self._parts, self._of, self._shared = grants, parts, of, shared

    def _readers(self, entry: Entry) -> list[str]:
        if not was_said(entry):
            return []
        together = self._parts.get(entry.session, {}) if entry.session else {}
        shared = self._shared.get(entry.owner, {})
        sources = entry.sources
        granted = [r for r, given in shared.items() if sources and given.issuperset(sources)]
        return [*together, *granted]


def is_nobody(principal: str) -> bool:
    """Whether a name is nobody's: it is empty or blank."""
    return not principal.strip()


def require_principal(principal: str) -> str:
    """The principal, where there is one. Raises `AccessError` if the name is empty or blank."""
    if is_nobody(principal):
        raise AccessError("nobody is asking: a memory is used on behalf of a principal")
    return principal


def was_said(entry: Entry | Shelf) -> bool:
    """Whether it holds a message, or a passage of one: what a conversation came to is `daily`."""
    return entry.layer == "episodic" and entry.category == "conversation"


def _was_made(shelf: Shelf) -> bool:
    """Whether facts stand there, or what conversations came to."""
    return shelf.layer == "semantic" or (shelf.layer == "episodic" and not was_said(shelf))


def _order(grant: ReadGrant) -> tuple[str, str, str]:
    return grant.owner, grant.reader, grant.category or ""


def _listed(names: Iterable[str]) -> JSON:
    return [*names]
