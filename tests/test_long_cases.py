"""Cases of very many turns: their lines are packed, and kept and read as those of any case."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.errors import RunFolderError
from memsim.runs import case_log
from memsim.runs.case_log import (
    CASES,
    TURNS,
    CaseEntry,
    encode_ahead,
    outcome_entry,
    read_ahead,
    read_entry,
    read_log,
    read_span_lines,
)
from memsim.suite.cases import CaseOutcome, CaseResult, pack

LINES = [b'{"turn":%d}\n' % number for number in range(50)]
RESULT = CaseResult(id="s.yaml::s[b@4k]", scenario="s", strategy="b", budget=4096)
PACKED = CaseOutcome(
    result=RESULT,
    packed_turns=(pack(b"".join(LINES[:20])), pack(b"".join(LINES[20:40]))),
    turn_lines=b"".join(LINES[40:]),
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty lines are many."""
    monkeypatch.setattr(case_log, "BLOCK", 64)


@pytest.fixture
def entry(tmp_path: Path) -> CaseEntry:
    """The log entry of the case, whose records lie in the folder."""
    line, _ = outcome_entry(PACKED, [0, 0, 0])
    (tmp_path / CASES).write_bytes(line)
    (tmp_path / TURNS).write_bytes(b"".join(LINES))
    (found,) = read_log(tmp_path)
    return found


def test_packed_turns_have_the_entry_of_plain_ones() -> None:
    """Places and checksums are of the lines, however they were held."""
    plain = CaseOutcome(result=RESULT, turn_lines=b"".join(LINES))

    assert outcome_entry(plain, [0, 0, 0]) == outcome_entry(PACKED, [0, 0, 0])


def test_a_long_case_is_read_back_in_blocks(entry: CaseEntry, tmp_path: Path) -> None:
    """As a merge reads it: packed, with all of its bytes."""
    found = read_entry(tmp_path, entry)

    assert len(found.packed_turns) > 1
    assert b"".join(LINES) == b"".join(found.turn_blocks())


def test_lines_are_read_across_blocks(entry: CaseEntry, tmp_path: Path) -> None:
    """A line may begin in one block and end in the next."""
    lines = read_span_lines(tmp_path / TURNS, entry.span(TURNS))

    assert [line.rstrip(b"\n") for line in LINES] == list(lines)


def test_a_changed_byte_of_a_long_case_is_damage(entry: CaseEntry, tmp_path: Path) -> None:
    """Before the first line is handed out."""
    path = tmp_path / TURNS
    path.write_bytes(path.read_bytes().replace(b"49", b"48"))

    with pytest.raises(RunFolderError, match="does not hold"):
        next(read_span_lines(path, entry.span(TURNS)))
    with pytest.raises(RunFolderError, match="does not hold"):
        read_entry(tmp_path, entry)


def test_a_long_case_is_written_ahead_as_it_is(tmp_path: Path) -> None:
    """Its packed turns come back."""
    (tmp_path / case_log.AHEAD).write_bytes(encode_ahead(3, PACKED) + b"\n")

    assert [(3, PACKED)] == list(read_ahead(tmp_path))
