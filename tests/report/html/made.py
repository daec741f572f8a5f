"""Runs and records that are made, not played: a poisoned run, a comparison, a board of leaks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memsim.gate.comparison import Comparison, MetricChange, MovedProbe, StalePart
from memsim.report.leak_board import LeakBoard, LeakCell, LeakFinding, LeakGrade, LeakRow
from memsim.runs import Run
from memsim.runs.case_log import outcome_entry
from memsim.runs.run_reader import open_folder
from memsim.suite.cases import CaseOutcome
from memsim.trace import json_line

ATTACKS = (
    "<script>window.pwned=1;alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "<a href=javascript:alert(1)>x</a>",
    "<iframe src=//evil.example></iframe>",
    "</td></tr></table></section></main><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<!--<img src=x onerror=alert(1)>-->",
    "]]></script><script>alert(1)</script>",
    "</title></style></textarea></noscript><script>alert(1)</script>",
    "<style>*{background:url(//evil.example)}</style>",
    "<base href=//evil.example><form action=//evil.example><button>x",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "javascript:alert(1)//",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} $\\frac{1}{2}$",
    "\x1b[2J\x00\u202egnp.exe\ufeff",
    "__proto__",
)
"""What must stand in the page as text and nothing else."""

_KEPT = frozenset(
    {"case", "source", "presence", "outcome", "whereabouts", "phase", "kind", "tier", "time"}
)
_KEPT_INSIDE = frozenset({"scores", "path", "tokens", "calls", "verbatim", "derived", "moved"})


def poisoned(run: Run, folder: Path) -> Run:
    """A run with an attack in every text that comes from a scenario, a strategy or a model."""
    attacks = itertools.cycle(ATTACKS)
    # Names are drawn in plots too, where there is room for so many letters.
    short = itertools.cycle(attack for attack in ATTACKS if len(attack) < 36)
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        """The same text is poisoned the same way, wherever it names something."""
        if name not in names:
            names[name] = f"{name}{next(short)}"
        return names[name]

    info = {**run.info, "command": ["memsim", "run", *ATTACKS], "commit": next(attacks)}
    info = {**info, "instruments": {"judge": next(attacks), "metrics": next(attacks)}}
    info["scenarios"] = {renamed(n): next(attacks) for n in _mapping(run.info["scenarios"])}
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    kept: dict[str, list[bytes]] = {"turns": [], "probes": [], "cases": []}
    ends = [0, 0, 0]
    for case in run.cases:
        strategy, scenario = renamed(case.strategy), renamed(case.scenario)
        told = replace(
            case,
            id=f"x.yaml::{scenario}[{strategy}@1k]",
            scenario=scenario,
            strategy=strategy,
            error=next(attacks),
        )
        lines = [
            b"".join(
                _line({**_tainted(line, attacks), "case": told.id}, line, renamed)
                for line in records
            )
            for records in (run.turns(case.key), run.probes(case.key))
        ]
        outcome = CaseOutcome(result=told, turn_lines=lines[0], probe_lines=lines[1])
        entry, ends = outcome_entry(outcome, ends)
        for name, data in zip(kept, (*lines, entry), strict=True):
            kept[name].append(data)
    for name, parts in kept.items():
        (folder / f"{name}.jsonl").write_bytes(b"".join(parts))
    return open_folder(folder)


def _line(made: dict[str, Any], was: Mapping[str, Any], renamed: Callable[[str], str]) -> bytes:
    named = {key: renamed(str(was[key])) for key in ("probe", "ability") if key in was}
    return json_line({**made, **named}).encode()


def _mapping(found: object) -> Mapping[str, object]:
    assert isinstance(found, Mapping)
    return found


def _tainted(found: Mapping[str, Any], attacks: Iterator[str]) -> dict[str, Any]:
    return {
        key: value if key in _KEPT | _KEPT_INSIDE else _with(value, attacks)
        for key, value in found.items()
    }


def _with(value: object, attacks: Iterator[str]) -> object:
    if isinstance(value, str):
        return value + next(attacks)
    if isinstance(value, list):
        return [_with(part, attacks) for part in value]
    return _tainted(value, attacks) if isinstance(value, dict) else value


def comparison_of(run: Run) -> Comparison:
    """What a gate might have found: the first case's first missed probe is newly lost."""
    cases = [case for case in run.cases if not case.control]
    lost = [
        MovedProbe(
            id=f"{case.key}::{line['probe']}",
            variant=f"{case.strategy}@1k",
            probe=str(line["probe"]),
            lost=True,
            base=1.0,
            now=0.0,
            reason="evicted",
            said=3,
            gone=9,
        )
        for case in cases[:1]
        for line in run.probes(case.key)
        if line["outcome"] == "MISS"
    ]
    cells = [
        MetricChange(
            variant=f"{case.strategy}@1k",
            metric="recall",
            word="worse" if case is cases[0] else "same",
            layer="paired",
            base=0.5,
            now=0.4,
            change=-0.1,
            low=-0.2,
            high=-0.01,
            p=0.01,
            pairs=34,
            lost=len(lost),
            visible=0.08,
        )
        for case in cases
    ]
    stale = (StalePart(kind="scenario", name=cases[0].scenario),)
    return Comparison(base="main", now=run.id, cells=tuple(cells), stale=stale, moved=tuple(lost))


def leak_board(run: Run) -> LeakBoard:
    """One channel that leaked under one strategy, and could not be measured under another."""
    first, second = [case.strategy for case in run.cases if not case.control][:2]
    leaked = LeakCell(
        strategy=first,
        verdict="leak",
        why="",
        leaks=12,
        breaches=12,
        eligible=60,
        planned=60,
        plr=0.2,
        upper=0.3,
        clr=0.5,
        swl=0.4,
        any_leak=0.5,
        repeats=1,
        coverage=1.0,
        served=20,
        asked=20,
        recall=1.0,
        worst=4,
        of=60,
        paths=(f"planted at turn 3 by ana -> seen by bo in the context at turn 9 {ATTACKS[0]}",),
        ways=1,
        findings=(
            LeakFinding(change=f"Filter. {ATTACKS[0]}", example=f"bo {ATTACKS[1]}", attempts=12),
        ),
    )
    unclear = replace(
        leaked,
        strategy=second,
        verdict="invalid",
        leaks=0,
        breaches=0,
        eligible=9,
        coverage=0.15,
        why="the owner was not served",
        worst=0,
        paths=(),
        ways=0,
        findings=(),
    )
    row = LeakRow(channel="L1", name="cross-principal", gate="zero", cells=(leaked, unclear))
    grades = tuple(
        LeakGrade(strategy=s, letter=letter, caps=()) for s, letter in ((first, "F"), (second, "B"))
    )
    return LeakBoard(
        budget=1024, strategies=(first, second), rows=(row,), grades=grades, negatives=(0, 100)
    )
