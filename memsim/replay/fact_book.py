"""Track the planted facts: versions, owners, grants, and their place in each context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from memsim.context import Context, SectionName
from memsim.fast_dataclass import fast_init
from memsim.message import Message
from memsim.replay.original_messages import MessageSessions
from memsim.scenario.script import Fact, GrantEvent, Probe
from memsim.scenario.words import ValueSearch
from memsim.strategy import Event
from memsim.trace import Age, FactState, PlantedValue, Presence, Stop


@fast_init
@dataclass(frozen=True, slots=True)
class MessageAge:
    """When a message was said, in turns, tokens, sessions and time."""

    turn: int
    tokens: int
    session: int
    time: datetime


@fast_init
@dataclass(frozen=True, slots=True)
class FactSighting:
    """The section of a context in which a message, or a part of it, stands."""

    presence: Presence
    verbatim: bool


Sought = tuple[str, str | None]
"""A message's id, and a value that it states; None: the message, whatever it states."""


class Chronicle:
    """Times of the messages that a probe may ask for.

    Args:
        wanted: ids of the messages that probes name as evidence; others are remembered only when
            they plant a fact.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self._said: dict[str, MessageAge] = {}
        self._texts: dict[str, str] = {}
        self._session: str | None = None
        self.session_of = MessageSessions()
        self.messages = 0
        self.tokens = 0
        self.sessions = 0

    def hear(self, message: Message, tokens: int, *, planted: bool) -> None:
        """Note a message that was said."""
        self.messages += 1
        self.tokens += tokens
        self.session_of.add(message)
        if message.session != self._session:
            self._session = message.session
            self.sessions += 1
        if planted or message.id in self._wanted:
            said = MessageAge(message.turn, self.tokens, self.sessions, message.time)
            self._said[message.id] = said
            self._texts[message.id] = message.text

    def may_be_asked_for(self, source: str) -> bool:
        """Whether a probe may ask for that message: it plants a fact, or probes name it."""
        return source in self._said or source in self._wanted

    def when(self, source: str) -> MessageAge | None:
        """When that message was said; None when it has not been."""
        return self._said.get(source)

    def texts(self, sources: Iterable[str]) -> dict[str, str]:
        """Texts of those of these messages that have been said, by id."""
        return {source: self._texts[source] for source in sources if source in self._texts}

    def age(self, sources: Iterable[str], turn: int, now: datetime) -> Age | None:
        """How long ago the newest of these messages was said."""
        known = [said for s in sources if (said := self._said.get(s))]
        if not known:
            return None
        newest = max(known, key=lambda said: said.tokens)
        return Age(
            turns=turn - newest.turn,
            tokens=self.tokens - newest.tokens,
            sessions=self.sessions - newest.session,
            days=max(0, (now - newest.time).days),
        )


class FactBook:
    """The facts planted so far."""

    def __init__(self) -> None:
        self._versions: dict[str, list[Fact]] = {}
        self._replaced: dict[str, str] = {}
        self._granted: set[tuple[str, str, str]] = set()
        self._forgotten: set[str] = set()
        self._sources: dict[str, list[Fact]] = {}
        self._paths: dict[str, list[Stop]] = {}
        self._wanted = MessageSearch({})
        # What a turn may move: facts that are new or in a context, and those that a search finds.
        self._order: dict[str, int] = {}
        self._stated_by: dict[Sought, dict[str, None]] = {}
        self._unplaced: dict[str, None] = {}
        self._present: dict[str, None] = {}
        # Few facts are private or not to be remembered, and each question asks for those.
        self._private: set[str] = set()
        self._no_store: set[str] = set()

    def plant(self, fact: Fact) -> None:
        """Note a fact that was stated."""
        versions = self._versions.setdefault(fact.id, [])
        if versions:
            del self._stated_by[sought(versions[-1])][fact.id]
        else:
            self._order[fact.id] = len(self._order)
            self._unplaced[fact.id] = None
        versions.append(fact)
        self._stated_by.setdefault(sought(fact), {})[fact.id] = None
        self._private.update([fact.id] if fact.private else [])
        self._no_store.update([fact.id] if fact.no_store else [])
        if fact.replaces and fact.replaces != fact.id:
            self._replaced[fact.id] = fact.replaces
        self._sources.setdefault(fact.source, []).append(fact)
        self._forgotten.discard(fact.id)
        self._wanted.add(fact.source, _values(self._sources[fact.source]))

    def grant(self, granted: GrantEvent) -> None:
        """Grant a viewer facts, or revoke the grant."""
        keys = {(granted.owner, granted.viewer, f) for f in granted.facts}
        self._granted = self._granted - keys if granted.revoked else self._granted | keys

    def viewers(self, fact: Fact) -> tuple[str, ...]:
        """Principals who were granted the fact by its owner, sorted by name."""
        owned = (fact.principal, fact.id)
        return tuple(sorted(v for owner, v, name in self._granted if (owner, name) == owned))

    def forget(self, facts: Iterable[str]) -> None:
        """Expect these facts to be gone from now on."""
        self._forgotten.update(facts)

    def stated(self) -> tuple[str, ...]:
        """Ids of every message that has stated a value so far."""
        return tuple(s for s, facts in self._sources.items() if _values(facts))

    def sources(self, facts: Iterable[str], owner: str | None = None) -> tuple[str, ...]:
        """Ids of every message that stated any version of these facts, or of one's own messages."""
        versions = (f for name in facts for f in self._versions.get(name, ()))
        return tuple(f.source for f in versions if owner in {None, f.principal})

    def current(self, name: str) -> Fact | None:
        """The latest version of a fact."""
        versions = self._versions.get(name)
        return versions[-1] if versions else None

    def evidence(self, probe: Probe) -> tuple[tuple[str, str | None], ...]:
        """Message ids that hold the answer now, each with the fact it states."""
        if probe.evidence:
            return tuple((source, None) for source in probe.evidence)
        found = (self.current(name) for name in probe.facts)
        # What was not to be remembered is no evidence: nobody is to be given it.
        stated = (f for f in found if f and not self._is_barred(f))
        return tuple(dict.fromkeys((f.source, f.id) for f in stated))

    def stated_for(self, probe: Probe) -> tuple[str, ...]:
        """Ids of the probe's evidence, and of the messages that stated earlier values."""
        earlier = (f.source for name in probe.facts for f in self._lineage(name))
        return tuple(dict.fromkeys((*(source for source, _ in self.evidence(probe)), *earlier)))

    def superseded(self, probe: Probe) -> tuple[str, ...]:
        """Earlier values of the facts asked for, without the present value."""
        old: dict[str, None] = {}
        for name in probe.facts:
            versions = self._lineage(name)
            if versions:
                now = versions[-1].value
                old.update((f.value, None) for f in versions[:-1] if f.value != now)
        return tuple(old)

    def hidden(self, viewer: str) -> tuple[Fact, ...]:
        """Facts that a viewer may not see now.

        Other people's private ones, and those that were to be forgotten.
        """
        return tuple(
            fact
            for fact in self._versions_of(self._forgotten | self._private)
            if fact.id in self._forgotten or self._withheld(fact, viewer)
        )

    def _versions_of(self, names: AbstractSet[str]) -> Iterator[Fact]:
        """Every version of some facts, in the order in which these were first stated."""
        for name in sorted(names & self._order.keys(), key=self._order.__getitem__):
            yield from self._versions[name]

    def _withheld(self, fact: Fact, viewer: str) -> bool:
        mine = fact.principal == viewer or (fact.principal, viewer, fact.id) in self._granted
        return fact.private and not mine

    def _lineage(self, name: str) -> list[Fact]:
        earlier = self._replaced.get(name)
        before = self._lineage(earlier) if earlier else []
        return before + self._versions.get(name, [])

    def inventory(self) -> tuple[PlantedValue, ...]:
        """Every value planted so far, and whether it is in force."""
        versions = [fact for stated in self._versions.values() for fact in stated]
        return tuple(PlantedValue(fact, self._state(fact)) for fact in versions)

    def barred(self, probe: Probe, session: str) -> tuple[Fact, ...]:
        """Facts that may be known in a session only if the memory kept what it was not to keep.

        They were said in another session, with the request not to remember them.
        """
        return tuple(
            fact
            for fact in self._versions_of(self._no_store)
            if self._is_barred(fact) and (fact.session != session or fact.id in probe.facts)
        )

    def _is_barred(self, fact: Fact) -> bool:
        if not fact.no_store:
            return False
        stated = (f for versions in self._versions.values() for f in versions if not f.no_store)
        return fact.value not in {f.value for f in stated}

    def _state(self, fact: Fact) -> FactState:
        if self._is_barred(fact):
            return "no-store"
        if fact.contradicts:
            return "untrue"
        if fact.id in self._forgotten:
            return "forgotten"
        replaced = fact.id in self._replaced.values()
        latest = self._versions[fact.id][-1].value
        return "replaced" if replaced or fact.value != latest else "current"

    def track(self, context: Context, turn: int, events: tuple[Event, ...]) -> dict[str, Presence]:
        """Note where each fact is in a context; the facts that moved, with their new section."""
        if not self._sources:
            return {}
        seen = self._wanted.sightings(context)
        found = {name: None for part in seen for name in self._stated_by.get(part, ())}
        may_move = {**self._unplaced, **self._present, **found}
        moved: dict[str, Presence] = {}
        for name in sorted(may_move, key=self._order.__getitem__):
            latest = self._versions[name][-1]
            sighting = seen.get(sought(latest))
            presence: Presence = sighting.presence if sighting else "absent"
            path = self._paths.setdefault(name, [])
            if not path or path[-1].presence != presence:
                path.append(Stop(turn=turn, presence=presence, cause=_cause(latest, events)))
                moved[name] = presence
        self._unplaced.clear()
        self._present = found
        return moved

    def path(self, fact: str | None) -> tuple[Stop, ...]:
        """The sections that a fact was in, turn by turn."""
        return tuple(self._paths.get(fact, ())) if fact else ()

    def wanted(self, sources: Iterable[str]) -> MessageSearch:
        """Look for these messages, by the values that they state."""
        return MessageSearch({s: _values(self._sources.get(s, ())) for s in sources})


