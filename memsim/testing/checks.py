"""Check a strategy against the invariants on many generated cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memsim.errors import MemsimError, NoCasesError, describe_error
from memsim.suite.case_plan import parse_expression
from memsim.testing.case_coverage import Coverage, FeatureCount
from memsim.testing.case_search import draw_cases, simplest
from memsim.testing.check_cases import AnyCase, Case
from memsim.testing.fresh_process import close_processes
from memsim.testing.generators import cases, files, ledgers, runs, shelves
from memsim.testing.invariant_catalogue import PARTS
from memsim.testing.invariants import Invariant, NotApplicable, Violation, known
from memsim.testing.isolated_subject import breach, isolated_subject
from memsim.testing.subjects import subject_of
from memsim.testing.worlds import Subject, Trial, World

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.testing.invariant_catalogue import On

Verdict = Literal["holds", "violated", "declared", "nothing", "not applicable", "invalid"]
"""holds: it was measured and holds; declared: it does not, and the strategy says so itself;
nothing: in no case was there anything to measure; invalid: the strategy was seen to look for
answers, so that nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckProfile:
    """Number of cases and other limits of a check.

    Attributes:
        examples: cases for each strategy.
        steps: messages of a conversation, about, at most.
        patience: cases that shrinking may try.
    """

    name: str
    examples: int
    steps: int
    patience: int


