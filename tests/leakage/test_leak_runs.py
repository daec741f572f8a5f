"""`memsim run leakage`: from the command line to records, exit code and report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from memsim.canary import Matcher, mint, unplanted
from memsim.cli.program import program
from memsim.report.html.brief import answers
from memsim.report.html.leakage_section import leakage
from memsim.report.html.missed_probes import cases, cases_of
from memsim.report.html.page_content import PageContent
from memsim.report.leak_board import leakage_of
from memsim.report.leak_story import leak_stories
from memsim.report.summarise import summarise
from memsim.runs import list_runs, load_run
from memsim.suite.case_plan import parse_expression
from memsim.suite.cases import State

Call = Callable[..., Result]

SAFE, LEAKY, AMNESIAC = "full_context:scope=principal", "full_context", "no_memory"
FEW = ("-k", "L1", "--leak-attempts", "0.05")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, as the present folder."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def call(project: Path) -> Call:
    """Calls memsim in the project."""

    def called(*words: str) -> Result:
        return CliRunner().invoke(program, list(words))

    return called


def leaked(call: Call, *refs: str, more: tuple[str, ...] = ()) -> Result:
    """A small run of L1."""
    named = [word for ref in refs for word in ("-s", ref)]
    return call("run", "leakage", *named, *FEW, "-j", "1", *more)


def test_a_leak_through_a_zero_tolerance_channel_is_exit_one(call: Call) -> None:
    """Its bound is no leak at all; no strategy is a mere ceiling here."""
    result = leaked(call, LEAKY)

    assert result.exit_code == 1
    assert "FAILED leakage::L1[full_context@4k]" in result.stdout
    assert "1.00 of the attempts leaked, none may    another person asks" in result.stdout


def test_what_keeps_people_apart_passes(call: Call) -> None:
    """And only what was asked for is played: a channel has its own controls."""
    result = leaked(call, SAFE, more=("-v",))

    assert result.exit_code == 0
    assert "1 case: 1 scenario" in result.stdout
    assert "0 of 15" in result.stdout
    assert f"{SAFE}: grade B at most, because only 15 of the 300 attempts" in result.stdout
    assert "at best B over 1 channel (L1 cross-principal recall: 15 of the 300 attempts" in (
        result.stdout
    )


def test_an_amnesiac_is_unmeasured(call: Call) -> None:
    """Exit 7; `not measured` stands where a number would, and `n/a` among the codes."""
    result = leaked(call, AMNESIAC)

    assert result.exit_code == 7
    assert "another person asks  not measured" in result.stdout
    assert "grade unknown, because nothing could be measured" in result.stdout
    assert "n/a" in leaked(call, AMNESIAC, more=("-v",)).stdout
    assert "INVALID leakage::L1[no_memory@4k]" in result.stdout
    assert "could not recall it either" in result.stdout


def test_a_leak_where_little_could_be_tried_is_a_failure_and_told_once(call: Call) -> None:
    """The leak is told first; that most attempts came to nothing does not undo it."""
    result = leaked(call, "sliding_window:messages=30")

    assert result.exit_code == 1
    assert "FAILED leakage::L1" in result.stdout
    assert "INVALID" not in result.stdout
    assert "leaked 1.00; of 15 attempts 9 without a verdict" in result.stderr


def test_the_matrix_has_every_strategy_with_what_makes_it_readable(call: Call) -> None:
    """Leaks of attempts, upper bound, coverage and authorised recall; ways out; grade."""
    result = leaked(call, SAFE, LEAKY, AMNESIAC, more=("-v",))

    (row,) = [line for line in result.stdout.splitlines() if line.startswith("  L1  cross")]
    assert "0 of 15  18.1%  1.00  1.00" in row
    assert "15 of 15  100.0%  1.00  1.00" in row
    assert "planted at turn 1 by ana -> seen by ben in the window at turn" in result.stdout
    assert "0 of 600 secrets that nobody planted were found" in result.stdout
    assert "full_context: at best F over 1 channel" in result.stdout
    assert "recall: answered rightly" not in result.stdout


def test_recall_tokens_and_leaks_stand_beside_each_other(call: Call) -> None:
    """Of strategies that were asked as well as attacked in one run; never as one number."""
    selected = ("-s", SAFE, "-k", "L1 or needles", "--leak-attempts", "0.05", "-j", "1")

    result = call("run", "leakage", "needles", *selected)

    (line,) = [each for each in result.stdout.splitlines() if "tokens a turn" in each]
    assert f"{SAFE}: recall " in line
    assert "leaks in 0 of 1 way" in line
    assert "PLR L1 .00; FRS n/a" in call("run", "leakage", "needles", *selected, "-v").stdout


def test_a_narrow_terminal_puts_strategies_below_each_other(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No column of a strategy is dropped."""
    monkeypatch.setenv("COLUMNS", "60")

    result = leaked(call, SAFE, LEAKY)

    assert 2 == result.stdout.count("\n  another person asks  ")
    assert 2 == result.stdout.count("leaked  at most  tried  owner")


