"""`memsim compare`: every verdict word and every exit code, from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.gate.lockers import CITIES, lockers

Call = Callable[..., Result]
Play = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]


def words(result: Result) -> dict[str, str]:
    """The verdict words by strategy and metric, of `--format json`."""
    told = json.loads(result.stdout)
    return {f"{c['variant'].partition(':')[0]} {c['metric']}": c["word"] for c in told["cells"]}


def test_the_same_again_is_the_same_and_passes(saved: Path, play: Play, call: Call) -> None:
    """Nothing moved: no spread, no doubt, and the drop that would have been seen is said."""
    play(24)

    result = call("compare")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 2 same"
    assert "the smallest drop in recall that would be seen 4 times in 5: .33" in result.stdout


def test_a_halved_window_is_worse_and_fails(saved: Path, play: Play, call: Call) -> None:
    """Changed parameters do not hide a strategy; what was lost is named with where it went."""
    play(12)

    result = call("compare")

    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[-1] == "1 passed; against main: 1 worse, 1 better"
    row = next(line for line in lines if " recall " in line and "[" in line)
    assert row.endswith("worse (parameters changed)")
    lost = next(line for line in lines if "newly lost" in line)
    assert "oslo (turn 1, out of the context from turn 7)" in lines[lines.index(lost) + 1]
    assert any(line.startswith("  memsim explain latest ") for line in lines)


def test_a_longer_window_is_better_and_passes(play: Play, call: Call) -> None:
    """And the way to make it the baseline is said; dearer context is its own cell."""
    play(12)
    call("baseline", "save", "--name", "short")
    play(24)

    result = call("compare", "short", "--format", "json")

    assert result.exit_code == 1
    assert words(result) == {
        "sliding_window recall": "better",
        "sliding_window context_peak": "worse",
    }


def test_only_better_asks_to_be_saved(play: Play, call: Call, gate: Callable[..., None]) -> None:
    """Where nothing became worse."""
    gate('metrics = ["recall"]')
    play(12)
    call("baseline", "save", "--name", "short")
    play(24)

    result = call("compare", "short")

    assert result.exit_code == 0
    assert "newly kept" in result.stdout
    assert "it is better: consider memsim baseline save" in result.stdout


def test_one_lost_probe_is_unsure_and_fails_only_if_strict(
    saved: Path, play: Play, call: Call
) -> None:
    """One of twelve could be chance."""
    play(22)

    lax, strict = call("compare"), call("compare", "--strict")

    assert (lax.exit_code, strict.exit_code) == (0, 1)
    sentence = "1 passed; against main: 1 unsure, 1 better"
    assert sentence == lax.stdout.splitlines()[-1]
    assert f"{sentence}; strict: failed" == strict.stdout.splitlines()[-1]


def test_too_few_pairs_are_unmeasured(
    saved: Path, play: Play, call: Call, gate: Callable[..., None]
) -> None:
    """Exit 7, and the key that asks for more."""
    gate("min_probes = 13")
    play(24)

    result = call("compare")

    assert result.exit_code == 7
    assert "unmeasured: 12 pairs, fewer than 13 (gate.min_probes)" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 1 unmeasured, 1 same"


def test_worse_wins_over_unmeasured(
    saved: Path, play: Play, call: Call, gate: Callable[..., None]
) -> None:
    """A failure is not hidden by what could not be measured."""
    gate("min_probes = 13", 'metrics = ["recall", "evidence_recall"]')
    play(12)

    result = call("compare", "--format", "json")

    assert result.exit_code == 1
    assert sorted(words(result).values()) == ["unmeasured", "worse"]


def test_a_metric_that_nothing_measured_is_unmeasured(
    saved: Path, play: Play, call: Call, gate: Callable[..., None]
) -> None:
    """A missing metric is never a pass."""
    gate('metrics = ["leaks"]')
    play(24)

    result = call("compare")

    assert result.exit_code == 7
    assert "leaks was not measured in both" in result.stdout


def test_a_changed_scenario_is_stale(project: Path, saved: Path, play: Play, call: Call) -> None:
    """Its scores are not compared, and strict refuses to pass on that."""
    (project / "scenarios" / "lockers.yaml").write_text(lockers(CITIES[::-1]), encoding="utf-8")
    play(24)

    result = call("compare")

    assert (result.exit_code, call("compare", "--strict").exit_code) == (0, 1)
    assert "stale, their text changed" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("against main: 2 stale, 1 stale scenario")


def test_one_changed_scenario_leaves_the_others_compared(
    project: Path, play: Play, call: Call
) -> None:
    """Only its own probes are set aside."""
    other = project / "scenarios" / "other.yaml"
    other.write_text(lockers(name="other"), encoding="utf-8")
    play(24)
    call("baseline", "save")
    other.write_text(lockers(CITIES[:11], name="other"), encoding="utf-8")
    play(24)

    result = call("compare", "--format", "json")

    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert {"same"} == set(words(result).values())
    assert [12] == [c["pairs"] for c in told["cells"] if c["metric"] == "recall"]
    assert ["scenarios/other.yaml::other"] == [s["name"] for s in told["stale"]]
    assert call("compare", "--strict").exit_code == 1


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--tokenizer", "chars/4"), "tokenizer o200k_base then, chars/4 now"),
        (("-m", "offline:miss=0.5"), "model offline then, offline:miss=0.5 now"),
        (("--embedder", "hash"), "embedder wordllama then, hash now"),
    ],
)
def test_another_instrument_makes_everything_stale(
    saved: Path, play: Play, call: Call, flags: tuple[str, ...], said: str
) -> None:
    """What measured is not what is measured."""
    play(24, *flags)

    result = call("compare")

    assert result.exit_code == 0
    assert said in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 2 stale"


@pytest.mark.parametrize("part", ["judge", "metrics"])
def test_another_judge_or_metric_version_makes_everything_stale(
    saved: Path, play: Play, call: Call, edit_run: Callable[..., None], part: str
) -> None:
    """A score of another judge, or by another rule, is another number."""
    known = json.loads(saved.read_text(encoding="utf-8"))["instruments"]
    play(24)
    edit_run(instruments=known | {part: "another"})

    result = call("compare")

    assert f"{part} {known[part]} then, another now" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 2 stale"


def test_strategies_and_scenarios_without_counterpart_are_new_and_gone(
    project: Path, saved: Path, call: Call
) -> None:
    """They are listed, and neither passes for a comparison nor fails."""
    (project / "scenarios" / "lockers.yaml").rename(project / "scenarios" / "moved.yaml")
    call("run", "-q", "-s", "bm25", "--baseline", "none")

    result = call("compare", "--format", "json")

    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert words(result) == {
        "bm25@4k recall": "new",
        "bm25@4k context_peak": "new",
        "sliding_window recall": "gone",
        "sliding_window context_peak": "gone",
    }
    shown = call("compare").stdout
    assert "gone strategies: sliding_window:messages=24@4k" in shown
    assert "new scenarios: scenarios/moved.yaml::lockers" in shown
    assert call("compare", "--strict").exit_code == 1
    assert ["scenarios/moved.yaml::lockers"] == told["new"]
    assert ["scenarios/lockers.yaml::lockers"] == told["gone"]


def test_a_changed_source_is_compared_and_said(project: Path, call: Call) -> None:
    """What is under test may change: to see what that did is what a gate is for."""
    source = (ROOT / "strategies" / "sliding_window.py").read_text(encoding="utf-8")
    mine = project / "mine.py"
    mine.write_text(source, encoding="utf-8")
    call("run", "-q", "-s", "mine.py:messages=24", "--baseline", "none")
    call("baseline", "save")
    mine.write_text(source + "\n# refactored\n", encoding="utf-8")
    call("run", "-q", "-s", "mine.py:messages=24", "--baseline", "none")

    result = call("compare")

    assert result.exit_code == 0
    assert "same (source changed)" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed; against main: 2 same"


def test_a_run_that_fails_its_own_bounds_fails_here_too(saved: Path, call: Call) -> None:
    """The same gate, whoever asks."""
    call("run", "-q", "--baseline", "none", "--fail-under", "context_peak<=10")

    result = call("compare")

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 failed; against main: 2 same"


def test_two_runs_are_compared_as_a_run_and_a_baseline(
    project: Path, play: Play, call: Call
) -> None:
    """By id; and the other way round the change is the other way round."""
    play(24)
    play(12)
    older, newer = sorted(p.name for p in (project / "reports" / "runs").iterdir())

    there, back = call("compare", older, newer), call("compare", newer, older, "--format", "json")

    assert there.exit_code == 1
    assert there.stdout.splitlines()[-1].startswith(f"1 passed; against {older}: 1 worse")
    assert words(back)["sliding_window recall"] == "better"


def test_seconds_and_dollars_count_only_within_one_job(
    saved: Path, play: Play, call: Call, gate: Callable[..., None]
) -> None:
    """Never against a file: another machine is not a regression."""
    play(24)

    same = call("compare", "latest", "latest", "--same-machine", "--format", "json")
    filed = call("compare", "main", "latest", "--same-machine")
    gate('metrics = ["recall", "seconds"]')
    asked = call("compare")

    assert same.exit_code == 0
    assert words(same)["sliding_window seconds"] == "same"
    assert words(same)["sliding_window cost"] == "same"
    assert filed.exit_code == 4
    assert filed.stderr == ("memsim: --same-machine needs two runs, but main is a baseline file\n")
    assert asked.exit_code == 4
    assert "compared only between two runs of the same job" in asked.stderr


def test_generalising_needs_ten_scenarios(project: Path, call: Call, play: Play) -> None:
    """From there on whole scenarios are resampled; below it is refused."""
    play(24)
    few = call("compare", "latest", "latest", "--generalise")
    for number in range(9):
        path = project / "scenarios" / f"s{number}.yaml"
        path.write_text(lockers(CITIES[:4], name=f"s{number}"), encoding="utf-8")
    play(24)
    enough = call("compare", "latest", "latest", "--generalise")

    assert few.exit_code == 4
    assert few.stderr == "memsim: --generalise needs 10 scenarios, and there are 1\n"
    assert enough.exit_code == 0
    assert "whole scenarios resampled" in enough.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope",), "there is no baseline and no run 'nope'"),
        (("mian",), "there is no baseline and no run 'mian' (did you mean 'main'?)"),
        (("main", "2019"), "there is no baseline and no run '2019'"),
        (("gone.json",), "gone.json: there is no such baseline"),
        (("a b",), "a baseline is called by letters"),
    ],
)
def test_what_is_neither_run_nor_baseline_is_exit_four(
    saved: Path, call: Call, arguments: tuple[str, ...], said: str
) -> None:
    """One line, and the nearest name."""
    result = call("compare", *arguments)

    assert result.exit_code == 4
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_no_metric_at_all_is_exit_four(saved: Path, call: Call, gate: Callable[..., None]) -> None:
    """A gate that looks at nothing would always be green."""
    gate("metrics = []")

    result = call("compare")

    assert result.exit_code == 4
    assert result.stderr == "memsim: gate.metrics names no metric to compare\n"


def test_a_metric_that_is_none_is_exit_four(
    saved: Path, call: Call, gate: Callable[..., None]
) -> None:
    """Never a gate that silently holds."""
    gate('metrics = ["recal"]')

    result = call("compare")

    assert result.exit_code == 4
    assert result.stderr == (
        "memsim: gate.metrics: there is no metric 'recal' (did you mean 'recall'?)\n"
    )


def test_markdown_has_what_the_terminal_has(saved: Path, play: Play, call: Call) -> None:
    """A table, and every lost probe by its id."""
    play(12)

    result = call("compare", "--format", "md")

    assert result.exit_code == 1
    assert result.stdout.startswith("**1 passed; against main: 1 worse, 1 better**")
    assert "### Newly lost" in result.stdout
    assert "::oslo`" in result.stdout


def test_a_copied_run_is_enough_and_no_model_is_loaded(
    project: Path, saved: Path, play: Play, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On a machine that has neither scenarios nor strategies nor models."""
    play(12)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(project / "reports", elsewhere / "reports")
    source = (
        "import sys\n"
        "from memsim.cli.program import program\n"
        "for line in sys.stdin:\n"
        "    sys.argv[1:] = line.split()\n"
        "    try:\n"
        "        program()\n"
        "    except SystemExit as end:\n"
        "        loaded = {n for n in sys.modules if n.startswith(('memsim.models.', 'litellm',"
        " 'memsim.scenario', 'chromadb', 'wordllama', 'tiktoken'))}\n"
        "        loaded -= {'memsim.language.lexicon', 'memsim.models.model_access'}\n"
        "        print(line.split()[0], end.code, sorted(loaded), file=sys.stderr)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", source],
        input="compare\nbaseline save --name copied\nbaseline show copied\nreport\n",
        cwd=elsewhere,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    said = [line for line in done.stderr.splitlines() if line.endswith("]")]
    assert ["compare 1 []", "baseline 0 []", "baseline 0 []", "report 0 []"] == said
