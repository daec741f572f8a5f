"""Semantic memory: facts, each about a subject, of which the latest is in force.

A fact that is superseded is kept, with the instant until which it held, until it is purged or
forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.memory.entry import Entry, entry_id
from memsim.memory.layers.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memsim.memory.acl import Permissions
    from memsim.memory.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A fact as it was stated.

    Attributes:
        text: one sentence.
        sources: ids of the messages that state it.
        subject: what it is about; empty leaves that to the sentence itself.
    """

    text: str
    sources: tuple[str, ...]
    subject: str = ""


class Semantic:
    """The semantic layer.

    Args:
        vault: where it is kept.
        permissions: who may see what was said where; None where everybody sees everything.
    """

    def __init__(self, vault: Vault, permissions: Permissions | None) -> None:
        self._vault = vault
        self._permissions = permissions
        self._latest: dict[tuple[str, str], str] = {}
        self._read: set[str] = set()

    def record(
        self, owner: str, session: str, stated: Sequence[Stated], now: datetime
    ) -> tuple[list[Entry], list[Entry]]:
        """Keep facts in the order in which they were stated.

        Returns:
            The facts that are new, and those that they supersede.
        """
        self._know(owner)
        new: dict[str, Entry] = {}
        old: dict[str, Entry] = {}
        for fact in stated:
            entry = self._entry(owner, session, fact, now)
            for before in self._before(entry, new):
                if before.text == entry.text:
                    sources = tuple(dict.fromkeys((*before.sources, *entry.sources)))
                    entry = replace(before, sources=sources, updated=now, superseded=None)
                else:
                    gone = replace(before, superseded=now)
                    (new if before.id in new else old)[before.id] = gone
            new[entry.id] = self._permissions.apply(entry) if self._permissions else entry
            if entry.subject:
                self._latest[owner, entry.subject] = entry.id
        self._vault.put([*old.values(), *new.values()])
        return [*new.values()], [*old.values()]

    def in_force(self, principal: str) -> list[Entry]:
        """The facts that hold now, as far as a principal may see them, oldest first."""
        where = self._vault.where(principal, layers=("semantic",), superseded=False)
        return list(self._vault.each(where))

    def history(self, principal: str, subject: str) -> list[Entry]:
        """Every version of a fact that is still kept, oldest first."""
        where = self._vault.where(principal, layers=("semantic",), archived=None)
        return [e for e in self._vault.each(where) if e.subject == subject]

    def forgotten(self, entries: Sequence[Entry]) -> None:
        """Note that entries were erased: what they superseded does not come back into force."""
        gone = {e.id for e in entries}
        self._latest = {about: i for about, i in self._latest.items() if i not in gone}

    def _entry(self, owner: str, session: str, fact: Stated, now: datetime) -> Entry:
        subject = fact.subject or subject_of(fact.text)
        return Entry(
            key=fact.text,
            text=fact.text,
            owner=owner,
            layer="semantic",
            category="conversation",
            subject=subject,
            session=session,
            created=now,
            updated=now,
            sources=fact.sources,
        )

    def _before(self, entry: Entry, new: dict[str, Entry]) -> list[Entry]:
        """What is kept of the same text or, in force, of the same subject."""
        ids = [entry_id(entry.owner, "semantic", entry.key)]
        latest = self._latest.get((entry.owner, entry.subject)) if entry.subject else None
        if latest is not None and latest not in ids:
            ids.append(latest)
        held = {e.id: e for e in self._vault.store.get(ids)}
        held.update((i, new[i]) for i in ids if i in new)
        return [held[i] for i in ids if i in held]

    def _know(self, owner: str) -> None:
        """Read once which facts of an owner are in force, for stores that were there before."""
        if owner in self._read:
            return
        self._read.add(owner)
        where = self._vault.where(owner, layers=("semantic",), owner=owner, superseded=False)
        for entry in self._vault.each(where):
            if entry.subject:
                self._latest[owner, entry.subject] = entry.id
