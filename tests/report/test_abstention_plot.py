"""The plot of what not knowing costs, told again from the records of a run."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.report.plots import pictures
from memsim.report.summarise import summarise
from memsim.runs import Run, load_run
from tests.doubles.two_people import FAIR


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A memory that says how sure it is, with a bound that holds nothing back, and a rival."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fair.yaml").write_text(FAIR, encoding="utf-8")
    compared = ["-s", "layered:acl=off,window=1,sure=0", "-s", "bm25:window=1"]
    done = CliRunner().invoke(program, ["run", "fair.yaml", *compared, "--embedder", "hash"])
    assert 0 == done.exit_code, done.output
    return load_run("latest", tmp_path / "reports")


def scores_of_the_unsure(run: Run) -> list[dict[str, Any]]:
    """The scores of each probe of the memory that says how sure it is."""
    lines = map(json.loads, (run.folder / "probes.jsonl").read_text("utf-8").splitlines())
    return [line["scores"] for line in lines if "[layered" in line["case"]]


def test_each_bound_is_a_point_and_rivals_have_one(played: Run) -> None:
    """A bound counts every answer below it as not known."""
    mine = scores_of_the_unsure(played)
    asked = [s for s in mine if s["recall"] is not None]
    unasked = [s for s in mine if s["false_answers"] is not None]
    told = {
        (
            fmean(s["false_answers"] * (s["confidence"] >= bound) for s in unasked),
            fmean(s["recall"] * (s["confidence"] >= bound) for s in asked),
        )
        for bound in [0.0, *(s["confidence"] for s in asked)]
    }

    drawn = {picture.name: picture for picture in pictures(played, summarise(played))}
    (axes,) = drawn["abstention"].figure.axes
    points = [{(x, y) for x, y in np.asarray(line.get_xydata())} for line in axes.lines]

    assert told in points
    assert 1 in map(len, points)
    assert drawn["abstention"].caption.startswith("layered:window=1,sure=0,acl=off answers 1.00 of")
    assert "content with 1.00 recall" in drawn["abstention"].caption


def test_bounds_are_numbers_from_0_to_1(played: Run) -> None:
    """A memory that is sure of nothing would show nothing."""
    assert all(0 <= scores["confidence"] <= 1 for scores in scores_of_the_unsure(played))
