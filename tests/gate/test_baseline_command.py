"""`memsim baseline`: what may be kept, how it is written, and how it reads."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Call = Callable[..., Result]
Play = Callable[..., Result]


def git(*arguments: str) -> None:
    """Runs git as somebody."""
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *arguments], check=True, capture_output=True)


def refused(result: Result) -> str:
    """What a refusal says, after it was seen to be one."""
    assert result.exit_code == 4, result.output
    assert not Path("reports/baselines").exists()
    assert len(result.stderr.splitlines()) == 1
    return result.stderr.partition("is no baseline: ")[2].strip()


def test_a_run_from_a_dirty_tree_is_refused(project: Path, play: Play, call: Call) -> None:
    """Nobody could make it again; committed, it is taken."""
    git("init", "-q")
    Path(".gitignore").write_text("reports/runs/\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    with Path("pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    play(24)
    assert refused(call("baseline", "save")).startswith("it was made from a tree with uncommitted")
    git("commit", "-q", "-a", "-m", "second")
    play(24)

    result = call("baseline", "save")

    assert result.exit_code == 0
    assert json.loads(Path("reports/baselines/main.json").read_bytes())["commit"]


def test_a_failed_run_is_refused(call: Call) -> None:
    """Its verdict is said."""
    call("run", "-q", "--fail-under", "context_peak<=1")

    assert refused(call("baseline", "save")) == "it failed (1 failed)"


def test_an_unmeasurable_run_is_refused(project: Path, call: Call) -> None:
    """Though its errors were tolerated when it was made."""
    source = (
        "from memsim import Strategy\n\n\nclass Broken(Strategy):\n"
        "    def context(self, query):\n        raise RuntimeError('broken')\n"
    )
    (project / "broken.py").write_text(source, encoding="utf-8")
    call("run", "-q", "-s", "broken.py@Broken")
    assert "it could not be measured (1 unmeasured)" in refused(call("baseline", "save"))
    call("run", "-q", "-s", "broken.py@Broken", "--max-errors", "1000")

    assert "some of its probes could not be scored" in refused(call("baseline", "save"))


def test_an_unfinished_run_is_refused(
    play: Play, call: Call, edit_run: Callable[..., None]
) -> None:
    """What was interrupted is not the whole."""
    play(24)
    edit_run(finished=False)

    assert refused(call("baseline", "save")) == "it was interrupted"


def test_a_run_that_was_stopped_early_is_refused(
    play: Play, call: Call, edit_run: Callable[..., None]
) -> None:
    """Cases that were planned are missing."""
    play(24)
    edit_run(cases={str(n): "" for n in range(6)})

    assert refused(call("baseline", "save")) == "2 of its cases were not run"


@pytest.mark.parametrize("model", ["offline:miss=0.1", "anthropic/claude"])
def test_a_model_of_chance_needs_three_repeats(
    play: Play, call: Call, edit_run: Callable[..., None], model: str
) -> None:
    """One answer of such a model says too little to hold others to."""
    play(24)
    known: dict[str, Any] = json.loads(
        (max(Path("reports/runs").iterdir()) / "run.json").read_text(encoding="utf-8")
    )["settings"]
    edit_run(settings=known | {"model": model})
    said = refused(call("baseline", "save"))
    edit_run(settings=known | {"model": model, "repeat": 3})

    assert said == (f"model {model} answers by chance: it needs --repeat 3 or more, and had 1")
    assert call("baseline", "save").exit_code == 0


def test_controls_alone_are_refused(call: Call) -> None:
    """They are never compared."""
    call("run", "-q", "-k", "no_memory")

    assert refused(call("baseline", "save")) == "it has only controls"


def test_a_run_without_fingerprints_is_refused(
    play: Play, call: Call, edit_run: Callable[..., None]
) -> None:
    """It is of an earlier memsim."""
    play(24)
    edit_run(instruments=None)

    result = call("baseline", "save")

    assert result.exit_code == 4
    assert "was recorded without fingerprints" in result.stderr


@pytest.mark.parametrize("name", ["a/b", "..", "", "-x", "ä"])
def test_a_name_is_no_path(saved: Path, call: Call, name: str) -> None:
    """Baselines lie in their folder and nowhere else."""
    result = call("baseline", "save", f"--name={name}")

    assert result.exit_code == 4
    assert ["main.json"] == [p.name for p in saved.parent.iterdir()]


def test_the_file_is_the_same_for_the_same_run_and_reads_line_by_line(
    saved: Path, call: Call
) -> None:
    """Sorted keys, a probe a line, a score for every repeat; saved twice, the same bytes."""
    text = saved.read_text(encoding="utf-8")
    call("baseline", "save")

    assert text == saved.read_text(encoding="utf-8")
    told = json.loads(text)
    assert list(told) == sorted(told)
    lines = [json.loads(x.rstrip(",")) for x in text.splitlines() if '"case": ' in x]
    assert lines == [*told["cases"], *told["probes"]]
    assert len(told["probes"]) == 12
    assert all(line["scores"]["recall"] == [1.0] for line in told["probes"])
    assert not {"seconds", "cost"} & set(told["cases"][0]["amounts"])


def test_a_score_that_changed_changes_its_line_alone(saved: Path, play: Play, call: Call) -> None:
    """So that a review shows what was lost."""
    before = saved.read_text(encoding="utf-8").splitlines()
    play(22)
    call("baseline", "save")

    now = [x.replace("messages=22", "messages=24") for x in saved.read_text("utf-8").splitlines()]
    changed = [new for old, new in zip(before, now, strict=True) if old != new]
    probes = [json.loads(x.rstrip(","))["probe"] for x in changed if '"probe"' in x]
    assert probes == ["oslo"]


def test_saving_is_all_or_nothing(
    saved: Path, play: Play, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk leaves the old baseline as it was."""
    before = saved.read_bytes()
    play(12)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    result = call("baseline", "save")

    assert result.exit_code == 4
    assert result.stderr.endswith("main.json: cannot be written: No space left on device\n")
    assert [before] == [p.read_bytes() for p in saved.parent.iterdir()]


