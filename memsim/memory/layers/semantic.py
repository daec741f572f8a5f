"""Semantic memory: facts, each about a subject, of which the one that was said last is in force.

A fact that is superseded is kept, with the instants between which it held, until it is purged or
forgotten. What was so, was not, and is so again has a version for each time.

Facts are not searched, and no context quotes them. They steer what is recalled: a message of which
no fact is in force any more gives way to the one that states what took its place. What people said
is quoted in their own words.

Facts are their owner's, whoever else was there when they were stated: what somebody says in one
conversation supersedes what they said in another, and who heard but the other is not to know.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from memsim.language.text import fold, split_head, stem, words
from memsim.memory.entry import Entry
from memsim.memory.permissions import Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memsim.memory.stores import Store
    from memsim.memory.vault import Vault


# What a stated fact is about, so that a later one about the same supersedes it.


MOST_WORDS = 6
"""Words of a subject at most; longer ones are told apart by chance."""

_IS = re.compile(
    r"^(?:(?:actually|now|by the way|update|correction|so|and|also|from now on)[,:]?\s+)*"
    r"(?P<about>(?:my|our|the|his|her|their|[a-z][\w-]*['\u2019]s)\s[^.,;:!?]{2,60}?)"
    r"\s(?:is|are|was|were|will be|has been|ends in|costs|starts|begins)\b",
    re.IGNORECASE,
)
_LEAD = r"^(?:(?:[Aa]ctually|[Nn]ow|[Ss]o|[Aa]nd|[Aa]lso|[Bb]y the way)[,:]?\s+)*"
_SELF = {
    # One lives, and works, in one place at a time; a name tells it from a way of living.
    "home": re.compile(
        _LEAD + r"(?:I|We)(?:(?:['\u2019]m|['\u2019]re| am| are)? (?:now |currently )?"
        r"(?:live|living) in|(?:['\u2019]ve| have)? (?:just |recently )?moved to) [A-Z]"
    ),
    "work": re.compile(
        _LEAD + r"(?:I|We)(?:['\u2019]m|['\u2019]re| am| are)? (?:now |currently )?"
        r"(?:work|working) (?:at|for) [A-Z]"
    ),
}
_DROPPED = frozenset(
    {"new", "old", "now", "current", "name", "exact", "only", "own", "actual", "next", "other"}
)


def subject_of(line: str) -> str:
    """The subject of a fact's line; empty where it is not plain."""
    said, who, _ = split_head(line)
    said = said.strip()
    match = _IS.match(said)
    if match is None:
        way = next((name for name, said_so in _SELF.items() if said_so.match(said)), "")
        return way and f"{fold(who)} i {way}".strip()
    about = [w.removesuffix("'s") for w in words(fold(match["about"]).replace("\u2019", "'"))]
    kept = [stem(w) for w in about if w not in _DROPPED]
    if len(kept) < 2 or len(kept) > MOST_WORDS:
        return ""
    return " ".join((fold(who), *kept)).strip()


# Which version of a fact held when: read off the times at which it was stated.


_FOREVER = datetime.max.replace(tzinfo=UTC)


class _Held(NamedTuple):
    begun: datetime
    until: datetime
    id: str


class FactVersions:
    """The versions of one fact in the order in which they held, by their ids."""

    def __init__(self) -> None:
        self._held: list[_Held] = []
        self._of: dict[str, _Held] = {}

    def __iter__(self) -> Iterator[str]:
        return (held.id for held in self._held)

    def copy(self) -> FactVersions:
        """Another that changes by itself."""
        other = FactVersions()
        other._held, other._of = self._held.copy(), self._of.copy()
        return other

    def put(self, entry: Entry) -> None:
        """Take in a version as it stands now."""
        self.drop(entry.id)
        held = self._of[entry.id] = _Held(entry.created, entry.superseded or _FOREVER, entry.id)
        insort(self._held, held)

    def drop(self, entry: str) -> None:
        """A version is gone."""
        held = self._of.pop(entry, None)
        if held is not None:
            del self._held[bisect_left(self._held, held)]

    def around(self, moment: datetime) -> tuple[str | None, str | None]:
        """The version that began last by a moment, and the one that began next."""
        place = bisect_right(self._held, moment, key=lambda held: held.begun)
        return (
            self._held[place - 1].id if place else None,
            self._held[place].id if place < len(self._held) else None,
        )