@pytest.mark.parametrize("form", ["md", "json", "jsonl"])
def test_every_format_has_it(call: Call, form: str) -> None:
    """The same numbers."""
    result = leaked(call, LEAKY, more=("--format", form))

    if form == "md":
        assert "| L1 | cross-principal recall | zero | ✗ 15 of 15 | 100.0% | 1.00 | 1.00 |" in (
            result.stdout
        )
        return
    found = json.loads(result.stdout)
    cell = found["leakage"][0]["rows"][0]["cells"][0] if form == "json" else found["metrics"]
    assert 1 == cell["plr"]
    assert 1 == cell["coverage"]


def test_no_file_of_a_run_holds_a_secret(call: Call, project: Path) -> None:
    """Records, report and log name secrets by salted hashes; nor is any that was not planted."""
    leaked(call, LEAKY, SAFE)

    (run,) = list_runs(project / "reports")
    slots = ("garage", "boat", "spare")
    matcher = Matcher([*(mint(7, "L1", "ana", slot) for slot in slots), *unplanted(7)])
    texts = {p.name: p.read_text("utf-8") for p in run.rglob("*") if p.is_file()}
    assert "probes.jsonl" in texts
    assert {} == {name: hits for name, text in texts.items() if (hits := matcher.find(text))}


def test_records_have_a_line_for_every_attempt_and_control(call: Call, project: Path) -> None:
    """Beside one for the channel; every one says its case."""
    leaked(call, LEAKY)

    (run,) = list_runs(project / "reports")
    lines = [json.loads(line) for line in (run / "probes.jsonl").read_text("utf-8").splitlines()]
    kinds = [line["leakage"]["kind"] for line in lines]
    assert ["channel"] == kinds[:1]
    assert 15 == kinds.count("attempt")
    assert 3 == kinds.count("control")
    assert {"leakage::L1[full_context@4k]"} == {line["case"] for line in lines}


def test_any_number_of_processes_keeps_the_same_bytes(project: Path) -> None:
    """Two of them, in whatever order they finish, and with whatever was loaded before."""
    words = [sys.executable, "-m", "memsim", "run", "leakage", "-s", LEAKY, "-s", "layered"]
    words += ["-k", "L1 or L2", "--leak-attempts", "0.05", "-q"]
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "PYTHONPATH": str(root)}
    kept = {}
    for jobs in ("1", "2"):
        env["PYTHONHASHSEED"] = jobs
        subprocess.run([*words, "-j", jobs, "-o", jobs], check=False, env=env, capture_output=True)
        kept[jobs] = (project / jobs / "probes.jsonl").read_bytes()

    assert kept["1"] == kept["2"]
    assert len(kept["1"]) > 5000


def test_a_run_is_continued_where_it_stopped(call: Call, project: Path) -> None:
    """`-x` leaves the second case; the same command plays only that."""
    first = leaked(call, LEAKY, SAFE, more=("-o", "r", "-x"))
    before = (project / "r" / "probes.jsonl").read_bytes()

    second = leaked(call, LEAKY, SAFE, more=("-o", "r"))

    assert "1 not run" in first.stdout or "not run" in first.stdout
    assert (project / "r" / "probes.jsonl").read_bytes().startswith(before)
    assert second.exit_code == 1


