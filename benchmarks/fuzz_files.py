"""Fuzz run folders by the commands that read them, and other files by their readers."""

from __future__ import annotations

import contextlib
import io
import json
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from memsim.cli.program import program
from memsim.config import load_settings
from memsim.discovery.project import find_project
from memsim.errors import MemsimError, UnrecordedCall
from memsim.leakage.attack_files import read_sheet
from memsim.memory.entry import Entry
from memsim.memory.stores.markdown.store import Markdown
from memsim.models.cassette.embedder_recordings import RecordedEmbedder
from memsim.models.cassette.tape import read_tape
from memsim.models.registry import load_embedder
from tests.doubles.damage import mutated_value
from tests.doubles.hostile_files import damage_file, damage_run

Target = Callable[[random.Random], None]

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 20
"""Seconds that one input may take."""

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


class UncaughtError(Exception):
    """A command ended in a traceback."""


class HangError(Exception):
    """An input took longer than `LONGEST`."""


@contextlib.contextmanager
def alarmed() -> Iterator[None]:
    """End what takes longer than `LONGEST`; only in the main thread of a process."""

    def ring(*_: object) -> None:
        raise HangError(f"took longer than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
    names = ("run.json", "cases.jsonl", "probes.jsonl", "turns.jsonl", "contexts.jsonl")
    files = {name: (folder / "run" / name).read_bytes() for name in names}
    return {name: data for name, data in files.items() if data}


def reports(folder: Path, _closing: ExitStack) -> Target:
    """Run folders, by `report`, `explain`, `compare`, and by the run that goes on."""
    whole = played(folder, *PLAY)
    call(folder, "baseline", "save", "run", "--name", "main")
    call(folder, *_PLAY, "--output", "again", "--baseline", "main")
    whole["comparison.json"] = (folder / "again" / "comparison.json").read_bytes()
    keys = [f"{json.loads(line)['id']}" for line in whole["cases.jsonl"].splitlines()]
    commands = [
        *(("report", "run", "--format", form) for form in ("table", "md", "json", "jsonl")),
        *(("explain", "run", f"{key}{probe}") for key in keys for probe in ("", "::first")),
        *(("compare", "run", "main"), ("compare", "main", "run"), ("explain", "run", "other")),
    ]
    rare = [("report", "run", "--html"), ("report", "run", "--plots"), PLAY]

    def target(chance: random.Random) -> None:
        damage_run(chance, folder / "run", whole)
        call(folder, *chance.choice(rare if chance.random() < 0.01 else commands))

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


def cassettes(folder: Path, _closing: ExitStack) -> Target:
    """Recordings of a provider's answers."""
    sources = [path.read_bytes() for path in sorted(ROOT.glob("tests/live/recorded/**/*.jsonl"))]
    path = folder / "case.jsonl"

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [_changed_line(chance, s) for s in [chance.choice(sources)]])
        read_tape(path)

    return target


def vectors(folder: Path, _closing: ExitStack) -> Target:
    """Recordings of an embedder's vectors."""
    made = load_embedder("hash:dim=16")
    path = folder / "vectors.jsonl"
    recorded = RecordedEmbedder(made, path, "new", "vectors.jsonl")
    recorded.embed(["one", "two"])
    recorded.keep()
    source = path.read_bytes()

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [_changed_line(chance, source)])
        with contextlib.suppress(UnrecordedCall):
            RecordedEmbedder(made, path, "none", "vectors.jsonl").embed(["one"])

    return target


def _changed_line(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines()
    if chance.random() < 0.6:
        place = chance.randrange(len(lines))
        lines[place] = json.dumps(mutated_value(chance, json.loads(lines[place]))).encode()
    return b"".join(line + b"\n" for line in lines)


def sheets(folder: Path, _closing: ExitStack) -> Target:
    """Sheets of a user's own attacks."""
    found = sorted((ROOT / "scenarios" / "leakage").glob("*.yaml"))
    sources = [data for path in found if len(data := path.read_bytes()) < 20_000]
    path = folder / "sheet.yaml"

    def target(chance: random.Random) -> None:
        damage_file(chance, path, sources)
        read_sheet(path)

    return target


def configurations(folder: Path, _closing: ExitStack) -> Target:
    """Configuration files."""
    source = b"""[tool.memsim]
scenarios = ["a.yaml"]
strategies = ["bm25:k=3", "hybrid"]
budget = ["4k", 8000]
repeat = 3
seed = 7
timeout = 30.5
max_errors = 0.1
[tool.memsim.expect]
recall = ">= 0.8"
[tool.memsim.gate]
margin = 0.02
"""
    path = folder / "pyproject.toml"

    def target(chance: random.Random) -> None:
        damage_file(chance, path, [source])
        load_settings(find_project(folder), {}, {})

    return target


def markdown(folder: Path, _closing: ExitStack) -> Target:
    """Stores of Markdown files, of which one file was changed."""
    home = folder / "store"
    store = Markdown(home, synced=False)
    entries = [Entry(key=f"k{n}", text=f"falcon {n}", owner="ann") for n in range(3)]
    store.write(entries, np.eye(4, dtype=np.float32)[:3])
    store.close()
    files = {p.relative_to(home): p.read_bytes() for p in home.rglob("*") if p.is_file()}

    def target(chance: random.Random) -> None:
        for path in [p for p in home.rglob("*") if p.is_symlink() or not p.is_dir()]:
            path.unlink()
        for name, data in files.items():
            with contextlib.suppress(IsADirectoryError):
                (home / name).write_bytes(data)
        name = chance.choice(sorted(files))
        damage_file(chance, home / name, [files[name], *files.values()][:2])
        try:
            found = Markdown(home, synced=False)
            found.close()
        finally:
            if (home / name).is_dir():
                (home / name).rmdir()

    return target


FILES: dict[str, Callable[[Path, ExitStack], Target]] = {
    "report": reports,
    "leakage report": attacks,
    "cassette": cassettes,
    "vectors": vectors,
    "attack sheet": sheets,
    "configuration": configurations,
    "markdown store": markdown,
}
"""Makes each target in a folder of its own."""
