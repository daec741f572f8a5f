"""Reports of cases of very many turns: few turns are read, and what is told stays the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.report import frames as frames_module
from memsim.report.frames import Frames
from memsim.report.html import missed_probes
from memsim.report.html.missed_probes import cases_of
from memsim.report.html.page_content import PageContent
from memsim.report.plots import pictures
from memsim.report.summarise import summarise
from memsim.report.viewer import fragment, replay_pages
from memsim.runs import Run, load_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A strategy that forgets, and one whose summaries lose what they were made from."""
    base = tmp_path_factory.mktemp("long")
    flags = "-s sliding_window:messages=8 -s rolling_summary --budget 1k --progress none -q"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        CliRunner().invoke(program, ["run", "support_desk", *flags.split(), "-o", "played"])
    return load_run(base / "played", Path("reports"))


def test_of_a_long_case_every_so_many_turns_are_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of each, with the values that it has among all; captions say so."""
    whole = Frames(run)
    turns = whole.turns
    expected = [p.caption for p in pictures(run, summarise(run), whole)]
    monkeypatch.setattr(frames_module, "BYTES_READ", 2_000)
    few = Frames(run)
    for case in run.cases:
        all_rows = turns[turns["case"] == case.key].reset_index(drop=True)
        rows = few.turns[few.turns["case"] == case.key].reset_index(drop=True)
        step = few.step(case)

        assert step > 1
        assert all_rows.iloc[::step].reset_index(drop=True).equals(rows)
    assert whole.facts.equals(few.facts)
    captions = [picture.caption for picture in pictures(run, summarise(run), few)]
    assert 2 == sum(" turns was read." in caption for caption in captions)
    assert not any(" turns was read." in caption for caption in expected)


def test_stories_of_a_long_case_are_those_of_all_turns(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left out is told of nowhere."""
    subject = PageContent(run=run, summary=summarise(run))
    expected = cases_of(subject).data()
    monkeypatch.setattr(missed_probes, "LONG", 0)
    told = [
        len(missed_probes.turns_told(run, case, list(run.probes(case.key)))) for case in run.cases
    ]

    assert expected == cases_of(subject).data()
    assert sum(told) < sum(1 for _ in run.turns())


def test_the_replay_of_a_long_case_ends_with_its_contexts(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all contexts were kept, nothing is left out."""
    whole = fragment(run)
    monkeypatch.setattr(replay_pages, "LONG", 0)
    found = fragment(run)

    assert whole is not None
    assert found is not None
    assert whole.data == found.data
    assert json.loads(found.data["reels"])["cases"]


def test_of_turns_without_a_context_those_in_which_a_fact_moved_are_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contexts are kept for the first megabytes; what became of facts is told all the way."""
    monkeypatch.setattr(replay_pages, "LONG", 0)
    monkeypatch.setattr(Run, "contexts", lambda *_: iter([{"full": 4}]))
    moved = 0
    for case in run.cases:
        turns = [*run.turns(case.key)]
        late = [line for line in turns if "moved" in line and int(str(line["turn"])) >= 4]
        moved += len(late)

        first = [line for line in turns if int(str(line["turn"])) < 4]
        shown = replay_pages._turns_shown(run, case)
        assert [*first, *late] == shown
        assert len(shown) < len(turns)
    assert moved
