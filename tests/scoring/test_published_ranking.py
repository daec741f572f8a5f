"""Ranking scores on the published conversations: plain BM25 gets the figures that others get."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from memsim.context import Context
from memsim.message import Message
from memsim.scenario.datasets import load_dataset
from memsim.scenario.script import Ask, Scenario, Turn
from memsim.scoring.metrics import summarise
from memsim.scoring.probes import score_probes
from memsim.scoring.trace_records import record
from memsim.trace import EvidenceTrace, ProbeTrace, Trace

WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?")
K1, B, EPSILON = 1.5, 0.75, 0.25
REFERENCE = {
    "recall@5": 0.4601,
    "recall@10": 0.5409,
    "recall@25": 0.6357,
    "recall@50": 0.6978,
    "mrr": 0.3704,
    "ndcg@10": 0.3922,
    "any@10": 0.5827,
    "all@10": 0.5075,
}


class Okapi:
    """BM25 as in the books, over lower-cased words, ties to the earlier message."""

    def __init__(self, messages: list[Message]) -> None:
        texts = [WORD.findall(f"{m.principal}: {m.text}".lower()) for m in messages]
        self.ids = [m.id for m in messages]
        self.counts = [Counter(words) for words in texts]
        mean = sum(map(len, texts)) / len(texts)
        self.norms = [K1 * (1 - B + B * len(words) / mean) for words in texts]
        holders = Counter(word for words in texts for word in set(words))
        raw = {w: math.log((len(texts) - n + 0.5) / (n + 0.5)) for w, n in holders.items()}
        least = EPSILON * sum(raw.values()) / len(raw)
        self.weights = {w: v if v >= 0 else least for w, v in raw.items()}

    def rank(self, question: str) -> tuple[str, ...]:
        words = [w for w in WORD.findall(question.lower()) if w in self.weights]
        scored = [
            (-sum(self.weights[w] * c[w] * (K1 + 1) / (c[w] + norm) for w in words), place)
            for place, (c, norm) in enumerate(zip(self.counts, self.norms, strict=True))
        ]
        return tuple(self.ids[place] for _, place in sorted(scored))


def asked(scenario: Scenario) -> list[ProbeTrace]:
    """Every question of a conversation, with the ranking that plain BM25 gives."""
    events = list(scenario.events(0))
    messages = [m for e in events if isinstance(e, Turn) for m in e.heard]
    ranker = Okapi(messages)
    sessions = {m.id: m.session for m in messages}
    return [
        ProbeTrace(
            probe=event.probe,
            turn=event.turn,
            session=event.session,
            time=event.time,
            query_tokens=0,
            context=Context(ranking=ranker.rank(event.probe.ask)),
            answer="",
            evidence=tuple(EvidenceTrace(source=e, turn=1) for e in event.probe.evidence),
            corpus=len(messages),
            sessions=sessions,
        )
        for event in events
        if isinstance(event, Ask)
    ]


def test_plain_bm25_gets_the_published_figures(data_dir: Path) -> None:
    """Evidence, ranks and means are those of the reference, to the last digit given."""
    scenarios = load_dataset("locomo", data_dir / "locomo")
    trace = Trace(probes=[probe for scenario in scenarios for probe in asked(scenario)])
    pairs = zip(trace.probes, score_probes(trace), strict=True)
    metrics = summarise([record(probe, score, "") for probe, score in pairs], [])
    found = {name: metrics[name].value for name in REFERENCE}

    assert pytest.approx(found, abs=5e-5) == REFERENCE
    assert {997} == {metrics[name].n for name in REFERENCE}
