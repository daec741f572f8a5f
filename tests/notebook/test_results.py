"""A run from Python: its records, tables, plots, reports and explanations."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import memsim
from memsim.cli.program import program
from memsim.errors import RefError, RunFolderError, UsageError
from memsim.notebook.record_tables import DTYPES, TABLES
from memsim.report.plots import PLOTS
from memsim.scenario import load_scenario

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ("probes.jsonl", "turns.jsonl", "contexts.jsonl")


def test_the_records_are_those_of_the_command_line(project: Path, tmp_path: Path) -> None:
    """The same bytes in the folder, and the command that is told plays the same cases."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    run = memsim.run("desk", ["last", "last:messages=1"], budgets=["1k", 2048], seed=3, out=ours)

    command = json.loads((ours / "run.json").read_text("utf-8"))["command"]
    done = CliRunner().invoke(program, [*command[1:], "-o", str(theirs), "--progress", "none"])

    assert (done.exit_code, run.verdict.exit_code) == (0, 0)
    assert run.folder == ours
    for name in RECORDS:
        assert (theirs / name).read_bytes() == (ours / name).read_bytes()
    prints = [json.loads((f / "run.json").read_text("utf-8")) for f in (ours, theirs)]
    assert prints[0]["cases"] == prints[1]["cases"]


