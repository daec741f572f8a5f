"""Whole runs: stopped, spread over processes or talked through, they come to the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memsim.config import Settings
from memsim.discovery.project import find_project
from memsim.errors import ExitCode
from memsim.executors import Executor, InProcess, ProcessPool
from memsim.runs import open_run, perform
from memsim.suite.case_plan import CasePlan, plan, resolve_strategies
from memsim.suite.cases import CaseOutcome, CaseSpec
from memsim.suite.play import run_case
from memsim.suite.scenarios import ScenarioRef
from memsim.testing.check_cases import RunCase
from memsim.testing.folders import throwaway
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.worlds import Trial, TrialTranscript

# Runs: the same again is the same, and one case leaves nothing behind for another.


def _bytes(transcript: TrialTranscript) -> list[str]:
    return [repr((s.query, s.context, str(s.refused))) for s in transcript.sights if s.delivered]


@holds(58, "same seed, same case => same bytes")
def determinism(trial: Trial) -> int:
    """Two instances that are told the same show the same, byte for byte.

    Fails, for example, where a set is listed in the order of its hashes, or the clock on the wall
    is asked.
    """
    expected = _bytes(trial.transcript)
    world = trial.again
    if expected != _bytes(world.transcript):
        world = trial.played()  # the case beside it may be the cause
    if expected != _bytes(world.transcript):
        raise Violation("told the same once more, it shows something else")
    if "save" in trial.subject.claims.has and not trial.main.over:
        asked = (
            (s.query.text, s.query.principal) for s in trial.transcript.sights if not s.delivered
        )
        for text, who in dict.fromkeys(asked):
            world.ask(text, who)
        if not world.over and trial.main.saved() != world.saved():
            raise Violation("told the same once more, it saves something else")
    return len(expected)


@holds(60, "verdicts(case) do not depend on which cases were played before or beside it")
def isolation_between_cases(trial: Trial) -> int:
    """Another case that is played beside it, in the same process, changes nothing.

    Fails, for example, where messages are kept in a list of the class and not of the instance.
    """
    expected = _bytes(trial.transcript)
    if _bytes(trial.again.transcript) != expected:
        raise Violation("with another case beside it, it shows something else")
    return len(expected)


RECORDS = ("turns.jsonl", "probes.jsonl", "contexts.jsonl", "cases.jsonl")
STRATEGIES = ("full_context", "sliding_window:messages=4", "full_context:scope=principal")
BUDGET = 1 << 20

_SCENARIO = """memsim: 1
name: {name}
principals: [ana, ben]
seed: {seed}
turns:
  - session: {{id: b, principal: ben}}
  - user: The code of my locker is {theirs}.
    facts: {{theirs: {{value: {theirs}, private: true}}}}
  - session: {{id: a, principal: ana}}
  - user: My order is {mine}.
    facts: {{mine: {mine}}}
{filler}probes:
  mine: {{ask: What is my order?, expect: {mine}, as: ana}}
  theirs: {{ask: What is the code of the locker?, expect: {theirs}, as: ben}}
  others: {{ask: What is the code of the locker?, expect: unknown, not: {theirs}, as: ana}}
"""


def scenario(case: RunCase, name: str, filler: int) -> str:
    """A scenario's text: two secrets, as many fillers, and three questions."""
    number = 1000 + case.seed * 37 % 9000
    return _SCENARIO.format(
        name=name,
        seed=case.seed,
        mine=f"A-{number}",
        theirs=f"L-{number}-7",
        filler=f"  - filler: {filler}\n" if filler else "",
    )


@contextmanager
def planned(case: RunCase, *fillers: int) -> Iterator[tuple[CasePlan, Path]]:
    """A plan of a scenario for each number of fillers, and a folder for its runs."""
    with throwaway() as name:
        folder = Path(name)
        refs = []
        for place, filler in enumerate(fillers):
            path = folder / f"s{place}.yaml"
            path.write_text(scenario(case, f"s{place}", filler), encoding="utf-8")
            refs.append(ScenarioRef(source=path.name, name=f"s{place}", place=path))
        settings = Settings(embedder="hash", budget=(BUDGET,))
        strategies = resolve_strategies(STRATEGIES, find_project(folder), controls=False)
        yield plan(settings, refs, strategies), folder