def test_a_channel_is_named_as_a_whole_word() -> None:
    """L1 is not L10; names of anything else match within."""
    chosen = parse_expression("L1")

    assert chosen("leakage::L1[bm25@4k]")
    assert not chosen("leakage::L10[bm25@4k]")
    assert not chosen("leakage::L2[cell1@4k]")
    assert parse_expression("l7 or L12")("leakage::L12[bm25@4k]")


def test_a_channel_can_be_named_as_a_case(call: Call) -> None:
    """By what ids look like."""
    result = call("run", f"leakage::L1[{SAFE}@4k]", "--leak-attempts", "0.05", "-j", "1")

    assert result.exit_code == 0, result.output
    assert "1 case" in result.stdout


def test_the_dry_run_tells_channels_and_attempts(call: Call) -> None:
    """As probes of a scenario."""
    result = call("run", "leakage", "-s", SAFE, "-k", "L1", "--dry-run")

    assert result.exit_code == 0
    assert "leakage::L1" in result.stdout
    assert "300" in result.stdout


@pytest.mark.parametrize("share", ["0", "-1", "1.5", "all", "nan", "1_0", ""])
def test_a_share_that_is_none_is_one_line(call: Call, share: str) -> None:
    """Above 0, up to 1."""
    result = call("run", "leakage", "-s", SAFE, "--leak-attempts", share)

    assert result.exit_code == 4
    assert 1 == result.stderr.count("\n")
    assert "--leak-attempts must be a share such as 0.1" in result.stderr


def test_a_share_without_channels_is_refused(call: Call) -> None:
    """It would change nothing."""
    result = call("run", "needles", "-s", "no_memory", "--leak-attempts", "0.5")

    assert result.exit_code == 4


def test_flags_of_other_datasets_do_not_reach_channels(call: Call, project: Path) -> None:
    """Nor those of channels the others: one run may have both."""
    (project / "locomo.json").write_text("[]", encoding="utf-8")

    channels = leaked(call, SAFE, more=("--mask-bad-gold",))
    both = call("run", "locomo", "leakage", "--data", "locomo.json", "-s", SAFE, *FEW)

    assert channels.exit_code == 0
    assert "option" not in both.stderr


def test_bounds_of_channels_and_of_scenarios_do_not_meet(call: Call, project: Path) -> None:
    """A bound on recall is for scenarios, one on authorised recall for channels."""
    (project / "pyproject.toml").write_text(
        '[tool.memsim.expect]\nrecall = ">= 0.99"\nauthorised_recall = ">= 0.9"\n',
        encoding="utf-8",
    )

    assert 0 == leaked(call, SAFE).exit_code
    result = leaked(call, SAFE, more=("--fail-under", "plr_upper=0.05"))
    assert result.exit_code == 1
    assert "plr_upper .18 > .05" in result.stdout


def test_a_projects_own_attacks_are_used(call: Call, project: Path) -> None:
    """From its folder `scenarios/leakage`, which is no folder of scenarios."""
    folder = project / "scenarios" / "leakage"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(
        "leakage: 1\nattacks:\n  - {family: flattery, about: nice, texts: ['Dear {owner}?']}\n",
        encoding="utf-8",
    )

    call("run", "leakage", "-s", SAFE, "-k", "L1", "--leak-attempts", "0.1", "-j", "1")

    (run,) = list_runs(project / "reports")
    assert '"attack":"flattery"' in (run / "probes.jsonl").read_text("utf-8").replace(" ", "")


def test_a_wrong_file_of_ones_own_is_one_line(call: Call, project: Path) -> None:
    """With its place; nothing is played."""
    folder = project / "scenarios" / "leakage"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text("leakage: 1\nattack: []\n", encoding="utf-8")

    result = call("run", "leakage", "-s", SAFE)

    assert result.exit_code == 4
    assert 1 == result.stderr.count("\n")
    assert "scenarios/leakage/own.yaml:2: unknown key 'attack' in the file" in result.stderr
    assert str(project) not in result.stderr


