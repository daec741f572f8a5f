"""From rankings to what is worth quoting: one order of all that was found, and how much of it fits.

Rankings come from a store or from rankers in the process, over what the reader may see; all here
are pure functions of these, so that nothing else can have a say. A message scores::

    (found + lent) / (1 + tokens / halving) * named * dated * standing * 0.5 ** (age / half_life)

where `found` is what the rankings say of it together, and `lent` comes from the messages that stand
around it. Where a policy sets bounds, what is below them stays out, whatever it is lent.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from memsim.language.change_cues import asks_history
from memsim.language.dates import DATE_HINT, mentions, resolve
from memsim.language.text import ROLES, index_terms, plain_terms
from memsim.memory.index import Hit, as_hits
from memsim.memory.options import RecallPolicy
from memsim.memory.recall.overview import (
    REPLIED,
    WIDER,
    ConversationPlaces,
    asks_summary,
    spread,
    with_replies,
)
from memsim.memory.recall.speakers import asked_speaker
from memsim.memory.recall.timeline import MessageFacts, asks_the_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from memsim.language.dates import Period

    Order = Callable[[str], int]
    """When a message was said: larger is later."""
    from collections.abc import Container

    Scaling = Literal["zscore", "minmax"]
    Beside = Callable[[str], Iterable[tuple[str, float]]]
    """The messages around one, each with its share of what is lent, as `Talk.beside` gives them."""


# What a question names beside its matter: who said it, and on which day.


class QuestionCues:
    """The names and days in a question, and `speaker`, whose words it asks for.

    Where nobody knows when it was asked, `now` is None, and `yesterday` means nothing.
    """

    def __init__(self, question: str, now: datetime | None = None) -> None:
        self._words = frozenset(_bare(word) for word in plain_terms(question))
        self.speaker = asked_speaker(question)
        today = now.date() if now else None
        named = mentions(question) if DATE_HINT.search(question) else ()
        found = (resolve(mention, today) for mention in named)
        self._periods: tuple[Period, ...] = tuple(period for period in found if period)

    @property
    def dated(self) -> bool:
        """Whether the question names any day at all."""
        return bool(self._periods)

    def names(self, principal: str) -> bool:
        """Whether the question names somebody, by all of the words of their name."""
        name = _name(principal)
        return bool(name) and name <= self._words

    def asks_for(self, said: MessageFacts) -> bool:
        """Whether the question names who it was said by or to, or wants the words of their role.

        Whoever asks what somebody said wants none of what that person was answered.
        """
        if self.speaker in _SPEAKERS:
            return said.role == self.speaker
        named = self.names(said.principal)
        if named and self.speaker and _bare(self.speaker) in _name(said.principal):
            return said.role == "user"
        return named

    def dates(self, time: datetime | None) -> bool:
        """Whether the question names a day, or a longer time, that something was said in."""
        if time is None or not self._periods:
            return False
        day = time.date()
        return any(period.first <= day <= period.last for period in self._periods)


_SPEAKERS = frozenset({"user", "assistant"})


@lru_cache(maxsize=1 << 12)
def _name(principal: str) -> frozenset[str]:
    words = frozenset(_bare(word) for word in plain_terms(principal))
    return frozenset() if words <= ROLES else words


def _bare(word: str) -> str:
    return word.removesuffix("'s")


# Several rankings made into one; pure functions, ties to the message that was said earlier.


K = 60
"""The constant of reciprocal rank fusion, as its authors have it (Cormack and others, 2009)."""


def reciprocal_ranks(
    rankings: Sequence[Sequence[Hit]],
    order: Order,
    *,
    weights: Sequence[float] | None = None,
    k: int = K,
) -> list[Hit]:
    """Each message scores `weight / (k + rank)` for each ranking that it is in, from rank 1.

    Each ranking counts 1 by default; `k` is how much the first ranks are held back.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, _weights(weights, rankings), strict=True):
        for rank, hit in enumerate(ranking, 1):
            sums[hit.id] = sums.get(hit.id, 0.0) + weight / (k + rank)
    return sorted_hits(sums, order)


