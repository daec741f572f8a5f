"""Embed the replay viewer in the report: choose its cases and write their data."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from memsim.errors import RunFolderError
from memsim.leakage import LEAKAGE
from memsim.report.html.markup import Markup, element, packed_size
from memsim.report.html.page import viewer_page
from memsim.report.html.page_content import Fragment
from memsim.report.run_summary import RunSummary
from memsim.report.viewer.reels import Script, reel_of
from memsim.runs import Run
from memsim.runs.case_log import CONTEXTS
from memsim.suite.cases import CaseResult, scenario_of

ROOM = 1_500_000
"""Most packed characters that all data may take in the page."""

BESIDE = "replays"
"""The folder of the pages beside the report's."""

_SCRIPTS = ("reading.js", "drawing.js", "agent.js", "showing.js", "viewer.js")
_NAMED, _LISTED = 12, 120
"""Cases without a page that are named; cases with one of which each has a link of its own."""


@dataclass(slots=True)
class _Room:
    """The cases taken into the page while there is room."""

    left: int
    unfit: int = sys.maxsize
    data: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, tuple[str, Script]] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)

    def take(self, run: Run, case: CaseResult) -> None:
        """Add a case if there is room for it and for its scenario's script."""
        if run.size(case.key) >= self.unfit:
            return
        known = self.scripts.get(scenario_of(case.id))
        name, script = known or (f"script-{len(self.scripts)}", Script())
        turns, probes = _turns_shown(run, case), list(run.probes(case.key))
        try:
            reel = _dumped(reel_of(run.contexts(case.key), turns, probes, script))
        except (LookupError, TypeError, ValueError) as error:
            said = f"is damaged: the contexts of {case.key!a} cannot be followed: {error}"
            raise RunFolderError(said, path=run.folder / CONTEXTS) from error
        blocks = {f"reel-{len(self.cases)}": reel}
        if known is None:
            blocks[name] = _dumped(script.data())
        size = sum(map(packed_size, blocks.values()))
        if size > self.left:
            self.unfit = run.size(case.key)
            return
        self.left -= size
        self.data |= blocks
        self.scripts[scenario_of(case.id)] = (name, script)
        self.cases[case.key] = name


LONG = 16 * 2**20
"""Bytes of a case's turns above which only those are read of which the contexts were kept."""
_TURN = re.compile(rb'"turn":(\d+)')


def _turns_shown(run: Run, case: CaseResult) -> list[dict[str, object]]:
    """The turns that a replay can show; of a long case, those before its contexts end.

    Turns in which a fact moved are told of all the way.
    """
    if run.turn_bytes(case.key) <= LONG:
        return list(run.turns(case.key))
    ends = [line["full"] for line in run.contexts(case.key) if "full" in line]
    last = int(str(ends[0])) if ends else sys.maxsize

    passed = False

    def shown(line: bytes) -> bool:
        nonlocal passed
        if b'"moved":' in line or b'"turn":' not in line:
            return True
        if not passed:
            # Turns come in order: of a million, few numbers have to be read.
            number = _TURN.search(line)
            passed = number is not None and int(number[1]) >= last
        return not passed

    return list(run.turns(case.key, only=shown))


def fragment(
    run: Run, *, room: int = ROOM, scenario: str = "", beside: bool = False
) -> Fragment | None:
    """Build the viewer of a run; None when no case of it can be replayed.

    Each scenario has a case before any has a second. Cases with failed probes come first,
    strategies before controls, short ones before long ones.

    Args:
        run: a saved run.
        room: characters that its data may take, packed.
        scenario: path and name of the only one that is wanted; empty for all.
        beside: whether what is left out can be looked up in the pages of `save_beside`.
    """
    playable = [case for case in playable_of(run) if scenario in {"", scenario_of(case.id)}]
    taken = _Room(room)
    for case in first_of_each(sorted(playable, key=lambda c: (*_late(c), run.size(c.key)))):
        taken.take(run, case)
    if not taken.cases:
        return None
    shown = [case for case in playable if case.key in taken.cases]
    places = {key: place for place, key in enumerate(taken.cases)}
    index = [_entry(case, places[case.key], taken.cases[case.key]) for case in shown]
    left_out = [case for case in playable if case.key not in taken.cases]
    pages = names_beside(left_out) if beside else {}
    told = _left_out(left_out, pages)
    return Fragment(
        html=_asset("viewer.html").replace("<!-- left out -->", "".join(told)),
        css=_asset("viewer.css"),
        script="\n".join(map(_asset, _SCRIPTS)),
        data={"reels": _dumped(_index(run, index, pages)), **taken.data},
    )