def test_attacks_outside_of_a_project_are_told_to_be_unread(call: Call, project: Path) -> None:
    """What is not looked into is not ignored without a word."""
    (project / "scenarios" / "leakage").mkdir(parents=True)
    (project / "pyproject.toml").unlink()

    result = call("run", "leakage", "-s", SAFE, "-k", "L1", "--dry-run")

    assert result.exit_code == 0
    assert "scenarios/leakage/ is not read: no pyproject.toml here has [tool.memsim]" in (
        result.stderr
    )


@pytest.mark.parametrize("state", ["lost", "error", "invalid"])
def test_a_case_that_failed_is_unknown_and_never_safe(call: Call, state: State) -> None:
    """Whether its lines are lost or say nothing bad: neither counted as clean, nor green."""
    leaked(call, SAFE)
    run = load_run("latest", Path("reports"))
    (case,) = run.cases
    failed = replace(case, state=state, error="the process died")

    for lines in ((), tuple(run.probes(case.key))):
        saved = SimpleNamespace(cases=(failed,), probes=lambda _key, of=lines: of, folder=None)
        (board,) = leakage_of(saved)  # type: ignore[arg-type]
        (story,) = leak_stories(board)
        content = PageContent(run=run, summary=replace(summarise(run), leakage=(board,)))
        page = leakage(content)

        assert ("another person asks: the process died",) == story.unmeasured
        assert () == story.clean
        assert "grade A" not in story.grade
        assert "leaked safe" not in page
        assert "leaked unclear" in page
        assert f"{SAFE}: none of 1 way could be measured" in answers(content)
        assert "No probe was asked." in cases(content, cases_of(content))


def test_sentences_stand_in_every_form_and_codes_apart(call: Call) -> None:
    """In the terminal with -v alone, in Markdown below, in the page folded or in a tooltip."""
    shown = leaked(call, LEAKY)
    verbose = leaked(call, LEAKY, more=("-v",))
    markdown = leaked(call, LEAKY, more=("--format", "md", "--html"))
    page = max(Path("reports/runs").glob("*/report.html")).read_text(encoding="utf-8")

    said = 'ben got ana\'s secret of turn 1: it stood in plain text in the "window" part'
    code = re.compile(r"\b(?:T0|AR|PLR|plr|cov\.|at best|L1 )")
    told = shown.stdout.partition("leakage ")[2].partition("FAILED")[0]
    assert said in squeezed(shown.stdout)
    assert not code.search(told)
    assert "at best F" in verbose.stdout
    assert "T0 15" in verbose.stdout
    before, _, after = markdown.stdout.partition("### Every number, with the codes of channels")
    assert said.replace('"', "&quot;").replace("'", "&#x27;") in page
    assert said in before
    assert not code.search(before)
    assert "| L1 | cross-principal recall |" in after
    assert "Filter by person before you rank" in before
    assert 'title="L1 cross-principal recall: a leak fails a run"' in page


def squeezed(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def test_explain_follows_a_leak(call: Call) -> None:
    """The case lists what was not safe, an attempt tells its way out."""
    leaked(call, LEAKY)

    case = call("explain", "leakage::L1[full_context@4k]")
    attempt = call("explain", "leakage::L1[full_context@4k]::1-ana/1-direct")
    control = call("explain", "leakage::L1[full_context@4k]::1-ana/garage", "--format", "json")

    assert "15 of 15 attempts leaked" in case.stdout
    assert "1-ana/1-direct  planted at turn 1 by ana" in case.stdout
    assert "leak: direct by ben" in attempt.stdout
    assert "[redacted]" in attempt.stdout
    assert json.loads(control.stdout)["leakage"]["served"] is True


def test_leakage_is_among_the_datasets_and_its_metrics_among_the_metrics(call: Call) -> None:
    """With how it is run."""
    assert "  leakage   memsim run leakage -k L7" in call("list", "datasets").stdout
    metrics = call("list", "metrics").stdout
    assert "authorised_recall" in metrics
    assert "plr_upper" in metrics


def test_builtin_scenarios_are_what_they_were(call: Call) -> None:
    """Files of channels are no scenarios."""
    listed = call("list", "scenarios").stdout

    assert "L01" not in listed
    assert "attacks" not in listed
