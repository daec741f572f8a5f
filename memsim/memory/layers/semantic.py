"""Semantic memory: facts, each about a subject, of which the one that was said last is in force.

A fact that is superseded is kept, with the instants between which it held, until it is purged or
forgotten. What was so, was not, and is so again has a version for each time.

Facts steer what is recalled: a message of which no fact is in force any more gives way to the one
that states what took its place. A message of which a part has changed is recalled together with
the one that states the change.

A statement replaces the latest fact of its subject, if its subject is plain, as in `my desk is 4A`.
Otherwise `FactMatcher` finds the fact that it replaces. Both then have one subject, a number that
says nothing of either.

A statement that something is as it was before, or at first, brings that version back.

Facts are their owner's, whoever else was there when they were stated: what somebody says in one
conversation supersedes what they said in another, and who heard but the other is not to know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, Protocol

from memsim.errors import ModelError, StoreError
from memsim.language.change_cues import points_back
from memsim.memory.entry import Entry
from memsim.memory.layers.entry_outline import EntryOutline, PlainFacts
from memsim.memory.layers.fact_links import AMENDED, AMENDS, NUMBERED, REVALUES, FactLinks, linked
from memsim.memory.layers.fact_matcher import GIVEN_SUBJECT, FactMatcher, can_be_replaced
from memsim.memory.layers.fact_returns import (
    RETURNED,
    ReturnedFacts,
    earlier_version,
    returning,
    said_text,
)
from memsim.memory.layers.fact_subject import subject_of
from memsim.memory.layers.fact_versions import (
    FactVersions,
    heirs,
    placed,
    restated,
    version_key,
)
from memsim.memory.layers.live_facts import LiveFacts
from memsim.memory.permissions import Where

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memsim.memory.stores import Store
    from memsim.memory.vault import Vault


_Ended = tuple[datetime, datetime, datetime, str, str]
"""When a fact was superseded, last stated and first stated, its id, and the message that states
what took its place."""


REWORDED: Final = ("words", "new")
"""The attribute of a fact whose words are in no message: it is quoted itself."""


VALUED: Final = ("replaces", "value")
"""The attribute of a fact that gives another exact value than the one that it replaces, or ends it
by its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStatement:
    """A fact as it was stated.

    With a `subject`, it replaces the latest fact of the same subject, and no other. It is
    `reworded` where its words are in no message.
    """

    text: str
    sources: tuple[str, ...]
    time: datetime
    subject: str = ""
    reworded: bool = False


class FactListener(Protocol):
    """Is told what facts say of the messages that state them, each by its owner and its id."""

    def state(self, fact: str, owner: str, source: str | None) -> None:
        """Which message states a fact; None for none."""

    def state_all(self, owner: str, stated: Mapping[str, str]) -> None:
        """Which message states each of several facts of an owner."""

    def succeed(self, owner: str, source: str, successor: str | None) -> None:
        """Nothing of what a message stated is in force any more; another states its successor."""

    def amend(self, owner: str, source: str, changes: Sequence[str], stale: Sequence[str]) -> None:
        """A part of what a message stated has changed, and a part does not hold any more.

        `changes` and `stale` are the messages that say so.
        """