def weighted_scores(
    rankings: Sequence[Sequence[Hit]],
    order: Order,
    *,
    weights: Sequence[float] | None = None,
    scaling: Literal["minmax", "zscore"] = "minmax",
) -> list[Hit]:
    """Each message scores the weighted sum of its scaled scores.

    A message that a ranking does not hold counts there as the worst that it does hold. Each ranking
    counts 1 by default. `scaling` is to 0..1 by smallest and largest, or by mean and standard
    deviation.
    """
    scale = minmax if scaling == "minmax" else zscore
    sums = dict.fromkeys((hit.id for ranking in rankings for hit in ranking), 0.0)
    for ranking, weight in zip(rankings, _weights(weights, rankings), strict=True):
        if not ranking:
            continue
        scaled = scale([hit.score for hit in ranking])
        worst = min(scaled)
        held = {hit.id: score for hit, score in zip(ranking, scaled, strict=True)}
        for source in sums:
            sums[source] += weight * held.get(source, worst)
    return sorted_hits(sums, order)


def minmax(scores: Sequence[float]) -> list[float]:
    """Scores scaled so that the smallest is 0 and the largest 1; all 1 where they are equal."""
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    return [(s - low) / (high - low) for s in scores]


def zscore(scores: Sequence[float]) -> list[float]:
    """Scores as standard deviations from their mean; all 0 where they are equal."""
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    if deviation == 0:
        return [0.0] * len(scores)
    return [(s - mean) / deviation for s in scores]


def with_neighbours(
    hits: Iterable[Hit],
    neighbours: Callable[[str], Iterable[str]],
    order: Order,
    *,
    share: float = 0.5,
) -> list[Hit]:
    """Each message also scores a share of what the messages beside it score.

    An answer often holds none of the words of the question that stands before it. `share` is of a
    neighbour's score.
    """
    own = {hit.id: hit.score for hit in hits}
    sums = dict(own)
    for source, score in own.items():
        for beside in neighbours(source):
            sums[beside] = sums.get(beside, 0.0) + share * score
    return sorted_hits(sums, order)


def sorted_hits(scores: Mapping[str, float], order: Order) -> list[Hit]:
    """Scores as a ranking, best first, ties to the earlier."""
    hits = [Hit(source, score) for source, score in scores.items()]
    hits.sort(key=lambda hit: (-hit.score, order(hit.id)))
    return hits


def _weights(weights: Sequence[float] | None, rankings: Sequence[object]) -> Sequence[float]:
    return [1.0] * len(rankings) if weights is None else weights


USUAL = RecallPolicy()

ASKED_BEFORE = 0.5
"""Share of the best relevance that an earlier question of the same words lends from: what follows
it may be its answer, and may be that nobody knows."""

_SHARPNESS = 2.0
_STRAIGHT = 40.0


def recall(
    question: str,
    *,
    lexical: Sequence[Hit] = (),
    nearest: Sequence[Hit] = (),
    about: Callable[[str], MessageFacts | None],
    beside: Beside | None = None,
    places: ConversationPlaces | None = None,
    policy: RecallPolicy = USUAL,
    now: datetime | None = None,
    cues: QuestionCues | None = None,
) -> list[Hit]:
    """All that was found, the most worth quoting first, ties to the earlier.

    Both rankings are best first. `about` gives None for a message that may not be seen, or is gone;
    `beside` gives None where nothing stands around it. `places` is given where the question asks
    for an overview. Ages, and days such as `yesterday`, need `now`. Raises `ValueError` if ages
    matter, and nobody says when it is.
    """
    if policy.half_life is not None and now is None:
        raise ValueError("half_life needs to know when it is")
    if places is not None:
        # Neither the length of a message nor what stands around it tells that it opens a matter.
        # What was replaced since is a part of the story.
        policy = replace(
            policy, depth=WIDER * policy.depth, neighbours=0.0, halving=0, superseded="keep"
        )
    known: dict[str, MessageFacts] = {}
    raw = (_above(lexical, policy.least_bm25), _above(nearest, policy.least_cosine))
    echoes: set[str] = set()
    terms = frozenset(index_terms(question))
    told = [_telling(hits, policy.depth, about, known, echoes, terms) for hits in raw]
    words, meaning = told if any(told) else [[h for h in hits if h.id in known] for hits in raw]
    hits = relevance(words, meaning, lambda source: known[source].order, policy)
    scores = {hit.id: hit.score for hit in hits}
    if beside is not None and policy.neighbours:
        best = max(scores.values(), default=0.0)
        lenders = scores | dict.fromkeys(echoes, ASKED_BEFORE * best)
        lending = with_neighbour_boost(lenders, beside, lambda source: known[source].order, policy)
        near = not _is_bounded(policy)
        own = scores
        scores = {
            i: s
            for i, s in lending.items()
            if i in own or (near and i not in echoes and (i in known or _look(i, about, known)))
        }
    pairs = places is not None and asks_summary(question)
    if places is not None and pairs:
        scores = with_replies(scores, places)
    cues = cues or QuestionCues(question, now)
    weigh = _weighing(cues, policy, now)
    weighed = {source: score * weigh(known[source]) for source, score in scores.items()}
    current = policy.superseded != "keep" and not asks_history(question)
    if current and any(_has_changed(known[i]) for i in weighed):
        weighed = _in_force(weighed, about, known)
    if places is not None:
        replied = 1.0 if cues.speaker == "assistant" else REPLIED
        opening = policy.opening
        return spread(weighed, known, places, opening=opening, replied=replied, pairs=pairs)
    ranked = sorted([(-score, known[source].order, source) for source, score in weighed.items()])
    return as_hits([(source, -score) for score, _, source in ranked])


