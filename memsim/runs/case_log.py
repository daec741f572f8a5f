"""`cases.jsonl`: one line per finished case, with the places where its records end."""

from __future__ import annotations

import os
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memsim.errors import LocatedError, RunFolderError
from memsim.fast_dataclass import fast_init
from memsim.json_input import open_regular, parse_json, read_lines
from memsim.json_types import WrongTypeError, convert
from memsim.suite.cases import BLOCK, CaseOutcome, CaseResult, pack, unpack
from memsim.trace import json_line

_END, _OWN = b"}\n", b',"own":'
TURNS, PROBES, CONTEXTS = "turns.jsonl", "probes.jsonl", "contexts.jsonl"
RECORDS = (TURNS, PROBES, CONTEXTS)
"""The files of records, in the order in which the log tells where they end."""
CASES = "cases.jsonl"
MOST_OF_CASE = 128 * 2**20
"""Bytes of one case in a file of records that are read at once; turns are read a line at a time."""

Write = Callable[[bytes], object]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where the records of a case end, and their checksums."""

    ends: list[int]
    crc: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ahead:
    """A line of `ahead.jsonl`."""

    place: int
    result: dict[str, Any]
    turns: str
    probes: str
    contexts: str
    packed: list[str] = field(default_factory=list)


def result_record(result: CaseResult) -> dict[str, object]:
    """Encode a result as JSON values."""
    # The repeat stands behind the id; nothing that is empty is told of a judge or of errors.
    record = {"id": result.id, "repeat": result.repeat} | asdict(result)
    return {k: v for k, v in record.items() if v or k not in _RARE}


_RARE = frozenset(
    {"hosts", "notes", "unjudged", "tracebacks", "answer_bounds", "reader_limit", "latency"}
)


def read_result(record: dict[str, Any]) -> CaseResult:
    """Decode a result that `result_record` wrote.

    Raises:
        WrongTypeError: it is of another version, or was changed.
    """
    result: CaseResult = convert(record, CaseResult)
    return result


def encode_entry(result: CaseResult, spans: Sequence[RecordSpan]) -> bytes:
    """Write the log line of a case; `own` is the CRC-32 of the rest of the line."""
    record = result_record(result)
    record |= {"ends": [s.end for s in spans], "crc": [s.crc for s in spans]}
    line = json_line(record).encode(errors="backslashreplace")
    return b"%s%s%d}\n" % (line.removesuffix(_END), _OWN, zlib.crc32(line))


def outcome_blocks(outcome: CaseOutcome) -> tuple[Iterable[bytes], ...]:
    """What an outcome adds to each file of `RECORDS`, block by block."""
    return outcome.turn_blocks(), (outcome.probe_lines,), (outcome.context_lines,)


def span_of(start: int, blocks: Iterable[bytes], write: Write = len) -> RecordSpan:
    """Write blocks of data, and compute the span of all of them."""
    end, crc = start, 0
    for block in blocks:
        write(block)
        end += len(block)
        crc = zlib.crc32(block, crc)
    return RecordSpan(start, end, crc)


def outcome_entry(outcome: CaseOutcome, starts: Sequence[int]) -> tuple[bytes, list[int]]:
    """Write the log line of an outcome, and compute where its records end."""
    spans = list(map(span_of, starts, outcome_blocks(outcome)))
    return encode_entry(outcome.result, spans), [span.end for span in spans]


def read_log(folder: Path) -> Iterator[CaseEntry]:
    """Read a folder's log up to the first line that is torn, damaged or out of place."""
    starts = [0] * len(RECORDS)
    path = folder / CASES
    with suppress(FileNotFoundError):
        for number, line in enumerate(read_lines(path, RunFolderError), start=1):
            try:
                entry = decode_entry(line, starts, path, number)
            except RunFolderError:
                return
            starts = entry.ends
            yield entry


def decode_entry(line: bytes, starts: Sequence[int], path: Path, number: int) -> CaseEntry:
    """Decode a line of the log.

    Args:
        line: with its newline.
        starts: where the records of the entry before it end.
        path: the log, for errors.
        number: of the line, from 1.

    Raises:
        RunFolderError: the line is torn, damaged, out of place or of another memsim.
    """
    bare, _, own = line.rpartition(_OWN)
    if own != b"%d}\n" % zlib.crc32(bare + _END):
        said = "is damaged: its checksum is wrong"
        raise RunFolderError(said, path=path, line=number)
    record = parse_json(bare + _END, path, RunFolderError, line=number, prefix="is damaged: ")
    try:
        places: _Places = convert({k: record.pop(k, None) for k in ("ends", "crc")}, _Places)
        result = read_result(record)
    except WrongTypeError as error:
        said = f"is damaged, or of another memsim: {error}"
        raise RunFolderError(said, path=path, line=number) from error
    # A run of an earlier memsim kept no contexts.
    ends, crcs = ([*found, 0][: len(RECORDS)] for found in (places.ends, places.crc))
    if any(end < start for start, end in zip(starts, ends, strict=False)) or len(ends) < 3:
        raise RunFolderError("is out of place", path=path, line=number)
    return CaseEntry(
        result=result, spans=tuple(map(RecordSpan, starts, ends, crcs)), length=len(line)
    )


def read_span(path: Path, span: RecordSpan) -> bytes | None:
    """Read the bytes of a span; None where the file is shorter or differs.

    Raises:
        RunFolderError: the file cannot be read, or the span is larger than `MOST_OF_CASE`.
    """
    if span.end - span.start > MOST_OF_CASE and _is_there(path, span):
        said = f"holds more than {MOST_OF_CASE // 2**20} MB of one case"
        raise RunFolderError(said, path=path)
    blocks = [*read_blocks(path, span)]
    return b"".join(blocks) if _is_span(blocks, span) else None


