"""Climb staircases of generated stories side by side, one for each strategy and dial."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from memsim.cli.supervisor import SUPERVISION
from memsim.cli.terminal import complain
from memsim.discovery.project import find_project
from memsim.errors import Unmeasurable
from memsim.scenario.generator.dials import DIALS

if TYPE_CHECKING:
    from memsim.suite.cases import CaseSpec
    from memsim.suite.staircase import Staircase, StaircaseResult

SEEDS = 3
"""Stories for each answer: together they have a limit, and those of each alone are its range."""

HOLDS = 0.8
"""Share of the questions whose answer must be in the context."""

CONTROLS = ("oracle", "no_memory")
"""What a plot shows beside the strategies."""

_HOME: Mapping[str, str] = {
    "facts": "updates",
    "distance": "updates",
    "updates": "updates",
    "unreal": "updates",
    "reverted": "updates",
    "late": "updates",
    "aliases": "updates",
    "pronouns": "updates",
    "interruptions": "updates",
    "notices": "updates",
    "depends": "updates",
    "speakers": "preferences",
    "instructions": "preferences",
    "result_size": "updates",
    "look_alikes": "aggregation",
    "hops": "multi_hop",
    "items": "aggregation",
    "removed": "aggregation",
    "steps": "procedures",
    "noise": "updates",
    "code_switching": "updates",
}
"""The family that a dial is turned in, where none is named."""

_FARTHEST = 20_000
"""Turns of other talk at most: more take minutes for each try."""


@dataclass(slots=True)
class Climb:
    """One staircase: a strategy and a dial, with all stories at each setting.

    Attributes:
        spec: its case, without the story.
        tried: the setting that is to be tried next.
        stories: by seed and setting, the share of answers that were in the context.
        result: where it broke, once that is known.
    """

    strategy: str
    family: str
    dial: str
    spec: CaseSpec
    stairs: Staircase
    tried: int
    stories: tuple[dict[int, float], ...] = field(
        default_factory=lambda: tuple({} for _ in range(SEEDS))
    )
    result: StaircaseResult | None = None

    @property
    def runs(self) -> int:
        """How many stories were played."""
        return sum(map(len, self.stories))

    def note(self, shares: Sequence[float]) -> None:
        """Take the shares of the setting that was tried, by seed, and choose the next."""
        for story, share in zip(self.stories, shares, strict=True):
            story[self.tried] = share
        try:
            self.tried = self.stairs.send(fmean(shares))
        except StopIteration as stop:
            self.result = stop.value


def pooled(stories: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """By setting, the mean share of stories that were all played at the same settings."""
    played = tuple(stories)
    return {setting: fmean(story[setting] for story in played) for setting in played[0]}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSearch:
    """Finds where strategies break.

    Attributes:
        folder: where the stories are written.
        budget: tokens of a context.
        jobs: processes; 0 lets memsim choose, and a text is a Ray cluster.
    """

    folder: Path
    budget: int
    jobs: int | str

    def climbed(
        self, strategies: Sequence[str], dials: Sequence[str], family: str | None
    ) -> tuple[Climb, ...]:
        """Every staircase, climbed to its end, a step of each at a time.

        Raises:
            MemsimError: a strategy is not known, or a family has no such dial.
            Unmeasurable: a story could not be played.
        """
        climbs = tuple(
            _begin(spec, dial, family or _HOME[dial])
            for dial in dials
            for spec in self._specs(strategies, dial, family or _HOME[dial])
        )
        while climbing := [climb for climb in climbs if climb.result is None]:
            wanted = [(climb, seed) for climb in climbing for seed in range(SEEDS)]
            told = [self._told(c.spec, c.family, c.dial, c.tried, seed) for c, seed in wanted]
            shares = [share for _, share in sorted(self._shares(told))]
            for place, climb in enumerate(climbing):
                climb.note(shares[place * SEEDS : (place + 1) * SEEDS])
        return climbs

    def controls(self, climbs: Sequence[Climb]) -> dict[tuple[str, str], dict[int, float]]:
        """By dial and control, the share of answers at each setting that was tried."""
        found: dict[tuple[str, str], dict[int, float]] = {}
        for dial, family in dict.fromkeys((climb.dial, climb.family) for climb in climbs):
            tried = {value for climb in climbs if climb.dial == dial for value in climb.stories[0]}
            shares = self.grid(CONTROLS, dial, family, sorted(tried), seeds=1)
            found |= {(dial, control): held for (control, _), held in shares.items()}
        return found

    def grid(
        self,
        strategies: Sequence[str],
        dial: str,
        family: str | None,
        settings: Iterable[int],
        *,
        seeds: int = SEEDS,
    ) -> dict[tuple[str, int], dict[int, float]]:
        """Play every one of these settings: by strategy and seed, the share of answers at each.

        Raises:
            MemsimError: a strategy is not known, or the family has no such dial.
            Unmeasurable: a story could not be played.
        """
        named = family or _HOME[dial]
        wanted = [
            (spec, value, seed)
            for spec in self._specs(strategies, dial, named)
            for value in settings
            for seed in range(seeds)
        ]
        told = [self._told(spec, named, dial, value, seed) for spec, value, seed in wanted]
        found: dict[tuple[str, int], dict[int, float]] = {}
        for place, share in sorted(self._shares(told)):
            spec, value, seed = wanted[place]
            found.setdefault((str(spec.strategy), seed), {})[value] = share
        return found

    def _specs(self, strategies: Sequence[str], dial: str, family: str) -> list[CaseSpec]:
        from memsim.cli.run_plan import RunRequest, plan_run

        path = self._story(family, dial, DIALS[dial].least, 0)
        settings: dict[str, Any] = {"baseline": "none", "budget": str(self.budget)}
        request = RunRequest(
            selectors=(str(path),),
            strategies=tuple(strategies),
            controls=False,
            settings=settings,
        )
        planned = plan_run(request, find_project())
        return [replace(case, bounds=()) for case in planned.plan.cases]

    def _story(self, family: str, dial: str, value: int, seed: int) -> Path:
        from memsim.scenario.generator.dials import Generate
        from memsim.scenario.generator.written_script import short_script

        name = f"{family}-{dial}-{value}-{seed}"
        path = self.folder / f"{name}.yaml"
        turned: dict[str, Any] = {dial: value}
        step = Generate(line=None, family=family, seed=seed, **turned)
        path.write_text(json.dumps(short_script(name, step)), encoding="utf-8")
        return path

    def _told(self, spec: CaseSpec, family: str, dial: str, value: int, seed: int) -> CaseSpec:
        from memsim.suite.scenarios import ScenarioRef

        path = self._story(family, dial, value, seed)
        ref = ScenarioRef(source=path.name, name=path.stem, place=path)
        return replace(spec, scenario=ref, turns=ref.load().turns)

    def _shares(self, specs: Sequence[CaseSpec]) -> Iterator[tuple[int, float]]:
        from memsim.executors import choose_executor
        from memsim.heap import rare_garbage_collection
        from memsim.suite.play import run_case

        executor = choose_executor(self.jobs, len(specs), sum(spec.turns for spec in specs))
        with (
            SUPERVISION.played_by(self.jobs),
            rare_garbage_collection(),
            closing(executor.run(specs, run_case)) as outcomes,
        ):
            for place, outcome in outcomes:
                if outcome.result.state != "scored":
                    complain(f"{specs[place].key}: {outcome.result.error}")
                    raise Unmeasurable("a story was not measured, so there is no limit")
                records = [json.loads(line) for line in outcome.probe_lines.splitlines()]
                yield place, _share(records)


def _begin(spec: CaseSpec, dial: str, family: str) -> Climb:
    from memsim.scenario.generator.story_script import most_of
    from memsim.suite.staircase import staircase

    most = min(most_of(family, dial), _FARTHEST)
    stairs = staircase(DIALS[dial].least, most, HOLDS)
    return Climb(str(spec.strategy), family, dial, spec, stairs, next(stairs))


def _share(records: Sequence[Mapping[str, Any]]) -> float:
    # What was never told stands in no context.
    held = [score for r in records if (score := r["scores"]["answer_in_context"]) is not None]
    return held.count(1) / len(held)
