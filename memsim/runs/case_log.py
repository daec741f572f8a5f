"""`cases.jsonl`: one line per finished case, with the places where its records end."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memsim.errors import RunFolderError
from memsim.fast_dataclass import fast_init
from memsim.suite.cases import CaseOutcome, CaseResult, ExpectFailure
from memsim.trace import json_line

_END, _OWN = b"}\n", b',"own":'
TURNS, PROBES, CONTEXTS = "turns.jsonl", "probes.jsonl", "contexts.jsonl"
RECORDS = (TURNS, PROBES, CONTEXTS)
"""The files of records, in the order in which the log tells where they end."""
CASES = "cases.jsonl"


@fast_init
@dataclass(frozen=True, slots=True)
class RecordSpan:
    """A span of a records file: its beginning, its end and its CRC-32."""

    start: int
    end: int
    crc: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry:
    """A line of the log.

    Attributes:
        spans: its records in each of `RECORDS`.
        length: of the line itself, in bytes.
    """

    result: CaseResult
    spans: tuple[RecordSpan, ...]
    length: int

    @property
    def ends(self) -> list[int]:
        """The byte at which its records end."""
        return [span.end for span in self.spans]

    def span(self, name: str) -> RecordSpan:
        """Its records in one of `RECORDS`."""
        return self.spans[RECORDS.index(name)]


def span_after(start: int, data: bytes) -> RecordSpan:
    """Compute the span of data that begins at a place."""
    return RecordSpan(start, start + len(data), zlib.crc32(data))


def result_record(result: CaseResult) -> dict[str, object]:
    """Encode a result as JSON values."""
    # The repeat stands behind the id; nothing that is empty is told of a judge.
    record = {"id": result.id, "repeat": result.repeat} | asdict(result)
    return record if result.unjudged else {k: v for k, v in record.items() if k != "unjudged"}


def read_result(record: dict[str, Any]) -> CaseResult:
    """Decode a result that `result_record` wrote.

    Raises:
        KeyError, TypeError: it is of another version.
    """
    failures = tuple(ExpectFailure(**f) for f in record.pop("expect_failures"))
    return CaseResult(**record, expect_failures=failures)


def encode_entry(result: CaseResult, spans: Sequence[RecordSpan]) -> bytes:
    """Write the log line of a case; `own` is the CRC-32 of the rest of the line."""
    record = result_record(result)
    record |= {"ends": [s.end for s in spans], "crc": [s.crc for s in spans]}
    line = json_line(record).encode(errors="backslashreplace")
    return b"%s%s%d}\n" % (line.removesuffix(_END), _OWN, zlib.crc32(line))


def outcome_lines(outcome: CaseOutcome) -> tuple[bytes, ...]:
    """List what an outcome adds to each file of `RECORDS`."""
    return outcome.turn_lines, outcome.probe_lines, outcome.context_lines


def outcome_entry(outcome: CaseOutcome, starts: Sequence[int]) -> tuple[bytes, list[int]]:
    """Write the log line of an outcome, and compute where its records end."""
    lines = outcome_lines(outcome)
    spans = [span_after(start, data) for start, data in zip(starts, lines, strict=True)]
    return encode_entry(outcome.result, spans), [span.end for span in spans]


def read_log(folder: Path) -> Iterator[CaseEntry]:
    """Read a folder's log up to the first line that is torn, damaged or out of place."""
    starts = [0] * len(RECORDS)
    try:
        lines = (folder / CASES).open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunFolderError(f"cannot be read: {error.strerror}", path=folder / CASES) from error
    with lines:
        for line in lines:
            entry = _decode(line, starts)
            if entry is None:
                return
            starts = entry.ends
            yield entry


def _decode(line: bytes, starts: Sequence[int]) -> CaseEntry | None:
    bare, _, own = line.rpartition(_OWN)
    if own != b"%d}\n" % zlib.crc32(bare + _END):
        return None
    try:
        record = json.loads(bare + _END)
        # A run of an earlier memsim kept no contexts.
        ends = [*record.pop("ends"), 0][: len(RECORDS)]
        crcs = [*record.pop("crc"), 0][: len(RECORDS)]
        result = read_result(record)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    if len(ends) != len(starts) or any(e < s for s, e in zip(starts, ends, strict=True)):
        return None
    return CaseEntry(
        result=result, spans=tuple(map(RecordSpan, starts, ends, crcs)), length=len(line)
    )


def read_span(path: Path, span: RecordSpan) -> bytes | None:
    """Read the bytes of a span; None where the file is shorter or differs."""
    if span.start == span.end:
        return b""
    try:
        with path.open("rb") as file:
            file.seek(span.start)
            data = file.read(span.end - span.start)
    except FileNotFoundError:
        return None
    return data if len(data) == span.end - span.start and zlib.crc32(data) == span.crc else None


# `ahead.jsonl`: costly cases that finished before their turn to be kept had come.

AHEAD = "ahead.jsonl"
WORTH_KEEPING = 1.0
"""Fewest seconds of a case that is written ahead; quicker ones are played again."""


def outcome_record(outcome: CaseOutcome, *, turns: bool = True) -> dict[str, object]:
    """Encode an outcome as JSON values; its turns and contexts are most of the text."""
    return {
        "result": result_record(outcome.result),
        "turns": outcome.turn_lines.decode() if turns else "",
        "probes": outcome.probe_lines.decode(),
        "contexts": outcome.context_lines.decode() if turns else "",
    }


def read_outcome(record: dict[str, Any]) -> CaseOutcome:
    """Decode an outcome that `outcome_record` encoded."""
    return CaseOutcome(
        result=read_result(record["result"]),
        turn_lines=record["turns"].encode(),
        probe_lines=record["probes"].encode(),
        context_lines=record["contexts"].encode(),
    )


def encode_ahead(place: int, outcome: CaseOutcome) -> bytes:
    """Write the line of an outcome, with its place in the plan."""
    record = {"place": place, **outcome_record(outcome)}
    text = json_line(record).encode(errors="backslashreplace")
    # A killed writer may have left half a line: this one must not become the end of it.
    return b"\n%08x %s" % (zlib.crc32(text), text)


def read_ahead(folder: Path) -> Iterator[tuple[int, CaseOutcome]]:
    """Read the valid lines of the file written ahead: places and outcomes."""
    try:
        data = (folder / AHEAD).read_bytes()
    except OSError:
        return
    for line in data.splitlines(keepends=True):
        crc, _, text = line.partition(b" ")
        if crc == b"%08x" % zlib.crc32(text):
            record = json.loads(text)
            yield record["place"], read_outcome(record)
