"""Find the fact that a new statement replaces: nearest in words, in meaning, in kind of value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memsim.language.change_cues import (
    LIGHT_STEMS,
    announces_change,
    asks_to_forget,
    given_up,
    is_unsure,
    named_subject,
    owned,
    points_back,
    says_it_ended,
    states_several,
)
from memsim.language.exact_values import EXACT, Value, comparable, exact_values
from memsim.language.text import content, fold
from memsim.memory.layers.fact_columns import FactColumns
from memsim.memory.layers.fact_returns import said_text
from memsim.memory.layers.fact_subject import subject_of, told_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.layers.entry_outline import EntryOutline
    from memsim.models import Vectors

    Embed = Callable[[Sequence[str]], Vectors | None]
    """Vectors of texts; None where a memory has no embedder."""

    FetchFacts = Callable[[Sequence[str]], Iterable[Entry]]
    """The entries with these ids that there are."""

T = TypeVar("T")

# How near a statement has to be. Set on the built-in scripts; generated updates confirm it.

LEAST: Final = 0.7
"""Nearness below which a statement replaces nothing."""

WORDS: Final = 0.35
"""Weight of the words in common, beside the cosine of the nearest two sentences."""

GREETING: Final = 0.6
"""Weight of the words before the sentence that announces the change."""

COMMON: Final = 0.5
"""Weight of words that hardly tell what a sentence is about."""

ALIKE: Final = 0.25
"""What a value of the same kind adds, and what it adds that a message names what it gives up."""

OWNED: Final = 0.2
"""What it adds that both speak of the same possession, as in `my diet`."""

EXACT_ALONE: Final = 0.5
"""What a new exact value takes off where the old statement has none."""

RELATED: Final = 0.35
"""Cosine that a statement needs which shares no kind of value with the old one."""

RELATED_NAMES: Final = 0.32
"""Cosine that a name needs to replace a name."""

SAME_MATTER: Final = 0.55
"""Cosine at which a number without a unit replaces one that has a unit."""

WITHOUT_VECTORS: Final = 0.4
"""Stands for the cosine of two sentences of which one has all words of the other."""

LOOKED_AT: Final = 20
"""Facts that are looked at: those with the most words in common by meaning, or the latest."""

FREQUENT: Final = 512
"""Facts with a word, above which the word alone finds none: it says too little, and costs time."""

LONGEST: Final = 600
"""Characters of a statement that replaces another, or is replaced."""

FEWEST_STEMS: Final = 2
"""Stems of a fact that can be replaced, at least."""


REMEMBERED: Final = 1024
"""Facts whose words are kept; those of others are read again."""

REREAD: Final = 64
"""Facts that are read again together."""


SAME_THING: Final = 0.6
"""Share of the weight of a thing's words that a fact about the thing has, at least."""


GIVEN_SUBJECT: Final = ("subject", "given")
"""The attribute of a fact that only a fact of its own subject replaces."""


def can_be_replaced(fact: Entry | EntryOutline) -> bool:
    """Whether a fact is in force, and a statement may replace it that does not name its subject."""
    return fact.superseded is None and GIVEN_SUBJECT not in fact.attributes


class FactMatch(NamedTuple):
    """A fact, and the statement that replaces it.

    `part` is true where the fact states more than that. `value` is true where an exact value is
    new, or where all values of the fact are named as what ended: the fact is then surely meant.
    """

    old: str
    new: str
    part: bool
    value: bool
    score: float


class _Known(NamedTuple):
    text: str
    folded: str
    since: datetime
    sources: tuple[str, ...]
    stems: frozenset[str]
    values: tuple[Value, ...]