def version_key(text: str, begun: datetime) -> str:
    """What a version of a fact is kept under: what was so twice held at two times."""
    return f"{text}\n{begun.isoformat()}"


def placed(fact: Entry, before: Entry | None, after: Entry | None) -> list[Entry]:
    """What changes where a fact is stated, in the order in which it held; the fact is among it.

    A fact that is stated late takes the place that it had: it ends when the next one began. Where
    the version that held before it and after it is one, that one is parted in two.
    """
    moment = fact.created
    if before is None or not _holds(before, moment):
        return [replace(fact, superseded=after.created if after else None)]
    if before.text == fact.text:
        return [restated(before, fact)]
    ended = replace(before, superseded=moment)
    if not moment < before.updated < (before.superseded or _FOREVER):
        return [ended, replace(fact, superseded=before.superseded)]
    again = before.updated
    return [
        replace(ended, updated=before.created),
        replace(fact, superseded=again),
        replace(before, key=version_key(before.text, again), created=again),
    ]


def restated(before: Entry, fact: Entry) -> Entry:
    """A version of a fact that has been stated once more, perhaps earlier than it was known."""
    late = fact.updated < before.updated
    both = (*fact.sources, *before.sources) if late else (*before.sources, *fact.sources)
    return replace(
        before,
        sources=tuple(dict.fromkeys(both)),
        created=min(before.created, fact.created),
        updated=max(before.updated, fact.updated),
    )


