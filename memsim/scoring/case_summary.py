"""Sums up a case from its records alone, so that live numbers and those read back agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memsim.scoring.evidence import CUTOFFS
from memsim.scoring.metrics import (
    ANSWERS,
    EVIDENCE,
    RANKED,
    Measure,
    measured,
    unmeasured,
)
from memsim.scoring.outcomes import UNMEASURED
from memsim.scoring.usage import usage
from memsim.scoring.votes import flipped, votes_in

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    Line = Mapping[str, Any]

AUDITED_WRONG = "audited-wrong"
"""The label of a gold answer, or a citation, that an audit found wrong."""

_NO_PROBES = {
    "recall": "no answerable probe was answered",
    "stale": "no probe asks for a fact that has an old value",
    "locomo_f1": "no probe has one of LoCoMo's categories",
    "false_answers": "no unanswerable probe was answered",
    "judged": "no answer has a verdict of the judge",
    "answer_in_context": "no context was given for an answerable probe",
    **dict.fromkeys(EVIDENCE, "no probe has valid evidence and a context"),
    **dict.fromkeys(RANKED, "nothing was ranked"),
}
_UNANSWERED = "no answerable probe was answered"


def summarise(probes: Iterable[Line], turns: Iterable[Line]) -> dict[str, Measure]:
    """Every metric of `METRICS`, in its order; then those of `JUDGED`, where there is a judge.

    Lines of several cases may be pooled: shares are then means over all their probes, counts and
    amounts are sums.

    Args:
        probes: lines of `probes.jsonl`.
        turns: lines of `turns.jsonl`, each case's in order.
    """
    lines = list(probes)
    columns = _columns(lines)
    return {
        **{name: _mean(columns, name) for name in (*ANSWERS, *EVIDENCE)},
        **_ranked_metrics(lines, columns),
        **_masked_metrics(lines),
        "lost": _lost(lines),
        "leaks": _leaks(lines),
        "unscored": _unscored(lines),
        **usage(turns, lines),
        **_judged(lines, columns),
    }


def _judged(lines: Sequence[Line], columns: Mapping[str, Sequence[float]]) -> dict[str, Measure]:
    asked = [line for line in lines if "judged" in line["scores"]]
    if not asked:
        return {}
    votes = [votes_in(line["judge"]) for line in asked if line.get("judge")]
    flips = [float(f) for opinions in votes if (f := flipped(opinions)) is not None]
    scored = [line["scores"] for line in asked if line["scores"]["judged"] is not None]
    agreed = [float(s["judged"] == s["recall"]) for s in scored if s["recall"] is not None]
    unread = [float(line["scores"]["judged"] is None) for line in asked if line.get("judge")]
    return {
        "judged": _mean(columns, "judged"),
        "judge_agreement": _share_of(agreed, _NO_PROBES["judged"]),
        "judge_flips": _share_of(flips, "no answer has two opinions that could be read"),
        "judge_unread": _share_of(unread, "the judge was not asked"),
    }


def _share_of(values: Sequence[float], reason: str) -> Measure:
    return measured(sum(values) / len(values), len(values)) if values else unmeasured(reason)


def _columns(lines: Iterable[Line]) -> dict[str, list[float]]:
    """What was scored, by name; `""` holds a place for each line, so that none at all shows."""
    columns: dict[str, list[float]] = {"": []}
    for line in lines:
        columns[""].append(0)
        for name, value in line["scores"].items():
            if value is not None:
                columns.setdefault(name, []).append(value)
    return columns


def _mean(columns: Mapping[str, Sequence[float]], name: str) -> Measure:
    values = columns.get(name)
    if not values:
        reason = _NO_PROBES.get(name, _UNANSWERED) if columns[""] else "no probe was asked"
        return unmeasured(reason)
    return measured(math.fsum(values) / len(values), len(values))


def _ranked_metrics(
    lines: Sequence[Line], columns: Mapping[str, Sequence[float]]
) -> dict[str, Measure]:
    if not any(line["ranks"] for line in lines):
        # Most strategies rank nothing; saying so metric by metric would take a small case's time.
        return dict.fromkeys(RANKED, _mean(columns, "mrr"))
    return {name: _ranked(lines, _mean(columns, name), name) for name in RANKED}


def _ranked(lines: Sequence[Line], mean: Measure, name: str) -> Measure:
    _, _, cutoff = name.partition("@")
    if mean.value is None or int(cutoff or 0) not in CUTOFFS or name.startswith("ndcg"):
        if mean.value is None and name.startswith("session") and any(x["ranks"] for x in lines):
            return unmeasured("the sessions of messages are not known")
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


def _masked_metrics(lines: Sequence[Line]) -> dict[str, Measure]:
    labels = {label for line in lines for label in line["labels"]}
    return {name: _masked(lines, labels, *of) for name, of in _MASKED.items()}


_MASKED = {
    "recall_masked": ("recall", "gold"),
    "locomo_f1_masked": ("locomo_f1", "gold"),
    "evidence_recall_masked": ("evidence_recall", "citation"),
}


def _masked(lines: Sequence[Line], labels: Container[str], name: str, label: str) -> Measure:
    if label not in labels:
        return unmeasured("no audit of the dataset was given")
    kept = [line for line in lines if line["labels"].get(label) != AUDITED_WRONG]
    return _mean(_columns(kept), name)


def _lost(lines: Sequence[Line]) -> Measure:
    pieces: dict[tuple[object, ...], bool] = {}
    for line in lines:
        if line["context"] is None or line["excluded"]:
            continue
        for piece in line["evidence"]:
            key = (line["case"], line["repeat"], piece["source"], piece["fact"])
            pieces[key] = piece["presence"] == "absent" or pieces.get(key, False)
    if not pieces:
        return unmeasured(_NO_PROBES["evidence_recall"])
    return measured(sum(pieces.values()), len(pieces))


def _leaks(lines: Sequence[Line]) -> Measure:
    eligible = [line for line in lines if line["scores"].get("leaks") is not None]
    if not eligible:
        return unmeasured("no probe was asked by someone kept from something")
    if not any(line["context"]["total"] for line in eligible):
        return unmeasured("nothing was remembered, so nothing could leak")
    return measured(math.fsum(line["scores"]["leaks"] for line in eligible), len(eligible))


def _unscored(lines: Sequence[Line]) -> Measure:
    if not lines:
        return unmeasured("no probe was asked")
    count = sum(line["outcome"] in UNMEASURED for line in lines)
    return measured(count / len(lines), len(lines))
