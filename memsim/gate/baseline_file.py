"""Baseline files: a run's scores, probe by probe, as text whose changes can be reviewed.

::

    reports/baselines/main.json
    {
    "cases": [
    {"case": "a.yaml::a[bm25@4k]", "amounts": {"context_peak": [3812], ...}},
    ...
    ],
    "commit": "...", "created": "...", "instruments": {...}, "memsim": 1, "name": "main",
    "noise": {...},
    "probes": [
    {"case": "a.yaml::a[bm25@4k]", "probe": "order_id", "scores": {"recall": [1], ...}},
    ...
    ],
    "repeat": 1, "run": "...", "scenarios": {...}, "seed": 7, "strategies": {...}
    }

Keys are sorted, a probe takes a line, and every repeat's score of what was answered is kept; what
is compared exactly is kept by case. What a machine's speed or a price list decides is not: seconds
and dollars are never compared with a file.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.atomic_files import GRACE, sweep, write_whole
from memsim.config import show_budget
from memsim.errors import BaselineError, ExitCode, nearest
from memsim.gate.score_sheet import (
    CHANCE_REPEATS,
    PAIRED,
    Cell,
    ProbeScores,
    ScoreSheet,
    SheetColumn,
    Unit,
    by_chance,
    is_timed,
    metric_of,
)
from memsim.gate.verdict import judge
from memsim.json_input import is_folder, is_regular, read_json
from memsim.suite.cases import scenario_of

if TYPE_CHECKING:
    from memsim.runs import Run

# Only complete, measured and passed runs of committed code may become a baseline.


def refuse_unfit(run: Run) -> None:
    """Refuse a run that cannot serve as a baseline.

    Raises:
        BaselineError: it is such a run; its message says why.
    """
    for reason in _faults(run):
        raise BaselineError(f"run {run.id} is no baseline: {reason}")


def _faults(run: Run) -> Iterator[str]:
    settings = run.table("settings")
    planned = len(run.table("cases"))
    if not run.finished:
        yield "it was interrupted"
    if len(run.cases) < planned:
        yield f"{planned - len(run.cases)} of its cases were not run"
    if run.info.get("dirty"):
        yield "it was made from a tree with uncommitted changes: commit, and run again"
    verdict = judge(run.cases, max_errors=float(settings.get("max_errors", 0)))
    if verdict.exit_code == ExitCode.FAILED:
        yield f"it failed ({verdict.sentence})"
    if verdict.exit_code != ExitCode.PASSED:
        yield f"it could not be measured ({verdict.sentence})"
    if any(case.counts.get("errors", 0) or case.state != "scored" for case in run.cases):
        yield "some of its probes could not be scored"
    if any(case.unjudged or case.counts.get("unjudged", 0) for case in run.cases):
        yield "some of its answers could not be judged"
    if all(case.control for case in run.cases):
        yield "it has only controls"
    repeat, model = int(settings.get("repeat", 1)), str(settings.get("model", ""))
    if by_chance(model) and repeat < CHANCE_REPEATS:
        yield (
            f"model {model} answers by chance: it needs --repeat {CHANCE_REPEATS} or more,"
            f" and had {repeat}"
        )


FORMAT = 1
SUFFIX = ".json"
DEFAULT = "main"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DIGITS = 6
_KEYS = ("instruments", "noise", "scenarios", "strategies")

_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(", ", ": ")
).encode


def baselines_folder(reports: Path) -> Path:
    """The folder of baselines."""
    return reports / "baselines"


def list_baselines(reports: Path) -> tuple[Path, ...]:
    """List the files of all baselines, by name."""
    folder = baselines_folder(reports)
    return tuple(sorted(folder.glob(f"*{SUFFIX}"))) if is_folder(folder) else ()


def is_path(text: str) -> bool:
    """Whether a text means a baseline's file and not its name."""
    return text.endswith(SUFFIX) or "/" in text or os.sep in text


def baseline_path(text: str, reports: Path) -> Path:
    """The path of the baseline of a name, whether it exists or not.

    Raises:
        BaselineError: it cannot be a name.
    """
    if is_path(text):
        return Path(text)
    if not _NAME.fullmatch(text):
        message = f"a baseline is called by letters, digits, '.', '_' and '-', not {text!r}"
        raise BaselineError(message)
    return baselines_folder(reports) / f"{text}{SUFFIX}"


def find_baseline(text: str, reports: Path) -> Path:
    """Find the file of a baseline.

    Raises:
        BaselineError: there is none.
    """
    path = baseline_path(text, reports)
    if is_regular(path):
        return path
    if is_path(text):
        raise BaselineError("there is no such baseline", path=path)
    names = [p.stem for p in list_baselines(reports)]
    hint = nearest(text, names)
    saving = "" if hint else f": memsim baseline save --name {text}"
    raise BaselineError(f"there is no baseline {text!r}{saving}", hint=hint)


# -- writing


def write_baseline(path: Path, sheet: ScoreSheet) -> None:
    """Write a baseline in one step: the file is the old one or the new one, never half of it."""
    text = encode(sheet, path.stem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path, GRACE)
        write_whole(path, text.encode("ascii"), private=False)
    except OSError as error:
        raise BaselineError(f"cannot be written: {error.strerror or error}", path=path) from error