class Semantic:
    """The semantic layer.

    `listener` is told what facts say of the messages that state them.
    """

    def __init__(self, vault: Vault, listener: FactListener) -> None:
        self._vault = vault
        self._listener = listener
        self._links = FactLinks(self._tell)
        self._matcher = FactMatcher(vault.embed, vault.store.get)
        self._returned = ReturnedFacts()
        self._live = LiveFacts()
        self._ended: dict[tuple[str, str], dict[str, _Ended]] = {}
        self._versions: dict[tuple[str, str], FactVersions] = {}

    def restore(self, facts: Iterable[Entry] | None = None) -> None:
        """Take over what is in force, and what took the place of what.

        `facts` are all facts of the store, in its order; None reads them.
        """
        self.clear()
        if facts is None:
            where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
            facts = self._vault.each(where)
        self.bring(facts)

    def clear(self) -> None:
        """Know no facts."""
        known = self._live, self._ended, self._versions
        for one in (*known, self._links, self._matcher, self._returned):
            one.clear()

    def bring(self, facts: Iterable[Entry | EntryOutline | PlainFacts]) -> None:
        """Take in all facts of some owners, in the order of the store; none is known yet.

        Their words are read when a change is next announced.
        """
        about: dict[tuple[str, str], list[Entry | EntryOutline]] = {}
        changed: set[tuple[str, str]] = set()
        for entry in facts:
            if isinstance(entry, PlainFacts):
                self._bring_plain(entry)
                continue
            if can_be_replaced(entry):
                self._matcher.wait(entry.owner, [entry.id])
            self._place(entry)
            if entry.subject:
                of = (entry.owner, entry.subject)
                about.setdefault(of, []).append(entry)
                if entry.superseded is not None:
                    changed.add(of)
        for of, versions in about.items():
            if of in changed:
                self._link(versions)

    def _bring_plain(self, facts: PlainFacts) -> None:
        """As `bring`, of plain facts."""
        self._matcher.wait(facts.owner, facts.ids)
        said = zip(facts.ids, facts.sources, strict=True)
        self._listener.state_all(facts.owner, {name: of[-1] for name, of in said if of})
        self._live.put_all(facts.owner, facts.ids, facts.sources)

    def _place(self, entry: Entry | EntryOutline, told: Sequence[str] | None = None) -> None:
        """Note which message states a fact, and where it stands among others.

        `told` are the messages that it is not yet known to be from; None for all.
        """
        if entry.subject or entry.attributes:
            self._links.put(entry)
        said = entry.sources and REWORDED not in entry.attributes
        self._listener.state(entry.id, entry.owner, entry.sources[-1] if said else None)
        if entry.subject:
            about = (entry.owner, entry.subject)
            self._versions.setdefault(about, FactVersions()).put(entry)
        if entry.superseded is None:
            self._live.put(entry, entry.sources if told is None else told)
        for source in self._returned.put(entry) if entry.attributes else ():
            self._tell(entry.owner, source)

    def record(
        self, owner: str, session: str, stated: Sequence[FactStatement]
    ) -> tuple[list[Entry], list[Entry]]:
        """Keep facts, each in force from when it was said until the next of its subject was.

        What is stated late, and was said before what is in force, is history. Returns the facts
        that are new or have been stated anew, and those that are in force no more. Raises
        `StoreError` if the store failed; nothing has changed.
        """
        draft = _Draft(self._vault.store, self._versions, self._links)
        try:
            for said in _by_message(sorted(stated, key=lambda fact: fact.time)):
                for fact in (fact for fact in said if fact.subject):
                    draft.state(self._entry(owner, session, fact))
                spoken = (fact for fact in said if not fact.subject)
                self._state(draft, [self._entry(owner, session, fact) for fact in spoken])
            # Versions that are there already may have readers: an older version opened them.
            self._vault.put([entry.shared_with() for entry in draft.written.values()])
        except (StoreError, ModelError):
            draft.restore(self._matcher)
            raise
        self._matcher.written()
        self._versions.update(draft.versions)
        for entry in draft.written.values():
            self._note(entry, draft.before(entry.id))
        for old, new in draft.gave_way:
            gone = draft.written[old]
            if (owner, gone.subject) not in draft.mixed:
                self._replaced(gone, draft.written[new])
        for about in sorted(draft.mixed):
            self._relink(about)
        return draft.new(), draft.old()

    def _state(self, draft: _Draft, said: Iterable[Entry]) -> None:
        """Take in the statements of one message, with what they replace."""
        entries = self._brought_back(draft, [*map(draft.reopened, said)])
        places = {entry.id: place for place, entry in enumerate(entries)}
        matches = self._matcher.replaced(entries)
        # A fact whose subject is plain comes first: the others of its message then join it.
        for match in sorted(matches, key=lambda match: not draft.subject(match.old)):
            place = places[match.new]
            if match.part:
                side = REVALUES if match.value else AMENDS
                entries[place] = draft.amended(match.old, entries[place], side)
            else:
                entries[place] = draft.followed(match.old, entries[place], value=match.value)
        for entry in entries:
            draft.state(entry)
        for entry in draft.written.values():
            self._matcher.put(entry)

    def _brought_back(self, draft: _Draft, stated: list[Entry]) -> list[Entry]:
        """The statements of a message, with those that bring something back as what they bring.

        What holds already is stated no more, nor is what says only that something is as before.
        """
        found: list[Entry | None] = [*stated]
        for place, kind, thing in returning(stated):
            said = stated[place]
            named = self._matcher.about(said, thing) if thing else self._last_change(draft, said)
            earlier = earlier_version(said, kind, draft.versions_of(named))
            if earlier is not None:
                found[place] = draft.back(said, *earlier) if earlier.undone else None
            elif not thing:
                found[place] = None
        return [entry for entry in found if entry is not None]

    def _last_change(self, draft: _Draft, said: Entry) -> list[str]:
        """The fact in force that replaced another one last in the conversation of a statement.

        None where the statement does not speak of what was said before it.
        """
        if not points_back(said_text(said)):
            return []
        changed = (
            one.id
            for one in draft.facts(self._matcher.latest(said))
            if one.session == said.session and len(draft.versions_of([one.id])) > 1
        )
        return [*islice(changed, 1)]

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
            self._matcher.remove(entry)
            self._links.remove(entry)
            self._returned.remove(entry)
            self._listener.state(entry.id, entry.owner, None)
            self._live.remove(entry)
            for source in entry.sources:
                self._say(entry, source, None)
            self._versions.get((entry.owner, entry.subject), FactVersions()).drop(entry.id)
        for about in sorted({(e.owner, e.subject) for e in entries if e.subject}):
            self._relink(about)

    def free(self, owner: str, sources: Collection[str]) -> None:
        """Note that messages are gone, and others may have their ids, whatever they stated."""
        self._live.free(owner, sources)
        for source in sources:
            self._ended.pop((owner, source), None)
        self._links.free(owner, sources)
        self._returned.free(owner, sources)

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
            attributes=(
                *((GIVEN_SUBJECT,) if fact.subject else ()),
                *((REWORDED,) if fact.reworded else ()),
            ),
        )

    def _note(self, entry: Entry, before: Entry | None) -> None:
        """Take in a fact as it stands in the store, and as it stood there before, if it did."""
        self._matcher.put(entry)
        told = _told(entry, before)
        self._place(entry, told)
        for source in told if entry.superseded is None else ():
            self._say(entry, source, None)

    def _relink(self, about: tuple[str, str]) -> None:
        """What took the place of what has changed, where a fact is stated again or is gone."""
        self._link(self._vault.store.get([*self._versions.get(about, ())]))

    def _link(self, versions: Iterable[Entry | EntryOutline]) -> None:
        for entry, heir in heirs(versions):
            self._replaced(entry, heir)

    def _replaced(self, entry: Entry | EntryOutline, heir: Entry | EntryOutline | None) -> None:
        assert entry.superseded is not None  # noqa: S101 - else nothing could have replaced it
        for source in entry.sources:
            self._live.end(entry, source)
            ended = None
            again = self._returned.holds(entry.owner, source, entry.subject)
            if heir is not None and _is_sure(heir) and source not in heir.sources and not again:
                after = heir.sources[-1]
                ended = (entry.superseded, entry.updated, entry.created, entry.id, after)
            self._say(entry, source, ended)

    def _say(self, entry: Entry | EntryOutline, source: str, ended: _Ended | None) -> None:
        """Of several facts that a message stated, the one that held longest has the last word."""
        about = (entry.owner, source)
        known = self._ended.setdefault(about, {})
        if ended is None:
            known.pop(entry.id, None)
        else:
            known[entry.id] = ended
        replaced = known and not self._live.states(*about)
        self._listener.succeed(*about, max(known.values())[-1] if replaced else None)
        if not known:
            del self._ended[about]
        self._tell(*about)

    def _tell(self, owner: str, source: str) -> None:
        """Say which messages changed a part of what a message states."""
        # What is only near in meaning may be wrong: it neither brings anything up, nor marks it.
        changes = dict.fromkeys(self._links.changes(owner, source, (REVALUES,)))
        stale = dict(changes)
        if self._live.states(owner, source):
            ended = self._ended.get((owner, source), {})
            stale |= dict.fromkeys(after for *_, after in sorted(ended.values()))
        together = dict.fromkeys((*changes, *self._returned.partners(owner, source)))
        self._listener.amend(owner, source, tuple(together), tuple(stale))


