"""What memsim does where GitHub Actions reads along, and the workflow that makes it do so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from memsim.scaffold import scaffold, template, workflow

GITHUB, WORKFLOW = ".github/workflows/memsim.yml", template("memsim.yml")

Call = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scaffolded project below a checkout, with a bound that its window does not keep."""
    folder = tmp_path / "agent"
    scaffold(folder)
    path = folder / "scenarios/first.yaml"
    path.write_text(path.read_text("utf-8").replace('">= 0.25"', '">= 0.6"'), encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return folder


def test_the_workflow_is_written_when_it_is_asked_for(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And kept where there is one."""
    monkeypatch.chdir(tmp_path)

    without, first, second = call("init"), call("init", "--github"), call("init", "--github")

    assert GITHUB not in without.stdout
    assert "wheels/" not in without.stdout
    assert "cp PATH/TO/memsim-*.whl wheels/" in first.stdout
    assert f"created   {GITHUB}\n" in first.stdout
    assert f"kept      {GITHUB}\n" in second.stdout


def test_the_workflow_is_the_one_of_the_manual() -> None:
    """It runs, gates and uploads; whoever has no scaffold copies the same."""
    steps = yaml.safe_load(WORKFLOW)["jobs"]["memory"]["steps"]

    assert WORKFLOW in (ROOT / "docs/ci.md").read_text("utf-8")
    assert "memsim run --strict --progress plain" in [step.get("run") for step in steps]
    assert ("always()", "reports/runs/") == (steps[-1]["if"], steps[-1]["with"]["path"])


def test_every_command_of_the_recipes_exists(project: Path, call: Call) -> None:
    """With all of its options; the workflow's own finds what to play."""
    manual = (ROOT / "docs/ci.md").read_text("utf-8")
    recipes = "\n".join(re.findall(r"```\w*\n(.*?)```", manual, re.DOTALL))
    found = re.findall(r"^[ -]*(?:run: )?memsim (.*?)(?: +#.*| \|\|.*)?$", recipes, re.MULTILINE)

    for text in found:
        result = call(*shlex.split(text), "--help")
        assert result.exit_code == 0, f"memsim {text}: {result.output}"
    assert len(found) >= 5
    assert "pip install memsim\n" not in recipes
    (steps,) = (job["steps"] for job in yaml.safe_load(WORKFLOW)["jobs"].values())
    (played,) = (s["run"] for s in steps if s.get("run", "").startswith("memsim "))
    assert call(*shlex.split(played)[1:], "--dry-run").exit_code == 0


def test_the_matrix_plays_every_shard_and_merges(project: Path, call: Call) -> None:
    """As its jobs would, with the artifacts already in their place; no job is skipped."""
    jobs = yaml.safe_load(workflow(3))["jobs"]
    (play,), (merge,) = (
        [step["run"] for step in job["steps"] if step.get("run", "").startswith("memsim ")]
        for job in jobs.values()
    )
    numbers = jobs["shards"]["strategy"]["matrix"]["shard"]

    assert [1, 2, 3] == numbers
    assert not jobs["shards"]["strategy"]["fail-fast"]
    assert ("shards", "${{ !cancelled() }}") == (jobs["memory"]["needs"], jobs["memory"]["if"])
    for number in numbers:
        played = play.replace("${{ matrix.shard }}", str(number))
        assert call(*shlex.split(played)[1:]).exit_code in {0, 1}
    found = [str(path) for path in Path().glob("reports/shards/*")]
    merged = call(*shlex.split(merge.replace("reports/shards/*", " ".join(found)))[1:])
    assert (1, "1 failed, 1 passed") == (merged.exit_code, closing(merged))


def closing(result: Result) -> str:
    """The last line, without the time."""
    return result.stdout.splitlines()[-1].partition(" in ")[0]


@pytest.mark.parametrize("system", ["SLURM", "Kubernetes"])
def test_a_cluster_plays_every_shard(
    project: Path, call: Call, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command of the manual, with what the system tells each process."""
    manual = (ROOT / "docs/scale.md").read_text("utf-8").partition(f"## {system}\n")[2]
    found = re.search(r"memsim run (.*)/16\" (-o .*)", manual)
    assert found is not None
    first = int(system == "SLURM")
    variable = "SLURM_ARRAY_TASK_ID" if system == "SLURM" else "JOB_COMPLETION_INDEX"
    for index in range(first, first + 2):
        line = subprocess.run(
            ["sh", "-c", f'printf "%s\n" {found[1]}/2" {found[2]}'],
            env={**os.environ, variable: str(index)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert call("run", *line.stdout.split()).exit_code in {0, 1}
    merged = call("merge", "shards")

    assert (1, "1 failed, 1 passed") == (merged.exit_code, closing(merged))


def test_broken_bounds_are_marked_at_their_line(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the checkout's folder, on standard error: standard output may be JSON."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    result = call("run", "--progress", "none", "--format", "json")

    lines = Path("scenarios/first.yaml").read_text("utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, start=1) if ">= 0.6" in text)
    assert result.exit_code == 1
    assert result.stderr == (
        f"::error file=agent/scenarios/first.yaml,line={line},"
        "title=memsim first[sliding_window%3Amessages=12@4k]::"
        "recall .40 < .6; missed: order, card, cat\n"
    )
    assert "::error" not in result.stdout


def test_the_report_is_added_to_the_summary(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After what other steps have put there."""
    summary = project / "summary.md"
    summary.write_text("earlier\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    call("run", "-q")

    text = summary.read_text("utf-8")
    assert text.startswith("earlier\n")
    assert "sliding_window:messages=12" in text


def test_a_summary_that_cannot_be_written_is_one_line(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run decides the exit code, and nothing else does."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "missing" / "summary.md"))

    result = call("run", "-q", "--progress", "none", "-s", "mine")

    (line,) = (x for x in result.stderr.splitlines() if "GITHUB_STEP_SUMMARY" in x)
    assert result.exit_code == 0
    assert line.endswith("summary.md: cannot be written: No such file or directory")


def test_elsewhere_nothing_is_marked(project: Path, call: Call) -> None:
    """The lines mean nothing to anybody else."""
    assert "::error" not in call("run", "-q").stderr
