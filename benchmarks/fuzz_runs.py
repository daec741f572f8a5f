"""Fuzz run folders: by their reader, and by the commands that read them."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from memsim.cli.program import program
from memsim.cli.saved_runs import write_page
from memsim.errors import MemsimError
from memsim.report.plots import pictures
from memsim.report.summarise import summarise
from memsim.runs.case_log import read_ahead
from memsim.runs.run_reader import open_folder
from tests.doubles.hostile_files import clear, damage_json, damage_run

Target = Callable[[random.Random], None]

SCENARIO = """memsim: 1
name: s
turns:
  - user: My order is A-14.
    facts: {order: A-14}
  - assistant: Noted.
  - filler: 6
  - user: My order is B-27 now.
    facts: {order: {value: B-27}}
  - assistant: Noted as well.
  - filler: 3
probes:
  first: {ask: What is my order?, expect: B-27}
  other: {ask: What is my shoe size?, expect: unknown}
"""
_FLAGS = ("--embedder", "hash", "--tokenizer", "chars/4", "--progress", "none", "-j", "1")
_STRATEGIES = ("-s", "bm25", "-s", "rolling_summary:keep=40,summary=30", "-s", "no_memory")
_PLAY = ("run", "s.yaml", *_STRATEGIES, "--budget", "120", *_FLAGS)
PLAY = (*_PLAY, "--output", "run")
ATTACK = ("run", "leakage", "-k", "L14", "-s", "bm25", "--output", "run", "--no-report", *_FLAGS)
_FILES = ("run.json", "cases.jsonl", "probes.jsonl", "turns.jsonl", "contexts.jsonl")


_DRAWN = 0.02
"""Share of the pages that are written with their plots."""


class UncaughtError(Exception):
    """A command ended in a traceback."""


def call(folder: Path, *arguments: str) -> None:
    """Run a command in a folder.

    Raises:
        MemsimError: it refused its input; with what it said.
        UncaughtError: it ended in a traceback.
    """
    told, wrong, code = io.StringIO(), io.StringIO(), None
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(wrong),
    ):
        try:
            program(arguments)
        except SystemExit as left:
            code = left.code
    said = wrong.getvalue().strip()
    if "Traceback" in said or code == 3:
        raise UncaughtError(f"{' '.join(arguments)}: {' '.join(said.split()[-60:])}")
    if code == 4:
        raise MemsimError(said.rpartition("\n")[2])  # a line before it may say what goes on


def played(folder: Path, *arguments: str) -> dict[str, bytes]:
    """Play a run in a folder, and return its files."""
    (folder / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    (folder / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    call(folder, *arguments)
    files = {name: (folder / "run" / name).read_bytes() for name in _FILES}
    return {name: data for name, data in files.items() if data}


def _compared(folder: Path) -> dict[str, bytes]:
    """The files of a run that was compared with a baseline."""
    whole = played(folder, *PLAY)
    call(folder, "baseline", "save", "run", "--name", "main")
    call(folder, *_PLAY, "--output", "again", "--baseline", "main")
    return whole | {"comparison.json": (folder / "again" / "comparison.json").read_bytes()}


def readers(folder: Path, _closing: ExitStack) -> Target:
    """Run folders as a whole, by the reader that all commands share."""
    whole = _compared(folder)

    def target(chance: random.Random) -> None:
        damage_run(chance, folder / "run", whole)
        run = open_folder(folder / "run")
        for _ in (*run.probes(), *run.turns()):
            pass
        for case in run.cases:
            list(run.contexts(case.key))
        list(read_ahead(folder / "run"))
        if chance.random() < 0.05:  # takes most of the time
            summarise(run)

    return target


def reports(folder: Path, _closing: ExitStack) -> Target:
    """Run folders, by every command that reads them and by the run that goes on."""
    whole = _compared(folder)
    (folder / "reports" / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "reports" / "runs" / "20260101T0000").symlink_to(folder / "run")
    keys = [f"{json.loads(line)['id']}" for line in whole["cases.jsonl"].splitlines()]
    commands = [
        *(("report", "run", "--format", form) for form in ("table", "md", "json", "jsonl")),
        *(("explain", "run", f"{key}{probe}") for key in keys for probe in ("", "::first")),
        *(("compare", "run", "main"), ("compare", "main", "run"), ("explain", "run", "other")),
        *(("list", "runs"), ("baseline", "save", "run", "--name", "other")),
    ]

    def target(chance: random.Random) -> None:
        damage_run(chance, folder / "run", whole)
        call(folder, *(PLAY if chance.random() < 0.01 else chance.choice(commands)))

    return target


def baselines(folder: Path, _closing: ExitStack) -> Target:
    """Baselines, by every command that reads them."""
    _compared(folder)
    path = folder / "reports" / "baselines" / "main.json"
    value = json.loads(path.read_bytes())
    commands = [
        *(("baseline", "show", "main", "--format", form) for form in ("table", "json")),
        *(("baseline", "list"), ("compare", "run", "main"), ("compare", "main", "run")),
    ]

    def target(chance: random.Random) -> None:
        damage_json(chance, path, value)
        call(folder, *chance.choice(commands))

    return target


def attacks(folder: Path, _closing: ExitStack) -> Target:
    """Run folders of leakage, by `report` and `explain`."""
    whole = played(folder, *ATTACK)
    key = json.loads(whole["cases.jsonl"].splitlines()[0])["id"]
    probes = [json.loads(line)["probe"] for line in whole["probes.jsonl"].splitlines()][:20]
    commands = [
        *(("report", "run", "--format", form) for form in ("table", "md", "json")),
        *(("explain", "run", key), *(("explain", "run", f"{key}::{name}") for name in probes)),
    ]

    def target(chance: random.Random) -> None:
        damage_run(chance, folder / "run", whole)
        call(folder, *chance.choice(commands))

    return target


def _values_hurt(chance: random.Random, folder: Path, whole: Mapping[str, bytes]) -> None:
    # What does not even open never comes to what is drawn.
    for _ in range(5):
        damage_run(chance, folder, whole)
        with contextlib.suppress(MemsimError, FileNotFoundError):
            open_folder(folder)
            return


def pages(folder: Path, _closing: ExitStack) -> Target:
    """Run folders that can be opened, by the page with its viewer; few with the plots in it."""
    whole = _compared(folder)

    def target(chance: random.Random) -> None:
        _values_hurt(chance, folder / "run", whole)
        run = open_folder(folder / "run")
        drawn = pictures if chance.random() < _DRAWN else lambda *_: ()
        with mock.patch("memsim.report.plots.pictures", drawn):  # nearly all of the time
            write_page(run, summarise(run))

    return target


def plots(folder: Path, _closing: ExitStack) -> Target:
    """Run folders that can be opened, by every plot."""
    whole = _compared(folder)

    def target(chance: random.Random) -> None:
        _values_hurt(chance, folder / "run", whole)
        run = open_folder(folder / "run")
        for _ in pictures(run, summarise(run)):
            pass

    return target


def projects(folder: Path, _closing: ExitStack) -> Target:
    """What else stands in the folder of a project, by commands that look at it."""
    _compared(folder)
    known = [
        *("s.yaml", "reports/baselines/main.json", "pyproject.toml", "strategies/mine.py"),
        *("strategies", "scenarios", "reports", "reports/baselines", "run", "scenarios/s.yaml"),
    ]
    commands = [
        *(("list",), ("list", "scenarios"), ("list", "strategies"), ("list", "runs"), ("init",)),
        *(("baseline", "list"), ("baseline", "show"), ("report", "run"), ("report",)),
        *(("compare", "run", "main"), ("explain", "first"), ("list", "datasets", "-v")),
    ]
    kept = {name: (folder / name).read_bytes() for name in known if (folder / name).is_file()}

    def target(chance: random.Random) -> None:
        from tests.doubles.hostile_files import SPECIAL

        name = chance.choice(known)
        path = folder / name
        aside = path.with_name(f"{path.name}.aside")
        if path.exists():
            path.rename(aside)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            chance.choice([*SPECIAL.values()])(path)
            call(folder, *chance.choice(commands))
        finally:
            clear(path)
            if aside.exists():
                aside.rename(path)
        for name, data in kept.items():
            (folder / name).write_bytes(data)

    return target


RUNS: dict[str, Callable[[Path, ExitStack], Target]] = {
    "run": readers,
    "report": reports,
    "baseline command": baselines,
    "leakage report": attacks,
    "page": pages,
    "plots": plots,
    "project": projects,
}
"""Makes each target in a folder of its own."""
