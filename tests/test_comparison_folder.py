"""The committed comparison is of today's strategies, and the same whoever makes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import comparison
from memsim.report.html.markup import unpacked

FOLDER = comparison.FOLDER


def test_it_is_of_the_present_sources() -> None:
    """Or the numbers that readers see are those of another version."""
    found = comparison.stale()

    assert not found, f"{comparison.OUT_OF_DATE} ({'; '.join(found)})"


def test_a_sample_comes_to_what_is_written() -> None:
    """What no fingerprint covers, such as the replay itself, shows in the numbers."""
    found = comparison.differing()

    assert not found, f"{comparison.OUT_OF_DATE} ({'; '.join(found)})"


def test_a_number_that_was_changed_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last of six digits."""
    strategy = "sliding_window"
    text = (FOLDER / "cells.jsonl").read_text("utf-8")
    line = next(x for x in text.splitlines() if f"::support_desk[{strategy}@4k]" in x)
    mean = json.loads(line)["context_mean"]
    changed = line.replace(f'"context_mean": {mean}', f'"context_mean": {mean + 0.001:.6g}')
    (tmp_path / "cells.jsonl").write_text(text.replace(line, changed), "utf-8")
    monkeypatch.setattr(comparison, "FOLDER", tmp_path)

    assert changed != line
    assert ["scenarios/support_desk.yaml::support_desk[sliding_window@4k]"] == (
        comparison.differing(strategies=[strategy])
    )


def test_a_source_that_does_something_else_is_seen(tmp_path: Path) -> None:
    """And a comment is not."""
    path = tmp_path / "part.py"
    codes = []
    for text in (
        '"""One."""\n\nx = 1  # one\n',
        '"""Another\n\nof many lines."""\n# a comment\n\nx = 1  # one\n',
        '"""One."""\n\nx = 2  # one\n',
    ):
        path.write_text(text, encoding="utf-8")
        codes.append(comparison.code(path))

    assert codes[0] == codes[1] != codes[2]


def test_everything_that_is_shown_is_there_and_nothing_else() -> None:
    """No picture is missing; all together are small enough for a repository."""
    text = (FOLDER / "comparison.md").read_text("utf-8")
    shown = set(re.findall(r"\]\(([\w.-]+)\)", text))
    there = {path.name: path.stat().st_size for path in FOLDER.iterdir()}

    assert shown | {"comparison.md", "manifest.json"} == set(there)
    assert {"trade-off.svg", "whereabouts.svg", "heat-map.svg"} < set(there)
    assert sum(there.values()) < 3_600_000


def test_every_scenario_can_be_replayed() -> None:
    """In the page itself: there are no others beside it."""
    scenarios = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["scenarios"]
    page = unpacked((FOLDER / "index.html").read_text("utf-8"))

    assert [] == [name for name in scenarios if f'"name":"{name}","strategy":' not in page]


def test_it_says_what_was_found() -> None:
    """Rivals are compared, and none of them is tested."""
    text = (FOLDER / "comparison.md").read_text("utf-8")

    assert "strategies were compared on" in text
    assert "## Failed" not in text


def test_it_says_nothing_of_the_day_or_the_machine() -> None:
    """Two machines make the same bytes."""
    for path in FOLDER.iterdir():
        # The page holds the days of its conversations, which are of no clock.
        days = "" if path.name == "index.html" else r"|\b20[2-9]\d-\d\d-\d\dT\d"
        found = re.search(rf"[\"' ](/home|/tmp|/root|/Users)/{days}", path.read_text("utf-8"))
        assert found is None, f"{path.name}: {found}"
    told = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
    assert {"runs", "scenarios", "sources", "packages"} == set(told)
