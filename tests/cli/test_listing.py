"""`memsim list`: what there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]


def test_scenarios_strategies_and_datasets_are_listed(project: Path, call: Call) -> None:
    """The project's own first to the eye: where each comes from stands beside it."""
    result = call("list")

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert [lines[0], *[after for before, after in pairwise(lines) if not before]] == [
        "scenarios",
        "strategies",
        "datasets",
    ]
    assert any(
        line.split()[:4] == ["scenarios/first.yaml", "35", "11", "project"] for line in lines
    )
    assert any(line.split()[:2] == ["mine", "project"] for line in lines)
    assert any(line.split()[:2] == ["sliding_window", "built-in"] for line in lines)


def test_parameters_have_defaults_and_a_word_of_their_own(project: Path, call: Call) -> None:
    """What may stand behind the colon of a ref."""
    result = call("list", "strategies")

    assert "      messages=12  how many of the newest are kept whatever they say." in result.stdout


SYSTEMS = ("aegis", "agenticx", "agentscope", "cogtrix", "prx")


def test_what_is_tested_of_published_systems_is_told_on_request(project: Path, call: Call) -> None:
    """Every row of each table, with a test that there is; and none of it unasked."""
    told = call("list", "strategies", "-v").stdout.splitlines()

    for name in SYSTEMS:
        tests = (ROOT / f"tests/fidelity/test_{name}.py").read_text(encoding="utf-8")
        known = set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE))
        head = f"statements, each held by a test of tests/fidelity/test_{name}.py:"
        start = next(at for at, line in enumerate(told) if line.endswith(head)) + 1
        count = int(told[start - 1].split()[0])
        rows = [line.partition(" -> ") for line in told[start : start + count]]
        source = (ROOT / f"memsim/systems/{name}/__init__.py").read_text(encoding="utf-8")
        left = len(re.findall(r"^ *\* not reproduced: ", source, re.MULTILINE))
        assert len(re.findall(r"^ *\* ", source, re.MULTILINE)) == count + left
        assert not left or f"      {left} statements that are not reproduced:" in told
        assert {"replayed", "API"} == {statement.split()[0] for statement, _, _ in rows}
        assert all(statement.strip() and test in known for statement, _, test in rows)
        assert " -> " not in told[start + count]
    assert "statements" not in call("list", "strategies").stdout


def test_no_strategy_is_executed(project: Path, call: Call) -> None:
    """A file that would delete everything is still listed."""
    bad = "raise SystemExit('executed')\n\nfrom memsim import Strategy\n\n\nclass Evil(Strategy):\n"
    (project / "strategies/evil.py").write_text(f'{bad}    """Bad."""\n', encoding="utf-8")

    result = call("list", "strategies")

    assert result.exit_code == 0
    assert "evil" in result.stdout


def test_a_broken_file_does_not_hide_the_others(project: Path, call: Call) -> None:
    """Neither of scenarios nor of strategies; each says what is wrong with it."""
    (project / "strategies/broken.py").write_text("def (:\n", encoding="utf-8")
    (project / "scenarios/broken.yaml").write_text("memsim: 1\nnmae: x\n", encoding="utf-8")

    result = call("list")

    assert result.exit_code == 0
    assert "strategies/broken.py" in result.stdout
    assert "(did you mean 'name'?)" in result.stdout
    assert "mine" in result.stdout


def test_metrics_say_what_they_are(call: Call) -> None:
    """The names that bounds may use."""
    result = call("list", "metrics")

    assert any(
        line.split()[:3] == ["recall", "share", "higher"] for line in result.stdout.splitlines()
    )


def test_runs_say_what_came_of_them(project: Path, call: Call) -> None:
    """Newest first; none is a word, not an empty page."""
    assert call("list", "runs").stdout == "runs\n  none\n"
    call("run", "-k", "mine")
    call("run", "--fail-under", "recall=0.6")

    lines = call("list", "runs").stdout.splitlines()

    assert [line.split()[1:] for line in lines[2:]] == [
        ["5", "1", "1", "failed,", "1", "passed"],
        ["1", "0", "1", "passed"],
    ]


def test_datasets_show_how_they_are_run(call: Call) -> None:
    """The flag that they need stands beside them."""
    assert "  locomo   memsim run locomo --data PATH\n" in call("list", "datasets").stdout


def test_datasets_say_what_they_are(call: Call) -> None:
    """What each measures, its size, licence and place, and the rows that are reproduced."""
    shown = call("list", "datasets").stdout.splitlines()
    place = shown.index("  longmemeval   memsim run longmemeval --data PATH")

    assert shown[place + 1 : place + 6] == [
        "      measures    six kinds of questions, each over a history of its own",
        "      size        500 questions; about 50 sessions each in S",
        "      licence     MIT",
        "      published   github.com/xiaowu0162/LongMemEval",
        "      reproduced  none: retrieval is published of M, which is not loaded",
    ]


def test_a_list_of_everything_names_datasets_only(call: Call) -> None:
    """Their descriptions are for those who ask for datasets."""
    assert "licence" not in call("list").stdout


@pytest.mark.parametrize("kind", ["scenario", "strategis"])
def test_an_unknown_kind_is_exit_four(call: Call, kind: str) -> None:
    """With those there are."""
    result = call("list", kind)

    assert result.exit_code == 4
    assert "'scenarios', 'strategies'" in result.stderr


@pytest.mark.parametrize("width", ["1", "40", "80"])
def test_long_descriptions_are_cut_to_the_width(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    """Names are never cut."""
    monkeypatch.setenv("COLUMNS", width)

    result = call("list", "scenarios")

    assert result.exit_code == 0
    assert "scenarios/first.yaml" in result.stdout


def test_a_name_with_a_line_break_is_told_on_one_line(project: Path, call: Call) -> None:
    """Ids are lines of reports: such a file is not run, and the others are listed."""
    text = (project / "scenarios/first.yaml").read_text(encoding="utf-8")
    (project / "scenarios/a\nb.yaml").write_text(text, encoding="utf-8")

    said = "scenarios/a\\nb.yaml: a name must not contain a line break or another control character"
    listed, ran = call("list", "scenarios"), call("run", "scenarios/a\nb.yaml")

    assert f"  {said}; rename it\n" in listed.stdout
    assert "scenarios/first.yaml" in listed.stdout
    assert (4, f"{said}; rename it\n") == (ran.exit_code, ran.stderr)
    assert 4 == call("run").exit_code


def test_a_strategy_with_a_line_break_is_no_ref(project: Path, call: Call) -> None:
    """It would break the lines that it stands in."""
    result = call("run", "-s", "a\nb.py")

    assert result.exit_code == 4
    assert 1 == result.stderr.count("\n")
