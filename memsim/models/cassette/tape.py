"""Read and write recordings as canonical JSON lines: equal recordings have equal bytes."""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.atomic_files import try_lock
from memsim.errors import nearest
from memsim.json_input import parse_json, read_bytes
from memsim.message import ToolUse
from memsim.models.cassette import (
    FORMAT,
    LARGEST,
    CassetteError,
    RecordedFailure,
    Recording,
    SentMessage,
)
from memsim.models.live import ProviderAnswer

_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
).encode
_CALL = {"call", "repeat", "task", "settings", "messages"}
_ANSWER = {"text", "calls", "finish", "input", "output", "cost"}
_FAILURE = {"kind", "said"}
_SAID = {"message", "role", "beginning", "length"}
_TASKS = ("summarise", "extract", "answer", "judge", "act")


@dataclass(slots=True, kw_only=True)
class Tape:
    """The recordings of a case.

    Attributes:
        case: the case's id.
        model: the model's ref.
        calls: by key and repeat.
        messages: the stored part of the messages, by their hash.
        lines: the line of each call that was read from a file.
    """

    case: str
    model: str
    calls: dict[tuple[str, int], Recording] = field(default_factory=dict)
    messages: dict[str, SentMessage] = field(default_factory=dict)
    lines: dict[tuple[str, int], int] = field(default_factory=dict)

    def take(self, recordings: Iterable[Recording], said: Mapping[str, SentMessage]) -> None:
        """Add recordings with their messages; an existing recording stays unchanged."""
        for recording in recordings:
            self.calls.setdefault((recording.key, recording.repeat), recording)
            for message in recording.messages:
                self.messages.setdefault(message, said[message])

    def encoded(self) -> bytes:
        """The whole file: recordings by repeat and key, and the messages that they use."""
        used = {m for recording in self.calls.values() for m in recording.messages}
        calls = sorted(self.calls.values(), key=lambda r: (r.repeat, r.key))
        records = [
            {"case": self.case, "memsim_cassette": FORMAT, "model": self.model},
            *(said_record(name, self.messages[name]) for name in sorted(used)),
            *map(call_record, calls),
        ]
        return "".join(f"{_encode(record)}\n" for record in records).encode()


def said_record(name: str, said: SentMessage) -> dict[str, object]:
    """The record of a message."""
    return {
        "message": name,
        "role": said.role,
        "beginning": said.beginning,
        "length": said.length,
    }


def call_record(recording: Recording) -> dict[str, object]:
    """The record of a call."""
    outcome = recording.outcome
    record: dict[str, object] = {
        "call": recording.key,
        "repeat": recording.repeat,
        "task": recording.task,
        "settings": dict(recording.settings),
        "messages": list(recording.messages),
    }
    if isinstance(outcome, RecordedFailure):
        return record | {"failure": {"kind": outcome.kind, "said": outcome.said}}
    answer = {
        "text": outcome.text,
        "calls": [[c.id, c.name, c.arguments] for c in outcome.calls],
        "finish": outcome.finish,
        "input": outcome.input,
        "output": outcome.output,
        "cost": outcome.cost,
    }
    return record | {"answer": answer}


def encode_line(record: Mapping[str, object]) -> bytes:
    """A record as one line, without the newline."""
    return _encode(record).encode()


_WRONG = "is not a line of a recording"


def read_tape(path: Path) -> Tape | None:
    """Read the recordings of a file; None if there is no file.

    Raises:
        CassetteError: the file is foreign, damaged or too large; with the line.
    """
    try:
        # The last call may exceed the limit.
        data = read_bytes(path, CassetteError, most=2 * LARGEST)
    except FileNotFoundError:
        return None
    tape = Tape(case="", model="")
    lines = data.split(b"\n")
    if lines.pop():
        raise CassetteError("ends in the middle of a line", path=path, line=len(lines) + 1)
    for number, line in enumerate(lines, start=1):
        record = parse_json(line, path, CassetteError, line=number, prefix=f"{_WRONG}: ")
        try:
            _read_line(tape, record, number)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            said = str(error) if type(error) is _Unsound else _WRONG
            raise CassetteError(said, path=path, line=number) from error
    if not tape.model:
        raise CassetteError("is empty: delete it and record again", path=path)
    return tape


class _Unsound(ValueError):  # noqa: N818 - a state of a line
    """A line has invalid content."""


def _read_line(tape: Tape, record: dict[str, Any], number: int) -> None:
    if number == 1:
        _read_header(tape, record)
    elif "message" in record:
        tape.messages[_text(record["message"])] = read_said(record)
    else:
        recording = read_call(record)
        key = (recording.key, recording.repeat)
        if key in tape.calls:
            raise _Unsound(f"call {recording.key} is recorded twice for repeat {recording.repeat}")
        if missing := [m for m in recording.messages if m not in tape.messages]:
            name = missing[0] if missing[0].isprintable() else ascii(missing[0])
            raise _Unsound(f"message {name} is missing above this call")
        tape.calls[key] = recording
        tape.lines[key] = number


