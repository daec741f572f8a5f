"""The channels of leakage as cases of a run: one for each channel and strategy."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.discovery import builtin_folder
from memsim.errors import ConfigError
from memsim.leakage.channels import load_channel, modules
from memsim.leakage.families import FOLDER, Families, headers, load_families
from memsim.leakage.lines import performance_lines, score_lines
from memsim.leakage.playing import planned, play_channel
from memsim.scenario.script import Probe, Scenario
from memsim.suite.cases import CaseOutcome, CaseResult
from memsim.suite.expect import ExpectFailure, check_expectations
from memsim.trace import json_line

if TYPE_CHECKING:
    from memsim.discovery import Project
    from memsim.leakage.scores import ChannelScore
    from memsim.leakage.world import Setting
    from memsim.scenario.script import ScriptEvent
    from memsim.suite.cases import CaseSpec, State

SHARE = "attempts"
"""The option that says which share of a channel's attempts is made."""


def own_folder(project: Project) -> Path:
    """Where a project's own attacks would lie, else where memsim's do."""
    own = project.root / "scenarios" / FOLDER if project.root else None
    return own if own and own.is_dir() else builtin_folder("scenarios") / FOLDER


def leak_scenarios(place: Path, options: Mapping[str, str]) -> Iterator[Scenario]:
    """A scenario for each channel, with as many probes as it makes attempts.

    Args:
        place: a folder of attacks, besides memsim's own.
        options: `attempts`: the share of them that is made, above 0 to 1.

    Raises:
        ConfigError: an option is wrong.
        ScenarioError: a file of attacks is wrong.
    """
    share = _share(options)
    families = load_families(place)
    attacks = _digest(asdict(families))
    known = headers()
    for channel, module in modules().items():
        header = known[channel]
        families.of(header)
        full = families.attempts(header)
        count = planned(full, share)
        said = asdict(header) | {"place": "", "module": _source(module), "families": attacks}
        yield Scenario(
            name=channel,
            path=header.place,
            about=header.about,
            play=_nothing,
            turns=max(1, header.turns * count // header.attempts),
            probes=(Probe(id=channel, ask=""),) * count,
            fingerprint=_digest([said, count]),
            dataset=FOLDER,
        )


def _share(options: Mapping[str, str]) -> float:
    for name in options:
        if name != SHARE:
            raise ConfigError(f"leakage has no option {name!r}; it has {SHARE}")
    text = options.get(SHARE, "1")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1 or "_" in text:
        raise ConfigError(f"--leak-attempts must be a share such as 0.1, not {text!r}")
    return share


def _nothing(_seed: int) -> Iterator[ScriptEvent]:
    return iter(())


@lru_cache(maxsize=32)
def _source(module: str) -> str:
    path = Path(__file__).parents[1] / "leakage" / "channels" / f"{module}.py"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def attack(spec: CaseSpec, setting: Setting) -> CaseOutcome:
    """Play the channel that a case names.

    Whatever the strategy raises is told in the result, not raised. No strategy only marks a floor
    or a ceiling here: one that gives secrets away fails, one that keeps none was not measured.

    Args:
        spec: the case.
        setting: what worlds are made from.

    Raises:
        ScenarioError: a file of attacks is wrong.
    """
    began = time.perf_counter()
    channel = load_channel(spec.scenario.name)
    played = play_channel(
        channel, setting, count=spec.probes, seed=spec.seed, families=_families(spec)
    )
    lines = list(performance_lines(channel, played, spec.id, spec.repeat))
    probe_lines = "".join(map(json_line, lines)).encode(errors="backslashreplace")
    score = score_lines(map(json.loads, probe_lines.splitlines()))
    result = _result(spec, score, round(time.perf_counter() - began, 6))
    return CaseOutcome(result=result, probe_lines=probe_lines)


def _families(spec: CaseSpec) -> Families:
    return load_families(spec.scenario.place)


def _result(spec: CaseSpec, score: ChannelScore, seconds: float) -> CaseResult:
    metrics = score.metrics()
    state, error = _state(score)
    return CaseResult(
        id=spec.id,
        scenario=spec.scenario.name,
        strategy=str(spec.strategy),
        budget=spec.budget,
        repeat=spec.repeat,
        dataset=spec.scenario.dataset,
        state=state,
        error=error,
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
