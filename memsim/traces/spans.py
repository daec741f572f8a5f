"""Read spans of OpenTelemetry, as the collector's file exporter or an SDK's console writes them.

Log records, which newer agents send their messages as, are read as spans with one event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memsim.traces.chat_messages import field_of, moment_of, object_of, objects_of

_DEEPEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, with its attributes as plain values.

    Attributes:
        events: each event's name and attributes.
    """

    trace: str
    name: str
    began: datetime | None
    ended: datetime | None
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def spans_of(value: object) -> Iterator[Span]:
    """The spans of one JSON value of a file."""
    found = object_of(value)
    for resource in objects_of(found.get("resourceSpans")):
        for scope in objects_of(resource.get("scopeSpans")):
            yield from map(_span, objects_of(scope.get("spans")))
    for resource in objects_of(found.get("resourceLogs")):
        for scope in objects_of(resource.get("scopeLogs")):
            yield from map(_log, objects_of(scope.get("logRecords")))
    if "attributes" in found:
        yield _span(found)


def _span(found: Mapping[str, Any]) -> Span:
    context = object_of(found.get("context"))
    return Span(
        trace=field_of(found, "traceId", "trace_id") or field_of(context, "trace_id", "traceId"),
        name=field_of(found, "name"),
        began=moment_of(_either(found, "startTimeUnixNano", "start_time")),
        ended=moment_of(_either(found, "endTimeUnixNano", "end_time")),
        attributes=_attributes(found.get("attributes")),
        events=tuple(
            (field_of(event, "name"), _attributes(event.get("attributes")))
            for event in objects_of(found.get("events"))
        ),
    )


def _log(found: Mapping[str, Any]) -> Span:
    attributes = _attributes(found.get("attributes"))
    name = field_of(found, "eventName") or field_of(attributes, "event.name")
    body = _value(found.get("body"), 0)
    time = moment_of(_either(found, "timeUnixNano", "observedTimeUnixNano"))
    content = body if isinstance(body, dict) else {"content": body}
    return Span(
        trace=field_of(found, "traceId"),
        name=name,
        began=time,
        ended=time,
        attributes=attributes,
        events=((name, {**attributes, **content}),),
    )


def _either(found: Mapping[str, Any], *names: str) -> object:
    return next((found[name] for name in names if found.get(name)), None)


def _attributes(found: object) -> dict[str, Any]:
    if isinstance(found, dict):
        return found
    return {field_of(each, "key"): _value(each.get("value"), 0) for each in objects_of(found)}


def _value(found: object, depth: int) -> Any:  # noqa: ANN401 - any JSON value
    """A value that is wrapped in its type, as `{"stringValue": "x"}`."""
    if not isinstance(found, dict) or depth > _DEEPEST:
        return found
    kind, inner = next(iter(found.items()), ("", None))
    if kind == "arrayValue":
        return [_value(each, depth + 1) for each in objects_of(object_of(inner).get("values"))]
    if kind == "kvlistValue":
        pairs = objects_of(object_of(inner).get("values"))
        return {field_of(p, "key"): _value(p.get("value"), depth + 1) for p in pairs}
    if kind == "intValue" and isinstance(inner, str):
        return int(inner) if inner.lstrip("-").isdecimal() and len(inner) < 30 else inner
    return inner


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The objects of flat keys such as `PREFIX.0.message.role`, in the order of their numbers."""
    made: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        number, _, rest = key[len(prefix) :].lstrip(".").partition(".")
        if number.isdecimal() and number.isascii() and len(number) < 7:
            made.setdefault(int(number), {})[rest] = value
    return [made[number] for number in sorted(made)]


def json_or_itself(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """The value of JSON text; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{", '"')):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
