"""The README and the docs are complete, and what the README shows runs as it is written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from memsim.cli.program import COMMANDS
from memsim.cli.run import command as run_command
from memsim.discovery.catalogue import find_strategies
from memsim.discovery.project import Project
from memsim.errors import ExitCode
from memsim.leakage.scores import LEAK_METRICS
from memsim.scoring.metrics import JUDGED, METRICS
from memsim.scoring.outcomes import OUTCOMES, WHEREABOUTS, Reason, reason_name
from memsim.testing.invariants import known

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The README's code blocks of a language."""
    return [text for found, text in BLOCK.findall(README) if found == language]


def memsim(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder."""
    command = [sys.executable, "-m", "memsim", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project that the README builds: `memsim init`, its scenario and its strategy."""
    assert memsim(tmp_path, "init").returncode == 0
    [scenario] = blocks("yaml")
    [strategy] = (block for block in blocks("python") if "(Strategy)" in block)
    (tmp_path / "scenarios" / "moving.yaml").write_text(scenario, encoding="utf-8")
    (tmp_path / "strategies" / "shouting.py").write_text(strategy, encoding="utf-8")
    return tmp_path


def commands() -> list[str]:
    """Every memsim command that the five-minute path shows."""
    lines = (
        line.split("#")[0].strip() for block in blocks("console") for line in block.split("\n")
    )
    shown = [line for line in lines if line.startswith("memsim run scenarios/moving")]
    return shown + [line for block in blocks("console") for line in explained(block)]


def explained(block: str) -> list[str]:
    return [line for line in block.split("\n") if line.startswith("memsim explain 'moving[")]


def test_the_five_minute_path_runs_as_written(project: Path) -> None:
    """The README's scenario and strategy run, and the lost fact is explained."""
    found = commands()
    assert len(found) == 2

    for command in found:
        done = memsim(project, *shlex.split(command)[1:])
        assert done.returncode == 0, done.stdout + done.stderr

    assert "A-17" in done.stdout


def test_a_broken_bound_fails(project: Path) -> None:
    """The gate that the README promises has its exit code."""
    done = memsim(project, "run", "moving", "-s", "shouting", "--fail-under", "recall=0.8")

    assert done.returncode == 1


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_documented(name: str) -> None:
    """No command is a secret."""
    assert f"`memsim {name}`" in DOCS["cli"]


def test_every_flag_of_run_is_documented() -> None:
    """Each one has a row, and no row is left of one that is gone."""
    page = DOCS["cli"][: DOCS["cli"].index("## Exit codes")]
    told = {
        word for row in re.findall(r"^\| (`-.*?) \|", page, re.MULTILINE) for word in _spans(row)
    }
    flags = {word for param in run_command.params for word in param.opts if word.startswith("-")}

    assert flags - {"-h", "--help"} == told


def _spans(row: str) -> list[str]:
    return re.findall(r"`(-[\w-]+)`", row)


def test_every_exit_code_is_documented() -> None:
    """A row for each."""
    rows = set(re.findall(r"^\| (\d) \|", DOCS["cli"], re.MULTILINE))

    assert {str(int(code)) for code in ExitCode} == rows


def test_every_metric_is_documented() -> None:
    """Those of several depths stand once, with K for the depth."""
    named = set(re.findall(r"`([\w@]+)`", DOCS["metrics"]))
    metrics = {
        re.sub(r"(?<!ndcg)@\d+$", "@K", name) for name in {**METRICS, **JUDGED, **LEAK_METRICS}
    }

    assert metrics - named == set()


def test_every_outcome_is_documented() -> None:
    """The words for answers, for where evidence was, and for why it was missed."""
    rows = re.findall(r"^\| (.+?) \|", DOCS["outcomes-and-reasons"], re.MULTILINE)
    named = {word.strip("`") for row in rows for word in row.split(", ")}

    reasons = {reason_name(reason) for reason in get_args(Reason)}

    assert {*OUTCOMES, *WHEREABOUTS, *reasons} - named == set()


def test_every_strategy_is_documented() -> None:
    """Each built-in strategy has a row, and no row is left of one that is gone."""
    rows = set(re.findall(r"^\| `(\w+)` \|", DOCS["strategies"], re.MULTILINE))
    built_in = {found.name for found in find_strategies(Project()) if found.origin == "built-in"}

    assert built_in == rows


def test_every_invariant_is_documented() -> None:
    """Number and name of each, as the catalogue has them."""
    text = DOCS["invariants"] + DOCS["part-invariants"]
    rows = set(re.findall(r"^\| I(\d+) \| `(\w+)` \|", text, re.MULTILINE))
    catalogue = {(str(each.number), each.name) for each in known()}

    assert catalogue == rows


def test_every_page_is_linked(subtests: pytest.Subtests) -> None:
    """The README leads to each page of the docs."""
    for page in sorted(DOCS):
        with subtests.test(page=page):
            assert f"(docs/{page}.md)" in README