def playable_of(run: Run) -> list[CaseResult]:
    """List the cases that have turns to replay; an attack has none."""
    return [c for c in run.cases if c.dataset != LEAKAGE and run.size(c.key)]


def names_beside(cases: Sequence[CaseResult]) -> dict[str, str]:
    """Map each scenario to the page beside the report that replays it."""
    scenarios = dict.fromkeys(scenario_of(case.id) for case in cases)
    return {name: f"{BESIDE}/{number}.html" for number, name in enumerate(scenarios, 1)}


def first_of_each(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Order cases: the first of each scenario, and then the others."""
    firsts = {scenario_of(case.id): case for case in reversed(cases)}
    chosen = {case.key for case in firsts.values()}
    return sorted(cases, key=lambda case: case.key not in chosen)


def _late(case: CaseResult) -> tuple[bool, bool]:
    return not case.counts.get("failed", 0), bool(case.control)


def _index(run: Run, cases: list[dict[str, object]], pages: Mapping[str, str]) -> dict[str, object]:
    """List the cases, the pages beside, and what the scenarios of the cases are about."""
    used = {str(case["scenario"]) for case in cases}
    about = {name: text for name, text in run.table("about").items() if name in used}
    return {"cases": cases, "beside": pages} | ({"about": about} if about else {})


def _entry(case: CaseResult, place: int, script: str) -> dict[str, object]:
    return {
        "key": case.key,
        "scenario": scenario_of(case.id),
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


def _left_out(cases: Sequence[CaseResult], beside: Mapping[str, str]) -> Iterator[str]:
    if not cases:
        return
    failed = sum(1 for case in cases if case.counts.get("failed", 0))
    some = f", {failed:,} of them with failed probes" if failed else ", all of them without a miss"
    instead = "memsim explain tells of their probes from the run folder."
    if beside:
        instead = f"they are in the folder {BESIDE} beside it."
    said = f"To keep the page small {len(cases):,} cases cannot be replayed here{some}: {instead}"
    if len(cases) > _LISTED and beside:
        items = list(_by_scenario(cases, beside))
    else:
        most = _LISTED if beside else _NAMED
        items = [element("li", _named(case, beside)) for case in cases[:most]]
        if len(cases) > most:
            items.append(element("li", f"and {len(cases) - most:,} more"))
    yield element("p", said, class_="note")
    listed = element("ul", *items, class_="viewer-missing-cases")
    yield element("details", element("summary", "Which"), listed, class_="note")


def _by_scenario(cases: Sequence[CaseResult], beside: Mapping[str, str]) -> Iterator[Markup]:
    counts = Counter(scenario_of(case.id) for case in cases)
    for name, count in counts.items():
        link = element("a", element("code", name), href=beside[name])
        yield element("li", link, f": {count:,} case{'s' * (count > 1)}")


def _named(case: CaseResult, beside: Mapping[str, str]) -> Markup:
    name = element("code", case.key)
    if (page := beside.get(scenario_of(case.id))) is None:
        return name
    return element("a", name, href=f"{page}#case={quote(case.key, safe='')}")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


# Pages beside the report for the cases without room in it, one for each scenario.

ROOM_BESIDE = 12_000_000
"""Most packed characters that the data of one page may take."""


def save_beside(run: Run, summary: RunSummary, viewer: Fragment | None) -> tuple[Path, ...]:
    """Write the replay pages of the cases without room in the report."""
    there = set() if viewer is None else _keys(viewer)
    names = names_beside([case for case in playable_of(run) if case.key not in there])
    try:
        if (run.folder / BESIDE).is_symlink():
            raise RunFolderError("is a link: remove it", path=run.folder / BESIDE)
        for old in (run.folder / BESIDE).glob("*.html"):
            old.unlink()
        return tuple(_save(run, summary, name, where) for name, where in names.items())
    except OSError as error:
        said = f"cannot be written: {error.strerror}"
        raise RunFolderError(said, path=run.folder / BESIDE) from error


def _keys(viewer: Fragment) -> set[str]:
    return {entry["key"] for entry in json.loads(viewer.data["reels"])["cases"]}


def _save(run: Run, summary: RunSummary, scenario: str, where: str) -> Path:
    path = run.folder / where
    path.parent.mkdir(exist_ok=True)
    found = fragment(run, room=ROOM_BESIDE, scenario=scenario)
    if found is not None:
        path.write_bytes(viewer_page(run, summary, found).encode(errors="backslashreplace"))
    return path
