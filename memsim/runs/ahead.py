"""`ahead.jsonl`: costly cases that finished before their turn to be kept had come.

They would be lost if the run were killed meanwhile, and a live model would be paid twice. A line is
the CRC-32 of its JSON in eight hex digits, a blank, and the JSON; the file goes when the run is
finished.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from memsim.runs.log import read_result, result_record
from memsim.suite.cases import CaseOutcome
from memsim.trace import json_line

AHEAD = "ahead.jsonl"
WORTH_KEEPING = 1.0
"""Seconds that a case must have taken; quicker ones are as well played again."""


def encode_ahead(place: int, outcome: CaseOutcome) -> bytes:
    """The line of an outcome whose case has a place in the plan."""
    record = {
        "place": place,
        "result": result_record(outcome.result),
        "turns": outcome.turn_lines.decode(),
        "probes": outcome.probe_lines.decode(),
        "contexts": outcome.context_lines.decode(),
    }
    text = json_line(record).encode(errors="backslashreplace")
    # A killed writer may have left half a line: this one must not become the end of it.
    return b"\n%08x %s" % (zlib.crc32(text), text)


def read_ahead(folder: Path) -> Iterator[tuple[int, CaseOutcome]]:
    """The sound lines of a folder's file: places and outcomes."""
    try:
        data = (folder / AHEAD).read_bytes()
    except OSError:
        return
    for line in data.splitlines(keepends=True):
        crc, _, text = line.partition(b" ")
        if crc != b"%08x" % zlib.crc32(text):
            continue
        record = json.loads(text)
        yield (
            record["place"],
            CaseOutcome(
                result=read_result(record["result"]),
                turn_lines=record["turns"].encode(),
                probe_lines=record["probes"].encode(),
                context_lines=record["contexts"].encode(),
            ),
        )
