"""Play one case, score it and encode its records."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.canary.secrets import hinted, redact_values
from memsim.discovery.loader import pin, prepare
from memsim.discovery.strategy_ref import StrategyRef
from memsim.latency import PROCESSOR, Latency
from memsim.leakage import LEAKAGE
from memsim.memory.places import addresses
from memsim.message import TokenCounter, load_tokenizer
from memsim.models import Model
from memsim.replay import replay
from memsim.scenario.script import Scenario
from memsim.scoring.metrics import summarise
from memsim.scoring.outcomes import OUTCOMES, PASSED, UNMEASURED
from memsim.scoring.probes import ProbeScore, score_probes
from memsim.scoring.stored_entries import score_store
from memsim.scoring.trace_records import record, store_record
from memsim.strategy import Environment, Strategy
from memsim.suite.case_models import embedder_of, failed_outcome, play_with_models, time_limit
from memsim.suite.cases import (
    CaseOutcome,
    CaseSpec,
    ExpectFailure,
    MetricBound,
    State,
    blank_result,
    check_expectations,
)
from memsim.suite.foreign_notes import credit_counts
from memsim.suite.judgement import Judge, Judgement, judge_case
from memsim.suite.reader_limit import ANSWERS_READ
from memsim.suite.turn_lines import TurnLines
from memsim.trace import StoreTrace, Trace, json_line

if TYPE_CHECKING:
    from memsim.strategy_process.host_process import IsolatedStrategies
    from memsim.strategy_process.logbook import Heard

NEAR_BY = "wordllama"
"""The packaged embedder that finds near duplicates, whatever embedder a run has."""

MakeStrategy = Callable[["Environment"], "Strategy"]
PathMaker = Callable[[], Path]
PathsWritten = Callable[[], Iterable[Path]]

_LONG = 20_000
"""Turns of a case from which on garbage is collected before the case is scored."""


def run_case(spec: CaseSpec, make: MakeStrategy | None = None) -> CaseOutcome:
    """Play a case, score it and encode its records.

    The strategy is made by `make`; None makes it from its ref. Whatever the strategy or the model
    raises is told in the result, not raised.

    Raises:
        ScenarioError: the scenario's file is wrong.
        RefError: the scenario, the model or the tokenizer is gone.
    """
    make = make or partial(make_strategy, spec.strategy)
    if spec.scenario.dataset == LEAKAGE:
        return _play_channel(spec, make)
    play = partial(play_scenario, spec.scenario.load(), spec)
    if spec.isolated:
        return _apart(spec, lambda apart: play(apart.make))
    return play(make)


def _apart(
    spec: CaseSpec,
    play: Callable[[IsolatedStrategies], CaseOutcome],
    hear: Callable[[Heard], None] | None = None,
) -> CaseOutcome:
    """Play a case with the strategy in a process of its own."""
    from memsim.strategy_process.host_process import IsolatedStrategies

    # A strategy that asks a server is a finding in a run; an attack has to know all that it meets.
    offline = spec.scenario.dataset == LEAKAGE
    with IsolatedStrategies(spec.strategy, spec.guarded or (), hear=hear, offline=offline) as apart:
        outcome = play(apart)
    result = outcome.result
    if apart.breach:
        outcome = CaseOutcome(result=result)
        result = blank_result(spec, state="invalid", error=f"invalid: {apart.breach}")
    return replace(outcome, result=replace(result, hosts=apart.hosts))


def _play_channel(spec: CaseSpec, make: MakeStrategy) -> CaseOutcome:
    from memsim.leakage.attack_world import Setting
    from memsim.strategy_process.logbook import Logbook
    from memsim.suite.leakage_case import attack

    def play(model: Model, make: MakeStrategy, written: PathsWritten) -> CaseOutcome:
        # What a strategy prints must not end up among the results.
        with redirect_stdout(sys.stderr), _PrivateFolder() as folder, time_limit(spec.timeout):
            setting = Setting(
                make=make,
                model=model,
                embed=partial(embedder_of, spec),
                counter=_counter(spec.tokenizer),
                budget=spec.budget,
                chance=lambda: random.Random(f"{spec.seed}/{spec.scenario.name}/{spec.repeat}"),
                folder=folder,
                services=addresses(os.environ),
                repeat=spec.repeat,
                written=written,
            )
            return attack(spec, setting)

    def play_with(make: MakeStrategy, written: PathsWritten) -> CaseOutcome:
        counter = _counter(spec.tokenizer)
        return play_with_models(spec, counter, lambda model, _judge: play(model, make, written))

    if not spec.isolated:
        return play_with(make, tuple)
    return _apart(spec, lambda apart: play_with(apart.make, apart.written), hear=Logbook.hear)


def make_strategy(ref: StrategyRef, env: Environment) -> Strategy:
    """Make a strategy; its file is executed on the first call.

    Raises:
        RefError: its file raised, or it refuses its parameters.
    """
    return _prepared(ref, ref.file, pin(ref.file) if ref.file else None)(env)


@lru_cache(maxsize=256)
def _prepared(ref: StrategyRef, _file: Path | None, _version: object) -> MakeStrategy:
    return prepare(ref)


def play_scenario(scenario: Scenario, spec: CaseSpec, make: MakeStrategy) -> CaseOutcome:
    """Play a scenario with a strategy that the caller makes."""
    began = time.perf_counter()
    controls: list[str] = []

    def remembering(env: Environment) -> Strategy:
        strategy = make(env)
        # Not the strategy itself: nothing here keeps it while its case is scored.
        controls.append(strategy.control or "")
        return strategy

    def play(model: Model, judge: Judge | None) -> CaseOutcome:
        turns = TurnLines(spec.id, spec.repeat, _turn_line)
        # What a strategy prints must not end up among the results.
        with redirect_stdout(sys.stderr), _PrivateFolder() as folder:
            trace = _replay(scenario, remembering, spec, model, folder, turns)
            if turns.count >= _LONG:
                gc.collect()  # parts of a memory that refer to each other would stay for long
        control = (controls[0] if controls else "") or spec.strategy.control
        judgement = judge_case(spec, scenario, trace, judge)
        return _scored(spec, trace, turns, judgement, control, began)

    return play_with_models(spec, _counter(spec.tokenizer), play)


def _replay(
    scenario: Scenario,
    make: MakeStrategy,
    spec: CaseSpec,
    model: Model,
    folder: PathMaker,
    turns: TurnLines,
) -> Trace:
    counter = _counter(spec.tokenizer)
    with time_limit(spec.timeout):
        return replay(
            scenario,
            make,
            model=model,
            embed=partial(embedder_of, spec),
            counter=counter,
            budget=spec.budget,
            seed=spec.seed,
            repeat=spec.repeat,
            folder=folder,
            services=addresses(os.environ),
            keep=turns.keep,
            contexts=True,
        )


@lru_cache(maxsize=8)
def _counter(tokenizer: str) -> TokenCounter:
    return TokenCounter(load_tokenizer(tokenizer))


class _PrivateFolder:
    """A folder for one case, made when it is asked for and gone with the case."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: Path | None = None

    def __enter__(self) -> PathMaker:
        return self._folder

    def __exit__(self, *_raised: object) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)

    def _folder(self) -> Path:
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="memsim-"))
        return self._made