def test_the_command_names_attacks_and_data(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the report says to reproduce plays the same attempts from the same data."""
    told = "memsim.notebook.runner._Performance.results"
    monkeypatch.setattr(told, lambda performance, _out: performance.command)

    found = memsim.run("desk", "last", leakage=0.1, select="L1", data=tmp_path)

    line = f"memsim run desk leakage -s last --leak-attempts 0.1 --data {tmp_path} -k L1"
    assert found == tuple(line.split())  # type: ignore[comparison-overlap]


def test_objects_are_played_as_files_are(project: Path, tmp_path: Path) -> None:
    """A class, a function and a scenario object give the records of the file that defines them."""
    last, out = memsim.load_strategy("last"), [tmp_path / "file", tmp_path / "object"]
    desk = load_scenario(project / "scenarios" / "desk.yaml")

    memsim.run("desk", "last", budgets=512, out=out[0], controls=False)
    memsim.run(desk, {"last": last}, budgets=512, out=out[1], controls=False)

    for name in RECORDS:
        first, second = ((folder / name).read_text("utf-8") for folder in out)
        path = str(project / "scenarios" / "desk.yaml")
        assert second.replace(path, "scenarios/desk.yaml") == first


def test_a_finished_folder_is_loaded_and_not_played_again(project: Path, tmp_path: Path) -> None:
    """The same call again gives the same results; another plan is refused."""
    first = memsim.run("desk", "last", out=tmp_path / "kept", controls=False)
    before = (tmp_path / "kept" / "cases.jsonl").read_bytes()

    again = memsim.run("desk", "last", out=tmp_path / "kept", controls=False)

    assert (tmp_path / "kept" / "cases.jsonl").read_bytes() == before
    assert memsim.load(tmp_path / "kept").recall == first.recall == again.recall
    with pytest.raises(RunFolderError, match="another plan"):
        memsim.run("desk", "last", seed=8, out=tmp_path / "kept", controls=False)


def test_a_temporary_run_is_gone_with_its_results(project: Path) -> None:
    """No folder is left when nobody holds the results any more, or when a run fails."""
    results = memsim.run("desk", "last", controls=False)
    folder = results.run.folder
    assert results.folder is None
    assert folder.is_dir()

    del results
    gc.collect()

    assert not folder.exists()


def test_tables_have_the_documented_columns_and_types(
    results: memsim.Results, subtests: pytest.Subtests
) -> None:
    """One row for each record; docs/python.md names each column with its type."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    shared = page.partition("## Columns\n")[2].partition("###")[0]
    rows = {"probes": 15, "turns": 45, "cases": 5, "leaks": 10, "facts": 0}
    for name, table in TABLES.items():
        with subtests.test(table=name):
            frame = results.to_pandas(name)  # type: ignore[arg-type]

            assert len(frame) == rows[name]
            assert {c: str(frame[c].dtype) for c in table.columns} == {
                column: DTYPES[kind] for column, kind in table.columns.items()
            }
            assert set(map(str, frame.dtypes)) <= set(DTYPES.values())
            part = page.partition(f"### {name}\n")[2].partition("###")[0]
            told = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", shared + part, re.MULTILINE))
            assert told == dict(table.columns)


def test_tables_say_what_the_records_say(results: memsim.Results) -> None:
    """Shares, tokens and leaks of the frames are those of the summary and the case."""
    probes, cases, leaks = (results.to_pandas(n) for n in ("probes", "cases", "leaks"))
    turns = results.to_pandas("turns")
    case = results.case("last")

    mine = probes[probes["strategy"] == "last"]
    assert list(mine["probe"]) == [p["probe"] for p in case.probes] == ["order", "hat", "code"]
    assert list(mine["passed"]) == [False, True, True]
    assert mine["recall"].dropna().mean() == case.metrics["recall"] == 0
    assert mine["time"].iloc[0] == pd.Timestamp(case.probes[0]["time"])
    assert cases.set_index("strategy")["recall"]["everything"] == 1
    assert turns.groupby("strategy")["tokens"].sum()["last"] == sum(
        t.get("sent", 0) for t in case.turns
    )
    assert set(leaks["strategy"]) == {"everything", "full_context", "oracle"}
    assert set(leaks["viewer"]) == {"ana"}
    assert set(leaks["fact"]) == {"code"}


def test_a_run_is_shown_as_the_terminal_shows_it(results: memsim.Results) -> None:
    """The summary, the explanation, and what a notebook shows of each."""
    summary, told = results.summary(), results.explain("[last@2k]::order")

    assert "recall  95%" in summary
    assert "results.explain('scenarios/desk.yaml::desk[last@2k]::order')" in summary
    assert "memsim explain" not in summary
    assert "memsim-run-" not in summary
    assert repr(told).startswith("scenarios/desk.yaml::desk[last@2k]\norder ")
    assert 'expected  "A-17"' in told
    assert told._repr_html_().startswith("<pre>")
    assert "<table" in results._repr_html_()
    assert repr(results) == "<Results: 5 cases, 5 strategies; 2 passed>"


def test_a_case_is_found_by_a_part_of_its_id(results: memsim.Results) -> None:
    """As the fixture `replay` gives it; what is not one case is refused."""
    assert results.case("everything").recall == 1.0
    assert results.case("last").missed == ("order",)
    assert results.case("last").command == ""
    with pytest.raises(RefError, match="matches 2 cases"):
        results.case()
    with pytest.raises(RefError, match="has no case 'lost'"):
        results.case("lost")


def test_plots_have_their_names(results: memsim.Results) -> None:
    """The names are those of the report's pictures; a wrong one is told with the right ones."""
    assert all(draw.__doc__ for draw in PLOTS.values())
    with pytest.raises(UsageError, match=r"the plots are trade-off, .*did you mean 'trade-off'"):
        results.plot("tradeoff")
    with pytest.raises(UsageError, match="no numbers for it"):
        results.plot("forest")


def test_a_plot_is_shown_and_saved(results: memsim.Results, tmp_path: Path) -> None:
    """A picture with its caption in a notebook, a file elsewhere."""
    plot = results.plot("trade-off")

    assert plot.picture.name == "trade-off"
    assert plot.caption in repr(plot)
    assert '<img src="data:image/png;base64,' in plot._repr_html_()
    assert plot.save(tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_reports_are_written(results: memsim.Results, tmp_path: Path) -> None:
    """Markdown by its suffix; a page is what `memsim run --html` writes."""
    written = results.report(tmp_path / "x.md").read_text(encoding="utf-8")

    assert "everything" in written
    assert "## Reproduce" not in written
    with pytest.raises(UsageError, match=r"a report ends with \.html or \.md, not 'x.pdf'"):
        results.report(tmp_path / "x.pdf")


def test_two_runs_are_compared(results: memsim.Results, project: Path) -> None:
    """By the rules of the gate, probe by probe."""
    other = memsim.run("desk", "last:messages=30", budgets="2k", controls=False)
    same = memsim.compare(results, results)

    change = memsim.compare(results, other)

    assert same.verdict.exit_code == 0
    assert "against the first: " in same.verdict.sentence
    assert "last@2k" in set(same.to_pandas()["variant"])
    assert list(change.to_pandas()["word"])
    assert same.verdict.sentence in same.summary()
    assert "<pre>" in same._repr_html_()


def test_the_import_stays_quick() -> None:
    """Neither pandas nor matplotlib nor click is loaded before something needs it."""
    code = (
        "import sys, memsim; memsim.run; memsim.Results\n"
        "print(sorted({'pandas', 'matplotlib', 'numpy', 'tiktoken'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
