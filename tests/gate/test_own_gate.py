"""The gate that this project holds itself to: it sees a worse strategy, and nothing else.

The selection is that of `make gate`; the baseline is made anew, so that these tests say how the
gate decides and not whether the committed file is of today.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memsim.cli.program import program

ROOT = Path(__file__).resolve().parents[2]
Gate = Callable[..., Result]


def listed(name: str) -> list[str]:
    """What the Makefile lists under a name."""
    found = re.search(rf"^{name} := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1].split()


HELD = listed("HELD")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with the gated scenarios and a baseline of today's strategies.

    The baseline knows how far one other seed lies from its own, as the committed one knows it of
    three: what fillers a summary had to make room for decides of a few probes which are lost.
    """
    folder = tmp_path_factory.mktemp("own")
    (folder / "scenarios").mkdir()
    for name in listed("GATED"):
        shutil.copy(ROOT / "scenarios" / f"{name}.yaml", folder / "scenarios")
    text = f"[tool.memsim]\nstrategies = {HELD}\nbaseline = 'main'\n"
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(" or ".join(HELD), "--baseline", "none")
        saved = CliRunner().invoke(program, ["baseline", "save", "--aa", "1"])
        assert saved.exit_code == 0, saved.output
        yield folder


def run(expression: str, *flags: str) -> Result:
    """`memsim run` of the cases that an expression names, in this process alone."""
    flags = ("--progress", "none", "--color", "never", "-j", "1", "-k", expression, *flags)
    return CliRunner().invoke(program, ["run", *flags])


@pytest.fixture
def gate(own: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Holds one strategy to the baseline; whatever took its place is gone afterwards."""
    monkeypatch.chdir(own)
    monkeypatch.setenv("COLUMNS", "160")

    def held(strategy: str, *flags: str) -> Result:
        return run(strategy.partition(":")[0], "-s", strategy, "--strict", *flags)

    yield held
    shutil.rmtree(own / "strategies", ignore_errors=True)


def rewrite(name: str, old: str, new: str) -> None:
    """Put a strategy in the place of memsim's own, with one thing changed in its source."""
    source = (ROOT / "strategies" / f"{name}.py").read_text("utf-8")
    assert source.count(old) == 1, f"{name} has changed: this test needs another change to make"
    Path("strategies").mkdir()
    Path(f"strategies/{name}.py").write_text(source.replace(old, new), encoding="utf-8")


def words(result: Result) -> dict[str, str]:
    """The word for each metric."""
    return dict(re.findall(r"^\S+@4k +(\w+) .*  (\w+)(?: \(.*\))?$", result.stdout, re.MULTILINE))


@pytest.mark.parametrize(
    "strategy", ["sliding_window:messages=10", "bm25:k=1"], ids=["window halved", "top-k 1"]
)
def test_a_strategy_that_was_cut_down_fails(gate: Gate, strategy: str) -> None:
    """The window is twenty messages by default and always full; ten messages are quoted."""
    result = gate(strategy)

    assert result.exit_code == 1, result.output
    assert words(result)["recall"] == "worse"
    assert "newly lost" in result.stdout


def test_a_summary_that_is_not_sent_fails(gate: Gate) -> None:
    """It is made as before, and left out of the context."""
    rewrite(
        "rolling_summary",
        "Context(sections=buffer.sections(query.budget))",
        "Context(sections=buffer.sections(query.budget)[-1:])",
    )

    result = gate("rolling_summary")

    assert result.exit_code == 1, result.output
    assert words(result)["recall"] == "worse"
    assert "(source changed)" in result.stdout


def test_an_equivalent_refactoring_passes(gate: Gate) -> None:
    """Other source, same behaviour; and the gate says that the source changed."""
    rewrite("sliding_window", "        if dropped:\n", "        if len(dropped) > 0:\n")

    result = gate("sliding_window")

    assert result.exit_code == 0, result.output
    assert {"recall": "same", "context_peak": "same"} == words(result)
    assert "(source changed)" in result.stdout


def test_reseeded_fillers_pass(gate: Gate) -> None:
    """Other small talk between the same facts is no reason to fail, whoever replays it.

    The seed is none of those that the baseline's noise floor was measured with.
    """
    seeded = run(" or ".join(HELD), "--seed", "9")

    assert seeded.exit_code == 0, seeded.output
    assert "worse" not in words(seeded).values()


def test_the_gate_is_part_of_what_has_to_hold() -> None:
    """`.ci/run` calls it, and the committed baseline is of just that selection."""
    text = (ROOT / "reports/baselines/main.json").read_text("utf-8")
    cases = set(re.findall(r'"case": "scenarios/\w+\.yaml::(\w+)\[(\w+)@4k\]"', text))

    assert "\nmake gate\n" in (ROOT / ".ci/run").read_text("utf-8")
    assert {(name, strategy) for name in listed("GATED") for strategy in HELD} == cases
    assert os.access(ROOT / ".ci/run", os.X_OK)