def _scored(
    spec: CaseSpec,
    trace: Trace,
    turns: TurnLines,
    judgement: Judgement,
    control: str,
    began: float,
) -> CaseOutcome:
    scores = score_probes(trace)
    case = spec.id
    pairs = zip(trace.probes, scores, strict=True)
    ballots = judgement.ballots
    probes = [
        record(seen, score, case, spec.repeat, ballots.get(seen.probe.id)) for seen, score in pairs
    ]
    turns.end(**(_store(spec, trace.store) if turns.count else {}))
    metrics = {name: measure.value for name, measure in summarise(probes, turns).items()}
    try:
        if turns.error is not None:
            raise turns.error
        probe_lines = _lines(probes)
        context_lines = _context_lines(spec, trace)
    except (TypeError, ValueError) as error:
        return failed_outcome(spec, f"the strategy logged what JSON cannot hold: {error}")
    state: State = "error" if trace.error else "scored"
    result = replace(
        blank_result(spec, state=state, error=" ".join(_first_error(trace).split())),
        control=control,
        metrics=metrics,
        counts=_counts(trace, scores)
        | _unjudged(trace, judgement)
        | credit_counts(trace, foreign=turns.foreign),
        outcomes=_outcomes(scores),
        expect_failures=() if control else _broken(metrics, spec, trace),
        seconds=round(time.perf_counter() - began, 6),
        latency=_latency(spec, trace),
        unjudged=judgement.why,
        tracebacks=tuple(trace.tracebacks),
        notes=tuple(turns.notes),
        answer_bounds=() if control else _answer_bounds(spec),
    )
    return CaseOutcome(
        result=result,
        turn_lines=turns.rest,
        probe_lines=probe_lines,
        context_lines=context_lines,
        packed_turns=turns.packed,
    )


