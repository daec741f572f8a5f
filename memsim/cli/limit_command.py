"""`memsim limit`: turn a dial up until a memory breaks, and say where."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memsim.cli.limit_search import HOLDS, SEEDS, Climb, LimitSearch
from memsim.cli.saved_runs import settings_of
from memsim.cli.terminal import Terminal
from memsim.discovery.project import find_project
from memsim.errors import ConfigError, ExitCode, nearest
from memsim.report import number_format
from memsim.report.layout import Column, Row, Table, TextLine, terminal_table
from memsim.scenario.generator.dials import ASKED, DIALS, FAMILIES
from memsim.scenario.generator.story_script import most_of

if TYPE_CHECKING:
    from memsim.suite.staircase import StaircaseResult

FORMATS = (".svg", ".png")


@click.command(
    "limit",
    epilog="""\b
Examples:
  memsim limit -s bm25 -s layered --dial updates --dial look_alikes
  memsim limit -s my.py@Mine --dial distance --family temporal --plot limit.svg""",
)
@click.option(
    "-s",
    "--strategy",
    "strategies",
    metavar="REF",
    multiple=True,
    help="A strategy, as for `memsim run`; repeatable.",
)
@click.option(
    "--dial",
    "dials",
    metavar="NAME",
    multiple=True,
    required=True,
    help="What is turned up, as `memsim generate` lists it; repeatable.",
)
@click.option("--family", metavar="NAME", help="The family of stories.  [default: by the dial]")
@click.option("--budget", metavar="N", default="1k", show_default=True, help="Tokens of a context.")
@click.option("--plot", metavar="FILE", help="Draw what was tried, as .svg or .png.")
@click.option(
    "-j",
    "--jobs",
    metavar="N|auto|ray",
    help="Number of processes, or a Ray cluster: ray, ray://host:port.  [default: auto]",
)
def command(
    strategies: tuple[str, ...],
    dials: tuple[str, ...],
    family: str | None,
    budget: str,
    plot: str | None,
    jobs: str | None,
) -> int:
    """Turn a dial of generated stories up until a memory breaks.

    A memory holds a setting while the answers of four fifths of the questions are in its context.
    Three stories are told for each answer, and all of their questions count together.
    """
    _check_names(dials, family)
    settings = settings_of(find_project(), {"jobs": jobs, "budget": budget})
    if len(settings.budget) > 1:
        raise ConfigError(f"--budget is one number here, not {budget!r}")
    picture = _picture_path(plot)
    with tempfile.TemporaryDirectory(prefix="memsim-limit-") as folder:
        search = LimitSearch(folder=Path(folder), budget=settings.budget[0], jobs=settings.jobs)
        climbs = search.climbed(strategies, tuple(dict.fromkeys(dials)), family)
        if picture is not None:
            _draw(climbs, search.controls(climbs), picture)
    terminal = Terminal.of_process()
    terminal.say_lines([*terminal_table(_table(climbs), terminal.width).lines, *_legend(climbs)])
    return ExitCode.PASSED


def _check_names(dials: Sequence[str], family: str | None) -> None:
    turned = tuple(dial for dial in DIALS if dial not in ASKED)
    for dial in dials:
        if dial in ASKED:
            raise ConfigError(f"{dial} makes no question harder; dials: {', '.join(turned)}")
        _check(dial, turned, "dial", "dials")
    if family is not None:
        _check(family, FAMILIES, "family", "families")
        for dial in dials:
            most_of(family, dial)


def _check(name: str, known: Sequence[str], noun: str, several: str) -> None:
    if name not in known:
        near = nearest(name, known)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise ConfigError(f"no {noun} is called {name!r}{hint}; {several}: {', '.join(known)}")


def _picture_path(plot: str | None) -> Path | None:
    if plot is None:
        return None
    path = Path(plot)
    if path.suffix not in FORMATS:
        raise ConfigError(f"--plot: {plot} must end with {' or '.join(FORMATS)}")
    if not path.absolute().parent.is_dir():
        raise ConfigError(f"--plot: no folder {path.parent}")
    return path


def _draw(
    climbs: Sequence[Climb],
    controls: Mapping[tuple[str, str], Mapping[int, float]],
    path: Path,
) -> None:
    from memsim.report.plots import write_picture
    from memsim.report.plots.dial_curves import DialPoint, dial_curves
    from memsim.report.plots.style import styled

    points = [
        DialPoint(dial=climb.dial, strategy=climb.strategy, setting=setting, share=share)
        for climb in climbs
        for story in climb.stories
        for setting, share in story.items()
    ]
    points += [
        DialPoint(dial=dial, strategy=control, setting=setting, share=share)
        for (dial, control), shares in controls.items()
        for setting, share in shares.items()
    ]
    with styled():
        write_picture(dial_curves(points, HOLDS), path)


def _alone(climb: Climb) -> list[StaircaseResult]:
    """The limit of each story alone."""
    from memsim.suite.staircase import limit_of

    return [limit_of(story, HOLDS) for story in climb.stories]


def _table(climbs: Sequence[Climb]) -> Table:
    rows: list[Row] = []
    for climb in climbs:
        if climb.result is None:
            continue
        ordered = sorted(_alone(climb), key=lambda result: (_number(result), result.open))
        between = f"[{_shown(ordered[0])} {_shown(ordered[-1])}]"
        named = climb.strategy, climb.dial, _shown(climb.result), between, climb.family
        rows.append(((*named, str(climb.runs)), ""))
    columns = [
        Column("strategy", right=False),
        Column("dial", right=False),
        Column("holds"),
        Column("range", right=False),
        Column("stories", right=False),
        Column("tries"),
    ]
    return Table(columns, rows)


def _number(result: StaircaseResult) -> int:
    return -1 if result.holds is None else result.holds


def _shown(result: StaircaseResult) -> str:
    if result.holds is None:
        return "none"
    return f"{number_format.count(result.holds)}{'+' if result.open else ''}"


def _legend(climbs: Sequence[Climb]) -> Iterator[TextLine]:
    yield TextLine(text="")
    yield TextLine(text=f"  holds: the largest setting with {HOLDS:.0%} of the answers in context")
    yield TextLine(text=f"  range: the least and the most of the {SEEDS} stories alone")
    results = [climb.result for climb in climbs if climb.result]
    results += [result for climb in climbs for result in _alone(climb)]
    if any(result.open for result in results):
        yield TextLine(text="  +: it holds at the largest setting that is tried as well")
    if any(result.holds is None for result in results):
        yield TextLine(text="  none: it does not hold the least setting")