def _is_bounded(policy: RecallPolicy) -> bool:
    """Whether there is a relevance below which nothing is taken."""
    return any(b is not None for b in (policy.least, policy.least_cosine, policy.least_bm25))


def fit_to_room(
    hits: Iterable[Hit],
    *,
    tokens: Callable[[str], int],
    room: int,
    policy: RecallPolicy = USUAL,
    shown: Container[str] = frozenset(),
) -> list[str]:
    """The messages that are quoted: the best that fit, without what the model sees already.

    What does not fit is passed over, but for the best of all, which is to be clipped to half of the
    room. What is shown already still sets the measure: where it says all, little more is quoted.
    `shown` are ids that are visible already, or were injected before. Returns ids, best first.
    """
    left = math.floor(room * policy.share)
    least: float | None = None
    chosen: list[str] = []
    for hit in hits:
        if least is None:
            least = hit.score * policy.floor
        if hit.score < least or len(chosen) == policy.limit or left <= 0:
            break
        if hit.id in shown:
            continue
        length = tokens(hit.id)
        if length > left:
            if chosen:
                continue
            length = left - left // 2
        chosen.append(hit.id)
        left -= length
    return chosen


def relevance(
    lexical: Sequence[Hit],
    nearest: Sequence[Hit],
    order: Callable[[str], int],
    policy: RecallPolicy = USUAL,
) -> list[Hit]:
    """Two rankings as one, in no order that means anything; no score is below 0.

    A ranking that is empty has no say, whatever it would count.
    """
    weighed = ((lexical, 1 - policy.vector), (nearest, policy.vector))
    rankings = [(list(r[: policy.depth]), w) for r, w in weighed if r]
    if len(rankings) == 1:
        rankings = [(rankings[0][0], 1.0)]
    kept = [ranking for ranking, _ in rankings]
    weights = [weight for _, weight in rankings]
    if policy.fusion == "soft":
        hits = _soft(kept, weights)
    elif policy.fusion == "rrf":
        hits = reciprocal_ranks(kept, order, weights=weights)
    else:
        scaling: Scaling = "zscore" if policy.fusion == "zscore" else "minmax"
        hits = weighted_scores(kept, order, weights=weights, scaling=scaling)
    if policy.least is not None:
        hits = [hit for hit in hits if hit.score >= policy.least]
    lowest = min((hit.score for hit in hits), default=0.0)
    return [Hit(i, s - lowest) for i, s in hits] if lowest < 0 else hits


def with_neighbour_boost(
    scores: Mapping[str, float],
    beside: Beside,
    order: Callable[[str], int],
    policy: RecallPolicy = USUAL,
) -> dict[str, float]:
    """Scores with what the most relevant messages lend to those around them.

    `order` settles who lends where several are as relevant; an id would do so by who said it.
    """
    sums = dict(scores)
    best = [*scores.items()]
    if len(best) > policy.lenders > 0:
        least = sorted(scores.values())[-policy.lenders]
        best = [pair for pair in best if pair[1] >= least]
    best.sort(key=lambda pair: (-pair[1], order(pair[0])))
    for source, score in best[: policy.lenders]:
        share = score * policy.neighbours
        for other, part in beside(source):
            sums[other] = sums.get(other, 0.0) + share * part
    return sums


