"""Fidelity tables: every statement of a reproduced system's document names the test that holds it.

The docstring of `memsim/systems/<name>/__init__.py`, or of a strategy's class, has a row for each:
`* statement -> test_name`. The test stands in `tests/fidelity/test_<name>.py`.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.fidelity import breaking

ROOT = Path(__file__).resolve().parents[2]
STRATEGIES = ROOT / "strategies"
TABLES = ROOT / "memsim" / "systems"
SYSTEMS = ("agenticx", "agentscope", "prx", "cogtrix", "aegis")
_ROW = re.compile(r"^\*[ \t]+(?P<statement>.+?)[ \t]*->[ \t]*(?P<test>\S+)$")


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
        *(f"not a row: {line}" for line in written(text) if not _ROW.match(line)),
    ]


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
    count = len(rows((TABLES / system / "__init__.py").read_text(encoding="utf-8")))
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    assert f"\n| `{system}` | {count} | " in page


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
