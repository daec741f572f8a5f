"""The viewer as a part of the report's page: which cases are in it, and their data."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from memsim.report.fragment import Fragment
from memsim.report.viewer.reels import Script, reel_of

if TYPE_CHECKING:
    from memsim.runs import Run
    from memsim.suite.cases import CaseResult

ROOM = 1_500_000
"""Characters that all data may take in the page, packed."""

_LEAKAGE = "leakage"
_SCRIPTS = ("reading.js", "drawing.js", "showing.js", "viewer.js")
_NAMED = 12


@dataclass(slots=True)
class _Room:
    """What is taken into the page, for as long as there is room."""

    left: int
    unfit: int = sys.maxsize
    data: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, tuple[str, Script]] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)

    def take(self, run: Run, case: CaseResult) -> None:
        """Take a case in if there is room for it, and for its scenario's script."""
        if run.size(case.key) >= self.unfit:
            return
        known = self.scripts.get(case.id.partition("[")[0])
        name, script = known or (f"script-{len(self.scripts)}", Script())
        turns, probes = list(run.turns(case.key)), list(run.probes(case.key))
        if not turns:
            return
        reel = _dumped(reel_of(run.contexts(case.key), turns, probes, script))
        blocks = {f"reel-{len(self.cases)}": reel}
        if known is None:
            blocks[name] = _dumped(script.data())
        size = sum(map(_packed, blocks.values()))
        if size > self.left:
            self.unfit = run.size(case.key)
            return
        self.left -= size
        self.data |= blocks
        self.scripts[case.id.partition("[")[0]] = (name, script)
        self.cases[case.key] = name


def fragment(run: Run, *, room: int = ROOM) -> Fragment | None:
    """The viewer of a run; None when no case of it can be replayed.

    Cases with failed probes come first, strategies before controls, short ones before long ones.

    Args:
        run: a saved run.
        room: characters that its data may take, packed.

    Raises:
        RunFolderError: its records are damaged.
    """
    playable = [case for case in run.cases if case.dataset != _LEAKAGE]
    taken = _Room(room)
    for case in sorted(playable, key=lambda case: (*_late(case), run.size(case.key))):
        taken.take(run, case)
    if not taken.cases:
        return None
    shown = [case for case in playable if case.key in taken.cases]
    places = {key: place for place, key in enumerate(taken.cases)}
    index = [_entry(case, places[case.key], taken.cases[case.key]) for case in shown]
    left_out = [case for case in playable if case.key not in taken.cases]
    return Fragment(
        html=_asset("viewer.html").replace("<!-- left out -->", "".join(_left_out(left_out))),
        css=_asset("viewer.css"),
        script="\n".join(map(_asset, _SCRIPTS)),
        data={"reels": _dumped({"cases": index}), **taken.data},
    )


def _late(case: CaseResult) -> tuple[bool, bool]:
    return not case.counts.get("failed", 0), bool(case.control)


def _entry(case: CaseResult, place: int, script: str) -> dict[str, object]:
    return {
        "key": case.key,
        "scenario": case.id.partition("[")[0],
        "name": case.scenario,
        "strategy": case.strategy,
        "budget": case.budget,
        "repeat": case.repeat,
        "control": case.control,
        "failed": case.counts.get("failed", 0),
        "probes": case.counts.get("probes", 0),
        "error": case.error,
        "reel": f"reel-{place}",
        "script": script,
    }


def _left_out(cases: Sequence[CaseResult]) -> Iterator[str]:
    if not cases:
        return
    failed = sum(1 for case in cases if case.counts.get("failed", 0))
    some = f", {failed:,} of them with failed probes" if failed else ", all of them without a miss"
    yield (
        f'<p class="note">To keep the page small {len(cases):,} cases cannot be replayed here'
        f"{some}: <code>memsim explain</code> tells of their probes from the run folder.</p>"
    )
    names = "".join(f"<li><code>{escape(case.key)}</code></li>" for case in cases[:_NAMED])
    more = len(cases) - _NAMED
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    yield f'<details class="note"><summary>Which</summary><ul>{names}{rest}</ul></details>'


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _packed(text: str) -> int:
    return len(zlib.compress(text.encode(), 9)) * 4 // 3