class _Sentence(NamedTuple):
    id: str
    text: str
    stems: frozenset[str]
    values: tuple[Value, ...]
    cue: bool
    continues: bool
    """It speaks of what the sentence before it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Update:
    """A message that announces a change."""

    sentences: tuple[_Sentence, ...]
    given_up: frozenset[str]
    subjects: frozenset[str]
    """Names that the announcing sentences begin with; empty text for one without."""
    stems: frozenset[str]
    early: frozenset[str]
    """Stems that only sentences before the announcing one have."""
    sources: frozenset[str]
    time: datetime

    def may_replace(self, fact: _Known) -> bool:
        """Whether a fact is of the same matter, as far as names and what is given up tell."""
        return (
            fact.since <= self.time
            and self.sources.isdisjoint(fact.sources)
            and all(fact.text != sentence.text for sentence in self.sentences)
            and (not self.given_up or not self.given_up.isdisjoint(fact.stems))
            and any(name in fact.folded for name in self.subjects)
        )


class FactMatcher:
    """The facts in force of each owner, to be found by what replaces them.

    Args:
        embed: vectors of texts.
        fetch: the facts with these ids, as they were written.
    """

    def __init__(self, embed: Embed, fetch: FetchFacts) -> None:
        self._embed = embed
        self._fetch = fetch
        self.clear()

    def clear(self) -> None:
        """Forget all facts."""
        self._facts: dict[str, FactColumns] = {}
        self._waiting: dict[str, dict[str, None]] = {}
        self._fresh: dict[str, Entry] = {}
        self._known: dict[str, _Known] = {}

    def put(self, entry: Entry) -> None:
        """Take in a fact as it stands now: it can be replaced while it is in force."""
        self.remove(entry)
        if can_be_replaced(entry):
            self.wait(entry.owner, [entry.id])
            self._fresh[entry.id] = entry

    def wait(self, owner: str, names: Iterable[str]) -> None:
        """Take in facts that can be fetched; they are read when a change is announced.

        Most conversations announce none.
        """
        self._waiting.setdefault(owner, {}).update(dict.fromkeys(names))

    def written(self) -> None:
        """Know that all facts can be fetched that were put."""
        if len(self._fresh) > REMEMBERED:
            self._fresh.clear()

    def remove(self, entry: Entry) -> None:
        """A fact is gone."""
        self._fresh.pop(entry.id, None)
        self._known.pop(entry.id, None)
        self._waiting.get(entry.owner, {}).pop(entry.id, None)
        facts = self._facts.get(entry.owner)
        if facts is not None and entry.id in facts:
            facts.remove(entry.id, content(said_text(entry)))

    def replaced(self, stated: Sequence[Entry]) -> list[FactMatch]:
        """The facts that the statements of one message replace, the nearest first.

        All of them stand in one earlier message: a change is announced of one thing at a time.
        """
        update = _update(stated) if stated else None
        if update is None:
            return []
        best = self._best(self._read(stated[0].owner), update)
        near = self._near(update, [fact.text for _, _, fact in best])
        found = [
            _match(name, fact, update, reach, cosines)
            for (name, reach, fact), cosines in zip(best, near, strict=True)
        ]
        sources = {name: fact.sources for name, _, fact in best}
        found = sorted((m for m in found if m.score >= LEAST), key=lambda m: (-m.score, m.old))
        return [m for m in found if sources[m.old] == sources[found[0].old]]

    def about(self, entry: Entry, thing: frozenset[str]) -> list[str]:
        """The facts in force that are about the thing that a statement names by these stems.

        A fact has the rarest of the stems that are known, and the name that the statement has.
        """
        facts = self._read(entry.owner)
        weights = {root: _weight(facts, root) for root in sorted(thing)}
        rarest = max(weights, key=lambda root: (weights[root], root), default="")
        if not weights or not weights[rarest]:
            return []
        enough = SAME_THING * math.fsum(weights.values())
        names = sorted(
            facts.name(number)
            for number in facts.numbers(rarest)
            if math.fsum(weights[root] for root in facts.stems(number, weights)) >= enough
            and facts.is_before(number, entry.created)
        )
        text = said_text(entry)
        subject, name = subject_of(text), named_subject(text)
        return [
            one
            for one, fact in self._look(names).items()
            if name in fact.folded and not told_apart(subject, subject_of(fact.text))
        ]

    def latest(self, entry: Entry) -> list[str]:
        """The facts in force that were stated last before a statement, the latest first."""
        return self._read(entry.owner).latest(entry.created, LOOKED_AT)

    def _read(self, owner: str) -> FactColumns:
        """The facts of an owner, after the words of those that wait were read."""
        facts = self._facts.setdefault(owner, FactColumns())
        for names in _in_parts([*self._waiting.pop(owner, ())], REMEMBERED):
            for entry in self._entries(names):
                text = said_text(entry)
                stems = frozenset(content(text))
                plain = len(entry.text) <= LONGEST and not is_unsure(text)
                if plain and len(stems - LIGHT_STEMS) >= FEWEST_STEMS:
                    facts.add(entry.id, entry.created, stems)
        return facts

    def _entries(self, names: Sequence[str]) -> list[Entry]:
        fetched = {e.id: e for e in self._fetch([n for n in names if n not in self._fresh])}
        found = (self._fresh.get(name) or fetched.get(name) for name in names)
        return [entry for entry in found if entry is not None]

    def _look(self, names: Sequence[str]) -> dict[str, _Known]:
        """What is known of facts, by id, in their order."""
        if len(self._known) > REMEMBERED:
            self._known.clear()
        for entry in self._entries([name for name in names if name not in self._known]):
            text = said_text(entry)
            self._known[entry.id] = _Known(
                text=text,
                folded=fold(text),
                since=entry.created,
                sources=entry.sources,
                stems=frozenset(content(text)),
                values=exact_values(text),
            )
        return {name: self._known[name] for name in names if name in self._known}

    def _best(self, facts: FactColumns, update: _Update) -> list[tuple[str, float, _Known]]:
        """The facts that an update may replace, by the weight of the words in common."""
        reach = self._reach(facts, update)
        order = sorted((-weight, facts.name(number)) for number, weight in reach.items())
        found: list[tuple[str, float, _Known]] = []
        for some in _in_parts(order, REREAD):
            known = self._look([name for _, name in some])
            for weight, name in some:
                if name in known and update.may_replace(known[name]):
                    found.append((name, -weight, known[name]))
            if len(found) >= LOOKED_AT:
                break
        return found[:LOOKED_AT]

    def _reach(self, facts: FactColumns, update: _Update) -> dict[int, float]:
        """Facts with words of an update, each with the weight of the words in common."""
        weight = {
            root: round(_weight(facts, root) * (GREETING if root in update.early else 1.0), 9)
            for root in update.stems
        }
        rare = (root for root in weight if facts.having(root) <= FREQUENT)
        found = {number for root in rare for number in facts.numbers(root)}
        return {
            number: math.fsum(sorted(weight[root] for root in facts.stems(number, weight)))
            for number in found
        }

    def _near(self, update: _Update, old: Sequence[str]) -> list[list[float]]:
        """The cosines of each old text with each sentence of an update."""
        if not old:
            return []
        new = [sentence.text for sentence in update.sentences]
        vectors = self._embed([*new, *old])
        if vectors is None:
            return [[_shared(s.stems, text) for s in update.sentences] for text in old]
        head, tail = vectors[: len(new)], vectors[len(new) :]
        return [[round(math.fsum((o * n).tolist()), 6) for n in head] for o in tail]


def _in_parts(whole: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    return (whole[start : start + most] for start in range(0, len(whole), most))


def _weight(facts: FactColumns, root: str) -> float:
    found = facts.having(root)
    if not found:
        return 0.0
    rare = math.log((1 + len(facts)) / found) / math.log(1 + len(facts))
    return rare * (COMMON if root in LIGHT_STEMS else 1.0)


def _update(stated: Sequence[Entry]) -> _Update | None:
    """What a message says has changed; None where it announces no change."""
    found = [*_sentences(stated)]
    first = next((n for n, sentence in enumerate(found) if sentence.cue), None)
    if first is None or any(asks_to_forget(sentence.text) for sentence in found):
        return None
    late = _stems(found[first:])
    return _Update(
        sentences=tuple(found),
        given_up=frozenset().union(*(given_up(s.text) for s in found)),
        subjects=frozenset(named_subject(s.text) for s in found if s.cue),
        stems=_stems(found),
        early=_stems(found[:first]) - late,
        sources=frozenset(source for entry in stated for source in entry.sources),
        time=stated[0].created,
    )


def _sentences(stated: Sequence[Entry]) -> Iterable[_Sentence]:
    changes = False
    for entry in (entry for entry in stated if len(entry.text) <= LONGEST):
        text = said_text(entry)
        cue = announces_change(text)
        continues = changes and points_back(text)
        yield _Sentence(
            entry.id, text, frozenset(content(text)), exact_values(text), cue, continues
        )
        changes = cue


def _stems(sentences: Iterable[_Sentence]) -> frozenset[str]:
    return frozenset().union(*(s.stems for s in sentences))


def _shared(stems: frozenset[str], text: str) -> float:
    other = frozenset(content(text))
    return WITHOUT_VECTORS * len(stems & other) / max(1, min(len(stems), len(other)))


def _match(
    name: str, fact: _Known, update: _Update, reach: float, cosines: Sequence[float]
) -> FactMatch:
    """How near an update is to a fact, and which of its sentences states the new value."""
    related = max(cosines)
    alike, *_, new = max(
        (
            _replaces_value(sentence, fact, cosine, related),
            not given_up(sentence.text),
            sentence.cue,
            cosine,
            -place,
            sentence,
        )
        for place, (sentence, cosine) in enumerate(zip(update.sentences, cosines, strict=True))
    )
    # What two things came to an end by is said in the same words: neither replaces the other.
    ended = says_it_ended(new.text) and says_it_ended(fact.text)
    if ended or told_apart(subject_of(new.text), subject_of(fact.text)):
        return FactMatch(name, new.id, part=False, value=False, score=0.0)
    score = WORDS * reach + related + (ALIKE if update.given_up else 0.0)
    score += 0.0 if owned(new.text).isdisjoint(owned(fact.text)) else OWNED
    had = any(value.kind in EXACT for value in fact.values)
    has = any(value.kind in EXACT for value in new.values)
    if alike:
        score += ALIKE
    elif (had and (has or not update.given_up)) or related < RELATED:
        score = 0.0
    elif has and not update.given_up:
        score -= EXACT_ALONE
    sure = bool(alike) or _ends(new, fact)
    return FactMatch(name, new.id, states_several(fact.text), sure, round(score, 6))


def _ends(sentence: _Sentence, fact: _Known) -> bool:
    """Whether a sentence says of all values of a fact that they hold no longer."""
    named = {value.text for value in sentence.values}
    ended = {value.text for value in fact.values}
    return bool(ended) and ended <= named and says_it_ended(sentence.text)


def _replaces_value(sentence: _Sentence, fact: _Known, cosine: float, related: float) -> bool:
    """Whether a sentence has a value that can stand in the place of one of a fact."""
    if not (sentence.cue or sentence.continues or not sentence.stems.isdisjoint(fact.stems)):
        return False
    same = {v.text for v in sentence.values} & {v.text for v in fact.values}
    had = any(value.kind in EXACT for value in fact.values)
    names = not had and related >= RELATED_NAMES
    return any(
        (new.kind in EXACT or (new.kind == "name" and names and old.text not in same))
        and comparable(new, old, loose=cosine >= SAME_MATTER)
        for new in sentence.values
        for old in fact.values
        if new.text not in same
    )
