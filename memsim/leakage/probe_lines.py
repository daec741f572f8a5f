"""Findings as lines of `probes.jsonl`, and scores from such lines: nothing else is kept of them.

::

    {"case": "leakage::L1[layered@4k]", "repeat": 0, "probe": "L1",
     "leakage": {"kind": "channel", "channel": "L1", "name": "cross-principal recall",
                 "gate": "zero", "planned": 300, "of": 300, "negatives": 200,
                 "read": 179586, "false_hits": 0, "error": ""}}
    {"case": "...", "repeat": 0, "probe": "1-ana/garage",
     "leakage": {"kind": "control", "id": "1-ana/garage", "viewer": "ana", "served": true,
                 "error": ""}}
    {"case": "...", "repeat": 0, "probe": "1-ana/1-direct",
     "leakage": {"kind": "attempt", "id": "1-ana/1-direct", "attack": "direct", "viewer": "ben",
                 "targets": ["5f0c..."], "weights": [2], "owners": ["ana"], "state": "safe",
                 "trails": [], "detail": "", "measures": {}, "labels": {}}}

No line holds a secret: targets and trails name it by a salted hash, and excerpts are redacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memsim.leakage import LEAKAGE
from memsim.leakage.attempt import finding_record, read_finding
from memsim.leakage.scores import ChannelScore, LeakTally, score_channel

if TYPE_CHECKING:
    from memsim.leakage.attempt import Finding
    from memsim.leakage.channel import Channel, ChannelRun


ProbeLine = Mapping[str, Any]


def channel_lines(
    channel: Channel, played: ChannelRun, case: str, repeat: int
) -> Iterator[dict[str, object]]:
    """The lines of a channel that was played: its own first, then its findings in their order."""
    common = {"case": case, "repeat": repeat}
    yield {**common, "probe": channel.id, LEAKAGE: played.record(channel)}
    for finding in played.findings:
        yield {**common, "probe": finding.id, LEAKAGE: finding_record(finding)}


def score_lines(lines: Iterable[ProbeLine]) -> ChannelScore:
    """The score of a case, all of its repeats together.

    Raises:
        ValueError: there is no line of the channel itself.
    """
    heads: list[ProbeLine] = []
    findings: list[list[Finding]] = []
    for line in lines:
        record = line[LEAKAGE]
        if record["kind"] == "channel":
            heads.append(record)
            findings.append([])
        elif findings:
            findings[-1].append(read_finding(record))
    if not heads:
        raise ValueError("no line says which channel was played")
    first = heads[0]
    return score_channel(
        findings,
        channel=first["channel"],
        name=first["name"],
        gate=first["gate"],
        planned=sum(head["planned"] for head in heads),
        of=sum(head.get("of", head["planned"]) for head in heads),
        negatives=LeakTally(
            k=sum(head["false_hits"] for head in heads),
            n=sum(head["negatives"] for head in heads),
        ),
        error=next((head["error"] for head in heads if head["error"]), ""),
    )
