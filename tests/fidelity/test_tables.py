"""Fidelity tables: every statement of a reproduced system's document names the test that holds it.

The docstring of `memsim/systems/<name>/__init__.py`, or of a strategy's class, has a row for each:
`* statement -> test_name`. The test stands in `tests/fidelity/test_<name>.py`. `API:` before the
statement says that only callers of the classes reach what it speaks of, as
`benchmarks/system_coverage.py` measured. A row that begins with `not reproduced:` has no test.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from benchmarks.system_coverage import Reach, all_lines, missing
from memsim.discovery.strategy_source import FidelityMark, strategies_in
from tests.fidelity import breaking

ROOT = Path(__file__).resolve().parents[2]
STRATEGIES = ROOT / "strategies"
TABLES = ROOT / "memsim" / "systems"
SYSTEMS = ("agenticx", "agentscope", "prx", "cogtrix", "aegis")
_ROW = re.compile(r"^\*[ \t]+(?P<statement>.+?)[ \t]*->[ \t]*(?P<test>\S+)$")
_LEFT = re.compile(r"^\*[ \t]+not reproduced:[ \t]+\S.*$")
REACHED = json.loads(Path(__file__).with_name("reached.json").read_text(encoding="utf-8"))


def written(text: str) -> list[str]:
    """Whatever begins as a row in the docstring of a module or a class, each in one line.

    A row goes on in the lines below it, up to a blank one or the next row.
    """
    found: list[str] = []
    inside = False
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef | ast.Module):
            continue
        for line in (*(ast.get_docstring(node) or "").splitlines(), ""):
            told = line.strip()
            if told.startswith("* "):
                found.append(told)
            elif inside and told:
                found[-1] += f" {told}"
            inside = bool(told) and (inside or told.startswith("* "))
    return found


def rows(text: str) -> list[tuple[str, str]]:
    """The statements of the tables in a strategy file, each with the test that it names."""
    found = map(_ROW.match, written(text))
    return [(row["statement"], row["test"]) for row in found if row]


def names_of_tests(path: Path) -> set[str]:
    """The names of a file's tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def faults(strategy: Path, tests: Path) -> list[str]:
    """What is wrong with the table of a strategy file."""
    text = strategy.read_text(encoding="utf-8")
    table = rows(text)
    if not table:
        return []
    if not tests.is_file():
        return [f"{tests.name} is missing"]
    known = names_of_tests(tests)
    statements = [statement for statement, _ in table]
    return [
        *(f"{test} is no test of {tests.name}" for _, test in table if test not in known),
        *(f"twice: {s}" for s in sorted(set(statements)) if statements.count(s) > 1),
        *(f"not a row: {line}" for line in written(text) if _is_faulty(line)),
    ]


def _is_faulty(line: str) -> bool:
    return bool(_ROW.match(line)) == bool(_LEFT.match(line))