def encode(sheet: ScoreSheet, name: str) -> str:
    """Encode a baseline file."""
    values: dict[str, object] = {
        "commit": sheet.commit,
        "created": sheet.created,
        "instruments": dict(sheet.instruments),
        "memsim": FORMAT,
        "name": name,
        "noise": {variant: dict(found) for variant, found in sheet.noise.items()},
        "repeat": sheet.repeat,
        "run": sheet.name,
        "scenarios": dict(sheet.scenarios),
        "seed": sheet.seed,
        "strategies": dict(sheet.strategies),
    }
    texts = {key: _encode(value) for key, value in values.items()}
    texts["cases"] = _listed(_case_lines(sheet))
    texts["probes"] = _listed(_probe_lines(sheet))
    body = ",\n".join(f"{_encode(key)}: {texts[key]}" for key in sorted(texts))
    return f"{{\n{body}\n}}\n"


def _listed(lines: Iterator[Mapping[str, object]]) -> str:
    # By what a line is about, so that a change of its scores does not move it.
    ordered = sorted(lines, key=lambda line: (str(line["case"]), str(line.get("probe", ""))))
    texts = [_encode(line) for line in ordered]
    return "[\n" + ",\n".join(texts) + "\n]" if texts else "[]"


def _case_lines(sheet: ScoreSheet) -> Iterator[Mapping[str, object]]:
    for (strategy, budget), column in sheet.columns.items():
        for scenario, amounts in column.amounts.items():
            kept = {m: list(map(_short, v)) for m, v in amounts.items() if _belongs(m)}
            line = {"amounts": kept, "budget": budget, "strategy": strategy}
            yield {"case": _case(scenario, strategy, budget), **line, "dataset": column.dataset}


def _probe_lines(sheet: ScoreSheet) -> Iterator[Mapping[str, object]]:
    for (strategy, budget), column in sheet.columns.items():
        for (scenario, probe), seen in column.probes.items():
            scores = {m: list(map(_short, v)) for m, v in seen.scores.items() if m in PAIRED}
            told = {"gone": seen.gone, "reason": seen.reason, "said": seen.said}
            line = {"case": _case(scenario, strategy, budget), "probe": probe, "scores": scores}
            yield line | {key: value for key, value in told.items() if value not in (None, "")}


def _belongs(metric: str) -> bool:
    return metric_of(metric) is not None and not is_timed(metric)


def _case(scenario: str, strategy: str, budget: int) -> str:
    return f"{scenario}[{strategy}@{show_budget(budget)}]"


def _short(value: float) -> float:
    short = round(float(value), _DIGITS)
    return int(short) if short.is_integer() else short


# -- reading


def read_baseline(path: Path) -> ScoreSheet:
    """Read a baseline file."""
    try:
        found = read_json(path, BaselineError, prefix="is damaged: ")
    except FileNotFoundError as error:
        raise BaselineError("there is no such baseline", path=path) from error
    if not isinstance(found, dict) or "memsim" not in found or "probes" not in found:
        raise BaselineError("was not written by memsim baseline save", path=path)
    if found["memsim"] != FORMAT:
        shown = ascii(found["memsim"])[:40]
        message = f"is of format {shown}, and this memsim reads format {FORMAT}"
        raise BaselineError(message, path=path)
    try:
        return _decode(found, path)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BaselineError(f"is damaged: {_fault(error)}", path=path) from error


def _fault(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{text} is missing" if isinstance(error, KeyError) else text


def _decode(found: Mapping[str, Any], path: Path) -> ScoreSheet:
    for key in _KEYS:
        if not isinstance(found[key], dict):
            raise TypeError(f"{key} is no table")
    return ScoreSheet(
        name=path.stem,
        place=str(path),
        instruments={str(k): str(v) for k, v in found["instruments"].items()},
        scenarios={str(k): str(v) for k, v in found["scenarios"].items()},
        strategies={str(k): str(v) for k, v in found["strategies"].items()},
        columns=_read_columns(found),
        seed=int(found["seed"]),
        repeat=int(found["repeat"]),
        created=str(found["created"]),
        commit=str(found["commit"]),
        noise={
            variant: {metric: _number(value) for metric, value in amounts.items()}
            for variant, amounts in found["noise"].items()
        },
    )


def _read_columns(found: Mapping[str, Any]) -> dict[Cell, SheetColumn]:
    cells: dict[str, Cell] = {}
    amounts: dict[Cell, dict[str, dict[str, tuple[float, ...]]]] = {}
    probes: dict[Cell, dict[Unit, ProbeScores]] = {}
    datasets: dict[Cell, str] = {}
    for line in found["cases"]:
        cell = str(line["strategy"]), int(line["budget"])
        cells[line["case"]] = cell
        datasets[cell] = str(line["dataset"])
        amounts.setdefault(cell, {})[scenario_of(line["case"])] = _scores(line["amounts"])
    for line in found["probes"]:
        unit = scenario_of(line["case"]), str(line["probe"])
        probes.setdefault(cells[line["case"]], {})[unit] = _read_seen(line)
    return {
        cell: SheetColumn(
            probes=probes.get(cell, {}),
            amounts=found_amounts,
            questions=len(probes.get(cell, {})),
            dataset=datasets[cell],
        )
        for cell, found_amounts in amounts.items()
    }


def _read_seen(line: Mapping[str, Any]) -> ProbeScores:
    said, gone = line.get("said"), line.get("gone")
    return ProbeScores(
        scores=_scores(line["scores"]),
        reason=str(line.get("reason", "")),
        said=None if said is None else int(said),
        gone=None if gone is None else int(gone),
    )


def _scores(values: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    if not all(isinstance(found, list) and found for found in values.values()):
        raise TypeError("a metric has no scores")
    return {str(metric): tuple(map(_number, found)) for metric, found in values.items()}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return float(value)