def _values(facts: Iterable[Fact]) -> tuple[str, ...]:
    # Of a statement the provenance decides: in a text made from it, it stands in other words.
    return tuple(f.value for f in facts if not f.statement)


def sought(fact: Fact) -> Sought:
    """What a context is searched for: the message that states a fact, with the value it gives."""
    return fact.source, None if fact.statement else fact.value


def _cause(fact: Fact, events: tuple[Event, ...]) -> str:
    return next((e.kind for e in events if fact.source in e.sources), "")


class MessageSearch:
    """Messages to look for in contexts.

    Args:
        values: message ids, each with the values that it states. Something that was made from a
            message holds it only if such a value stands in it; for a message without values its
            provenance alone decides. In a text without provenance the values alone decide.
    """

    def __init__(self, values: Mapping[str, tuple[str, ...]]) -> None:
        self._values = dict(values)
        self._with_values: tuple[str, ...] | None = None
        self._sought: ValueSearch | None = None
        self._found: tuple[str, frozenset[str]] = ("", frozenset())

    def add(self, source: str, values: tuple[str, ...]) -> None:
        """Look for one more message, or for other values of it."""
        self._values[source] = values
        self._with_values = None
        self._sought = None
        self._found = ("", frozenset())

    def _valued(self) -> tuple[str, ...]:
        """The messages that state values."""
        if self._with_values is None:
            self._with_values = tuple(source for source, stated in self._values.items() if stated)
        return self._with_values

    def sightings(self, context: Context) -> dict[Sought, FactSighting]:
        """The messages that are in a context, and where; each value that they state likewise."""
        seen: dict[Sought, FactSighting] = {}
        for section in context.sections:
            layer = presence_of(section.layer)
            for message in section.messages:
                if message.composed:
                    self._look(message, layer, seen)
                else:
                    whole = FactSighting(layer, verbatim=True)
                    seen.update(dict.fromkeys(self._parts(message.id), whole))
        return seen

    def _parts(self, source: str) -> tuple[Sought, ...]:
        """A message, and each value that it states, if it is looked for."""
        values = self._values.get(source)
        return () if values is None else ((source, None), *((source, v) for v in values))

    def _look(self, message: Message, layer: Presence, seen: dict[Sought, FactSighting]) -> None:
        quoted = FactSighting(layer, verbatim=True)
        for part in (part for source in message.quotes for part in self._parts(source)):
            if part not in seen or not seen[part].verbatim:
                seen[part] = quoted
        # A text that does not say what it was made from may be made from any of them.
        unnamed = () if message.quotes or message.derived_from else self._valued()
        for source in (*message.derived_from, *unnamed):
            for value in self._stated(message, source):
                # A part of a message holds the fact for certain only where its value is known.
                own = bool(self._values[source]) and source in message.excerpts
                seen.setdefault((source, value), FactSighting(layer, verbatim=own))

    def _stated(self, message: Message, source: str) -> tuple[str | None, ...]:
        """What a text made from a message holds of it; None is the message as such."""
        values = self._values.get(source)
        if not values:
            return () if values is None else (None,)
        said = self._said(message.text)
        there = tuple(value for value in values if value in said)
        return (None, *there) if there else ()

    def _said(self, text: str) -> frozenset[str]:
        # A summary stays the same for many turns, and is asked about for each of its sources.
        if self._sought is None:
            self._sought = ValueSearch(v for stated in self._values.values() for v in stated)
        if text != self._found[0]:
            self._found = (text, frozenset(self._sought.found(text)))
        return self._found[1]


def presence_of(layer: SectionName) -> Presence:
    """The section as a fact's place; the question itself counts as absent."""
    return "absent" if layer == "query" else layer
