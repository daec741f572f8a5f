"""A session against its baseline: what became worse fails it, and what wrote the baseline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gate.lockers import lockers

Play = Callable[..., pytest.RunResult]
CASE = "scenarios/lockers.yaml::lockers[[]sliding_window:messages=12@4k]"
MAIN = Path("reports/baselines/main.json")


def update(play: Play, messages: int = 24, *arguments: str) -> pytest.RunResult:
    """Make what is found the baseline."""
    result = play(messages, "-q", "--memsim-update-baseline", *arguments)
    assert result.ret == 0
    return result


def test_an_update_creates_the_baseline_and_the_same_again_passes(play: Play) -> None:
    """The strictest session finds nothing to say against it; the header names it."""
    created = update(play)
    result = play(24, "--memsim-strict")

    created.stdout.fnmatch_lines(["created reports/baselines/main.json: 12 probes; commit it"])
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["memsim: model offline, budget 4k, seed 7, baseline main (20??-??-??*)"]
    )
    assert "unused in" not in result.stdout.str()


def test_what_became_worse_fails_the_session(play: Play) -> None:
    """A line of its own, counted as failed, with what was lost and how to look into it."""
    update(play)

    result = play(12)

    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "reports/baselines/main.json F*[[]100%]",
            "recall 1.00 then, .50 now, *.50: worse",
            "*oslo (turn 1, out of the context from turn *",
            f"memsim run '{CASE}'; memsim explain '{CASE}::oslo'",
            "FAILED reports/baselines/main.json::sliding_window:messages=12@4k[[]recall] - *",
        ]
    )


def test_what_is_no_item_is_not_kept_for_last_failed(play: Play) -> None:
    """Nothing of that id could be collected."""
    update(play)
    play(12)

    kept = json.loads(Path(".pytest_cache/v/cache/lastfailed").read_text("utf-8"))

    assert kept == {}


def test_unsure_fails_only_a_strict_session(play: Play) -> None:
    """One probe fewer may be chance."""
    update(play)

    assert (play(22).ret, play(22, "--memsim-strict").ret) == (0, 1)


def test_a_missing_baseline_fails_only_a_strict_session(play: Play) -> None:
    """And the header says how to make it."""
    lax, strict = play(24), play(24, "--memsim-strict")

    assert (lax.ret, strict.ret) == (0, 1)
    lax.stdout.fnmatch_lines(["*baseline main (not there yet: pytest --memsim-update-baseline)"])
    strict.stdout.fnmatch_lines(["FAILED *main.json::missing - Failed: there is no baseline main"])


def test_too_few_probes_are_an_error_unless_a_part_was_asked_for(play: Play) -> None:
    """What could not be measured never passes; of a part of the suite it says nothing."""
    few = lockers(["Oslo", "Lima"], name="few")
    Path("scenarios/lockers.yaml").write_text(few, encoding="utf-8")
    update(play)

    play(24).assert_outcomes(passed=2, errors=1)
    play(24, "-k", "sliding_window").assert_outcomes(passed=1, deselected=1)


def test_none_compares_with_nothing(play: Play) -> None:
    """As `memsim run --baseline none`."""
    update(play)

    result = play(12, "--memsim-baseline", "none")

    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--memsim-baseline", "mian"], "there is no baseline 'mian' (did you mean 'main'?)"),
        (["--memsim-baseline", "none", "--memsim-update-baseline"], "exclude each other"),
        (["--memsim-report", "scenarios"], "is not empty and not a run of memsim"),
        (["--memsim-record", "new"], "the offline model has no answers to record"),
        (["--memsim-repeat", "0"], "must be a whole number from 1"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_options_that_cannot_be_meant_are_usage_errors(
    play: Play, arguments: list[str], said: str
) -> None:
    """Exit 4 with one line, before anything is collected."""
    MAIN.parent.mkdir(parents=True)
    MAIN.touch()

    result = play(24, *arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()


def test_a_damaged_baseline_is_a_usage_error(play: Play) -> None:
    """Nobody waits for a session whose end is known."""
    MAIN.parent.mkdir(parents=True)
    MAIN.write_text("{", encoding="utf-8")

    result = play(24)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "main.json:1:2: is damaged" in result.stderr.str()


def test_unused_entries_are_named_and_taken_out(play: Play) -> None:
    """As soon as a session could have used them, and not before."""
    Path("scenarios/other.yaml").write_text(lockers(name="other"), encoding="utf-8")
    update(play)
    Path("scenarios/other.yaml").unlink()

    narrowed, part, whole = (
        play(24, "-k", "sliding_window"),
        play(24, "scenarios/lockers.yaml"),
        play(24),
    )
    updated = update(play)

    assert "unused in" not in narrowed.stdout.str() + part.stdout.str()
    said = "unused in reports/baselines/main.json: scenarios/other.yaml::other; pytest *"
    whole.stdout.fnmatch_lines([said])
    updated.stdout.fnmatch_lines(["taken out, as nothing uses it: scenarios/other.yaml::other"])
    assert "other" not in MAIN.read_text("utf-8")


def test_an_update_leaves_alone_what_was_not_played(play: Play) -> None:
    """A part of the suite replaces its own scores; changed parameters replace the old ones."""
    Path("scenarios/other.yaml").write_text(lockers(name="other"), encoding="utf-8")
    update(play)

    update(play, 12, "scenarios/lockers.yaml")

    cases = [line["case"] for line in json.loads(MAIN.read_text("utf-8"))["cases"]]
    assert cases == [
        "scenarios/lockers.yaml::lockers[sliding_window:messages=12@4k]",
    ]


def test_an_update_keeps_no_failed_case(play: Play) -> None:
    """What broke a bound is no standard for later runs."""
    path = Path("scenarios/lockers.yaml")
    path.write_text(path.read_text("utf-8") + "expect: {recall: '>= 0.9'}\n", encoding="utf-8")

    result = play(12, "-q", "--memsim-update-baseline")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["the baseline is as it was: *"])
    assert not MAIN.exists()


def test_a_session_can_be_kept_as_a_run(play: Play) -> None:
    """`memsim explain` and the others read it; the next session takes its place."""
    update(play)

    result = play(12, "--memsim-report", "kept")
    for old in ("replays/1.html", "plots/forest.svg", "plots/mine.txt"):
        Path("kept", old).parent.mkdir(exist_ok=True)
        Path("kept", old).touch()
    play(12, "--memsim-report", "kept", "--memsim-repeat", "2")

    result.stdout.fnmatch_lines(
        [
            "memsim explain kept 'scenarios/lockers.yaml::lockers[[]*]::oslo'",
            "kept in kept: memsim report kept",
        ]
    )
    info = json.loads(Path("kept/run.json").read_text("utf-8"))
    assert (1, 4, "main") == (info["exit"], info["played"], info["against"])
    assert "## Compared: against main" in Path("kept/report.md").read_text("utf-8")
    assert {"turns.jsonl", "probes.jsonl", "comparison.json"} <= {
        p.name for p in Path("kept").iterdir()
    }
    assert not Path("kept/replays").exists(), "of the session before"
    assert ["mine.txt"] == [p.name for p in Path("kept/plots").iterdir()]


def test_repeats_are_items(play: Play) -> None:
    """Each with an id of its own."""
    result = play(24, "--memsim-repeat", "2", "--collect-only", "-q")

    assert result.outlines[:2] == [
        "scenarios/lockers.yaml::lockers[sliding_window:messages=24@4k]",
        "scenarios/lockers.yaml::lockers[sliding_window:messages=24@4k]#1",
    ]


def test_github_marks_the_line_of_a_broken_bound(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what became worse, which has no line."""
    path = Path("scenarios/lockers.yaml")
    path.write_text(path.read_text("utf-8") + "expect: {recall: '>= 0.9'}\n", encoding="utf-8")
    update(play, 24, "--memsim-strategy", "sliding_window:messages=24")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd().parent))

    result = play(12, "-q")

    lines = len(path.read_text("utf-8").splitlines())
    folder = Path.cwd().name
    result.stdout.fnmatch_lines(
        [
            f"::error file={folder}/scenarios/lockers.yaml,line={lines},title=memsim lockers*",
            "::error title=memsim sliding_window*::recall is worse: 1.00 then, .50 now, *",
        ]
    )


def test_the_job_is_told_what_the_session_found(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report that `memsim run` would add; where it cannot be, a line says so."""
    update(play)
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))

    play(12)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "missing" / "summary.md"))
    refused = play(24)

    text = path.read_text("utf-8")
    assert text.startswith("# memsim run\n\n**1 passed; against main: 1 worse, 1 better**\n")
    assert "## Compared: against main" in text
    assert "### Newly lost" in text
    assert refused.ret == 0
    refused.stdout.fnmatch_lines(["GITHUB_STEP_SUMMARY: *: cannot be written: *"])


def test_the_block_names_the_line_before_and_after(play: Play) -> None:
    """An editor that reads pytest's verbose lines jumps to the bound that broke."""
    path = Path("scenarios/lockers.yaml")
    bounds = "expect:\n  context_peak: '<= 4096'\n  recall: '>= 0.9'\n"
    path.write_text(path.read_text("utf-8") + bounds, encoding="utf-8")

    play(12, "-q", "--junit-xml=junit.xml", "-o", "junit_family=xunit1")

    line = len(path.read_text("utf-8").splitlines()) - 1
    assert f'line="{line}"' in Path("junit.xml").read_text("utf-8")
