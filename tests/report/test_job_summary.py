"""The job's summary: appended whole, cut where GitHub would refuse it, never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memsim.report.github import MOST_BYTES, add_to_job_summary, cut_summary


def add(path: Path | str, text: str = "# memsim run\n\nall is well\n") -> str:
    """Append a text to the summary at a path."""
    return add_to_job_summary(text, {"GITHUB_STEP_SUMMARY": str(path)})


def test_it_is_appended_on_a_line_of_its_own(tmp_path: Path) -> None:
    """Whatever the step before has left."""
    path = tmp_path / "summary.md"
    path.write_bytes(b"earlier, without an end")

    assert ("", "") == (add(path), add(path))
    assert path.read_text("utf-8") == (
        "earlier, without an end\n# memsim run\n\nall is well\n# memsim run\n\nall is well\n"
    )


def test_nothing_is_written_where_nothing_was_asked_for() -> None:
    """An empty variable is none."""
    assert ("", "") == (add_to_job_summary("x", {}), add(""))


def test_it_is_cut_at_a_line_and_says_so(tmp_path: Path) -> None:
    """GitHub shows nothing at all of a step that wrote more than 1 MiB."""
    path = tmp_path / "summary.md"
    path.write_text("x" * 1_000 + "\n", encoding="utf-8")

    assert not add(path, "| é | cell |\n" * 200_000)

    data = path.read_bytes()
    assert MOST_BYTES - 100 < len(data) <= MOST_BYTES
    *lines, last, _ = data.decode("utf-8").split("\n")
    assert last.startswith("*Cut here, as a job's summary holds 1 MiB: report.md")
    assert {"| é | cell |", ""} == set(lines[1:])


def test_a_summary_that_is_full_is_said_and_left_alone(tmp_path: Path) -> None:
    """There is no room for a sentence, and none is squeezed in."""
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (MOST_BYTES - 20))

    assert add(path) == f"GITHUB_STEP_SUMMARY: {path}: is full, and the report was left out"
    assert path.stat().st_size == MOST_BYTES - 20


def test_a_block_of_code_is_closed_where_it_is_cut() -> None:
    """Or the note would be code, and all that follows it."""
    text = "```\n" + "memsim run\n" * 40

    kept = cut_summary(text, 300).decode()

    assert len(kept) <= 300
    assert kept.count("```") == 2
    assert cut_summary(text, len(text)) == text.encode()


@pytest.mark.parametrize("kind", ["folder", "nowhere", "device", "null byte"])
def test_what_cannot_be_written_is_one_line(tmp_path: Path, kind: str) -> None:
    """A sentence for whoever reads the log."""
    paths = {"nowhere": "missing/summary.md", "null byte": "a\0b", "device": "/dev/full"}
    path = str(tmp_path / paths.get(kind, kind))
    if kind == "folder":
        Path(path).mkdir()

    said = add(path)

    assert said.startswith(f"GITHUB_STEP_SUMMARY: {path}: cannot be written: ")
    assert "\n" not in said


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    """Nothing can be said of what becomes of it; a job that stands still would be worse."""
    os.mkfifo(tmp_path / "pipe")

    assert "did not fit" in add(tmp_path / "pipe", "x\n" * 500_000)


def test_a_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    """A lone surrogate in an answer is no reason to lose the report."""
    path = tmp_path / "summary.md"

    assert not add(path, "told \ud83d\n")
    assert path.read_text("utf-8") == "told ?\n"
