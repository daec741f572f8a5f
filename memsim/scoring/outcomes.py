"""Outcomes, whereabouts and reasons of probes, and the rules that choose them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, get_args

from memsim.trace import EVICTIONS, PURGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memsim.trace import EvidenceTrace, Inspection, ProbeTrace

Whereabouts = Literal[
    "window",
    "working",
    "core",
    "system",
    "tools",
    "summary",
    "recalled",
    "other",
    "stored",
    "trimmed",
    "not-inspectable",
    "unknown",
    "archived",
    "denied",
    "lost",
]
WHEREABOUTS: tuple[Whereabouts, ...] = get_args(Whereabouts)
"""Every place, best kept first; the worst kept of several pieces of evidence gives the word.

`other` is a section with a name of the strategy's own.
"""
_SECTIONS: frozenset[str] = frozenset(WHEREABOUTS[: WHEREABOUTS.index("other")])

Reason = Literal[
    "not-written",
    "evicted",
    "purged",
    "denied",
    "retrieval-miss",
    "over-budget",
    "not-read",
    "not-in-context",
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
    "not-in-context": "it was not in the context, and the strategy does not report its stores"
    " (implement surfaces())",
    "not-inspectable": "the strategy does not show what it holds",
}
"""What each reason for a miss means."""


def reason_name(reason: str) -> str:
    """The reason as reports show it, such as `retrieval miss` for `retrieval-miss`."""
    return reason.replace("-", " ")


_ARCHIVED = frozenset({"archive", "archived", "offload", "offloaded"})
_UNREACHABLE = frozenset({"audit", "log", "export", "purged", "deleted"})


def place_of(piece: EvidenceTrace, inspection: Inspection) -> Whereabouts:
    """Where one piece of evidence was at the question."""
    if piece.presence != "absent":
        return cast("Whereabouts", piece.presence) if piece.presence in _SECTIONS else "other"
    tier = None if piece.location is None else piece.location.tier
    return place_outside(tier, inspection, trimmed=piece.trimmed)


def place_outside(tier: str | None, inspection: Inspection, *, trimmed: bool) -> Whereabouts:
    """Where evidence was that no context held; `tier` is where the strategy reports it."""
    if trimmed:
        return "trimmed"
    if inspection != "stores":
        return _NOT_LOOKED_AT[inspection]
    if tier is None or tier in _UNREACHABLE:
        return "lost"
    if tier == "denied":
        return "denied"
    return "archived" if tier in _ARCHIVED else "stored"


_NOT_LOOKED_AT: dict[Inspection, Whereabouts] = {
    "context": "unknown",
    "black-box": "not-inspectable",
}


def whereabouts(trace: ProbeTrace) -> Whereabouts | None:
    """Where the probe's evidence was, by its worst piece; None without evidence."""
    piece = _worst(trace)
    return place_of(piece, trace.inspection) if piece else None


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
    place = place_of(piece, trace.inspection)
    if place in _FIXED:
        return _FIXED[place]
    if place == "lost":
        return _how_lost(piece, discarded.get(piece.source, ""))
    if place == "unknown":
        return _why_unknown(piece, discarded.get(piece.source, ""), value_shown=value_shown)
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
        place = place_of(piece, trace.inspection)
        return WHEREABOUTS.index(place), not piece.verbatim

    return max(trace.evidence, key=badness, default=None)


def _how_lost(piece: EvidenceTrace, event: str) -> Reason:
    if logged := _logged(piece, event):
        return logged
    was_there = any(stop.presence != "absent" for stop in piece.path)
    return "evicted" if was_there else "not-written"


def _why_unknown(piece: EvidenceTrace, event: str, *, value_shown: bool | None) -> Reason:
    # The answer itself may stand in a text that does not say what it was made from.
    return "not-read" if value_shown else _logged(piece, event) or "not-in-context"


def _logged(piece: EvidenceTrace, event: str) -> Reason | None:
    """The reason that the strategy itself logged."""
    cause = piece.path[-1].cause if piece.path else ""
    for kind in (cause, event):
        if kind in PURGES:
            return "purged"
        if kind in EVICTIONS:
            return "evicted"
    return None


Outcome = Literal[
    "PASS",
    "STALE",
    "MIXED",
    "MISS",
    "HALLUCINATED",
    "ABSTAINED",
    "RETAINED",
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
    "RETAINED": "what was not to be remembered was stored or used; wins over all but LEAK",
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