def kept(made: CasePlan, reports: Path, executor: Executor, stop: int = 0) -> Path:
    """Play what a run lacks, so many cases of it where it is to be stopped; its folder."""
    played = 0

    def watch(_result: object) -> bool:
        nonlocal played
        played += 1
        return played == stop

    with open_run(made, reports) as writer:
        perform(made, writer, executor, watch=watch if stop else None)
        if not stop:
            writer.finish(ExitCode.PASSED, "played")
    return writer.folder


def contents(folder: Path) -> dict[str, list[Any]]:
    """The records of a run, but for how long they took here."""
    lines = {n: (folder / n).read_text(encoding="utf-8").splitlines() for n in RECORDS}
    return {n: [_timeless(json.loads(line)) for line in found] for n, found in lines.items()}


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    # `own` is a sum over the record, and so over the seconds in it.
    return {
        name: value for name, value in record.items() if name not in {"seconds", "latency", "own"}
    }


@holds(56, "run(stop anywhere; resume) = run, each case counted once", on="run")
def resume_is_uninterrupted(case: RunCase) -> int:
    """A run that stopped after any case, its records cut off anywhere, ends as if it never had.

    Fails, for example, where a case whose last line was half written counts as played, or is
    counted twice.
    """
    if case.seed % 10:
        return 0
    with planned(case, case.filler, 0) as (made, folder):
        whole = contents(kept(made, folder / "whole", InProcess()))
        stopped = kept(made, folder / "stopped", InProcess(), 1 + case.stop % len(made.cases))
        path = stopped / RECORDS[case.lost % len(RECORDS)]
        data = path.read_bytes()
        path.write_bytes(data[: max(0, len(data) - case.lost)])
        resumed = contents(kept(made, folder / "stopped", InProcess()))
    if resumed != whole:
        raise Violation(f"stopped after {1 + case.stop} cases and resumed, it has other records")
    return len(made.cases)


@holds(57, "run(1 worker) = run(n workers); a lost worker => lost", on="run")
def workers_change_nothing(case: RunCase) -> int:
    """However many processes play, the records are the same, and a case whose process died is lost.

    Fails, for example, where records stand in the order in which they were done, or a case that
    killed its process is left out.
    """
    if case.jobs == 1:
        return 0
    with planned(case, case.filler) as (made, folder):
        one = contents(kept(made, folder / "one", InProcess()))
        many = contents(kept(made, folder / "many", ProcessPool(case.jobs)))
        dying = ProcessPool(case.jobs).run(made.cases, _dying)
        statuses = [outcome.result.state for _, outcome in sorted(dying, key=_place)]
    if one != many:
        raise Violation(f"{case.jobs} processes have other records than one")
    if statuses[0] != "lost" or len(statuses) != len(made.cases):
        raise Violation(f"of a process that died, it is told {statuses[0]}")
    return len(made.cases)


def _place(outcome: tuple[int, CaseOutcome]) -> int:
    return outcome[0]


def _dying(spec: CaseSpec) -> CaseOutcome:
    import os

    if str(spec.scenario).endswith("s0") and spec.strategy.name == "full_context":
        os._exit(1)
    return run_case(spec)


@holds(59, "leaks(probe, M + fillers) = leaks(probe, M)", on="run")
def fillers_change_no_verdict(case: RunCase) -> int:
    """What has nothing to do with a probe makes no leak of a pass, and hides none.

    Fails, for example, where a filler happens to hold a secret's digits, or so many of them push
    the control's own evidence out.
    """
    if case.seed % 4:
        return 0
    with planned(case, 0, case.filler) as (made, _):
        verdicts = [[_verdict(line) for line in _probes(run_case(spec))] for spec in made.cases]
    half = len(verdicts) // 2
    for spec, few, many in zip(made.cases[:half], verdicts[:half], verdicts[half:], strict=True):
        # Which answer a reader finds among much else is another question.
        new, old = ({probe for probe, leaks in found if leaks} for found in (many, few))
        if new - old:
            raise Violation(f"{case.filler} fillers make {spec.strategy} leak {sorted(new - old)}")
        if old - new and spec.strategy.name == "full_context":
            raise Violation(f"{case.filler} fillers hide what {spec.strategy} leaks")
    if not any(leaks for _, leaks in verdicts[0]):
        raise Violation("the control, which shows everything to everybody, leaks nothing")
    return half


def _probes(outcome: CaseOutcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in outcome.probe_lines.splitlines()]


def _verdict(probe: dict[str, Any]) -> tuple[str, bool]:
    return probe["probe"], bool(probe["leaks"])
