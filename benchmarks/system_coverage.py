"""Which lines of the five published systems do replays and commands reach, and which only tests?

    python benchmarks/system_coverage.py agenticx --write

Plays scenarios and runs commands with a system, and notes each line of `memsim/systems/<name>` that
ran in a function. Then it runs the tests that the system's fidelity table names. A statement is
*replayed* if a replay or a command enters every function of the system that its test enters. Of all
lines that the tests of replayed statements execute there, at least 95 % have to be reached as well.
Otherwise a statement is *API*: it holds for callers of the classes, and no score depends on it.

`--write` writes the result to `tests/fidelity/reached.json`, and `tests/fidelity/test_tables.py`
holds the marks of the tables to it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memsim.discovery.strategy_source import strategies_in  # noqa: E402 - the root has to be on the path

SYSTEMS = ("agenticx", "agentscope", "prx", "cogtrix", "aegis")
TABLES = ROOT / "memsim" / "systems"
RESULT = ROOT / "tests" / "fidelity" / "reached.json"

Lines = dict[str, set[int]]
"""Executed lines by function, such as `studio.Studio.recall`."""


@dataclass(slots=True)
class Reach:
    """The lines of one package that ran in functions; `code` has all lines of what was entered."""

    folder: str
    lines: Lines = field(default_factory=lambda: defaultdict(set))
    _names: dict[CodeType, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Note what runs in this block, in every thread."""
        before = sys.gettrace()
        threading.settrace(self._call)
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(None)

    def take(self) -> Lines:
        """The lines so far; noting begins anew."""
        found, self.lines = self.lines, defaultdict(set)
        return found

    def _call(self, frame: FrameType, _event: str, _: object) -> Callable[..., Any] | None:
        code = frame.f_code
        name = self._names.get(code)
        if name is None:
            name = self._names[code] = function_name(code, self.folder)
        if not name:
            return None
        seen = self.lines[name]
        seen.add(code.co_firstlineno)

        def line(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            if event == "line":
                seen.add(frame.f_lineno)
            return line

        return line


def function_name(code: CodeType, folder: str) -> str:
    """The function of a code object in the package, without what is nested in it; else empty."""
    if not code.co_filename.startswith(folder):
        return ""
    name = code.co_qualname.partition(".<locals>")[0]
    if "<" in name or "__qualname__" in code.co_names:
        return ""  # a module, the body of a class, or a value that is a lambda
    return f"{Path(code.co_filename).stem}.{name}"


def all_lines(folder: Path) -> Lines:
    """Every line of a package's functions that can run."""
    found: Lines = defaultdict(set)
    for path in sorted(folder.glob("*.py")):
        protocols = {f"{path.stem}.{name}" for name in _declared(path)}
        pending = [compile(path.read_text(encoding="utf-8"), str(path), "exec")]
        while pending:
            code = pending.pop()
            pending += [c for c in code.co_consts if isinstance(c, CodeType)]
            if (name := function_name(code, str(folder))) and name not in protocols:
                found[name].update(n for _, _, n in code.co_lines() if n is not None)
    return found


def _declared(path: Path) -> Iterator[str]:
    """The methods of protocols, which have nothing to run."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases):
            yield from (
                f"{node.name}.{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)
            )


def replayed(system: str) -> Lines:
    """The lines that the system's scenarios and commands reach."""
    from benchmarks.system_replays import COMMANDS

    reach = Reach(str(TABLES / system) + os.sep)
    with tempfile.TemporaryDirectory() as folder:
        for number, command in enumerate(COMMANDS[system]):
            own = Path(folder) / str(number)
            own.mkdir()
            with reach.watch():
                perform(command, own)
            print(f"  {command}", file=sys.stderr)
    return reach.take()


def perform(command: str | Callable[[Path], None], folder: Path) -> None:
    """Run one command of the command line, or one function, in a folder."""
    from memsim.cli.program import program

    if callable(command):
        command(folder)
        return
    words = [word.replace("FOLDER", str(folder)) for word in shlex.split(command)]
    code: object = 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            program(words)
        except SystemExit as end:
            code = end.code
    if code not in {None, 0, 1, 7}:  # 7: what does not apply to a system is not measured
        raise SystemExit(f"{command}: exit {code}\n{out.getvalue()}")


class Tests:
    """A plugin of pytest: the lines of the package that each test executes."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.by_test: dict[str, Lines] = {}

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:  # noqa: ANN401 - pytest's
        """Begin anew with each test."""
        self._reach.take()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note what a test executed."""
        name = nodeid.rpartition("::")[2].partition("[")[0]
        into = self.by_test.setdefault(name, defaultdict(set))
        for function, lines in self._reach.take().items():
            into[function] |= lines


def tested(system: str) -> Mapping[str, Lines]:
    """The lines that each test of the system's fidelity suite executes, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lines.json"
        subprocess.run(
            [sys.executable, __file__, system, "--tests", str(out)], check=True, stdout=sys.stderr
        )
        found: dict[str, dict[str, list[int]]] = json.loads(out.read_text("utf-8"))
    return {t: {name: {*lines} for name, lines in by.items()} for t, by in found.items()}


def run_tests(system: str, out: Path) -> None:
    """Run the tests that a table names, and write the lines of each."""
    import pytest

    reach = Reach(str(TABLES / system) + os.sep)
    plugin = Tests(reach)
    path = ROOT / "tests" / "fidelity" / f"test_{system}.py"
    (strategy,) = strategies_in(ROOT / "strategies" / f"{system}.py")
    names = {row.test for row in strategy.fidelity if row.test}
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", " or ".join(sorted(names)))
    with reach.watch():
        pytest.main([*options, str(path)], plugins=[plugin])
    known = {name: lines for name, lines in plugin.by_test.items() if name in names}
    told = {t: {name: sorted(lines) for name, lines in by.items()} for t, by in known.items()}
    out.write_text(json.dumps(told), encoding="utf-8")


def missing(test: Lines, reached: Lines, handles: Sequence[str]) -> list[str]:
    """The functions that a test enters and no replay does."""
    return sorted(name for name in test if name not in reached and name not in handles)


def measured(system: str) -> dict[str, Any]:
    """The measurement of one system."""
    from benchmarks.system_replays import HANDLES, UNPLAYED

    reached = replayed(system)
    every = all_lines(TABLES / system)
    hit = {name: lines & reached.get(name, set()) for name, lines in every.items()}
    tests = tested(system)
    handles = HANDLES[system]
    api = {test: missing(lines, reached, handles) for test, lines in sorted(tests.items())}
    api |= {test: ["no replay has such values"] for test in UNPLAYED.get(system, ())}
    held = [lines for test, lines in tests.items() if not api[test]]
    wanted = {(f, n) for by in held for f in by if f not in handles for n in by[f]}
    return {
        "lines": sum(map(len, every.values())),
        "reached": sum(map(len, hit.values())),
        "lines_of_replayed": len(wanted),
        "replayed_lines": sum(n in reached.get(name, ()) for name, n in wanted),
        "only_tests": sorted(name for name in every if name not in reached),
        "replayed": sorted(test for test, names in api.items() if not names),
        "api": {test: names[:4] for test, names in api.items() if names},
    }


def main() -> int:
    """Measure systems, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", default=SYSTEMS)
    parser.add_argument("--tests", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="write tests/fidelity/reached.json")
    given = parser.parse_args()
    if given.tests:
        run_tests(given.systems[0], given.tests)
        return 0
    for system in given.systems:
        found = measured(system)
        print(f"{system}: {found['reached']} of {found['lines']} lines")
        told = f"{found['replayed_lines']} of {found['lines_of_replayed']}"
        print(f"  of replayed statements: {told} lines")
        for name in found["only_tests"]:
            print(f"  only tests: {name}")
        for test, names in found["api"].items():
            print(f"  API: {test}: {', '.join(names)}")
        if given.write:
            known = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
            known[system] = found
            text = json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False)
            RESULT.write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
