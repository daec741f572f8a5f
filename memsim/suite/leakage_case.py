"""Play leakage channels as cases: one for each channel and strategy."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

from memsim.leakage.attack_families import Families
from memsim.leakage.attack_files import load_families
from memsim.leakage.attack_world import Setting
from memsim.leakage.channel import play_channel
from memsim.leakage.channels import load_channel
from memsim.leakage.probe_lines import channel_lines, score_lines
from memsim.leakage.scores import ChannelScore
from memsim.suite.cases import (
    CaseOutcome,
    CaseResult,
    CaseSpec,
    ExpectFailure,
    State,
    blank_result,
    check_expectations,
)
from memsim.trace import json_line


def attack(spec: CaseSpec, setting: Setting) -> CaseOutcome:
    """Play the channel that a case names.

    Whatever the strategy raises is told in the result, not raised. No strategy only marks a floor
    or a ceiling here: one that gives secrets away fails, one that keeps none was not measured.

    Raises:
        ScenarioError: a file of attacks is wrong.
    """
    began = time.perf_counter()
    channel = load_channel(spec.scenario.name)
    played = play_channel(
        channel, setting, count=spec.probes, seed=spec.seed, families=_families(spec)
    )
    lines = list(channel_lines(channel, played, spec.id, spec.repeat))
    probe_lines = "".join(map(json_line, lines)).encode(errors="backslashreplace")
    score = score_lines(map(json.loads, probe_lines.splitlines()))
    result = _result(spec, score, round(time.perf_counter() - began, 6))
    if played.traceback:
        result = replace(result, tracebacks=(played.traceback,))
    return CaseOutcome(result=result, probe_lines=probe_lines)


def _families(spec: CaseSpec) -> Families:
    return load_families(spec.scenario.place)


def _result(spec: CaseSpec, score: ChannelScore, seconds: float) -> CaseResult:
    metrics = score.metrics()
    state, error = _state(score)
    return replace(
        blank_result(spec, state=state, error=error),
        control="",
        metrics=metrics,
        counts={
            "probes": score.planned,
            "answerable": score.leaks.n,
            "passed": score.leaks.n - score.leaks.k,
            "failed": score.leaks.k,
            "errors": 0 if state == "scored" else score.planned - score.leaks.n,
        },
        outcomes=score.states,
        expect_failures=(*_gate(score), *check_expectations(metrics, spec.bounds)),
        seconds=seconds,
    )


def _state(score: ChannelScore) -> tuple[State, str]:
    """Whether it was measured, and why not."""
    if score.error or score.negatives.k:
        return "error", score.why
    if score.why:
        return "invalid", score.why
    return "scored", ""


def _gate(score: ChannelScore) -> Iterator[ExpectFailure]:
    if score.gated.k:
        place = f"channel {score.channel}"
        yield ExpectFailure(metric="plr", bound="== 0", value=score.gated.share, place=place)
