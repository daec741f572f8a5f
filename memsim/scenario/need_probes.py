"""Write what a recorded conversation needed of its memory as questions into its scenario file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsim.errors import ScenarioError
from memsim.scenario.reuse_needs import MOST_NEEDS, Need, reuse_needs
from memsim.scenario.scenario_loader import load_scenario
from memsim.scenario.script import IN_CONTEXT, Probe, Turn

_HEAD = """\
# Values that are said again, found by memsim import. Each question is the sentence that uses one,
# without it, asked just before. Corrections, such as "no, I said", come first. Edit as you like.
probes:
"""


@dataclass(frozen=True, slots=True)
class NeedCount:
    """How many needs were written, and each that a user's correction shows, as it is printed."""

    needs: int = 0
    corrections: tuple[str, ...] = ()


def add_needs(path: Path, most: int = MOST_NEEDS) -> NeedCount:
    """Add the needs of an imported scenario to its file, as probes.

    Raises:
        ScenarioError: the file is wrong, or would be with them; it is then as it was.
    """
    scenario = load_scenario(path)
    needs = reuse_needs((e for e in scenario.events(0) if isinstance(e, Turn)), most=most)
    if not needs:
        return NeedCount()
    named = sorted(_named(needs), key=lambda each: not each[1].corrects)
    several = len(scenario.principals) > 1
    lines = "".join(_lines(name, need, several=several) for name, need in named)
    before = path.read_bytes()
    path.write_bytes(before + (_HEAD + lines).encode())
    try:
        load_scenario(path)
    except ScenarioError:
        path.write_bytes(before)
        raise
    return NeedCount(
        len(needs),
        tuple(f"{name}  {need.ask} ({need.expect})" for name, need in named if need.corrects),
    )


def need_probe(name: str, need: Need) -> Probe:
    """The question of a need; what is sent for it is searched, and nobody answers."""
    return Probe(
        id=name,
        ask=need.ask,
        principal=need.principal,
        expect=(need.expect,),
        ability="reuse",
        match=IN_CONTEXT,
        evidence=need.evidence,
        labels=_labels(need),
    )


def _named(needs: Iterable[Need]) -> Iterator[tuple[str, Need]]:
    taken: Counter[str] = Counter()
    for need in needs:
        taken[need.message] += 1
        number = taken[need.message]
        head = "correction" if need.corrects else "reuse"
        yield f"{head}-{need.message}" + (f"-{number}" if number > 1 else ""), need


def _labels(need: Need) -> dict[str, str]:
    return {"value": need.kind, **({"correction": need.corrects} if need.corrects else {})}


def _lines(name: str, need: Need, *, several: bool) -> str:
    keys: Sequence[tuple[str, str]] = (
        ("ask", _quoted(need.ask)),
        ("expect", _quoted(need.expect)),
        ("after", str(need.turn)),
        *([("as", _quoted(need.principal))] if several else []),
        ("evidence", f"[{', '.join(need.evidence)}]"),
        ("ability", "reuse"),
        ("match", IN_CONTEXT),
        ("labels", "{" + ", ".join(f"{k}: {_quoted(v)}" for k, v in _labels(need).items()) + "}"),
    )
    return f"  {name}:\n" + "".join(f"    {key}: {value}\n" for key, value in keys)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
