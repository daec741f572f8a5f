"""Judge what a memory wrote: which entries of its store are right, stale, invented or doubled.

An entry is a text that `surfaces` shows in a tier of the store. It has one of these kinds:

===========  =====================================================================================
kind         the entry
===========  =====================================================================================
`barred`     states a value that was not to be remembered (`no_store`)
`stale`      states, as in force, a value that was replaced or was to be forgotten, and not the
             present value
`right`      states a planted value that is in force, or one of the past as history
`invented`   states something that nobody said, or that was said to be not so
`unplanted`  states something that was said and that the script does not plant
===========  =====================================================================================

A message that is stored in its own words is never `invented`. A planted value that is a sentence
counts as stated as `memsim.scoring.statement_search` says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from memsim.language.anchors import anchors
from memsim.language.lexicon import STOP
from memsim.scenario.words import ValueSearch, words
from memsim.scoring.answer_match import occurrences
from memsim.scoring.answer_text import read_words, stem
from memsim.scoring.polarity import says_old
from memsim.scoring.statement_search import StatementSearch
from memsim.trace import WINDOW_TIERS

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.models import Embedder
    from memsim.strategy import Surface
    from memsim.trace import PlantedValue, SaidMessages, StoreTrace

EntryKind = Literal["barred", "stale", "right", "invented", "unplanted"]

NOT_LIVE = frozenset(
    {"audit", "log", "export", "purged", "deleted", "denied"}
    | {"archive", "archived", "offload", "offloaded"}
)
"""Tiers that keep a record for people, or what was put away."""

UNSAID = 0.25
"""Share of an entry's words that nobody said, from which on it counts as invented."""

NEAR = 0.9
"""Cosine of two entries with the same values, from which on they say the same."""

_FRAME = frozenset(
    stem(word)
    for word in str.split(
        """
        user assistant human person people someone speaker memory fact note detail information
        message conversation session turn summary earlier said say says asked ask tell told
        mention mentioned state stated report reported remember recorded noted prefer prefers like
        likes enjoy enjoys want wants need needs have has own owns live lives work works use uses
        name named called id value type status current currently now new previous was is old
        january february march april may june july august september october november december
        """
    )
)
"""Words with which memories report what was said."""

_TURNS_KEPT = 1_000
"""Turns whose words are kept at once: those of a million turns would fill gigabytes."""

_ADDED_WORDS = 8
"""Words, such as speaker and date, that may stand beside each message stored as it was said."""


class _Origin(NamedTuple):
    """What an entry comes from."""

    quoted: tuple[str, ...]
    """Ids of the messages that it is, in their own words; none if it is something else."""
    turns: frozenset[int]
    owners: tuple[str, ...]


