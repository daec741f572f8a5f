"""The numbers of a run as frozen records, which every format shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from memsim.suite.reader_limit import UNKNOWN, ReaderLimit

if TYPE_CHECKING:
    from memsim.gate import Verdict
    from memsim.gate.comparison import Comparison
    from memsim.report.leak_board import LeakBoard
    from memsim.runs import Run

LEAST_SCORED = 0.95
"""Share of its probes that a row must have scored: the missing ones may be the hard ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean with its 95 % interval and the number of units that it is over.

    Attributes:
        mean: None when nothing was scored.
        low, high: None where there is no interval, or nobody asks for one.
        n: probes that were scored.
    """

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One strategy at one budget, over all scenarios of a board.

    Attributes:
        letter: what superscripts call it; empty for controls.
        control: `ceiling`, `evidence`, `floor`, or empty.
        beats: letters of the rows that it beats in recall (paired, Holm, p <= .05).
        context_mean, context_peak: tokens of what was sent: mean over cases, and the largest.
        question_mean: tokens sent for a question, with the question itself: mean over probes.
        answerable: probes that it should have been scored on, as the others were.
        ranking: recall of evidence @k, MRR and nDCG by notation; empty where nothing is ranked.
        ranked: probes with evidence, over which `ranking` is a mean.
        f1: LoCoMo's F1; None where it is not scored.
        judged: share of the answers that the judge found right; None where none was to be judged.
        masked: recall, F1 and evidence recall without what an audit found wrong; empty where there
            was no audit, or it found nothing.
        store: means of what was written to the store, by metric; empty where it is not shown.
        unread: whether answers are `n/a (reader)`: their means are None.
    """

    letter: str
    strategy: str
    budget: int
    control: str = ""
    failed: bool = False
    recall: Estimate = Estimate()
    beats: tuple[str, ...] = ()
    in_context: Estimate = Estimate()
    evidence: Estimate = Estimate()
    abstained: Estimate = Estimate()
    context_mean: float | None = None
    context_peak: float | None = None
    question_mean: float | None = None
    missed: int | None = 0
    hallucinated: int = 0
    lost: int | None = None
    compactions: int | None = None
    leaks: int | None = None
    unscored: int = 0
    answerable: int = 0
    ranking: Mapping[str, float | None] = field(default_factory=dict)
    ranked: int = 0
    f1: Estimate | None = None
    judged: Estimate | None = None
    masked: Mapping[str, Estimate] = field(default_factory=dict)
    store: Mapping[str, float] = field(default_factory=dict)
    unread: bool = False

    @property
    def lead(self) -> Estimate:
        """What the row is ranked by: recall, or evidence recall where the reader is the limit."""
        return self.evidence if self.unread else self.recall

    @property
    def incomplete(self) -> bool:
        """Whether some of its probes could not be scored, or were not asked."""
        return self.recall.n < self.answerable

    @property
    def partial(self) -> bool:
        """Whether too few probes were scored to rank the row among the others."""
        return self.recall.n < LEAST_SCORED * self.answerable


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Recall of every row over some of the probes.

    Attributes:
        recall: one for each row of the board, in its order; None where nothing was scored.
    """

    name: str
    n: int
    recall: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Recall by one property of the probes and by strategy.

    Attributes:
        of: `recall`, or `evidence recall` where the reader is the limit.
    """

    by: str
    slices: tuple[Slice, ...]
    of: str = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All strategies at one budget over the scenarios, or over one dataset.

    Attributes:
        dataset: empty for scenarios.
        probes: how many probes each strategy was asked, repeats not counted.
        answerable: how many of them have an answer.
        repeats: how often each was asked.
        rows: ceilings first, then by recall, floors last.
        reader: what the reader answers from the evidence alone, and which metrics that bounds.
    """

    dataset: str
    budget: int
    scenarios: int
    probes: int
    answerable: int
    repeats: int
    rows: tuple[BoardRow, ...]
    matrices: tuple[Matrix, ...] = ()
    reader: ReaderLimit = UNKNOWN

    @property
    def clustered(self) -> bool:
        """Whether intervals resample conversations."""
        return bool(self.dataset)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenBound:
    """A bound that a case did not keep.

    Attributes:
        value: what was measured; None when the metric could not be scored.
        place: `file:line` of the bound, or the flag.
    """

    metric: str
    bound: str
    value: float | None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedProbe:
    """A probe that was not answered rightly.

    Attributes:
        id: what `memsim explain` takes.
    """

    id: str
    probe: str
    outcome: str
    reason: str = ""
    said: int | None = None
    gone: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFailure:
    """A case that broke a bound."""

    case: str
    broken: tuple[BrokenBound, ...]
    missed: tuple[MissedProbe, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredCase:
    """A case that could not be scored, wholly or in part.

    Attributes:
        tracebacks: of what the strategy raised.
    """

    case: str
    state: str
    error: str
    tracebacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedGroup:
    """What one strategy missed or hallucinated at one budget: how much, why, and where to look.

    Attributes:
        reasons: why answerable probes were missed, most frequent first.
        examples: missed ones first.
    """

    strategy: str
    budget: int
    missed: int
    answerable: int
    reasons: Mapping[str, int]
    hallucinated: int = 0
    unanswerable: int = 0
    examples: tuple[MissedProbe, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What shaped the numbers.

    Attributes:
        place: what a reader may open: the report, or the run's folder.
        judge: who was to judge answers besides the rules; empty for nobody.
        isolated: the strategies that had processes of their own.
        hosts: what these were seen to talk to, by strategy.
        notes: what one has to know of their numbers, by strategy.
    """

    version: str
    model: str
    embedder: str
    tokenizer: str
    seed: int
    repeat: int
    run: str
    place: str
    command: str
    judge: str = ""
    isolated: tuple[str, ...] = ()
    hosts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """The judge of a run, and how far it can be trusted.

    Attributes:
        prompt: the hash of what it is told; empty for a judge by rule.
        floor: the share of known answers of each kind that it had to tell.
        unfit: why nothing that it said counts; empty where it does.
        known: by kind, how many known answers it told, and of how many.
        known_flips: share of those on which its opinions differed.
        agreement: share on which it says the same as the rules.
        kappa: Cohen's, of the same; None where one of them says the same of all answers.
        compared: over how many answers.
    """

    judge: str
    draws: int
    prompt: str = ""
    floor: float = 0.0
    unfit: str = ""
    known: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    known_flips: float | None = None
    answers: int = 0
    unread: int = 0
    flips: float | None = None
    agreement: float | None = None
    kappa: float | None = None
    compared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """Everything that is shown of a run.

    Attributes:
        seconds: how long the command took; None when nobody waited for it.
        rivals: whether rivals are compared and none of them is tested: a report then says what was
            found, and not whether it passed.
    """

    header: RunHeader
    boards: tuple[Board, ...]
    failures: tuple[CaseFailure, ...]
    unscored: tuple[UnscoredCase, ...]
    missed: tuple[MissedGroup, ...]
    verdict: Verdict
    pending: int = 0
    seconds: float | None = None
    comparison: Comparison | None = None
    leakage: tuple[LeakBoard, ...] = ()
    judging: JudgeReport | None = None
    rivals: bool = False

    @property
    def main_board(self) -> Board | None:
        """The largest budget, scenarios before datasets."""
        return min(self.boards, key=lambda b: (bool(b.dataset), -b.budget), default=None)


# A run as JSON: one document of the summary, or one line for each case.


def json_document(summary: RunSummary) -> str:
    """Encode the summary as one JSON document in ASCII."""
    return json.dumps(asdict(summary), indent=2, ensure_ascii=True, allow_nan=False)


def json_case_lines(run: Run) -> Iterator[str]:
    """Encode one line of JSON for each case, in the order of the plan."""
    for case in run.cases:
        yield json.dumps(asdict(case), ensure_ascii=True, allow_nan=False)


def own_version() -> str:
    """The installed version of memsim, or a word for a checkout."""
    try:
        return version("memsim")
    except PackageNotFoundError:
        return "(not installed)"