def is_sound(path: Path, span: RecordSpan) -> bool:
    """Whether a file holds the bytes of a span; they may be more than fit into memory.

    Raises:
        RunFolderError: the file cannot be read.
    """
    return _is_span(read_blocks(path, span), span)


def _is_span(blocks: Iterable[bytes], span: RecordSpan) -> bool:
    found = span_of(span.start, blocks)
    return (found.end, found.crc) == (span.end, span.crc) or found.end == span.start == span.end


def _is_there(path: Path, span: RecordSpan) -> bool:
    with suppress(FileNotFoundError), open_regular(path, RunFolderError) as file:
        return span.end <= os.fstat(file.fileno()).st_size
    return False


def read_blocks(path: Path, span: RecordSpan) -> Iterator[bytes]:
    """Read the bytes of a span block by block, as far as the file holds them.

    Raises:
        RunFolderError: the file cannot be read.
    """
    left = span.end - span.start
    if not left:
        return
    try:
        with suppress(FileNotFoundError), open_regular(path, RunFolderError) as file:
            file.seek(span.start)
            while left and (block := file.read(min(left, BLOCK))):
                left -= len(block)
                yield block
    except OSError as error:
        raise RunFolderError(f"cannot be read: {error.strerror}", path=path) from error


def read_span_lines(
    path: Path, span: RecordSpan, only: Callable[[bytes], bool] | None = None
) -> Iterator[bytes]:
    """Read the lines of a span, without their newlines, after its checksum was compared.

    Args:
        path: the file of the span.
        span: where its lines stand.
        only: chooses lines by their text; None for all.

    Raises:
        RunFolderError: the file cannot be read, differs from the span, or has too long a line.
    """
    if not is_sound(path, span):
        raise RunFolderError("does not hold what cases.jsonl says", path=path)
    begun = b""
    for block in read_blocks(path, span):
        *lines, begun = (begun + block).split(b"\n")
        yield from lines if only is None else filter(only, lines)
        if len(begun) > MOST_OF_CASE:
            raise RunFolderError(f"has a line of more than {MOST_OF_CASE // 2**20} MB", path=path)
    if begun and (only is None or only(begun)):
        yield begun


def read_entry(folder: Path, entry: CaseEntry) -> CaseOutcome:
    """Read the outcome that a line of the log stands for.

    Raises:
        RunFolderError: its records are missing or differ.
    """
    probes, contexts = (_records(folder / name, entry.span(name)) for name in (PROBES, CONTEXTS))
    path, span = folder / TURNS, entry.span(TURNS)
    turns, packed = b"", tuple[bytes, ...]()
    if span.end - span.start <= BLOCK:
        turns = _records(path, span)
    else:
        packed = tuple(map(pack, read_blocks(path, span)))
        if not _is_span(map(unpack, packed), span):
            raise RunFolderError("does not hold what cases.jsonl says", path=path)
    return CaseOutcome(
        result=entry.result,
        turn_lines=turns,
        probe_lines=probes,
        context_lines=contexts,
        packed_turns=packed,
    )


def _records(path: Path, span: RecordSpan) -> bytes:
    data = read_span(path, span)
    if data is None:
        raise RunFolderError("does not hold what cases.jsonl says", path=path)
    return data


# `ahead.jsonl`: costly cases that finished before their turn to be kept had come.

AHEAD = "ahead.jsonl"
WORTH_KEEPING = 1.0
"""Fewest seconds of a case that is written ahead; quicker ones are played again."""


def outcome_record(outcome: CaseOutcome, *, turns: bool = True) -> dict[str, object]:
    """Encode an outcome as JSON values; its turns and contexts are most of the text."""
    packed = [b2a_base64(b, newline=False).decode() for b in outcome.packed_turns if turns]
    return {
        "result": result_record(outcome.result),
        "turns": outcome.turn_lines.decode() if turns else "",
        "probes": outcome.probe_lines.decode(),
        "contexts": outcome.context_lines.decode() if turns else "",
        **({"packed": packed} if packed else {}),
    }


def read_outcome(record: dict[str, Any]) -> CaseOutcome:
    """Decode an outcome that `outcome_record` encoded."""
    return CaseOutcome(
        result=read_result(record["result"]),
        turn_lines=record["turns"].encode(),
        probe_lines=record["probes"].encode(),
        context_lines=record["contexts"].encode(),
        packed_turns=tuple(map(a2b_base64, record.get("packed", ()))),
    )


def encode_ahead(place: int, outcome: CaseOutcome) -> bytes:
    """Write the line of an outcome, with its place in the plan."""
    record = {"place": place, **outcome_record(outcome)}
    text = json_line(record).encode(errors="backslashreplace")
    # A killed writer may have left half a line: this one must not become the end of it.
    return b"\n%08x %s" % (zlib.crc32(text), text)


def read_ahead(folder: Path) -> Iterator[tuple[int, CaseOutcome]]:
    """Read the valid lines of the file written ahead: places and outcomes."""
    path = folder / AHEAD
    with suppress(FileNotFoundError):
        for line in read_lines(path, RunFolderError, most=MOST_OF_CASE):
            crc, _, text = line.partition(b" ")
            if crc != b"%08x" % zlib.crc32(text):
                continue
            # What cannot be read is played again.
            with suppress(LocatedError, WrongTypeError, UnicodeEncodeError):
                record = parse_json(text, path, RunFolderError)
                kept: _Ahead = convert(record, _Ahead)
                yield kept.place, read_outcome(record)