class StoreEntry(NamedTuple):
    """What was found of an entry of the store; entries of which the same was found share it."""

    kind: EntryKind
    verbatim: bool
    live: bool
    states: frozenset[int]
    """The places of the planted values that it states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreScore:
    """What a store held at the end of a case.

    Attributes:
        exact, near: entries that say the same as an earlier entry of their tier.
        characters: of all entries.
        only_window: the strategy shows nothing but its window.
        facts: each fact in force, not to be remembered, or untrue: its id, kind, and whether it is
            stored.
    """

    entries: tuple[StoreEntry, ...]
    exact: int
    near: int
    characters: int
    only_window: bool
    facts: tuple[tuple[str, str, bool], ...]


def score_store(store: StoreTrace, embed: Callable[[], Embedder]) -> StoreScore:
    """Judge every entry of a store; `embed` is called only if near duplicates are possible."""
    judge, repeats = _StoreJudge(store), _Repeats()
    found: dict[StoreEntry, StoreEntry] = {}
    entries: list[StoreEntry] = []
    characters, window = 0, False
    for surface in store.surfaces:
        if not surface.text.strip():
            continue
        if surface.tier in WINDOW_TIERS | NOT_LIVE:
            window = window or surface.tier in WINDOW_TIERS
            continue
        characters += len(surface.text)
        origin = _origin(surface, store.said)
        entry = judge.entry(surface, origin)
        entries.append(found.setdefault(entry, entry))
        repeats.add(surface, origin, entry)
    return StoreScore(
        entries=tuple(entries),
        exact=repeats.exact(),
        near=repeats.near(embed),
        characters=characters,
        only_window=not entries and window,
        facts=_facts(entries, store.planted),
    )


class _StoreJudge:
    """Compares entries with what was planted and what was said."""

    def __init__(self, store: StoreTrace) -> None:
        self._planted = store.planted
        self._said = store.said
        self._search = ValueSearch(p.fact.value for p in store.planted if not p.fact.statement)
        self._places: dict[str, list[int]] = {}
        for place, planted in enumerate(store.planted):
            if not planted.fact.statement:
                self._places.setdefault(planted.fact.value, []).append(place)
        self._statements = StatementSearch([p.fact for p in store.planted])
        self._words: dict[int, frozenset[str]] = {}
        self._in_force = {p.fact.value for p in store.planted if p.state == "current"}
        self._lineage = _lineages(store.planted)

    def entry(self, surface: Surface, origin: _Origin) -> StoreEntry:
        """Judge one entry."""
        quoted = origin.quoted
        verbatim = bool(quoted)
        told = self._statements.told_by(quoted) if quoted else self._statements.found(surface.text)
        states = self._states(surface, origin, told)
        kind = self._kind_of_values(surface, states) if states else None
        if kind is None:
            kind = "unplanted" if verbatim or self._said_so(surface, origin) else "invented"
        return StoreEntry(kind, verbatim, surface.live, states)

    def _states(self, surface: Surface, origin: _Origin, told: set[int]) -> frozenset[int]:
        found = self._search.found(surface.text)
        if not found and not told:
            return frozenset()
        # What was made from earlier messages alone cannot state a fact that was said later.
        latest = max(origin.turns, default=None)
        stated = {place for value in found for place in self._places.get(value, ())}
        stated |= {place for place in told if self._planted[place].fact.statement}
        return frozenset(
            place for place in stated if latest is None or latest >= self._planted[place].fact.turn
        )

    def _kind_of_values(self, surface: Surface, states: frozenset[int]) -> EntryKind:
        stated = [self._planted[place] for place in states]
        if any(p.state == "no-store" for p in stated):
            return "barred"
        if any(p.state == "untrue" for p in stated):
            return "invented"
        present = {self._lineage[p.fact.id] for p in stated if p.state == "current"}
        old = [
            p.fact.value
            for p in stated
            if p.state in {"replaced", "forgotten"}
            and p.fact.value not in self._in_force
            and self._lineage[p.fact.id] not in present
        ]
        live = surface.live and any(_as_current(value, surface.text) for value in old)
        return "stale" if live else "right"

    def _said_so(self, surface: Surface, origin: _Origin) -> bool:
        """Whether its names and numbers, and most of its words, were said where it comes from."""
        heard = self._heard(origin.turns)
        read = read_words(surface.text)
        own = {s for t, s in zip(read.tokens, read.stems, strict=True) if t not in STOP}
        own -= _FRAME
        unsaid = own - heard
        if any(any(c.isdigit() for c in word) for word in unsaid):
            return False
        names = (a.text for a in anchors(surface.text) if a.kind == "name")
        if any(not unsaid.isdisjoint(read_words(name).stems) for name in names):
            return False
        return len(unsaid) < UNSAID * len(own) or not own

    def _heard(self, turns: frozenset[int]) -> frozenset[str]:
        if not turns:
            return self._everything
        return frozenset().union(*(self._words_of(turn) for turn in turns), self._labels)

    def _words_of(self, turn: int) -> frozenset[str]:
        if turn not in self._words:
            if len(self._words) >= _TURNS_KEPT:
                del self._words[next(iter(self._words))]
            said = self._said.in_turn(turn)
            self._words[turn] = frozenset(found for m in said for found in _words_around(m))
        return self._words[turn]

    @cached_property
    def _everything(self) -> frozenset[str]:
        turns = self._said.turns()
        return frozenset().union(*map(self._words_of, turns), self._labels)

    @cached_property
    def _labels(self) -> frozenset[str]:
        """Words of the names of facts, under which a memory may keep them."""
        names = (p.fact.id.replace("_", " ").replace("-", " ") for p in self._planted)
        return frozenset(found for name in names for found in read_words(name).stems)


def _origin(surface: Surface, said: SaidMessages) -> _Origin:
    """Where an entry comes from; its messages, which may be many, are looked at one by one."""
    text = " ".join(words(surface.text))
    held: dict[str, int] = {}
    turns: set[int] = set()
    owners: set[str] = set()
    for name in surface.sources:
        message = said.get(name)
        if message is None:
            continue
        turns.add(message.turn)
        owners.add(message.principal)
        spoken = " ".join(words(message.text))
        if spoken and spoken in text:
            held[name] = len(spoken.split())
    more = len(text.split()) - sum(held.values())
    quoted = tuple(held) if more <= _ADDED_WORDS * len(held) else ()
    return _Origin(quoted, frozenset(turns), tuple(sorted(owners)))


def _words_around(message: Message) -> Iterable[str]:
    """The words of a message, of its speaker and of its time."""
    when = message.time
    times = f"{when:%Y-%m-%d} {when:%H:%M} {when.year} {when.day}"
    spoken = f"{message.text} {message.principal} {message.session}"
    return (*read_words(spoken).stems, *read_words(times).stems)


def _as_current(value: str, text: str) -> bool:
    """Whether a text gives a value as one of the present at least once."""
    given = read_words(text)
    spans = occurrences(read_words(value), given)
    return not spans or any(not says_old(given, *span, loosely=False) for span in spans)


def _lineages(planted: Iterable[PlantedValue]) -> Mapping[str, str]:
    """By fact, the first fact of those that replaced each other."""
    first: dict[str, str] = {}
    for each in planted:
        before = each.fact.replaces
        name = each.fact.id
        first.setdefault(name, first.get(before, before) if before else name)
    return first


def _facts(
    entries: Sequence[StoreEntry], planted: Sequence[PlantedValue]
) -> tuple[tuple[str, str, bool], ...]:
    stated = {place for e in entries if e.live for place in e.states}
    replacing = {p.fact.id for p in planted if p.state == "replaced"}
    found: dict[str, tuple[str, str, bool]] = {}
    for place, each in enumerate(planted):
        if each.state in {"current", "no-store", "untrue"}:
            there = place in stated or found.get(each.fact.id, ("", "", False))[2]
            found[each.fact.id] = (each.fact.id, _kind(each, replacing), there)
    return tuple(found.values())


def _kind(planted: PlantedValue, replacing: set[str]) -> str:
    fact = planted.fact
    if planted.state in {"no-store", "untrue"}:
        return planted.state
    if fact.kind:
        return fact.kind
    if fact.replaces or fact.id in replacing:
        return "updated"
    return "private" if fact.private else "plain"


# Duplicates: entries of one tier that say the same of the same people.

_DIGEST = 16
"""Bytes that stand for an entry."""


class _Repeats:
    """Counts entries that were there before, and groups those that may say the same."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._quoted = bytearray()
        self._groups: dict[bytes, list[str]] = {}
        self._others = 0

    def add(self, surface: Surface, origin: _Origin, entry: StoreEntry) -> None:
        """Take in the next entry."""
        # The same words said twice are two messages; one message stored twice is a duplicate.
        whose = surface.sources if entry.verbatim else origin.owners
        key = _digest(surface.tier, surface.live, entry.verbatim, whose, words(surface.text))
        if entry.verbatim:
            self._quoted += key
            return
        if key in self._seen:
            self._others += 1
            return
        self._seen.add(key)
        states, values = sorted(entry.states), sorted(_values(surface.text))
        about = _digest(surface.tier, surface.live, origin.owners, states, values)
        self._groups.setdefault(about, []).append(surface.text)

    def exact(self) -> int:
        """How many entries are the same as one before them."""
        return self._others + _repeated(self._quoted)

    def near(self, embed: Callable[[], Embedder]) -> int:
        """How many entries are close to one before them."""
        several = [texts for texts in self._groups.values() if len(texts) > 1]
        return sum(_near(texts, embed()) for texts in several)


def _digest(*parts: object) -> bytes:
    """What stands for an entry: a long store has millions of them."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=_DIGEST).digest()


def _repeated(digests: bytearray) -> int:
    """How many digests, of those that stand here one after the other, stood there before."""
    if len(digests) <= _DIGEST:
        return 0
    import numpy as np

    halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    halves = halves[np.lexsort((halves[:, 0], halves[:, 1]))]
    return int((halves[1:] == halves[:-1]).all(axis=1).sum())


def _values(text: str) -> frozenset[str]:
    """What may differ between two texts that are else alike: names, numbers and identifiers."""
    return frozenset(a.key for a in anchors(text) if a.kind != "word")


def _near(texts: Sequence[str], embedder: Embedder) -> int:
    """How many texts are close to one before them that is no duplicate itself."""
    vectors = embedder.embed(texts)
    kept: list[int] = []
    for place in range(len(texts)):
        if not kept or float((vectors[kept] @ vectors[place]).max()) < NEAR:
            kept.append(place)
    return len(texts) - len(kept)
