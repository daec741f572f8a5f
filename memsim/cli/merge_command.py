"""`memsim merge`: make one run of its shards, and judge it as `memsim run` would have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from memsim.cli.run_end import RunEnd, judge_run
from memsim.cli.run_options import (
    COLOR,
    FOLDER,
    FORMAT,
    HTML,
    NO_REPORT,
    OPEN,
    QUIET,
    VERBOSE,
    ConfigCommand,
    OutputFlags,
)
from memsim.cli.run_output import Stopwatch, header_lines
from memsim.cli.saved_runs import RunBaseline, read_baseline_sheet, settings_of
from memsim.cli.terminal import ColorChoice, Terminal, complain
from memsim.config import GateSettings, Settings
from memsim.discovery.project import find_project
from memsim.errors import RunFolderError
from memsim.json_types import WrongTypeError, convert
from memsim.report.number_format import plural

if TYPE_CHECKING:
    from memsim.discovery.project import Project
    from memsim.runs.shards import ShardRun


@click.command(
    "merge",
    cls=ConfigCommand,
    epilog="""\b
Examples:
  memsim merge reports/shards/*
  memsim merge shard1 shard2 shard3 -o reports/runs/nightly --html""",
)
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path())
@FOLDER
@FORMAT
@QUIET
@VERBOSE
@COLOR
@NO_REPORT
@HTML
@OPEN
def command(
    folders: tuple[str, ...],
    output: str | None,
    color: ColorChoice,
    **flags: Unpack[OutputFlags],
) -> int:
    """Make one run of the shards of `memsim run --shard`, and judge it.

    DIR is the folder of a shard, or a folder of shards, in any order. All shards of one run have to
    be there, each one once. The bounds, the baseline and the flags of the gate are those of the
    shards. No model is called and no scenario is read. The exit code is that of the gate.
    """
    from memsim.runs.run_writer import open_described
    from memsim.runs.shards import describe_merged, merge_shards, read_shards

    watch = Stopwatch()
    terminal = Terminal.of_process(color)
    project = find_project()
    reports = project.base / settings_of(project).reports
    shards = read_shards([Path(folder) for folder in folders])
    settings = replace(_settings(shards[0]), reports=str(reports))
    against = _against(shards[0], settings, project)
    against.check(settings, len({name for s in shards for name in s.part("scenarios")}))
    info = describe_merged(shards, reports)
    with open_described(info, reports, out=Path(output) if output else None) as writer:
        results = merge_shards(shards, writer)
        if flags["form"] == "table" and not flags["quiet"]:
            from memsim.report.summarise import header_of

            planned = f"{plural(len(shards), 'shard')}: {plural(len(results), 'case')}"
            lines = header_lines(header_of(settings), terminal, planned=planned)
            terminal.say_lines(list(lines))
        verdict = judge_run(writer, results, settings, against)
    end = RunEnd(project, terminal, flags, watch)
    code = end.show(writer.folder, verdict)
    lost = sum(result.state == "lost" for result in results)
    if lost:
        complain(f"{lost} of {len(results)} cases lost: play their shards again, then merge again")
    end.tell_notes()
    end.open_page()
    return code


_NEEDED = ("model", "embedder", "tokenizer", "judge", "seed", "repeat", "max_errors", "baseline")


def _settings(shard: ShardRun) -> Settings:
    """The settings of the run, as far as it is judged and shown by them."""
    kept = shard.part("settings")
    try:
        gate: GateSettings = convert(kept.get("gate"), GateSettings)
    except WrongTypeError as error:
        said = f"is damaged: settings.gate: {error}"
        raise RunFolderError(said, path=shard.run.folder) from error
    return Settings(gate=gate, **{key: kept[key] for key in _NEEDED if key in kept})


def _against(shard: ShardRun, settings: Settings, project: Project) -> RunBaseline:
    gate = shard.shard.gate
    return RunBaseline(
        name=settings.baseline,
        sheet=read_baseline_sheet(settings, project, typed="baseline" in gate),
        strict="strict" in gate,
        required="require_baseline" in gate,
        generalise="generalise" in gate,
    )
