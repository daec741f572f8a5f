"""Sums up a case from its records alone, so that live numbers and those read back agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memsim.scoring.evidence import CUTOFFS
from memsim.scoring.metrics import ANSWERS, EVIDENCE, METRICS, RANKED, Measure
from memsim.scoring.outcomes import UNMEASURED
from memsim.scoring.usage import usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Line = Mapping[str, Any]

AUDITED_WRONG = "audited-wrong"
"""The label of a gold answer, or a citation, that an audit found wrong."""

_NO_PROBES = {
    "recall": "no answerable probe was answered",
    "stale": "no probe asks for a fact that has an old value",
    "locomo_f1": "no probe has one of LoCoMo's categories",
    "false_answers": "no unanswerable probe was answered",
    "answer_in_context": "no context was given for an answerable probe",
    **dict.fromkeys(EVIDENCE, "no probe has valid evidence and a context"),
    **dict.fromkeys(RANKED, "nothing was ranked"),
}
_UNANSWERED = "no answerable probe was answered"


def summarise(probes: Iterable[Line], turns: Iterable[Line]) -> dict[str, Measure]:
    """Every metric of `METRICS`, in its order.

    Lines of several cases may be pooled: shares are then means over all their probes, counts and
    amounts are sums.

    Args:
        probes: lines of `probes.jsonl`.
        turns: lines of `turns.jsonl`, each case's in order.
    """
    lines = list(probes)
    measured = {
        **{name: _mean(lines, name) for name in (*ANSWERS, *EVIDENCE)},
        **_ranked_metrics(lines),
        "recall_masked": _masked(lines, "recall", "gold"),
        "locomo_f1_masked": _masked(lines, "locomo_f1", "gold"),
        "evidence_recall_masked": _masked(lines, "evidence_recall", "citation"),
        "lost": _lost(lines),
        "leaks": _leaks(lines),
        "unscored": _unscored(lines),
        **usage(turns, lines),
    }
    return {name: measured[name] for name in METRICS}


def _values(lines: Iterable[Line], name: str) -> list[float]:
    return [v for line in lines if (v := line["scores"].get(name)) is not None]


def _mean(lines: Sequence[Line], name: str) -> Measure:
    values = _values(lines, name)
    if not values:
        reason = _NO_PROBES.get(name, _UNANSWERED) if lines else "no probe was asked"
        return Measure(value=None, n=0, reason=reason)
    return Measure(value=math.fsum(values) / len(values), n=len(values))


def _ranked_metrics(lines: Sequence[Line]) -> dict[str, Measure]:
    if not any(line["ranks"] for line in lines):
        # Most strategies rank nothing; saying so metric by metric would take a small case's time.
        return dict.fromkeys(RANKED, _mean(lines, "mrr"))
    return {name: _ranked(lines, name) for name in RANKED}


def _ranked(lines: Sequence[Line], name: str) -> Measure:
    mean = _mean(lines, name)
    _, _, cutoff = name.partition("@")
    if mean.value is None or int(cutoff or 0) not in CUTOFFS or name.startswith("ndcg"):
        if mean.value is None and name.startswith("session") and any(x["ranks"] for x in lines):
            return Measure(value=None, n=0, reason="the sessions of messages are not known")
        return mean
    ranked = [line for line in lines if line["scores"].get(name) is not None]
    return Measure(value=mean.value, n=mean.n, note=_cutoff_note(ranked, int(cutoff), name))


def _cutoff_note(ranked: Sequence[Line], k: int, name: str) -> str:
    if name.startswith("session"):
        small = sum(k >= line["ranks"]["sessions_looked"] for line in ranked)
        return f"k {k} covers every ranked session of {small} probes" if small else ""
    small = sum(k >= line["corpus"] > 0 for line in ranked)
    if small:
        return f"k {k} covers every message of {small} of {len(ranked)} probes"
    short = sum(line["ranks"]["looked"] < k for line in ranked)
    return f"fewer than {k} were ranked for {short} of {len(ranked)} probes" if short else ""


def _masked(lines: Sequence[Line], name: str, label: str) -> Measure:
    if not any(label in line["labels"] for line in lines):
        return Measure(value=None, n=0, reason="no audit of the dataset was given")
    kept = [line for line in lines if line["labels"].get(label) != AUDITED_WRONG]
    return _mean(kept, name)


def _lost(lines: Sequence[Line]) -> Measure:
    looked = [line for line in lines if line["context"] is not None and not line["excluded"]]
    pieces = {
        (line["case"], line["repeat"], piece["source"], piece["fact"]): False
        for line in looked
        for piece in line["evidence"]
    }
    if not pieces:
        return Measure(value=None, n=0, reason=_NO_PROBES["evidence_recall"])
    lost = {
        (line["case"], line["repeat"], piece["source"], piece["fact"])
        for line in looked
        for piece in line["evidence"]
        if piece["presence"] == "absent"
    }
    return Measure(value=len(lost), n=len(pieces))


def _leaks(lines: Sequence[Line]) -> Measure:
    eligible = [line for line in lines if line["scores"].get("leaks") is not None]
    if not eligible:
        return Measure(value=None, n=0, reason="no probe was asked by someone kept from something")
    if not any(line["context"]["total"] for line in eligible):
        return Measure(value=None, n=0, reason="nothing was remembered, so nothing could leak")
    return Measure(value=math.fsum(_values(eligible, "leaks")), n=len(eligible))


def _unscored(lines: Sequence[Line]) -> Measure:
    if not lines:
        return Measure(value=None, n=0, reason="no probe was asked")
    count = sum(line["outcome"] in UNMEASURED for line in lines)
    return Measure(value=count / len(lines), n=len(lines))