def functions_of(folder: Path) -> set[str]:
    """The functions of a package, such as `studio.Studio.recall`."""
    found: set[str] = set()
    for path in folder.glob("*.py"):
        pending = [(path.stem, node) for node in ast.parse(path.read_text("utf-8")).body]
        while pending:
            owner, node = pending.pop()
            if isinstance(node, ast.ClassDef):
                pending += [(f"{owner}.{node.name}", child) for child in node.body]
            elif isinstance(node, ast.FunctionDef):
                found.add(f"{owner}.{node.name}")
    return found


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.glob("*.py")), ids=lambda p: p.stem)
def test_every_row_names_a_test_that_there_is(strategy: Path) -> None:
    """A statement without a test is a claim that nothing holds."""
    assert [] == faults(strategy, Path(__file__).with_name(f"test_{strategy.name}"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_reproduced_system_has_a_table(system: str) -> None:
    """A strategy that is named for a published system says what of it is held by tests."""
    table = TABLES / system / "__init__.py"
    assert rows(table.read_text(encoding="utf-8"))
    assert [] == faults(table, Path(__file__).with_name(f"test_{system}.py"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_number_of_rows_is_told_as_it_is(system: str) -> None:
    """The page about the systems says how many statements are held of each."""
    (strategy,) = strategies_in(STRATEGIES / f"{system}.py")
    marks = Counter(row.mark for row in strategy.fidelity)
    told = " | ".join(str(marks[mark]) for mark in get_args(FidelityMark))
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    assert len(strategy.fidelity) == len(written((TABLES / system / "__init__.py").read_text()))
    assert f"\n| `{system}` | {told} | " in page


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_statement_is_marked_as_it_was_measured(system: str) -> None:
    """Scenarios and commands reach what is replayed: see `benchmarks/system_coverage.py`."""
    (strategy,) = strategies_in(STRATEGIES / f"{system}.py")
    measured = REACHED[system]
    by_mark = {
        mark: {row.test for row in strategy.fidelity if row.test and row.mark == mark}
        for mark in ("replayed", "API")
    }
    assert set(measured["api"]) == by_mark["API"]
    assert set(measured["replayed"]) == by_mark["replayed"]
    assert set(measured["only_tests"]) <= functions_of(TABLES / system)
    assert measured["replayed_lines"] >= 0.95 * measured["lines_of_replayed"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_a_design_breaks_is_declared_shown_and_told(system: str) -> None:
    """Its class declares it, a conversation shows it, and the table has a row for it."""
    assert set(breaking.SHOWN[system]) == breaking.declared(system) == breaking.in_table(system)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("* keeps eight -> test_eight", []),
        ("* keeps eight of\n      them all -> test_eight", []),
        ("* keeps nine -> test_nine", ["test_nine is no test of test_it.py"]),
        ("* keeps eight", ["not a row: * keeps eight"]),
        ("* API: keeps eight -> test_eight", []),
        ("* not reproduced: keeps eight", []),
        (
            "* not reproduced: keeps eight -> test_eight",
            ["not a row: * not reproduced: keeps eight -> test_eight"],
        ),
        ("* keeps eight -> test_eight\n    * keeps eight -> test_eight", ["twice: keeps eight"]),
    ],
)
def test_a_row_without_its_test_is_found(tmp_path: Path, row: str, expected: list[str]) -> None:
    """What the rule above looks for, it does find."""
    strategy, tests = tmp_path / "it.py", tmp_path / "test_it.py"
    fine = "* is there -> test_eight"
    strategy.write_text(f'class It:\n    """It.\n\n    {fine}\n    {row}\n    """\n', "utf-8")
    tests.write_text("def test_eight() -> None:\n    pass\n", "utf-8")
    assert expected == faults(strategy, tests)


def test_a_table_without_a_file_of_tests_is_found(tmp_path: Path) -> None:
    """A strategy file with rows needs the file that they speak of."""
    strategy = tmp_path / "it.py"
    strategy.write_text('class It:\n    """It.\n\n    * a -> test_a\n    """\n', "utf-8")
    assert ["test_it.py is missing"] == faults(strategy, tmp_path / "test_it.py")


TOY = """\
class Gate:
    def open(self, wide):
        if wide:
            return self.swing()
        return "ajar"

    def swing(self):
        return [word for word in ("wide",)]

    def paint(self):
        return "red"
"""


def test_the_measurement_notes_functions_and_their_lines(tmp_path: Path) -> None:
    """A function that no replay enters makes a statement API, unless it is a handle of tests."""
    path = tmp_path / "toy.py"
    path.write_text(TOY, encoding="utf-8")
    known: dict[str, Any] = {}
    exec(compile(TOY, str(path), "exec"), known)  # noqa: S102 - the text above
    reach = Reach(str(tmp_path))
    with reach.watch():
        known["Gate"]().open(wide=False)
    replayed = reach.take()
    with reach.watch():
        known["Gate"]().open(wide=True)
    tested = reach.take()
    every = all_lines(tmp_path)

    assert {"toy.Gate.open": {2, 3, 5}} == replayed
    assert {"toy.Gate.open": {2, 3, 4}, "toy.Gate.swing": {7, 8}} == tested
    assert {"toy.Gate.open", "toy.Gate.swing", "toy.Gate.paint"} == set(every)
    assert {2, 3, 4, 5} == every["toy.Gate.open"]
    assert ["toy.Gate.swing"] == missing(tested, replayed, ())
    assert [] == missing(tested, replayed, ("toy.Gate.swing",))
    assert {"open", "swing", "paint"} == {n.rpartition(".")[2] for n in functions_of(tmp_path)}
