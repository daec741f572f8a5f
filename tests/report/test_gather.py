"""What is read from a saved run: boards, failures, what was missed, the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memsim.config import load_settings
from memsim.discovery.project import find_project
from memsim.errors import ExitCode
from memsim.executors import InProcess
from memsim.gate import judge
from memsim.report.probe_answers import answers_of
from memsim.report.run_markdown import markdown
from memsim.report.run_summary import BoardRow, RunSummary, json_case_lines, json_document
from memsim.report.summarise import summarise
from memsim.runs import Run, load_run, open_run, perform
from memsim.scaffold import scaffold
from memsim.suite.case_plan import plan, resolve_strategies
from memsim.suite.cases import scenario_of
from memsim.suite.scenarios import find_scenarios
from tests.doubles.hostile_files import sealed

MakeRun = Callable[..., Run]


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeRun:
    """Plays the scaffolded project, with other settings if asked for."""
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)
    project = find_project()

    def make(**changed: object) -> Run:
        settings = load_settings(project, changed)
        scenarios = find_scenarios(["scenarios"], project)
        made = plan(settings, scenarios, resolve_strategies(settings.strategies, project))
        with open_run(made, tmp_path / "reports") as writer:
            results = perform(made, writer, InProcess())
            verdict = judge(results)
            writer.finish(verdict.exit_code, verdict.sentence)
        return load_run(writer.folder, tmp_path / "reports")

    return make


def row(summary: RunSummary, strategy: str) -> BoardRow:
    """The row of a strategy on the first board."""
    (found,) = [r for r in summary.boards[0].rows if r.strategy == strategy]
    return found


def test_a_question_takes_its_context_and_itself(make_run: MakeRun) -> None:
    """Means over the questions, as their records tell them."""
    run = make_run()

    lines = [line for line in run.probes() if "[mine@" in str(line["case"])]
    tokens = [line["context"]["total"] + line["query_tokens"] for line in lines]  # type: ignore[index]

    assert row(summarise(run), "mine").question_mean == pytest.approx(sum(tokens) / len(tokens))


def test_controls_stand_at_their_ends_and_have_no_letter(make_run: MakeRun) -> None:
    """Ceiling, evidence, the compared by recall, floor."""
    rows = summarise(make_run()).boards[0].rows

    assert [(r.letter, r.strategy, r.control) for r in rows] == [
        ("", "full_context", "ceiling"),
        ("", "oracle", "evidence"),
        ("a", "mine", ""),
        ("b", "sliding_window:messages=12", ""),
        ("", "no_memory", "floor"),
    ]


def test_a_probe_that_a_damaged_run_calls_unanswerable_is_shown_by_its_recall(
    make_run: MakeRun,
) -> None:
    """The lines were changed by hand: the board is drawn all the same."""
    run = make_run()
    whole = {path.name: path.read_bytes() for path in run.folder.glob("*.jsonl")}
    told = whole["probes.jsonl"].replace(b'"unanswerable":false', b'"unanswerable":true')
    for name, data in sealed({**whole, "probes.jsonl": told}, whole).items():
        (run.folder / name).write_bytes(data)

    summary = summarise(load_run(run.folder, run.folder.parent))

    assert row(summary, "mine").recall.n == 10


def test_recall_is_over_answerable_probes_and_abstention_over_the_others(
    make_run: MakeRun,
) -> None:
    """Each with its own n."""
    summary = summarise(make_run())
    mine = row(summary, "mine")

    assert (summary.boards[0].probes, summary.boards[0].answerable) == (11, 10)
    assert (mine.recall.mean, mine.recall.n) == (0.8, 10)
    assert (mine.abstained.mean, mine.abstained.n) == (1.0, 1)
    assert (mine.missed, mine.lost, mine.unscored) == (2, 2, 0)
    assert mine.leaks is None


def test_what_was_missed_says_why_and_controls_are_left_out(make_run: MakeRun) -> None:
    """A floor misses everything on purpose."""
    summary = summarise(make_run())

    assert [(g.strategy, g.missed, g.answerable) for g in summary.missed] == [
        ("mine", 2, 10),
        ("sliding_window:messages=12", 6, 10),
    ]
    assert sum(summary.missed[1].reasons.values()) == 6
    assert summary.missed[0].examples[0].id == "scenarios/first.yaml::first[mine@4k]::cat"


def test_a_passed_run_has_no_failures(make_run: MakeRun) -> None:
    """The verdict, the exit code and the list agree."""
    summary = summarise(make_run())

    assert summary.failures == ()
    assert summary.unscored == ()
    assert summary.verdict.exit_code == ExitCode.PASSED
    assert summary.pending == 0


def test_a_broken_bound_names_its_place_and_what_was_missed(make_run: MakeRun) -> None:
    """Every failed case has a block; controls never have."""
    summary = summarise(make_run(expect=("recall=0.6",)))

    (failure,) = summary.failures
    assert failure.case == "scenarios/first.yaml::first[sliding_window:messages=12@4k]"
    assert [(b.metric, b.value, b.place) for b in failure.broken] == [
        ("recall", 0.4, "--fail-under")
    ]
    assert {p.probe for p in failure.missed} == {
        "order",
        "card",
        "cat",
        "company",
        "lamp",
        "warranty",
    }
    assert all(p.said is not None and p.gone is not None for p in failure.missed)
    assert summary.verdict.exit_code == ExitCode.FAILED
    assert row(summary, "sliding_window:messages=12").failed


def test_repeats_are_meaned_before_they_are_counted(make_run: MakeRun) -> None:
    """Three repeats of ten probes are ten probes."""
    summary = summarise(make_run(repeat="3"))
    mine = row(summary, "mine")

    assert summary.boards[0].repeats == 3
    assert (mine.recall.mean, mine.recall.n, mine.missed, mine.lost) == (0.8, 10, 2, 2)


def test_each_budget_has_a_board(make_run: MakeRun) -> None:
    """In growing order, whatever order they were given in."""
    summary = summarise(make_run(budget="4k,512"))

    assert [b.budget for b in summary.boards] == [512, 4096]


def test_a_case_that_failed_is_unscored_and_never_a_zero(make_run: MakeRun) -> None:
    """No recall, no letters won, and an exit code of its own."""
    Path("strategies/broken.py").write_text(
        "from memsim import Context, Query, Strategy\n\n\n"
        "class Broken(Strategy):\n"
        "    def context(self, query: Query) -> Context:\n"
        "        raise KeyError(query.text)\n",
        encoding="utf-8",
    )

    summary = summarise(make_run(strategies=("broken",)))

    (unscored,) = summary.unscored
    assert unscored.case == "scenarios/first.yaml::first[broken@4k]"
    assert "KeyError" in unscored.error
    assert row(summary, "broken").recall.mean is None
    assert row(summary, "broken").unscored == 11
    assert summary.verdict.exit_code == ExitCode.UNMEASURABLE


def test_answers_know_their_case(make_run: MakeRun) -> None:
    """What pairs them between strategies is the scenario and the probe."""
    answers = answers_of(make_run())

    assert len(answers) == 55
    assert {a.unit[0] for a in answers} == {"scenarios/first.yaml::first"}
    assert scenario_of("a/b.yaml::name[bm25:k=8@4k]#2") == "a/b.yaml::name"


def test_the_report_tells_the_same_numbers(make_run: MakeRun) -> None:
    """One source: what the rows say is what the Markdown says."""
    summary = summarise(make_run(expect=("recall=0.6",)))
    text = markdown(summary)

    assert "**1 failed, 1 passed**" in text
    assert "| a | mine | .80 | [.50 1.00] |" in text
    assert "recall .40 < .6 (--fail-under)" in text
    assert "- missed: `memsim explain 'scenarios/first.yaml::first[sliding_window" in text
    assert "## Reproduce" not in text, "it was played without a command"
    header = replace(summary.header, command="memsim run first")
    told = markdown(replace(summary, header=header))
    assert told.endswith("## Reproduce\n\n```\nmemsim run first\n```\n")


def test_markdown_cannot_be_broken_out_of(make_run: MakeRun) -> None:
    """A name with a bar stays in its cell."""
    summary = summarise(make_run())
    board = summary.boards[0]
    odd = replace(board.rows[0], strategy="a|b<script>")

    text = markdown(replace(summary, boards=(replace(board, rows=(odd,)),)))

    assert "a\\|b\\<script>" in text


def test_what_was_typed_cannot_break_out_of_its_place(make_run: MakeRun) -> None:
    """A run's folder, a model's name, a verdict with a baseline's name, a command with ticks."""
    summary = summarise(make_run())
    command = "memsim run '\n```\n<script>'"
    header = replace(summary.header, run="<b>x", model="a`b\n# c", command=command)
    verdict = replace(summary.verdict, sentence="against [x](y): 1 same")

    text = markdown(replace(summary, header=header, verdict=verdict))

    assert "<b>x" not in text
    assert text.startswith("# memsim run\n\n**against [x\\](y): 1 same**\n")
    assert "model ``a`b # c``, embedder `wordllama`" in text
    assert text.endswith(f"\n````\n{command}\n````\n")


def test_json_is_one_document_and_jsonl_one_line_a_case(make_run: MakeRun) -> None:
    """Both are ASCII, so that every pipe carries them."""
    run = make_run()
    text = json_document(summarise(run))
    lines = list(json_case_lines(run))

    parsed = json.loads(text)
    assert parsed["boards"][0]["rows"][2]["recall"]["mean"] == 0.8
    assert parsed["verdict"]["exit_code"] == 0
    assert text.isascii()
    assert [json.loads(line)["id"] for line in lines] == [case.id for case in run.cases]
