"""Outcomes, whereabouts and reasons of probes, and the rules that choose them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memsim.trace import EvidenceTrace, ProbeTrace, TurnRecord

Whereabouts = Literal[
    "window",
    "working",
    "core",
    "system",
    "tools",
    "summary",
    "recalled",
    "stored",
    "trimmed",
    "not-inspectable",
    "archived",
    "denied",
    "lost",
]
WHEREABOUTS: tuple[Whereabouts, ...] = get_args(Whereabouts)
"""Every place, best kept first; the worst kept of several pieces of evidence gives the word."""

Reason = Literal[
    "not-written",
    "evicted",
    "purged",
    "denied",
    "retrieval-miss",
    "over-budget",
    "not-read",
    "not-inspectable",
]
REASONS: Mapping[str, str] = {
    "not-written": "it was never taken into the memory",
    "evicted": "it left the context when that was made smaller",
    "purged": "it was deleted on purpose",
    "denied": "the asker may not see it",
    "retrieval-miss": "it is stored, but was not brought up",
    "over-budget": "it was brought up, and cut to fit the budget",
    "not-read": "it stood in the context, and the model did not use it",
    "not-inspectable": "the strategy does not show what it holds",
}
"""What each reason for a miss means."""


def reason_name(reason: str) -> str:
    """The reason as reports show it, such as `retrieval miss` for `retrieval-miss`."""
    return reason.replace("-", " ")


_ARCHIVED = frozenset({"archive", "archived", "offload", "offloaded"})
_UNREACHABLE = frozenset({"audit", "log", "export", "purged", "deleted"})
PURGES = frozenset({"purged", "archived", "expired", "deleted", "forgotten"})
"""Kinds of events after which a message is `purged`."""
EVICTIONS = frozenset(
    {"compaction", "compacted", "summarised", "summarized", "merged"}
    | {"dropped", "evicted", "trimmed"}
)
"""Kinds of events after which a message is `evicted`."""


def place_of(piece: EvidenceTrace, *, inspectable: bool) -> Whereabouts:
    """Where one piece of evidence was at the question."""
    if piece.presence != "absent":
        return piece.presence
    tier = None if piece.location is None else piece.location.tier
    return place_outside(tier, trimmed=piece.trimmed, inspectable=inspectable)


def place_outside(tier: str | None, *, trimmed: bool, inspectable: bool) -> Whereabouts:
    """Where evidence was that no context held; `tier` is where the strategy reports it."""
    if trimmed:
        return "trimmed"
    if not inspectable:
        return "not-inspectable"
    if tier is None or tier in _UNREACHABLE:
        return "lost"
    if tier == "denied":
        return "denied"
    return "archived" if tier in _ARCHIVED else "stored"


def whereabouts(trace: ProbeTrace) -> Whereabouts | None:
    """Where the probe's evidence was, by its worst piece; None without evidence."""
    piece = _worst(trace)
    return place_of(piece, inspectable=trace.inspectable) if piece else None


def reason_of(
    trace: ProbeTrace, discarded: Mapping[str, str], *, value_shown: bool | None
) -> Reason | None:
    """Why a probe failed; None when it has no evidence that could tell.

    Args:
        trace: the failed probe.
        discarded: message id to the kind of the last event that put it away, from `discards`.
        value_shown: whether the expected answer itself stood in the context; None when nobody
            looked.
    """
    piece = _worst(trace)
    if piece is None:
        return None
    place = place_of(piece, inspectable=trace.inspectable)
    if place in _FIXED:
        return _FIXED[place]
    if place == "lost":
        return _how_lost(piece, discarded.get(piece.source, ""))
    # Something made from the message is there, and what was asked for is not in it.
    if not piece.verbatim and value_shown is False:
        return "evicted"
    return "not-read"


_FIXED: dict[Whereabouts, Reason] = {
    "trimmed": "over-budget",
    "denied": "denied",
    "stored": "retrieval-miss",
    "archived": "purged",
    "not-inspectable": "not-inspectable",
}


def _worst(trace: ProbeTrace) -> EvidenceTrace | None:
    def badness(piece: EvidenceTrace) -> tuple[int, bool]:
        place = place_of(piece, inspectable=trace.inspectable)
        return WHEREABOUTS.index(place), not piece.verbatim

    return max(trace.evidence, key=badness, default=None)


def _how_lost(piece: EvidenceTrace, event: str) -> Reason:
    cause = piece.path[-1].cause if piece.path else ""
    for kind in (cause, event):
        if kind in PURGES:
            return "purged"
        if kind in EVICTIONS:
            return "evicted"
    was_there = any(stop.presence != "absent" for stop in piece.path)
    return "evicted" if was_there else "not-written"


def discards(turns: Iterable[TurnRecord], wanted: Iterable[str]) -> dict[str, str]:
    """By message, the kind of the last event that discarded it."""
    sources = frozenset(wanted)
    if not sources:
        return {}
    return {
        source: event.kind
        for turn in turns
        for event in turn.events
        if event.kind in PURGES | EVICTIONS
        for source in event.sources
        if source in sources
    }


Outcome = Literal[
    "PASS",
    "STALE",
    "MIXED",
    "MISS",
    "HALLUCINATED",
    "ABSTAINED",
    "LEAK",
    "ERROR",
    "UNSCORED",
]
OUTCOMES: dict[Outcome, str] = {
    "PASS": "the expected answer is given, and nothing forbidden",
    "STALE": "a superseded value is given as current",
    "MIXED": "both the current and a superseded value are given, neither marked old",
    "MISS": "the answer is absent, or abstains though it was planted",
    "HALLUCINATED": "an answer is given for something never planted",
    "ABSTAINED": "it correctly says that it does not know",
    "LEAK": "the asker could see what they may not; wins over every other outcome",
    "ERROR": "the strategy, the model or the scorer failed",
    "UNSCORED": "the answer could not be judged",
}
PASSED: frozenset[Outcome] = frozenset({"PASS", "ABSTAINED"})
UNMEASURED: frozenset[Outcome] = frozenset({"ERROR", "UNSCORED"})


def outcome_of_answer(*, found: bool, old_as_current: bool) -> Outcome:
    """The outcome of an answer to something that was planted."""
    if found:
        return "MIXED" if old_as_current else "PASS"
    return "STALE" if old_as_current else "MISS"