def _soft(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    sums: dict[str, float] = {}
    exp, log1p = math.exp, math.log1p
    for ranking, weight in zip(rankings, weights, strict=True):
        standard = zscore([hit.score for hit in ranking])
        scale = weight / _SHARPNESS
        for hit, score in zip(ranking, standard, strict=True):
            sharp = _SHARPNESS * score
            bent = log1p(exp(sharp)) if sharp <= _STRAIGHT else sharp
            sums[hit.id] = sums.get(hit.id, 0.0) + scale * bent
    return as_hits(sums.items())


def _telling(
    hits: Sequence[Hit],
    wanted: int,
    about: Callable[[str], MessageFacts | None],
    known: dict[str, MessageFacts],
    echoes: set[str],
    terms: frozenset[str],
) -> list[Hit]:
    """The best that may be seen, so many, without what asks the same as a question of these terms.

    That says nothing of the answer: it is put into `echoes`. What was looked at is put into
    `known`.
    """
    told: list[Hit] = []
    for hit in hits:
        if len(told) == wanted:
            break
        source = hit.id
        if source in echoes or (source not in known and not _look(source, about, known)):
            continue
        if asks_the_same(known[source].asked, terms):
            echoes.add(source)
        else:
            told.append(hit)
    return told


def _above(hits: Sequence[Hit], least: float | None) -> Sequence[Hit]:
    return hits if least is None else [hit for hit in hits if hit.score >= least]


def _look(
    source: str, about: Callable[[str], MessageFacts | None], known: dict[str, MessageFacts]
) -> bool:
    found = about(source)
    if found is None:
        return False
    known[source] = found
    return True


def _weighing(
    cues: QuestionCues, policy: RecallPolicy, now: datetime | None
) -> Callable[[MessageFacts], float]:
    """What relevance is multiplied with, by what is known of a message."""
    named, dated, halving = policy.named, policy.dated, policy.halving
    half_life, standing = policy.half_life, policy.standing
    dates = cues.dates if cues.dated else None
    spoken: dict[tuple[str, str], float] = {}

    def weigh(found: MessageFacts) -> float:
        who = found.principal, found.role
        weight = spoken.get(who)
        if weight is None:
            weight = spoken[who] = named if cues.asks_for(found) else 1.0
        if halving:
            weight /= 1 + found.tokens / halving
        if found.standing:
            weight *= standing
        if dates and dates(found.time):
            weight *= dated
        if half_life and now and found.time:
            age = max(0.0, (now - found.time) / half_life)
            weight *= 0.5**age
        return weight

    return weigh


def _in_force(
    scores: Mapping[str, float],
    about: Callable[[str], MessageFacts | None],
    known: dict[str, MessageFacts],
) -> dict[str, float]:
    """Scores in which what is in force has the best of what it superseded, and that is dropped."""
    found = dict(scores)
    for source in scores:
        for after in known[source].amended:
            change = _heir(source, about, known, after)
            if change is not None:
                found[change] = max(found.get(change, 0.0), scores[source])
    heirs = {i: heir for i in scores if (heir := _heir(i, about, known)) is not None}
    for source, heir in heirs.items():
        found[heir] = max(found.get(heir, 0.0), scores[source])
    for source in heirs:
        del found[source]
    return found


def _has_changed(message: MessageFacts) -> bool:
    """Whether something took the place of a message, or of a part of it."""
    return message.successor is not None or bool(message.amended)


def _heir(
    source: str,
    about: Callable[[str], MessageFacts | None],
    known: dict[str, MessageFacts],
    after: str | None = None,
) -> str | None:
    """What is in force in a message's place, as far as it may be seen; None for itself.

    With `after`, what is in force in the place of that.
    """
    passed = {source}
    heir = None
    after = after or known[source].successor
    while (
        after is not None and after not in passed and (after in known or _look(after, about, known))
    ):
        passed.add(after)
        heir = after
        after = known[after].successor
    return heir