def _told(entry: Entry, before: Entry | None) -> Sequence[str]:
    """The messages that a fact is from, without those it was known to be from.

    What is said again and again has thousands.
    """
    if before is None or (before.superseded, before.subject, before.attributes) != (
        entry.superseded,
        entry.subject,
        entry.attributes,
    ):
        return entry.sources
    known = len(before.sources)
    if entry.sources[:known] == before.sources:
        return entry.sources[known:]
    there = {*before.sources}
    return [source for source in entry.sources if source not in there]


def _is_sure(heir: Entry | EntryOutline) -> bool:
    """Whether a fact took the place of another by its subject or an exact value, and of a message.

    What was matched by meaning alone may be wrong. Its message then does not give way.
    """
    numbered = heir.subject.startswith(NUMBERED)
    return bool(heir.sources) and (not numbered or VALUED in heir.attributes)


def _by_message(stated: Iterable[FactStatement]) -> Iterator[list[FactStatement]]:
    """The facts of each message, in their order."""
    for _, said in groupby(stated, key=lambda fact: (fact.time, fact.sources[-1:])):
        yield [*said]


class _Draft:
    """What facts that are stated change, before any of it is written."""

    def __init__(
        self, store: Store, known: Mapping[tuple[str, str], FactVersions], links: FactLinks
    ) -> None:
        self._store, self._known, self._links = store, known, links
        self._found: dict[str, Entry] = {}
        self._new: dict[str, None] = {}
        self.written: dict[str, Entry] = {}
        self.versions: dict[tuple[str, str], FactVersions] = {}
        self.gave_way: list[tuple[str, str]] = []
        self.mixed: set[tuple[str, str]] = set()
        self._joined: set[tuple[str, str]] = set()

    def reopened(self, fact: Entry) -> Entry:
        """A fact that is stated; where it was superseded before, as another version of it."""
        if fact.subject:
            return fact
        [same] = self._get(fact.id)
        if same is None or not same.subject:
            return fact
        key = version_key(fact.text, fact.created)
        return replace(fact, key=key, subject=same.subject)

    def versions_of(self, facts: Sequence[str]) -> list[Entry]:
        """Facts, with the other versions of each."""
        found = self.facts(facts)
        about = dict.fromkeys((one.owner, one.subject) for one in found if one.subject)
        others = self.facts([name for of in about for name in self._versions(of)])
        return [*{one.id: one for one in (*found, *others)}.values()]

    def facts(self, names: Sequence[str]) -> list[Entry]:
        """Facts as they stand now, but for those that are gone."""
        return [one for one in self._get(*names) if one is not None]

    def back(self, said: Entry, meant: Entry, undone: Sequence[Entry]) -> Entry:
        """A statement that brings an earlier one back, as a version with the words of that."""
        stated = meant.sources[1:] if RETURNED in meant.attributes else meant.sources
        new = replace(
            said,
            text=meant.text,
            subject=meant.subject or said.subject,
            sources=tuple(dict.fromkeys((*said.sources, *stated))),
            attributes=(*(a for a in meant.attributes if a == REWORDED), RETURNED),
        )
        # A fact whose subject is plain comes first: the others then join it.
        for old in sorted(undone, key=lambda one: (one.subject != new.subject, not one.subject)):
            new = self.followed(old.id, new, value=True)
        return new

    def subject(self, fact: str) -> str:
        """What a fact is about, as it stands now; empty where that is not plain."""
        [found] = self._get(fact)
        return found.subject if found else ""

    def followed(self, old: str, new: Entry, *, value: bool) -> Entry:
        """A statement that replaces a fact, as another version of it."""
        [before] = self._get(old)
        if before is None or before.superseded is not None:
            return new
        joined = (new.owner, new.subject) in self._joined
        if joined and before.subject not in {"", new.subject}:
            return self.amended(old, new, REVALUES)
        subject = new.subject if joined else before.subject or self._links.number(new.owner)
        self._joined.add((new.owner, subject))
        ended = replace(before, subject=subject, superseded=new.created)
        self._versions((new.owner, subject)).put(ended)
        self.written[ended.id] = ended
        marks = {*new.attributes, VALUED} if value else new.attributes
        key = version_key(new.text, new.created)
        return replace(new, key=key, subject=subject, attributes=tuple(marks))

    def amended(self, old: str, new: Entry, side: str) -> Entry:
        """A statement that changes a part of a fact, with a link between the two."""
        [before] = self._get(old)
        if before is None:
            return new
        number = self._links.number(new.owner)
        self.written[before.id] = linked(before, AMENDED, number)
        return linked(new, side, number)

    def restore(self, matcher: FactMatcher) -> None:
        """Take out of a matcher what was not written after all."""
        for entry in self.written.values():
            matcher.remove(entry)
        for entry in self._found.values():
            matcher.put(entry)

    def state(self, fact: Entry) -> None:
        """A fact is stated."""
        if not fact.subject:
            [same] = self._get(fact.id)
            self._put([restated(same, fact) if same else fact])
            return
        about = (fact.owner, fact.subject)
        versions = self._versions(about)
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

    def _versions(self, about: tuple[str, str]) -> FactVersions:
        if about not in self.versions:
            self.versions[about] = self._known.get(about, FactVersions()).copy()
        return self.versions[about]

    def before(self, fact: str) -> Entry | None:
        """A fact as it stood in the store."""
        return self._found.get(fact)

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
