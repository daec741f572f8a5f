"""How far up a ranker put the evidence: recall @k of messages and sessions, MRR and nDCG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memsim.scoring.evidence import CUTOFFS, DEPTH
from memsim.scoring.metric import CaseRecords, Line, Measure, Metric, share, unmeasured


def _metrics() -> Iterator[tuple[str, Metric]]:
    for prefix, what in (("", "messages"), ("session_", "sessions")):
        for k in CUTOFFS:
            first = f"the first {k} ranked {what}"
            yield f"{prefix}recall@{k}", share(f"evidence {what} among {first}")
            yield f"{prefix}any@{k}", share(f"probes with any evidence {what} among {first}")
            yield f"{prefix}all@{k}", share(f"probes with all evidence {what} among {first}")
    yield "mrr", share("reciprocal rank of the first evidence message")
    yield f"ndcg@{DEPTH}", share(f"nDCG of the first {DEPTH} ranks, ideal over all evidence")


METRICS = dict(_metrics())


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """The mean of each score over the probes with a ranking."""
    ranked = any(line["ranks"] for line in records.probes)
    if not ranked:
        # Most strategies rank nothing; one shared measure keeps small cases fast.
        return dict.fromkeys(METRICS, _mean(records, "mrr"))
    return {name: _measure(records, name) for name in METRICS}


def _mean(records: CaseRecords, name: str) -> Measure:
    return records.mean(name, "nothing was ranked")


def _measure(records: CaseRecords, name: str) -> Measure:
    mean = _mean(records, name)
    if mean.value is None:
        return unmeasured("the sessions of messages are not known") if _of_sessions(name) else mean
    _, _, cutoff = name.partition("@")
    if int(cutoff or 0) not in CUTOFFS or name.startswith("ndcg"):
        return mean
    ranked = [line for line in records.probes if line["scores"].get(name) is not None]
    return Measure(value=mean.value, n=mean.n, note=_cutoff_note(ranked, int(cutoff), name))


def _of_sessions(name: str) -> bool:
    return name.startswith("session")


def _cutoff_note(ranked: Sequence[Line], k: int, name: str) -> str:
    if _of_sessions(name):
        small = sum(k >= line["ranks"]["sessions_looked"] for line in ranked)
        return f"k {k} covers every ranked session of {small} probes" if small else ""
    small = sum(k >= line["corpus"] > 0 for line in ranked)
    if small:
        return f"k {k} covers every message of {small} of {len(ranked)} probes"
    short = sum(line["ranks"]["looked"] < k for line in ranked)
    return f"fewer than {k} were ranked for {short} of {len(ranked)} probes" if short else ""
