"""Read lines of `probes.jsonl` as typed records; no other part of reports knows the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memsim.gate.score_sheet import gone_from
from memsim.leakage import LEAKAGE
from memsim.runs import Run
from memsim.scoring.metrics.audits import AUDITED_WRONG
from memsim.scoring.outcomes import PASSED, UNMEASURED
from memsim.suite.cases import CaseResult, scenario_of

Unit = tuple[str, str]
"""A scenario and a probe of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAnswer:
    """One probe of one case, as it was scored.

    Attributes:
        answerable: whether there is a right answer other than that it is not known.
        outcome: one of metrics: PASS, STALE, MISS and so on.
        reason: why it was missed, in one word; empty when it was not, or nobody can tell.
        scores: by metric; None where it was not scored.
        doubted: what an audit of the dataset found wrong: `gold`, `citation`; None where there was
            no audit.
        said: the turn of its newest evidence; None without evidence.
        gone: from which turn on the evidence was out of the context; None when it never was.
        sent: tokens of its context and of the question itself; None when none was sent.
        votes: the judge's opinions on it, as records have them; empty where it gave none.
        corrected: whether a user said in these very words that it had been said before.
    """

    case: str
    scenario: str
    strategy: str
    budget: int
    repeat: int
    dataset: str
    control: str
    probe: str
    ability: str
    category: str
    answerable: bool
    outcome: str
    reason: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    doubted: frozenset[str] | None = None
    said: int | None = None
    gone: int | None = None
    sent: int | None = None
    votes: tuple[str, ...] = ()
    corrected: bool = False

    @property
    def measured(self) -> bool:
        """Whether the probe could be scored."""
        return self.outcome not in UNMEASURED

    @property
    def wrong(self) -> bool:
        """Whether the answer was scored and is wrong, or leaked."""
        return self.measured and self.outcome not in PASSED

    @property
    def missed(self) -> bool:
        """Whether the probe has an answer that was not given."""
        return self.measured and self.scores.get("recall") == 0

    @property
    def hallucinated(self) -> bool:
        """Whether an answer was given where there is none."""
        return self.scores.get("false_answers") == 1

    @property
    def unit(self) -> Unit:
        """Scenario and probe: the unit that is paired between strategies."""
        return self.scenario, self.probe

    def score(self, metric: str) -> float | None:
        """The probe's score by a metric; None where it was not scored."""
        return self.scores.get(metric)


def answers_of(run: Run) -> tuple[ProbeAnswer, ...]:
    """Read every probe of a run, in the order of its records."""
    cases: Mapping[tuple[object, object], CaseResult] = {(c.id, c.repeat): c for c in run.cases}
    lines: Iterator[Mapping[str, Any]] = run.probes()
    return tuple(
        answer_of(cases[line["case"], line["repeat"]], line)
        for line in lines
        if LEAKAGE not in line
    )


def answer_of(case: CaseResult, line: Mapping[str, Any]) -> ProbeAnswer:
    """Read one line of a case's probes."""
    evidence, context = line["evidence"], line["context"]
    return ProbeAnswer(
        case=case.key,
        scenario=scenario_of(case.id),
        strategy=case.strategy,
        budget=case.budget,
        repeat=case.repeat,
        dataset=case.dataset,
        control=case.control,
        probe=line["probe"],
        ability=line["ability"],
        category=line["labels"].get("category", ""),
        answerable=not line["unanswerable"],
        outcome=line["outcome"],
        reason=line["reason"] or "",
        scores=line["scores"],
        doubted=_doubted(line["labels"]),
        said=max((piece["turn"] for piece in evidence), default=None),
        gone=gone_from(evidence),
        sent=context and context["total"] + line["query_tokens"],
        votes=tuple(line.get("judge", ())),
        corrected="correction" in line["labels"],
    )


def _doubted(labels: Mapping[str, str]) -> frozenset[str] | None:
    if "gold" not in labels:
        return None
    return frozenset(name for name in ("gold", "citation") if labels.get(name) == AUDITED_WRONG)
