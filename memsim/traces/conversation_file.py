"""Write and read conversation files: one line for each message, beside the scenario that plays it.

The lines::

    {"memsim_trace": 1, "format": "openai", "version": 1, "pace": 60}
    {"session": "s1", "principal": "ana", "title": "A refund"}
    {"role": "user", "text": "My order is A-17.", "time": "2026-03-02T09:00:00Z"}
    {"role": "recall", "text": "order", "documents": [{"text": "A-17", "id": "d1", "score": 0.9}]}
    {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "find", "arguments": "{}"}]}
    {"role": "tool", "text": "found", "answers": "c1", "is_error": true}

Keys that are empty are left out. `pace` is the number of seconds from message to message where the
trace has no times. The lines after a `session` line belong to that session.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memsim.errors import ScenarioError
from memsim.json_input import parse_json
from memsim.traces.records import (
    TRACE_ROLES,
    TraceCall,
    TraceConversation,
    TraceDocument,
    TraceMessage,
)

T = TypeVar("T")

VERSION = 1
_MOST_LINE = 64 * 2**20
_ROLES = frozenset(TRACE_ROLES)
encode_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""JSON text on one line."""


class SessionLine(NamedTuple):
    """The line that begins a session."""

    session: str
    principal: str
    title: str = ""


def header_line(format_name: str, version: int, pace: float | None) -> str:
    """The first line of a file, with the line break."""
    said = {"memsim_trace": VERSION, "format": format_name, "version": version}
    return encode_json(said if pace is None else {**said, "pace": pace}) + "\n"


def session_lines(session: SessionLine, conversation: TraceConversation) -> str:
    """The lines of one session, with the line breaks."""
    head = {name: value for name, value in session._asdict().items() if value}
    lines = [
        encode_json(head),
        *(encode_json(message_object(m)) for m in conversation.messages),
        "",
    ]
    return "\n".join(lines)


def message_object(message: TraceMessage) -> dict[str, Any]:
    """A message as a JSON object, without its empty keys."""
    made: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.time is not None:
        made["time"] = iso_time(message.time)
    if message.calls:
        made["calls"] = [
            {"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls
        ]
    if message.answers:
        made["answers"] = message.answers
    if message.is_error:
        made["is_error"] = True
    if message.speaker:
        made["speaker"] = message.speaker
    if message.documents:
        made["documents"] = [document_object(each) for each in message.documents]
    return made


def document_object(document: TraceDocument) -> dict[str, Any]:
    """A document as a JSON object without its empty keys."""
    made: dict[str, Any] = {"text": document.text}
    made |= {"id": document.id} if document.id else {}
    return made if document.score is None else {**made, "score": document.score}


def iso_time(moment: datetime) -> str:
    """A moment in UTC, as ISO 8601 with `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_conversation_file(
    data: bytes, path: Path | str
) -> Iterator[tuple[int, SessionLine | TraceMessage]]:
    """The sessions and messages of a file in order, each with its line number.

    Raises:
        ScenarioError: a line is not as `session_lines` writes it; with path and line.
    """
    lines = (line.removesuffix(b"\n") for line in io.BytesIO(data))
    _check_header(_object(next(lines, b""), Path(path), 1), path)
    began = False
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        found = _object(line, Path(path), number)
        try:
            read = _session(found) if "session" in found else message_of(found)
        except (KeyError, TypeError, ValueError) as error:
            said = f"is not a line of a conversation: {_reason(error)}"
            raise ScenarioError(said, path=path, line=number) from None
        began = began or isinstance(read, SessionLine)
        if not began:
            raise ScenarioError("a message stands before its session", path=path, line=number)
        yield number, read


def _reason(error: Exception) -> str:
    said = f"no {error}" if isinstance(error, KeyError) else str(error)
    return said if said.isprintable() else ascii(said)[1:-1]


def _check_header(found: Mapping[str, Any], path: Path | str) -> None:
    if found.get("memsim_trace") != VERSION:
        said = f"does not begin with memsim_trace {VERSION}; memsim import writes such files"
        raise ScenarioError(said, path=path, line=1)


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    if len(line) > _MOST_LINE:
        raise ScenarioError("the line is too long", path=path, line=number)
    found = parse_json(line, path, ScenarioError, line=number, quick=True)
    if not isinstance(found, dict):
        raise ScenarioError("is not a JSON object", path=path, line=number)
    return found


def _session(found: dict[str, Any]) -> SessionLine:
    return _keyed(SessionLine, found)


def message_of(found: Mapping[str, Any]) -> TraceMessage:
    """The message of a JSON object that `message_object` made.

    Raises:
        TypeError: a value is of another kind.
        ValueError: a role is unknown, a time is none, or a text is none.
    """
    role = found.get("role")
    if role not in _ROLES:
        raise ValueError(f"role {str(role)[:40]!a} is unknown")
    given = dict(found)
    if "time" in given:
        given["time"] = datetime.fromisoformat(_checked(given["time"], str)).astimezone(UTC)
    if "calls" in given:
        given["calls"] = tuple(_keyed(TraceCall, c) for c in _checked(given["calls"], list))
    if "documents" in given:
        documents = _checked(given["documents"], list)
        given["documents"] = tuple(_keyed(TraceDocument, d, score=(int, float)) for d in documents)
    _checked(given.get("is_error", False), bool)
    for name in ("text", "answers", "speaker"):
        _checked(given.get(name, ""), str)
    return TraceMessage(**given)


def _keyed(kind: Callable[..., T], found: object, **kinds: type | tuple[type, ...]) -> T:
    given = _checked(found, dict)
    for name, value in given.items():
        _checked(value, kinds.get(name, str))
    return kind(**given)


def _checked(value: Any, kind: type | tuple[type, ...]) -> Any:  # noqa: ANN401 - a JSON value
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} {str(value)[:40]!a} is not allowed here")
    if isinstance(value, str) and not value.isascii():
        value.encode()
    return value
