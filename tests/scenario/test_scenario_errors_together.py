"""All mistakes of a file, and of all files, are reported by one command."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.errors import LocatedError, ScenarioError
from memsim.scenario import load_scenarios

FIRST = """\
memsim: 1
name: first
budgt: 4k
turns:
  - user: My order is A-17.
    fact: {order: A-17}
  - fillr: 3
probes:
  order: {ask: What is my order number?, expext: A-17}
"""
SECOND = """\
memsim: 1
name: second
turns:
  - user: My order is A-17.
    facts: {order: B-18}
  - user: My cat is Rex.
    facts: {cat: Tom}
probes:
  order: {ask: What is my order number?, expect: B-18}
"""
THIRD = """\
memsim: 1
name: third
turns:
  - user: My order is A-17.
    facts: {order: A-17}
probes:
  one: {ask: What is my order number?, expect: [A-17, unknown]}
  two: {ask: What is my order number?, expect: A-17, not: A-17}
"""
SHARE = "recall: a bound on a share is from 0 to 1"
FOUND = [
    "first.yaml:3: unknown key 'budgt' in the scenario",
    "first.yaml:6: unknown key 'fact' in",
    "first.yaml:7: unknown turn 'fillr'",
    "first.yaml:9: unknown key 'expext' in",
    "first.yaml:9: missing key 'expect' in",
    "second.yaml:5: fact order is never stated",
    "second.yaml:7: fact cat is never stated",
    "third.yaml:7: probe one expects 'unknown' and an answer as well",
    "third.yaml:8: probe two both expects and forbids 'A-17'",
]


@pytest.fixture
def scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three files that are wrong in several places."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    folder = tmp_path / "scenarios"
    folder.mkdir()
    for name, text in (("first", FIRST), ("second", SECOND), ("third", THIRD)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_every_mistake_is_found_at_once(scenarios: Path) -> None:
    """The first error has the others beside it, each with its own file and line."""
    with pytest.raises(ScenarioError) as raised:
        load_scenarios(scenarios)

    told = [str(error).removeprefix(f"{scenarios}/") for error in raised.value.every]
    assert len(FOUND) == len(told)
    for line, start in zip(told, FOUND, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize("selected", [(), ("scenarios/*.yaml",), ("first.yaml", "third.yaml")])
def test_the_command_prints_a_line_for_each(scenarios: Path, selected: tuple[str, ...]) -> None:
    """With exit code 4, whether files are found by folder, by glob or by name."""
    named = [f"scenarios/{name}" if "/" not in name else name for name in selected]
    done = CliRunner().invoke(program, ["run", *named, "-s", "bm25"])

    lines = done.stderr.splitlines()
    expected = [f for f in FOUND if not named or "*" in named[0] or f"scenarios/{f[:10]}" in named]
    assert 4 == done.exit_code
    assert len(expected) == len(lines)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"scenarios/{start}")


def test_bounds_of_all_scenarios_are_checked_together(scenarios: Path) -> None:
    """A metric that is no metric, and a share that no memory can reach."""
    right = THIRD.replace(", unknown]", "]").replace(", not: A-17", "")
    for name, expect in (("first", "{recal: '> 0.8', recall: '> 80'}"), ("second", "{f1: '> 1'}")):
        text = right.replace("third", name) + f"expect: {expect}\n"
        (scenarios / f"{name}.yaml").write_text(text, encoding="utf-8")
    (scenarios / "third.yaml").unlink()

    done = CliRunner().invoke(program, ["run", "-s", "bm25", "--dry-run"])

    assert 4 == done.exit_code
    assert [
        "scenarios/first.yaml:9: there is no metric 'recal' (did you mean 'recall'?)",
        f"scenarios/first.yaml:9: {SHARE}, not '> 80' (did you mean '0.8'?)",
        "scenarios/second.yaml:9: there is no metric 'f1'",
    ] == [line.replace(" (did you mean 'locomo_f1'?)", "") for line in done.stderr.splitlines()]


def test_an_error_keeps_its_company() -> None:
    """Also on its way from another process."""
    import pickle

    others = (LocatedError("b", path="b.yaml", line=2), LocatedError("c"))
    error = LocatedError("a", path="a.yaml", line=1, others=others)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert [str(e) for e in error.every] == [str(e) for e in again.every]
    assert ["x:1: a", "x:2: b", "x: c"] == [str(e) for e in error.shown_as(lambda _p: "x").every]
