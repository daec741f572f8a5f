"""From nodes to a scenario: the one way, whether they were read from a file or built in Python."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from memsim.clock import stamp
from memsim.errors import ScenarioError
from memsim.scenario import filler
from memsim.scenario.exchange import repetition
from memsim.scenario.findings import Survey
from memsim.scenario.nodes import Mapping, Node, Scalar, near, shown
from memsim.scenario.performance import Performance
from memsim.scenario.plan import Plan, Repeat
from memsim.scenario.probing import Placed, place_probes
from memsim.scenario.schema import PLAN, VERSION
from memsim.scenario.script import UNKNOWN, Probe, Scenario
from memsim.scenario.survey import survey

_encode = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode


def make_scenario(root: Node | None, path: Path | str) -> Scenario:
    """The scenario that a document says.

    Args:
        root: the document.
        path: where it came from.

    Raises:
        ScenarioError: it is wrong; without a path.
    """
    plan = PLAN.read(_document(root), "the scenario")
    found = survey(plan)
    placed = place_probes(plan, found)
    values = _check_generated(plan, found)
    return _scenario(plan, path, found, placed, values)


def _document(root: Node | None) -> Mapping:
    if root is None or (isinstance(root, Scalar) and root.null):
        raise ScenarioError(f"is empty; a scenario begins with memsim: {VERSION}", line=1)
    if not isinstance(root, Mapping):
        raise ScenarioError(
            f"a scenario is a mapping that begins with memsim: {VERSION}", line=root.line
        )
    first = next(iter(root.entries), "")
    if "memsim" not in root.entries:
        hint = near(first, ("memsim",))
        raise ScenarioError(
            f"does not begin with memsim: {VERSION}", line=root.line_of(first), hint=hint
        )
    version = root.entries["memsim"]
    if not (isinstance(version, Scalar) and version.plain and version.text == str(VERSION)):
        said = shown(version.text) if isinstance(version, Scalar) else "a collection"
        raise ScenarioError(
            f"memsim must be {VERSION}, the version of this format, not {said}", line=version.line
        )
    if first != "memsim":
        raise ScenarioError("memsim must be the first key", line=root.line_of("memsim"))
    return root


def _check_generated(plan: Plan, found: Survey) -> frozenset[str]:
    lines = {
        answer: probe.line
        for probe in reversed(plan.probes)
        for answer in (*probe.value.expect, *probe.value.forbid)
        if answer != UNKNOWN
    }
    lines.update(found.values())
    values = frozenset(lines)
    domains = [*found.domains, *(["notes"] if found.acknowledged else [])]
    for domain in domains:
        try:
            filler.patterns(domain, values)
        except filler.UnavoidableWordError as error:
            raise ScenarioError(
                f"{shown(error.value)} is so common a word that generated talk cannot avoid it; "
                "plant more words",
                line=lines[error.value],
            ) from None
    return values


def _scenario(
    plan: Plan,
    path: Path | str,
    found: Survey,
    placed: tuple[Placed, ...],
    values: frozenset[str],
) -> Scenario:
    due: dict[int, tuple[Probe, ...]] = {}
    for each in placed:
        if not (each.marked or each.final):
            due[each.moment.turn] = (*due.get(each.moment.turn, ()), each.probe)
    performance = Performance(
        plan=plan,
        values=values,
        due=due,
        marked={p.probe.id: p.probe for p in placed if p.marked},
        final=tuple(p.probe for p in placed if p.final),
    )
    return Scenario(
        name=plan.name,
        path=path,
        play=performance.play,
        turns=found.end.turn,
        probes=tuple(p.probe for p in placed),
        about=plan.about,
        principals=plan.principals,
        budget=plan.budget,
        expect={bound.name: bound.value for bound in plan.expect},
        expect_lines={b.name: b.line for b in plan.expect if b.line is not None},
        fingerprint=fingerprint(plan, generated=bool(found.domains)),
        tags=plan.tags,
    )


def fingerprint(plan: Plan, *, generated: bool) -> str:
    """Sha256 of what a script plays, whatever its path and layout.

    A key that only repeats a default does not count, and neither does what the replay never sees:
    bounds, tags and the description.

    Args:
        plan: the script.
        generated: whether it has generated talk, whose wording then counts as well.
    """
    plan = replace(plan, about="", tags=(), expect=())
    said = {"plan": _said(plan), "filler": filler.VERSION if generated else 0}
    return hashlib.sha256(_encode(said).encode()).hexdigest()


def _said(value: object) -> object:
    kind: Any = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is tuple:
        return [_said(item) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, Repeat):
        # Two repetitions tell where the count stands, and are read as any other steps are.
        read = (step for n in range(1, min(value.times, 2) + 1) for step in repetition(value, n))
        return [value.times, _said(tuple(read))]
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    parts = _fields(kind)
    return value if parts is None else _record(value, parts)


def _record(value: object, parts: tuple[tuple[str, object], ...]) -> dict[str, object]:
    said: dict[str, object] = {"": type(value).__name__}
    for name, default in parts:
        part = getattr(value, name)
        if part is not default and part != default:
            said[name] = part if type(part) is str else _said(part)
    return said


@cache
def _fields(kind: type) -> tuple[tuple[str, object], ...] | None:
    if not is_dataclass(kind):
        return None
    return tuple((f.name, f.default) for f in fields(kind) if f.name != "line")
