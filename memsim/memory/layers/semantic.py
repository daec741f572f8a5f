"""Semantic memory: facts, each about a subject, of which the latest is in force.

A fact that is superseded is kept, with the instant until which it held, until it is purged or
forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.memory.acl import Where
from memsim.memory.entry import Entry, entry_id
from memsim.memory.layers.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
        succeed: is told of an owner, of a message of theirs of which nothing is in force any more,
            and of the message that states what took its place.
    """

    def __init__(
        self,
        vault: Vault,
        permissions: Permissions | None,
        succeed: Callable[[str, str, str | None], None] = lambda _owner, _old, _new: None,
    ) -> None:
        self._vault = vault
        self._permissions = permissions
        self._succeed = succeed
        self._latest: dict[tuple[str, str], str] = {}
        self._live: dict[tuple[str, str], set[str]] = {}
        self.restore()

    def restore(self) -> None:
        """Take from the store what is in force, and what took the place of what."""
        self._latest.clear()
        self._live.clear()
        where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
        entries = sorted(self._vault.each(where), key=lambda e: (e.updated, e.created, e.id))
        heirs = {(e.owner, e.subject): e for e in entries if e.superseded is None and e.subject}
        self._latest.update((about, e.id) for about, e in heirs.items())
        for entry in entries:
            if entry.superseded is None:
                self._keep(entry)
        for entry in entries:
            heir = heirs.get((entry.owner, entry.subject))
            if entry.superseded is not None and heir is not None:
                self._replaced(entry, heir)

    def record(
        self, owner: str, session: str, stated: Sequence[Stated], now: datetime
    ) -> tuple[list[Entry], list[Entry]]:
        """Keep facts in the order in which they were stated.

        Returns:
            The facts that are new, and those that they supersede.
        """
        new: dict[str, Entry] = {}
        old: dict[str, Entry] = {}
        latest: dict[str, str] = {}
        for fact in stated:
            entry = self._entry(owner, session, fact, now)
            for before in self._before(entry, {**old, **new}, latest):
                if before.text == entry.text:
                    sources = tuple(dict.fromkeys((*before.sources, *entry.sources)))
                    entry = replace(before, sources=sources, updated=now, superseded=None)
                else:
                    gone = replace(before, superseded=now)
                    (new if before.id in new else old)[before.id] = gone
            new[entry.id] = self._permissions.apply(entry) if self._permissions else entry
            if entry.subject:
                latest[entry.subject] = entry.id
        old = {i: e for i, e in old.items() if i not in new}
        self._vault.put([*old.values(), *new.values()])
        self._latest.update({(owner, subject): i for subject, i in latest.items()})
        for entry in new.values():
            if entry.superseded is None:
                self._keep(entry)
        for gone in (*old.values(), *new.values()):
            heir = self._latest.get((owner, gone.subject))
            if gone.superseded is not None and heir in new:
                self._replaced(gone, new[heir])
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
        for entry in entries:
            for source in entry.sources:
                self._live.get((entry.owner, source), set()).discard(entry.id)

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

    def _before(self, entry: Entry, new: dict[str, Entry], latest: dict[str, str]) -> list[Entry]:
        """What is kept of the same text or, in force, of the same subject."""
        ids = [entry_id(entry.owner, "semantic", entry.key)]
        last = latest.get(entry.subject) or self._latest.get((entry.owner, entry.subject))
        if entry.subject and last is not None and last not in ids:
            ids.append(last)
        held = {e.id: e for e in self._vault.store.get(ids)}
        held.update((i, new[i]) for i in ids if i in new)
        return [held[i] for i in ids if i in held]

    def _keep(self, entry: Entry) -> None:
        for source in entry.sources:
            self._live.setdefault((entry.owner, source), set()).add(entry.id)
            self._succeed(entry.owner, source, None)

    def _replaced(self, entry: Entry, heir: Entry) -> None:
        for source in entry.sources:
            live = self._live.get((entry.owner, source), set())
            live.discard(entry.id)
            if not live and heir.sources and source not in heir.sources:
                self._succeed(entry.owner, source, heir.sources[-1])
