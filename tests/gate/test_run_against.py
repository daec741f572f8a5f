"""`memsim run --baseline`: the gate at the end of a run, and what is said before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from memsim.runs import load_run

Call = Callable[..., Result]
Play = Callable[..., Result]


def run(call: Call, messages: int = 24, *flags: str) -> Result:
    """Plays the scenario with a window of so many messages."""
    return call("run", "-s", f"sliding_window:messages={messages}", *flags)


def test_the_closing_line_and_the_exit_code_are_one(saved: Path, call: Call) -> None:
    """What became worse fails the run; the table and the report tell what was lost."""
    result = run(call, 12)

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].startswith(
        "1 passed; against main: 1 worse, 1 better in "
    )
    assert "newly lost" in result.stdout
    found = load_run("latest", Path("reports"))
    assert (1, "1 passed; against main: 1 worse, 1 better") == (
        found.info["exit"],
        found.info["verdict"],
    )
    assert "## Compared: against main" in (found.folder / "report.md").read_text(encoding="utf-8")


def test_a_run_is_shown_again_with_its_verdict(saved: Path, call: Call) -> None:
    """`memsim report` says what was said then, whatever the baseline is now."""
    run(call, 12)
    saved.unlink()

    result = call("report")

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].startswith("1 passed; against main: 1 worse, 1 better")
    assert "newly lost" in result.stdout


def test_a_damaged_comparison_is_exit_four(saved: Path, call: Call) -> None:
    """One line that names the file."""
    run(call, 12)
    (load_run("latest", Path("reports")).folder / "comparison.json").write_text("{", "utf-8")

    result = call("report")

    assert result.exit_code == 4
    said = "Expecting property name enclosed in double quotes"
    assert result.stderr.endswith(f"comparison.json:1:2: is damaged: not JSON: {said}\n")


def test_the_same_again_passes_strictly(saved: Path, call: Call) -> None:
    """Same words, same code."""
    assert run(call, 24, "--strict").exit_code == 0


def test_strict_fails_what_is_unsure(saved: Path, call: Call) -> None:
    """And only then."""
    assert (run(call, 22).exit_code, run(call, 22, "--strict").exit_code) == (0, 1)


def test_a_baseline_that_is_not_there_yet_is_said_before_the_run(call: Call) -> None:
    """A first run is no mistake; the command that makes it the baseline is said."""
    result = run(call)

    assert result.exit_code == 0
    assert result.stderr.startswith(
        "no baseline 'main' yet; to make this run the first: memsim baseline save --name main\n"
    )
    assert "baseline" not in result.stdout


@pytest.mark.parametrize("flag", ["--require-baseline", "--strict"])
def test_a_baseline_may_be_required(call: Call, flag: str) -> None:
    """CI that has lost it must not be green."""
    result = run(call, 24, flag)

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].startswith("1 passed; there is no baseline main in ")


def test_flags_may_stand_in_the_configuration(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in variables."""
    assert run(call).exit_code == 0
    monkeypatch.setenv("MEMSIM_REQUIRE_BASELINE", "1")
    assert run(call).exit_code == 1
    monkeypatch.delenv("MEMSIM_REQUIRE_BASELINE")
    with (project / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("strict = true\n")
    assert run(call).exit_code == 1


def test_a_typed_baseline_has_to_be_there(saved: Path, call: Call) -> None:
    """Exit 4 before anything is played."""
    before = len(list(Path("reports/runs").iterdir()))

    result = run(call, 24, "--baseline", "mian")

    assert result.exit_code == 4
    assert result.stderr == "memsim: there is no baseline 'mian' (did you mean 'main'?)\n"
    assert before == len(list(Path("reports/runs").iterdir()))


def test_a_baseline_may_be_a_file_or_none(saved: Path, call: Call) -> None:
    """A path is taken as it is; none is none, though one is configured."""
    copied = saved.rename("elsewhere.json")

    assert run(call, 12, "--baseline", str(copied)).exit_code == 1
    assert run(call, 12, "--baseline", "none").exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "main.json:1:2: is damaged: not JSON: Expecting property name"),
        ("[]", "main.json: was not written by memsim baseline save"),
        ('{"memsim": 9, "probes": []}', "main.json: is of format 9"),
        ('{"memsim": 1, "probes": []}', "main.json: is damaged: 'instruments' is missing"),
        ('{"memsim": NaN}', "main.json: is damaged: NaN is not a JSON number"),
        ("[" * 100_000, "main.json: is damaged"),
    ],
)
def test_a_damaged_baseline_is_exit_four_before_the_run(
    saved: Path, call: Call, text: str, said: str
) -> None:
    """One line that names the file."""
    saved.write_text(text, encoding="utf-8")

    result = run(call)

    assert result.exit_code == 4
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("flag", ["--require-baseline", "--generalise"])
def test_flags_of_the_gate_need_a_baseline(call: Call, flag: str) -> None:
    """Where none is named at all they could mean nothing."""
    result = run(call, 24, "--baseline", "none", flag)

    assert result.exit_code == 4
    assert result.stderr.startswith(f"memsim: {flag} needs a baseline: ")


def test_generalising_from_few_scenarios_is_refused_before_the_run(saved: Path, call: Call) -> None:
    """Ten are the least."""
    result = run(call, 24, "--generalise")

    assert result.exit_code == 4
    assert "--generalise needs 10 scenarios, and there are 1" in result.stderr


def test_seconds_are_never_compared_with_a_file(
    saved: Path, call: Call, gate: Callable[..., None]
) -> None:
    """Nor dollars: both are another machine's, or another day's."""
    for metric in ("seconds", "cost"):
        gate(f'metrics = ["{metric}"]')

        result = run(call)

        assert result.exit_code == 4
        assert f"{metric} is compared only between two runs of the same job" in result.stderr


def test_too_few_pairs_leave_the_run_unmeasured(
    saved: Path, call: Call, gate: Callable[..., None]
) -> None:
    """Exit 7, unless a bound was broken: that is exit 1."""
    gate("min_probes = 99")

    assert run(call).exit_code == 7
    assert run(call, 24, "--fail-under", "context_peak<=1").exit_code == 1


def test_json_holds_the_comparison(saved: Path, call: Call) -> None:
    """For whoever reads it by machine."""
    result = run(call, 12, "--format", "json")

    told = json.loads(result.stdout)
    assert ["worse", "better"] == [cell["word"] for cell in told["comparison"]["cells"]]
    assert told["verdict"]["exit_code"] == 1


def test_no_run_writes_a_baseline(saved: Path, call: Call) -> None:
    """Only `memsim baseline save` does."""
    before = saved.read_bytes()

    run(call, 12)

    assert before == saved.read_bytes()


def test_what_another_seed_moves_does_not_fail(saved: Path, call: Call) -> None:
    """A seed is chance, and no instrument."""
    assert run(call, 24, "--seed", "8").exit_code == 0


def test_a_bound_that_was_moved_leaves_the_scores_compared(
    project: Path, saved: Path, call: Call
) -> None:
    """It decides for itself, and is no excuse for what became worse."""
    path = project / "scenarios" / "lockers.yaml"
    path.write_text(path.read_text("utf-8") + "expect: {recall: '>= 0.9'}\n", encoding="utf-8")

    same, cut = run(call, 24, "--strict"), run(call, 12)

    assert (same.exit_code, cut.exit_code) == (0, 1)
    assert same.stdout.splitlines()[-1].startswith("1 passed; against main: 2 same in ")
    assert cut.stdout.splitlines()[-1].startswith("1 failed; against main: 1 worse, 1 better in ")
