"""The words for what became of a probe, and the rule that gives an answer its word."""

from __future__ import annotations

from typing import Literal

Outcome = Literal[
    "PASS",
    "STALE",
    "MIXED",
    "MISS",
    "INVENTED",
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
    "INVENTED": "an answer is given for something never planted",
    "ABSTAINED": "it correctly says that it does not know",
    "LEAK": "the asker could see what they may not; wins over every other outcome",
    "ERROR": "the strategy, the model or the scorer failed",
    "UNSCORED": "the answer could not be judged",
}
PASSED: frozenset[Outcome] = frozenset({"PASS", "ABSTAINED"})
UNMEASURED: frozenset[Outcome] = frozenset({"ERROR", "UNSCORED"})


def outcome_of_answer(*, found: bool, old_as_current: bool) -> Outcome:
    """The word for an answer to something that was planted.

    Args:
        found: the expected answer is given.
        old_as_current: a superseded or forbidden value is given, and not marked old.
    """
    if found:
        return "MIXED" if old_as_current else "PASS"
    return "STALE" if old_as_current else "MISS"