def test_baselines_are_listed_and_shown(saved: Path, call: Call) -> None:
    """By name; a damaged one does not hide the others."""
    (saved.parent / "broken.json").write_text("{", encoding="utf-8")

    listed, shown = call("baseline", "list"), call("baseline", "show")

    assert (listed.exit_code, shown.exit_code) == (0, 0)
    assert "is damaged" in listed.stdout
    assert any(line.startswith("main ") for line in listed.stdout.splitlines())
    assert "sliding_window:messages=24@4k" in shown.stdout
    assert "model offline" in shown.stdout
    assert json.loads(call("baseline", "show", "--format", "json").stdout)["name"] == "main"


def test_without_baselines_the_list_says_so(call: Call) -> None:
    """And how to make one."""
    assert call("baseline", "list").stdout == "there is no baseline: memsim baseline save\n"


def test_an_unknown_baseline_or_verb_is_exit_four(saved: Path, call: Call) -> None:
    """With the nearest name."""
    shown, verb = call("baseline", "show", "mian"), call("baseline", "sav")

    assert (shown.exit_code, verb.exit_code) == (4, 4)
    assert shown.stderr == "memsim: there is no baseline 'mian' (did you mean 'main'?)\n"
    assert "(did you mean 'save'?)" in verb.stderr


def test_a_noise_floor_is_measured_with_other_seeds(saved: Path, play: Play, call: Call) -> None:
    """What chance alone moves does not count; here it moves nothing, and nothing stays behind."""
    runs = len(list(Path("reports/runs").iterdir()))

    result = call("baseline", "save", "--aa", "2")

    assert result.exit_code == 0, result.output
    assert "playing again with seed 9: 2 of 2" in result.stderr
    noise = json.loads(saved.read_text(encoding="utf-8"))["noise"]
    assert noise["sliding_window:messages=24@4k"]["recall"] == 0.0
    assert runs == len(list(Path("reports/runs").iterdir()))
    assert "with noise floor" in call("baseline", "list").stdout


def test_the_noise_floor_widens_the_margin(saved: Path, play: Play, call: Call) -> None:
    """A third less context is no news where chance moves half of it."""
    told = json.loads(saved.read_text(encoding="utf-8"))
    told["noise"] = {"sliding_window:messages=24@4k": {"context_peak": 0.5, "recall": 0.4}}
    saved.write_text(json.dumps(told), encoding="utf-8")
    play(16)

    result = call("compare")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 1 unsure, 1 same"


def test_the_floor_is_of_the_same_code(project: Path, saved: Path, call: Call) -> None:
    """A scenario that changed since would be measured as noise."""
    path = project / "scenarios" / "lockers.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("Noted.", "Well noted."), "utf-8")

    result = call("baseline", "save", "--aa", "1")

    assert result.exit_code == 4
    assert "--aa: the scenarios have changed since run" in result.stderr
