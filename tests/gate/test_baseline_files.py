"""Baseline files from anywhere: read back as written, and refused in one line where damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.errors import BaselineError
from memsim.gate.baseline_file import encode, read_baseline
from memsim.gate.metric_comparison import ComparisonRules, compare
from memsim.gate.score_sheet import ProbeScores, ScoreSheet, SheetColumn

SCENARIO = "a.yaml::a"
PROBE = ProbeScores(scores={"recall": (1.0, 0.0, 1.0)}, reason="evicted", said=1, gone=9)
SHEET = ScoreSheet(
    name="main",
    place="",
    instruments={"model": "offline"},
    scenarios={SCENARIO: "f"},
    strategies={"bm25:k=8": "s"},
    columns={
        ("bm25:k=8", 4096): SheetColumn(
            probes={(SCENARIO, f"p{n}"): PROBE for n in range(12)},
            amounts={SCENARIO: {"context_peak": (300.0, 300.0, 301.0)}},
            questions=12,
        )
    },
    seed=7,
    repeat=3,
    created="2026-01-05T09:00:00+00:00",
    commit="0123456789",
    noise={"bm25:k=8@4k": {"recall": 0.1}},
)
TEXT = encode(SHEET, "main")
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just([{}]),
    st.just({"a": "b"}),
    st.just([1.5, "x"]),
)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    """Every score of every repeat, and everything that tells whether to compare."""
    path = tmp_path / "main.json"
    path.write_text(TEXT, encoding="utf-8")

    assert replace(SHEET, place=str(path)) == read_baseline(path)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 400), junk=JUNK, drop=st.booleans())
def test_any_damage_is_one_line_or_harmless(
    tmp_path: Path, place: int, junk: object, drop: bool
) -> None:
    """A value that was changed or taken out is refused, or still makes a comparison."""
    told = json.loads(TEXT)
    holder, key = list(_places(told))[place % len(list(_places(told)))]
    if drop:
        del holder[key]
    else:
        holder[key] = junk
    path = tmp_path / "main.json"
    path.write_text(json.dumps(told), encoding="utf-8")

    try:
        sheet = read_baseline(path)
    except BaselineError as error:
        said = str(error)
    else:
        compare(sheet, SHEET, ComparisonRules())
        return
    assert said.startswith(f"{path}: ")
    assert "\n" not in said


def _places(value: Any) -> Any:  # noqa: ANN401 - JSON
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, inner in pairs:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


@pytest.mark.parametrize("cut", [1, 100, len(TEXT) // 2, len(TEXT) - 3])
def test_half_a_file_is_refused(tmp_path: Path, cut: int) -> None:
    """With the line where it ends."""
    path = tmp_path / "main.json"
    path.write_text(TEXT[:cut], encoding="utf-8")

    with pytest.raises(BaselineError, match=r"main\.json:\d+:\d+: is damaged: "):
        read_baseline(path)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """A folder, or bytes that are no UTF-8."""
    path = tmp_path / "main.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(BaselineError, match="is damaged"):
        read_baseline(path)

    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline(tmp_path)
