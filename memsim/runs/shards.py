"""Merge the shards of a run: check that they are the whole of it, and write it as one run.

A merged run is a run whose cases are all found in the shards: the same writer keeps them, in the
order of the plan, so that its records have the bytes of a run on one machine.
"""

from __future__ import annotations

import heapq
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.errors import RunFolderError
from memsim.json_input import is_folder, is_regular
from memsim.json_types import convert
from memsim.runs.judge_trial import JUDGE_KEY
from memsim.runs.run_folder import FORMAT, INFO, start_time
from memsim.runs.run_reader import Run, open_folder
from memsim.runs.run_writer import provenance
from memsim.suite.case_plan import JUDGE, digest
from memsim.suite.cases import CaseResult, scenario_of
from memsim.suite.shard import Shard

if TYPE_CHECKING:
    from memsim.runs.run_writer import RunWriter

SHARDS = "shards"
_OF_A_MACHINE = frozenset({"cassettes", "jobs", "max_cost", "record", "reports"})
"""Settings that may differ between shards: no record depends on them."""


def shard_folder(reports: Path, shard: Shard) -> Path:
    """The folder of a shard of a plan, among those of other plans."""
    return reports / SHARDS / shard.plan[:12] / shard.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRun:
    """A shard that was played to its end, and which one it is."""

    run: Run
    shard: Shard

    def part(self, key: str) -> Mapping[str, Any]:
        """A table of its `run.json`."""
        return self.run.table(key)


def read_shards(folders: Sequence[Path]) -> tuple[ShardRun, ...]:
    """Read all shards of one run, by their numbers.

    Args:
        folders: each one a shard, or a folder of shards, in any order.

    Raises:
        RunFolderError: one is missing, doubled, unfinished, damaged, or of another run.
    """
    found = [_read_shard(path) for folder in folders for path in _shards_in(folder)]
    shards = tuple(sorted(found, key=lambda s: (s.shard.number, s.run.folder)))
    for other in shards[1:]:
        if differs := _difference(shards[0], other):
            said = f"is no shard of the run of {shards[0].run.folder}: {differs}"
            raise RunFolderError(said, path=other.run.folder)
    _check_numbers(shards)
    _check_whole(shards)
    return shards


def _shards_in(folder: Path) -> list[Path]:
    if not is_folder(folder) or is_regular(folder / INFO):
        return [folder]
    inside = sorted(path for path in folder.iterdir() if is_regular(path / INFO))
    if not inside:
        raise RunFolderError("is no shard, and holds none", path=folder)
    return inside


def _read_shard(folder: Path) -> ShardRun:
    run = open_folder(folder)
    if "shard" not in run.info:
        raise RunFolderError("is a whole run, and no shard", path=folder)
    shard: Shard = convert(run.info["shard"], Shard)
    planned = run.table("cases")
    if not run.finished:
        command = run.info.get("command")
        again = shlex.join(map(str, command)) if isinstance(command, list) else "memsim run"
        said = f"shard {shard} is not finished: {len(run.cases)} of {len(planned)} cases are played"
        rest = f"--shard {shard} -o {shlex.quote(str(folder))}"
        raise RunFolderError(f"{said}; to go on: {again} {rest}", path=folder)
    if [case.key for case in run.cases] != [*planned] or len(planned) != len(shard.places):
        raise RunFolderError(f"does not hold the cases of shard {shard}", path=folder)
    return ShardRun(run=run, shard=shard)


def _difference(one: ShardRun, other: ShardRun) -> str:
    """The first thing that may not differ between shards of a run, and does; empty for none."""
    if one.shard.of != other.shard.of:
        return f"it is shard {other.shard}, not one of {one.shard.of}"
    tables = [("", "versions"), ("setting ", "settings"), ("scenario ", "scenarios")]
    for kind, table in [*tables, ("source of ", "strategies")]:
        mine, theirs = one.part(table), other.part(table)
        # A shard names only the scenarios and strategies that it plays.
        for key in mine:
            if key in theirs and key not in _OF_A_MACHINE and mine[key] != theirs[key]:
                values = f" is {theirs[key]}, not {mine[key]}" if not kind else ""
                return f"{kind}{key}{values or ' differs'}"
    for key in ("platform", "commit"):
        if one.run.info.get(key) != other.run.info.get(key):
            return f"its {key} is {other.run.info.get(key)}, not {one.run.info.get(key)}"
    if one.shard.plan != other.shard.plan:
        return "it has another plan: other scenarios, strategies, bounds or versions of them"
    return "" if one.shard.gate == other.shard.gate else "the flags of its gate differ"


