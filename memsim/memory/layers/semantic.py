"""Semantic memory: facts, each about a subject, of which the latest is in force.

A fact that is superseded is kept, with the instant until which it held, until it is purged or
forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.memory.acl import Where
from memsim.memory.entry import Entry, entry_id
from memsim.memory.layers.subject import subject_of
from memsim.memory.layers.succession import heirs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memsim.memory.acl import Permissions
    from memsim.memory.vault import Vault

_Ended = tuple[datetime, datetime, datetime, str, str]
"""When a fact was superseded, last stated and first stated, its id, and the message that states
what took its place."""


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
        self._ended: dict[tuple[str, str], dict[str, _Ended]] = {}
        self._versions: dict[tuple[str, str], set[str]] = {}
        self.restore()

    def restore(self) -> None:
        """Take from the store what is in force, and what took the place of what."""
        for known in (self._latest, self._live, self._ended, self._versions):
            known.clear()
        where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
        about: dict[tuple[str, str], list[Entry]] = {}
        for entry in sorted(self._vault.each(where), key=lambda e: (e.updated, e.created, e.id)):
            self._note(entry)
            if entry.subject:
                about.setdefault((entry.owner, entry.subject), []).append(entry)
        for versions in about.values():
            self._link(versions)

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
        again: set[str] = set()
        for fact in stated:
            entry = self._entry(owner, session, fact, now)
            for before in self._before(entry, {**old, **new}, latest):
                if before.text == entry.text:
                    sources = tuple(dict.fromkeys((*before.sources, *entry.sources)))
                    entry = replace(before, sources=sources, updated=now, superseded=None)
                    again.add(entry.subject)
                else:
                    gone = replace(before, superseded=now)
                    (new if before.id in new else old)[before.id] = gone
            new[entry.id] = self._permissions.apply(entry) if self._permissions else entry
            if entry.subject:
                latest[entry.subject] = entry.id
        old = {i: e for i, e in old.items() if i not in new}
        self._vault.put([*old.values(), *new.values()])
        for entry in new.values():
            self._note(entry)
        for gone in (*old.values(), *new.values()):
            heir = self._latest.get((owner, gone.subject))
            if gone.superseded is not None and heir in new:
                self._replaced(gone, new[heir])
        for subject in sorted(again - {""}):
            self._relink((owner, subject))
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
                self._say(entry, source, None)
            self._versions.get((entry.owner, entry.subject), set()).discard(entry.id)
        for about in sorted({(e.owner, e.subject) for e in entries if e.subject}):
            self._relink(about)

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

    def _note(self, entry: Entry) -> None:
        """Take in a fact as it stands in the store."""
        about = (entry.owner, entry.subject)
        if entry.subject:
            self._versions.setdefault(about, set()).add(entry.id)
        if entry.superseded is not None:
            return
        if entry.subject:
            self._latest[about] = entry.id
        for source in entry.sources:
            self._live.setdefault((entry.owner, source), set()).add(entry.id)
            self._say(entry, source, None)

    def _relink(self, about: tuple[str, str]) -> None:
        """What took the place of what has changed, where a fact is stated again or is gone."""
        versions = sorted(self._versions.get(about, ()))
        self._link(self._vault.store.get(versions))

    def _link(self, versions: Iterable[Entry]) -> None:
        for entry, heir in heirs(versions):
            self._replaced(entry, heir)

    def _replaced(self, entry: Entry, heir: Entry | None) -> None:
        assert entry.superseded is not None  # noqa: S101 - else nothing could have replaced it
        for source in entry.sources:
            self._live.get((entry.owner, source), set()).discard(entry.id)
            ended = None
            if heir is not None and heir.sources and source not in heir.sources:
                after = heir.sources[-1]
                ended = (entry.superseded, entry.updated, entry.created, entry.id, after)
            self._say(entry, source, ended)

    def _say(self, entry: Entry, source: str, ended: _Ended | None) -> None:
        """Of several facts that a message stated, the one that held longest has the last word."""
        about = (entry.owner, source)
        known = self._ended.setdefault(about, {})
        if ended is None:
            known.pop(entry.id, None)
        else:
            known[entry.id] = ended
        replaced = known and not self._live.get(about)
        self._succeed(*about, max(known.values())[-1] if replaced else None)
        if not known:
            del self._ended[about]