def _store(spec: CaseSpec, store: StoreTrace | None) -> dict[str, object]:
    """What the last turn's record has of the store."""
    if store is None:
        return {}
    score = score_store(store, partial(embedder_of, replace(spec, embedder=NEAR_BY)))
    return {"store": store_record(store, score)}


def _latency(spec: CaseSpec, trace: Trace) -> Latency:
    # The processor time of a strategy in a process of its own is not that of this one.
    hidden = f".{PROCESSOR}" if spec.isolated else ()
    return {name: counts for name, counts in trace.latency.items() if not name.endswith(hidden)}


def _first_error(trace: Trace) -> str:
    return trace.error or next((probe.error for probe in trace.probes if probe.error), "")


def _answer_bounds(spec: CaseSpec) -> tuple[MetricBound, ...]:
    bounds = (bound for bound in spec.bounds if bound.metric in {*ANSWERS_READ, "judged"})
    return tuple(bounds)


def _broken(
    metrics: Mapping[str, float | None], spec: CaseSpec, trace: Trace
) -> tuple[ExpectFailure, ...]:
    failures = check_expectations(metrics, spec.bounds)
    if not trace.error:
        return failures
    # A value of an unfinished case is no measurement, so no bound is met or missed by it.
    return tuple(replace(failure, value=None) for failure in failures)


def _context_lines(spec: CaseSpec, trace: Trace) -> bytes:
    named = {"case": spec.id, "repeat": spec.repeat} if spec.repeat else {"case": spec.id}
    text = json_line(named) + _without_secrets(trace.contexts)
    return text.encode(errors="backslashreplace")


def _without_secrets(lines: Sequence[str]) -> str:
    # To look for hints costs as much as to write a line; many lines at once are looked through.
    text = "\n".join([*lines, ""])
    if not hinted(text):
        return text
    if len(lines) == 1:
        return _line(json.loads(text))
    few = max(1, len(lines) // 16)
    return "".join(_without_secrets(lines[at : at + few]) for at in range(0, len(lines), few))


def _counts(trace: Trace, scores: Sequence[ProbeScore]) -> dict[str, int]:
    errors = sum(1 for s in scores if s.outcome in UNMEASURED)
    passed = sum(1 for s in scores if s.outcome in PASSED)
    return {
        "probes": len(scores),
        "answerable": sum(1 for p in trace.probes if not p.probe.unanswerable),
        "passed": passed,
        "failed": len(scores) - passed - errors,
        "errors": errors,
    }


def _unjudged(trace: Trace, judgement: Judgement) -> dict[str, int]:
    if not judgement.ballots:
        return {}
    given = {p.probe.id for p in trace.probes if p.answer is not None}
    silent = [p for p, b in judgement.ballots.items() if b.verdict is None and p in given]
    return {"unjudged": len(silent)}


def _outcomes(scores: Sequence[ProbeScore]) -> dict[str, int]:
    found = [s.outcome for s in scores]
    return {name: found.count(name) for name in OUTCOMES if name in found}


def _lines(records: Sequence[Mapping[str, object]]) -> bytes:
    # A model may end in half an emoji; escaped, it is the JSON of just that.
    return "".join(map(_line, records)).encode(errors="backslashreplace")


def _turn_line(record: Mapping[str, object]) -> bytes:
    return _line(record).encode(errors="backslashreplace")


def _line(record: Mapping[str, object]) -> str:
    """A record's line; a real credential that a strategy or a model let through is left out."""
    line = json_line(record)
    if not hinted(line):
        return line
    kept = {key: redact_values(value) for key, value in record.items()}
    return json_line(kept)