def _check_numbers(shards: Sequence[ShardRun]) -> None:
    found: dict[int, ShardRun] = {}
    for shard in shards:
        if (earlier := found.setdefault(shard.shard.number, shard)) is not shard:
            said = f"is shard {shard.shard} once more, as {earlier.run.folder} is"
            raise RunFolderError(said, path=shard.run.folder)
    of = shards[0].shard.of
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in found]
    if missing:
        named = ", ".join(missing[:5]) + (" and more" if len(missing) > 5 else "")
        verb = "are" if len(missing) > 1 else "is"
        raise RunFolderError(f"of {of} shards, {len(missing)} {verb} missing: {named}")


def _check_whole(shards: Sequence[ShardRun]) -> None:
    """Check that the cases of all shards are those of the plan, each one once."""
    prints = dict(
        placed
        for shard in shards
        for placed in zip(shard.shard.places, shard.part("cases").values(), strict=True)
    )
    first = shards[0].shard
    whole = [str(prints[place]) for place in sorted(prints)]
    if sorted(prints) != [*range(first.total)] or digest(whole) != first.plan:
        raise RunFolderError(f"the cases of the {first.of} shards are not those of their plan")


def describe_merged(shards: Sequence[ShardRun], reports: Path) -> dict[str, object]:
    """The `run.json` of the run that shards make together."""
    first = shards[0].run.info
    cases = [case for _, case in _in_order(shards, lambda s: s.run.cases)]
    prints = [fingerprint for _, fingerprint in _in_order(shards, _prints)]
    tables = {
        key: {name: value for shard in shards for name, value in shard.part(key).items()}
        for key in ("scenarios", "strategies", "about")
    }
    scenarios = dict.fromkeys(scenario_of(case.id) for case in cases)
    strategies = dict.fromkeys(case.strategy for case in cases)
    about = {name: tables["about"][name] for name in scenarios if name in tables["about"]}
    isolated = sorted({str(ref) for s in shards for ref in _texts(s.run.info.get("isolated"))})
    judges = [shard.run.info[JUDGE_KEY] for shard in shards if JUDGE_KEY in shard.run.info]
    return {
        "memsim": FORMAT,
        "fingerprint": shards[0].shard.plan,
        "finished": False,
        "exit": None,
        "verdict": "",
        "command": first.get("command", []),
        **provenance(start_time(reports)),
        **{key: first[key] for key in ("versions", "platform", "commit") if key in first},
        "dirty": _dirty(shards),
        "settings": first.get("settings"),
        "scenarios": {n: tables["scenarios"][n] for n in scenarios if n in tables["scenarios"]},
        "strategies": {n: tables["strategies"][n] for n in strategies},
        "instruments": _instruments(shards),
        **({"about": about} if about else {}),
        **({"isolated": isolated} if isolated else {}),
        "cases": {case.key: fingerprint for case, fingerprint in zip(cases, prints, strict=True)},
        **({JUDGE_KEY: _least_fit(judges)} if judges else {}),
    }


def _in_order(shards: Sequence[ShardRun], of: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
    """What each shard has for each of its cases, in the order of the plan."""
    return heapq.merge(
        *(zip(s.shard.places, of(s), strict=True) for s in shards), key=itemgetter(0)
    )


def _prints(shard: ShardRun) -> Sequence[object]:
    return [*shard.part("cases").values()]


def _texts(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _dirty(shards: Sequence[ShardRun]) -> bool | None:
    found = [shard.run.info.get("dirty") for shard in shards]
    return None if None in found else any(found)


def _instruments(shards: Sequence[ShardRun]) -> Mapping[str, Any]:
    # Channels of leakage have no judge; the first shard with a case that has one tells for the run.
    tables = [found for shard in shards if (found := shard.part("instruments"))]
    return max(tables, key=lambda table: table.get("judge") != JUDGE)


def _least_fit(trials: Sequence[Any]) -> object:
    # Each shard tries the judge. Where one does not believe it, its cases are not judged.
    return next((trial for trial in trials if trial.get("unfit")), trials[0])


def merge_shards(shards: Sequence[ShardRun], writer: RunWriter) -> tuple[CaseResult, ...]:
    """Write the cases that a merged run still lacks, and return all results."""
    lacking = set() if writer.finished else {*writer.lacking}
    for place, outcome in _in_order(shards, lambda shard: shard.run.outcomes()):
        if place in lacking:
            writer.keep(place, outcome)
    return writer.results