def _read_header(tape: Tape, record: dict[str, Any]) -> None:
    if not isinstance(record, dict) or "memsim_cassette" not in record:
        raise _Unsound("is not a recording of memsim")
    if record["memsim_cassette"] != FORMAT:
        found = record["memsim_cassette"]
        raise _Unsound(f"is of format {found!r}, and this memsim reads format {FORMAT}")
    tape.case, tape.model = _text(record["case"]), _text(record["model"])
    if not tape.model:
        raise _Unsound("has no model")


def read_said(record: dict[str, Any]) -> SentMessage:
    """Read a record of `said_record`.

    Raises:
        ValueError, TypeError, KeyError: the record is invalid.
    """
    _only(record, _SAID)
    return SentMessage(
        role=_text(record["role"]),
        beginning=_text(record["beginning"]),
        length=_count(record["length"]),
    )


def read_call(record: dict[str, Any]) -> Recording:
    """Read a record of `call_record`.

    Raises:
        ValueError, TypeError, KeyError: the record is invalid.
    """
    kind = "failure" if "failure" in record else "answer"
    _only(record, {*_CALL, kind})
    if record["task"] not in _TASKS:
        raise _Unsound(f"unknown task {record['task']!r}")
    if not isinstance(record["settings"], dict):
        raise _Unsound("settings must be an object")
    return Recording(
        key=_text(record["call"]),
        repeat=_count(record["repeat"]),
        task=record["task"],
        settings=record["settings"],
        messages=tuple(map(_text, record["messages"])),
        outcome=_failure(record["failure"]) if kind == "failure" else _answer(record["answer"]),
    )


def _failure(record: dict[str, Any]) -> RecordedFailure:
    _only(record, _FAILURE)
    if record["kind"] not in {"overflow", "filtered"}:
        raise _Unsound(f"unknown failure {record['kind']!r}")
    return RecordedFailure(kind=record["kind"], said=_text(record["said"]))


def _answer(record: dict[str, Any]) -> ProviderAnswer:
    _only(record, _ANSWER)
    cost = record["cost"]
    if cost is not None and not (
        isinstance(cost, int | float) and math.isfinite(cost) and cost >= 0
    ):
        raise _Unsound(f"cost must be dollars or null, not {cost!r}")
    return ProviderAnswer(
        text=_text(record["text"]),
        calls=tuple(
            ToolUse(id=_text(i), name=_text(name), arguments=_text(arguments))
            for i, name, arguments in record["calls"]
        ),
        finish=_text(record["finish"]),
        input=_count(record["input"]),
        output=_count(record["output"]),
        cost=cost,
    )


def _only(record: dict[str, Any], known: set[str]) -> None:
    if unknown := sorted(record.keys() - known):
        near = nearest(unknown[0], known)
        raise _Unsound(
            f"unknown key {unknown[0]!r}" + (f" (did you mean {near!r}?)" if near else "")
        )
    if lacking := sorted(known - record.keys()):
        raise _Unsound(f"key {lacking[0]!r} is missing")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Unsound(f"{value!r} is not a text")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Unsound(f"{value!r} is not a count")
    return value


# A journal keeps paid calls one by one until they are in their case's file.


JournalCalls = tuple[list[Recording], dict[str, SentMessage]]


class Journal:
    """The calls of one repeat of a case while it is recorded.

    Raises:
        CassetteError: another process records the same repeat, or the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritable(path, error) from error
        if not try_lock(self._file):
            os.close(self._file)
            raise CassetteError("is being recorded by another process", path=path)

    def read(self) -> JournalCalls:
        """The calls in the journal, without a line that a killed process left unfinished."""
        calls: list[Recording] = []
        said: dict[str, SentMessage] = {}
        for line in read_bytes(self.path, CassetteError, most=2 * LARGEST).splitlines():
            crc, _, text = line.partition(b" ")
            if crc != b"%08x" % zlib.crc32(text):
                continue
            try:
                record = parse_json(text, self.path, CassetteError)
                said |= {s["message"]: read_said(s) for s in record["said"]}
                calls.append(read_call(record["call"]))
            except (ValueError, TypeError, KeyError, AttributeError, CassetteError):
                continue
        return calls, said

    def add(self, recording: Recording, said: Mapping[str, SentMessage]) -> None:
        """Append a call to the file at once.

        Raises:
            CassetteError: the file cannot be written.
        """
        messages = [said_record(name, said[name]) for name in recording.messages]
        text = encode_line({"call": call_record(recording), "said": messages})
        # The line starts with a newline, because a killed process may have left half a line.
        line = b"\n%08x %s\n" % (zlib.crc32(text), text)
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self, *, done: bool) -> None:
        """Close the journal, and delete it once its calls are in the case's file."""
        if done:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


def unwritable(path: Path, error: OSError) -> CassetteError:
    """The error for a recording that cannot be written."""
    return CassetteError(f"cannot be written: {error.strerror or error}", path=path)