PROFILES: Mapping[str, CheckProfile] = {
    "commit": CheckProfile(name="commit", examples=50, steps=30, patience=150),
    "ci": CheckProfile(name="ci", examples=500, steps=50, patience=500),
    "nightly": CheckProfile(name="nightly", examples=20_000, steps=100, patience=2_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one invariant on one subject.

    Attributes:
        examples: cases in which there was something to measure.
        looked: how much was looked at in all of them.
        why: what is broken, or why nothing was measured.
        case: the simplest case in which it does not hold.
        replayed: it was found by a counterexample that had been kept.
    """

    invariant: str
    subject: str
    verdict: Verdict
    examples: int = 0
    looked: int = 0
    why: str = ""
    case: AnyCase | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The results of checking one subject."""

    subject: str
    results: tuple[CheckResult, ...] = ()
    coverage: tuple[FeatureCount, ...] = ()

    @property
    def thin(self) -> tuple[FeatureCount, ...]:
        """Features that too few cases had."""
        return tuple(covered for covered in self.coverage if not covered.enough)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlan:
    """The plan of a check, which can be sent to another process.

    Attributes:
        counterexamples: counterexamples of earlier checks, which are tried first, by invariant.
        guarded: files and folders that a strategy in a process of its own has to keep off; None
            where it is made in this process.
        numbers: of the cases that are tried; None for all.
    """

    subject: str
    names: tuple[str, ...]
    profile: CheckProfile
    seed: int = 7
    counterexamples: Mapping[str, AnyCase] = field(default_factory=dict)
    guarded: tuple[Path, ...] | None = None
    numbers: range | None = None


def generated(on: On, profile: CheckProfile) -> SearchStrategy[AnyCase]:
    """What a kind of invariant is tried on."""
    return _source(on, profile.steps)


@lru_cache(maxsize=64)
def _source(on: On, steps: int) -> SearchStrategy[AnyCase]:
    if on == "ledger":
        return ledgers(steps)
    if on == "shelf":
        return shelves()
    if on == "file":
        return files()
    if on == "run":
        return runs()
    return cases(steps // 3)


@lru_cache(maxsize=PROFILES["ci"].examples)
def case_of(on: On, steps: int, seed: int, number: int) -> AnyCase:
    """The case of a number; cached, because drawing takes longer than most plays."""
    return draw_cases(_source(on, steps), seed, number)


def chosen(k: str) -> tuple[Invariant, ...]:
    """The invariants that match an expression, as in pytest's `-k`.

    Raises:
        ConfigError: it is no expression.
        NoCasesError: it means none.
    """
    # A number is meant as a whole: I6 is not the beginning of I60.
    exact = re.sub(r"\bi(\d{1,2})\b", lambda m: f"i{int(m[1]):02}.", k.casefold())
    wanted = parse_expression(exact)
    found = tuple(i for i in known() if wanted(i.words))
    if not found:
        raise NoCasesError(f"no invariant matches {k!r}")
    return found


def check(
    strategy: StrategyRef | str,
    *,
    k: str = "",
    profile: str | CheckProfile = "commit",
    seed: int = 7,
) -> CheckReport:
    """Check one strategy here and now; nothing is written.

    Args:
        strategy: such as `sliding_window:messages=5` or `my.py@Mine`, or `memory` for the parts of
            `memsim.memory`.
        k: which invariants, as pytest's `-k` reads it.
        profile: `commit`, `ci` or `nightly`, or one of your own.
        seed: of the cases.

    Raises:
        UsageError: a name is wrong.
        NoCasesError: the expression means no invariant.
    """
    names = tuple(i.name for i in chosen(k))
    effort = PROFILES[profile] if isinstance(profile, str) else profile
    return perform(CheckPlan(subject=str(strategy), names=names, profile=effort, seed=seed))


def assert_holds(checked: CheckReport) -> None:
    """Fail a test where an invariant does not hold, or too few cases were telling.

    Raises:
        Violation: so it is; all that was found is told.
    """
    said = [f"{r.invariant}: {r.why}" for r in checked.results if r.verdict == "violated"]
    said += [f"only {c.seen} of {c.cases} cases: {c.name}" for c in checked.thin]
    if said:
        raise Violation(f"{checked.subject}\n" + "\n".join(said))


Tick = Callable[[float], None]
"""Is told, again and again, which share of a check is done."""


def perform(plan: CheckPlan, tick: Tick = lambda _share: None) -> CheckReport:
    """Check one subject.

    Raises:
        UsageError: the strategy means nothing.
    """
    if plan.subject == PARTS:
        return _performed(plan, None, tick)
    if plan.guarded is None:
        return _performed(plan, subject_of(plan.subject), tick)
    with isolated_subject(plan.subject, plan.guarded) as subject:
        report = _performed(plan, subject, tick)
    return _invalid(report, breach()) if breach() else report


def _invalid(report: CheckReport, why: str) -> CheckReport:
    results = tuple(
        CheckResult(invariant=r.invariant, subject=r.subject, verdict="invalid", why=why)
        for r in report.results
    )
    return replace(report, results=results)


def _performed(plan: CheckPlan, subject: Subject | None, tick: Tick) -> CheckReport:
    wanted = [i for i in known() if i.name in plan.names]
    tallies = [
        _Tally(i, plan, subject) for i in wanted if (i.on == "strategy") == (subject is not None)
    ]
    coverage = Coverage()
    try:
        kinds = tuple(dict.fromkeys(t.invariant.on for t in tallies))
        for place, on in enumerate(kinds):
            alike = [t for t in tallies if t.invariant.on == on]
            told = partial(tick_part, tick, place, len(kinds))
            _try(on, alike, plan, subject, coverage, told)
    finally:
        close_processes()
    by_name = {t.invariant.name: t.result() for t in tallies}
    results = [by_name.get(i.name) or _elsewhere(i, plan.subject) for i in wanted]
    return CheckReport(subject=plan.subject, results=tuple(results), coverage=coverage.counted())


def tick_part(tick: Tick, place: int, parts: int, share: float) -> None:
    """Tell the share of the whole, of which a part of equal length is done in this share."""
    tick((place + share) / parts)


def verify(name: str, subject: str, case: AnyCase) -> int:
    """Measure one invariant in one case, as a saved counterexample does.

    Args:
        name: the invariant.
        subject: a strategy's ref, or `memory`.
        case: what it is tried on.

    Returns:
        How much there was to look at.

    Raises:
        Violation: it does not hold.
        UsageError: a name means nothing.
    """
    wanted = next(i for i in known() if i.name == name)
    looked, why = _measured(wanted, None if subject == PARTS else subject_of(subject), case)
    if why:
        raise Violation(why)
    return looked


def world_of(subject: str, case: Case) -> World:
    """A strategy in a world in which a case can be played, call by call.

    Raises:
        UsageError: the strategy means nothing.
    """
    return World(subject_of(subject), case)


class _Tally:
    """What has come of one invariant so far."""

    def __init__(self, invariant: Invariant, plan: CheckPlan, subject: Subject | None) -> None:
        self.invariant = invariant
        self._plan = plan
        self._subject = subject
        self.lacking = subject.claims.lacking(invariant) if subject else ""
        self._examples = self._looked = 0
        self._why = ""
        self._case: AnyCase | None = None
        self._replayed = False
        self._nothing = "nothing of the kind came up"

    @property
    def open(self) -> bool:
        """Whether there is anything left to find out."""
        return not self.lacking and not self._why

    def replay(self, case: AnyCase) -> None:
        """Try a counterexample of an earlier check."""
        looked, self._why = _measured(self.invariant, self._subject, case)
        self._add(looked)
        if self._why:
            self._case, self._replayed = case, True

    def add(self, case: AnyCase, trial: Trial | None) -> None:
        """Try one case."""
        looked, self._why = _looked(self.invariant, trial, case)
        self._add(looked)
        if self._why:
            self._case = self._simplest(case)

    def _add(self, looked: int) -> None:
        self._looked += looked
        self._examples += looked > 0

    def _simplest(self, case: AnyCase) -> AnyCase:
        case = simplest(
            case,
            lambda case: bool(_measured(self.invariant, self._subject, case)[1]),
            self._plan.profile.patience,
        )
        self._why = _measured(self.invariant, self._subject, case)[1] or self._why
        return case

    def result(self) -> CheckResult:
        """What came of it."""
        why, verdict = self._verdict()
        return CheckResult(
            invariant=self.invariant.name,
            subject=self._plan.subject,
            verdict=verdict,
            examples=self._examples,
            looked=self._looked,
            why=why,
            case=self._case,
            replayed=self._replayed,
        )

    def _verdict(self) -> tuple[str, Verdict]:
        if self.lacking:
            return self.lacking, "not applicable"
        declared = self._subject.claims.departs if self._subject else {}
        if self._why and self.invariant.name in declared:
            return f"{declared[self.invariant.name]}: {self._why}", "declared"
        if self._why:
            return self._why, "violated"
        if not self._examples:
            return self._nothing, "nothing"
        return "", "holds"


def _try(
    on: On,
    tallies: Sequence[_Tally],
    plan: CheckPlan,
    subject: Subject | None,
    coverage: Coverage,
    tick: Tick,
) -> None:
    for tally in tallies:
        case = plan.counterexamples.get(tally.invariant.name)
        if case is not None and tally.open:
            tally.replay(case)
    numbers = _numbers(plan)
    for place, number in enumerate(numbers, 1):
        case = case_of(on, plan.profile.steps, plan.seed, number)
        coverage.add(case)
        trial = None if subject is None else Trial(subject, case, number)  # type: ignore[arg-type]
        try:
            for tally in tallies:
                if tally.open:
                    tally.add(case, trial)
        finally:
            if trial is not None:
                trial.close()
        tick(place / len(numbers))


def _numbers(plan: CheckPlan) -> range:
    return range(plan.profile.examples) if plan.numbers is None else plan.numbers


def _measured(invariant: Invariant, subject: Subject | None, case: AnyCase) -> tuple[int, str]:
    trial = None if subject is None else Trial(subject, case)  # type: ignore[arg-type]
    try:
        return _looked(invariant, trial, case)
    finally:
        if trial is not None:
            trial.close()


def _looked(invariant: Invariant, trial: Trial | None, case: AnyCase) -> tuple[int, str]:
    try:
        return invariant.measure(case if trial is None else trial), ""
    except Violation as broken:
        return 1, str(broken)
    except NotApplicable:
        return 0, ""
    except MemsimError as error:
        return 1, f"it raised {type(error).__name__}: {' '.join(str(error).split())}"
    except Exception as error:  # noqa: BLE001 - a stranger's code: whatever it raises is a finding
        return 1, f"it raised {describe_error(error)}"


def _elsewhere(invariant: Invariant, subject: str) -> CheckResult:
    if subject == PARTS:
        why = "it is measured on strategies"
    else:
        why = f"it is about a part of memsim.memory ({invariant.on}): see the column {PARTS}"
    return CheckResult(invariant=invariant.name, subject=subject, verdict="not applicable", why=why)


def failed(reports: Iterable[CheckReport]) -> bool:
    """Whether anything does not hold, or was not tried hard enough."""
    return any(
        report.thin or any(r.verdict in {"violated", "invalid"} for r in report.results)
        for report in reports
    )
