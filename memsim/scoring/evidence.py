"""Measure how much evidence was in a context, and at which rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memsim.trace import EvidenceTrace, ProbeTrace

CUTOFFS = (1, 5, 10, 25, 50)
"""Numbers of ranked messages, or sessions, after which recall is read."""

DEPTH = 10
"""Ranks that nDCG looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Where a ranker put the gold messages and the sessions that hold them.

    Attributes:
        looked: how many messages it ranked.
        sessions_looked: how many sessions these are from; 0 when sessions are not known.
        turns: rank of each gold message, from 1; None for those that it did not rank.
        sessions: rank of each gold session by its best message; empty when sessions are not known.
    """

    looked: int
    turns: tuple[int | None, ...]
    sessions: tuple[int | None, ...] = ()
    sessions_looked: int = 0


def evidence_scores(trace: ProbeTrace) -> dict[str, float | None]:
    """Shares of the probe's evidence in its context.

    `evidence_recall`, `evidence_any` and `evidence_all` count a message's own words only;
    `evidence_derived` is the share that stands there in other words alone. All are None where there
    is no evidence to look for.
    """
    pieces = _by_source(trace.evidence)
    if trace.probe.excluded or trace.context is None or not pieces:
        return dict.fromkeys(_SHARES)
    verbatim = derived = 0
    for same in pieces.values():
        if any(p.verbatim for p in same):
            verbatim += 1
        elif any(p.presence != "absent" for p in same):
            derived += 1
    shares = _shares(verbatim, len(pieces))
    return dict(zip(_SHARES, (*shares, derived / len(pieces)), strict=True))


_SHARES = ("evidence_recall", "evidence_any", "evidence_all", "evidence_derived")


def _by_source(evidence: Iterable[EvidenceTrace]) -> dict[str, list[EvidenceTrace]]:
    pieces: dict[str, list[EvidenceTrace]] = {}
    for piece in evidence:
        pieces.setdefault(piece.source, []).append(piece)
    return pieces


def _shares(found: int, wanted: int) -> tuple[float, float, float]:
    return found / wanted, float(found > 0), float(found == wanted)


def ranks(trace: ProbeTrace) -> Ranks | None:
    """Where the context's ranking has the probe's evidence; None where nothing was ranked."""
    if trace.probe.excluded or trace.context is None or not trace.context.ranking:
        return None
    gold = tuple(_by_source(trace.evidence))
    if not gold:
        return None
    ranking = tuple(dict.fromkeys(trace.context.ranking))
    place = {message: rank for rank, message in enumerate(ranking, start=1)}
    session_place = _session_places(ranking, trace.sessions)
    sessions = dict.fromkeys(trace.sessions[g] for g in gold if g in trace.sessions)
    return Ranks(
        looked=len(ranking),
        turns=tuple(place.get(g) for g in gold),
        sessions=tuple(session_place.get(s) for s in sessions),
        sessions_looked=len(session_place),
    )


def _session_places(ranking: Sequence[str], sessions: Mapping[str, str]) -> dict[str, int]:
    ranked = dict.fromkeys(sessions[m] for m in ranking if m in sessions)
    return {session: rank for rank, session in enumerate(ranked, start=1)}


def rank_scores(found: Ranks | None) -> dict[str, float | None]:
    """Recall @k of messages and sessions, MRR and nDCG; all None where nothing was ranked."""
    turns = found.turns if found else ()
    sessions = found.sessions if found else ()
    scores: dict[str, float | None] = {}
    for k in CUTOFFS:
        scores.update(_at(k, turns, ""))
    for k in CUTOFFS:
        scores.update(_at(k, sessions, "session_"))
    scores["mrr"] = _reciprocal(turns)
    scores[f"ndcg@{DEPTH}"] = _ndcg(turns)
    return scores


def _at(k: int, places: Sequence[int | None], prefix: str) -> dict[str, float | None]:
    names = (f"{prefix}recall@{k}", f"{prefix}any@{k}", f"{prefix}all@{k}")
    if not places:
        return dict.fromkeys(names)
    found = sum(rank is not None and rank <= k for rank in places)
    return dict(zip(names, _shares(found, len(places)), strict=True))


def _reciprocal(places: Sequence[int | None]) -> float | None:
    if not places:
        return None
    return max((1 / rank for rank in places if rank), default=0.0)


def _ndcg(places: Sequence[int | None]) -> float | None:
    if not places:
        return None
    gained = math.fsum(_gain(rank) for rank in places if rank and rank <= DEPTH)
    ideal = math.fsum(_gain(rank) for rank in range(1, min(len(places), DEPTH) + 1))
    return gained / ideal


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)