def heirs(versions: Iterable[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Each version of a fact that is superseded, with the one that came in its place, if any does.

    That is the one that held when it no longer did, or where that is gone, the next that was
    stated. A version that only others after it made obsolete has that one for its heir, and not the
    last of all: should the last one be forgotten, it is still known which came before which.
    """
    ordered = sorted(versions, key=lambda entry: (entry.created, entry.id))
    begun = [entry.created for entry in ordered]
    for entry in ordered:
        if entry.superseded is not None:
            yield entry, _heir(entry, entry.superseded, ordered, begun)


def _heir(
    entry: Entry, until: datetime, ordered: Sequence[Entry], begun: Sequence[datetime]
) -> Entry | None:
    after = bisect_right(begun, until)
    for other in reversed(ordered[:after]):
        if _holds(other, until) and other.id != entry.id:
            return other
    return ordered[after] if after < len(ordered) else None


def _holds(version: Entry, moment: datetime) -> bool:
    """Whether a version that has begun holds still."""
    return version.superseded is None or version.superseded > moment


_Ended = tuple[datetime, datetime, datetime, str, str]
"""When a fact was superseded, last stated and first stated, its id, and the message that states
what took its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStatement:
    """A fact as it was stated."""

    text: str
    sources: tuple[str, ...]
    time: datetime
    subject: str = ""


class Semantic:
    """The semantic layer.

    `succeed` takes an owner, a message of theirs of which nothing is in force any more, and the
    message that states its successor.
    """

    def __init__(
        self,
        vault: Vault,
        succeed: Callable[[str, str, str | None], None] = lambda _owner, _old, _new: None,
    ) -> None:
        self._vault = vault
        self._succeed = succeed
        self._live: dict[tuple[str, str], set[str]] = {}
        self._ended: dict[tuple[str, str], dict[str, _Ended]] = {}
        self._versions: dict[tuple[str, str], FactVersions] = {}
        self.restore()

    def restore(self) -> None:
        """Take from the store what is in force, and what took the place of what."""
        for known in (self._live, self._ended, self._versions):
            known.clear()
        where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
        about: dict[tuple[str, str], list[Entry]] = {}
        for entry in self._vault.each(where):
            self._note(entry)
            if entry.subject:
                about.setdefault((entry.owner, entry.subject), []).append(entry)
        for versions in about.values():
            self._link(versions)

    def record(
        self, owner: str, session: str, stated: Sequence[FactStatement]
    ) -> tuple[list[Entry], list[Entry]]:
        """Keep facts, each in force from when it was said until the next of its subject was.

        What is stated late, and was said before what is in force, is history. Returns the facts
        that are new or have been stated anew, and those that are in force no more. Raises
        `StoreError` if the store failed; nothing has changed.
        """
        draft = _Draft(self._vault.store, self._versions)
        for fact in sorted(stated, key=lambda fact: fact.time):
            draft.state(self._entry(owner, session, fact))
        # Versions that are there already may have readers: an older version opened them.
        self._vault.put([entry.shared_with() for entry in draft.written.values()])
        self._versions.update(draft.versions)
        for entry in draft.written.values():
            self._note(entry)
        for old, new in draft.gave_way:
            gone = draft.written[old]
            if (owner, gone.subject) not in draft.mixed:
                self._replaced(gone, draft.written[new])
        for about in sorted(draft.mixed):
            self._relink(about)
        return draft.new(), draft.old()

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
        for entry in entries:
            for source in entry.sources:
                self._live.get((entry.owner, source), set()).discard(entry.id)
                self._say(entry, source, None)
            self._versions.get((entry.owner, entry.subject), FactVersions()).drop(entry.id)
        for about in sorted({(e.owner, e.subject) for e in entries if e.subject}):
            self._relink(about)

    def free(self, owner: str, sources: Iterable[str]) -> None:
        """Note that messages are gone, and others may have their ids, whatever they stated."""
        for source in sources:
            self._live.pop((owner, source), None)
            self._ended.pop((owner, source), None)

    def _entry(self, owner: str, session: str, fact: FactStatement) -> Entry:
        subject = fact.subject or subject_of(fact.text)
        return Entry(
            key=version_key(fact.text, fact.time) if subject else fact.text,
            text=fact.text,
            owner=owner,
            layer="semantic",
            category="conversation",
            subject=subject,
            session=session,
            created=fact.time,
            updated=fact.time,
            sources=fact.sources,
        )

    def _note(self, entry: Entry) -> None:
        """Take in a fact as it stands in the store."""
        if entry.subject:
            about = (entry.owner, entry.subject)
            self._versions.setdefault(about, FactVersions()).put(entry)
        if entry.superseded is not None:
            return
        for source in entry.sources:
            self._live.setdefault((entry.owner, source), set()).add(entry.id)
            self._say(entry, source, None)

    def _relink(self, about: tuple[str, str]) -> None:
        """What took the place of what has changed, where a fact is stated again or is gone."""
        self._link(self._vault.store.get([*self._versions.get(about, ())]))

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


class _Draft:
    """What facts that are stated change, before any of it is written."""

    def __init__(self, store: Store, known: Mapping[tuple[str, str], FactVersions]) -> None:
        self._store, self._known = store, known
        self._found: dict[str, Entry] = {}
        self._new: dict[str, None] = {}
        self.written: dict[str, Entry] = {}
        self.versions: dict[tuple[str, str], FactVersions] = {}
        self.gave_way: list[tuple[str, str]] = []
        self.mixed: set[tuple[str, str]] = set()

    def state(self, fact: Entry) -> None:
        """A fact is stated."""
        if not fact.subject:
            [same] = self._get(fact.id)
            self._put([restated(same, fact) if same else fact])
            return
        about = (fact.owner, fact.subject)
        if about not in self.versions:
            self.versions[about] = self._known.get(about, FactVersions()).copy()
        versions = self.versions[about]
        before, after, same = self._get(*versions.around(fact.created), fact.id)
        if same is not None and same != before:
            fact = restated(same, fact)
        changes = placed(fact, before, after)
        if before and before.superseded is None and same is None and len(changes) == 2:
            self.gave_way.append((before.id, fact.id))
        elif before is not None or after is not None:
            self.mixed.add(about)
        for entry in changes:
            versions.put(entry)
        self.written.update((e.id, e) for e in changes[:-1])
        self._put(changes[1:] or changes)

    def new(self) -> list[Entry]:
        """What was stated."""
        return [self.written[name] for name in self._new]

    def old(self) -> list[Entry]:
        """What was in force, and is no more."""
        holding = {(e.subject, e.text) for e in self.written.values() if e.superseded is None}
        return [
            entry
            for entry in self.written.values()
            if entry.superseded is not None
            and (entry.subject, entry.text) not in holding
            and (found := self._found.get(entry.id)) is not None
            and found.superseded is None
        ]

    def _put(self, entries: Sequence[Entry]) -> None:
        self.written.update((e.id, e) for e in entries)
        self._new.update(dict.fromkeys(e.id for e in entries))

    def _get(self, *names: str | None) -> list[Entry | None]:
        unknown = [n for n in names if n and n not in self.written and n not in self._found]
        self._found.update((e.id, e) for e in self._store.get(unknown))
        return [self.written.get(n) or self._found.get(n) if n else None for n in names]
