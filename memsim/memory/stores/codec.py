"""Entries as every store writes them: canonical JSON, read back exactly or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from memsim.errors import StoreError
from memsim.memory.entry import Entry, Shelf

if TYPE_CHECKING:
    from collections.abc import Mapping

_TO_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

_WORDS = ("key", "text", "owner", "layer", "category", "subject", "session", "visibility")
_MOMENTS = ("created", "updated")
_SWITCHES = ("pinned", "archived")
_LISTS = ("readers", "sources")
_NAMES = sorted((*_WORDS, *_MOMENTS, *_SWITCHES, *_LISTS, "superseded", "attributes"))
_FIELDS = frozenset(_NAMES)
_VALUES = attrgetter(*_NAMES)
_SHELF_FIELDS = frozenset(
    ("owner", "visibility", "readers", "layer", "category", "archived", "superseded")
)


class Damaged(StoreError):  # noqa: N818 - a state of the store, as its message says
    """What a store holds cannot be read back: the store that meets it says where it is."""


def instant(moment: datetime) -> str:
    """An instant as records write it: ISO 8601 in UTC with microseconds, so that text sorts it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def encode(entry: Entry) -> str:
    """An entry as canonical JSON: keys sorted, no blanks, times as `instant` writes them.

    Raises:
        StoreError: a reader, source or attribute cannot be encoded as UTF-8.
    """
    return encodable(_TO_JSON(fields(entry)))


def fields(entry: Entry) -> dict[str, object]:
    """An entry as what JSON knows: words, switches and lists, by the names of its attributes."""
    record: dict[str, object] = dict(zip(_NAMES, _VALUES(entry), strict=True))
    made = record["created"] = instant(entry.created)
    record["updated"] = made if entry.updated == entry.created else instant(entry.updated)
    record["superseded"] = None if entry.superseded is None else instant(entry.superseded)
    return record


def encodable(text: str) -> str:
    """The text itself, once it is sure that it can be written.

    Raises:
        StoreError: it cannot be encoded as UTF-8.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StoreError(f"{error.object[error.start - 8 : error.end]!r} is not text") from error
    return text


def decode(record: str | bytes, place: str) -> Entry:
    """The entry that `encode` wrote.

    Args:
        record: canonical JSON.
        place: what to call the record in an error: a path, a row.

    Raises:
        Damaged: the record is.
    """
    try:
        return _entry(_with_names(json.loads(record), _FIELDS))
    except (ValueError, TypeError, RecursionError) as error:
        raise Damaged(f"{place} is damaged: {error}") from error


def from_fields(read: Mapping[str, object], place: str) -> Entry:
    """The entry whose `fields` were read.

    Raises:
        Damaged: they are no entry's.
    """
    try:
        return _entry(_with_names(read, _FIELDS))
    except (ValueError, TypeError) as error:
        raise Damaged(f"{place} is damaged: {error}") from error


def encode_shelf(shelf: Shelf) -> str:
    """A shelf as canonical JSON, by which equal shelves and no others are equal."""
    return encodable(_TO_JSON(asdict(shelf)))


def decode_shelf(record: str | bytes, place: str) -> Shelf:
    """The shelf that `encode_shelf` wrote.

    Raises:
        Damaged: the record is.
    """
    try:
        read = _with_names(json.loads(record), _SHELF_FIELDS)
        return Shelf(**{**read, "readers": _strings(read["readers"])})  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError) as error:
        raise Damaged(f"{place} is damaged: {error}") from error


def _with_names(read: object, names: frozenset[str]) -> dict[str, object]:
    if not isinstance(read, dict):
        raise TypeError("it is no object")
    if read.keys() != names:
        odd = sorted(read.keys() ^ names)
        raise ValueError(f"its fields are wrong: {', '.join(odd)}")
    return read


def _entry(read: Mapping[str, object]) -> Entry:
    late = read["superseded"]
    values: dict[str, object] = {name: _string(read[name]) for name in _WORDS}
    values |= {name: _moment(read[name]) for name in _MOMENTS}
    values |= {name: _strings(read[name]) for name in _LISTS}
    for name in _SWITCHES:
        if not isinstance(read[name], bool):
            raise TypeError(f"{name} is {read[name]!r}")
        values[name] = read[name]
    if values["visibility"] not in {"private", "shared", "public"}:
        raise ValueError(f"visibility is {values['visibility']!r}")
    values["superseded"] = None if late is None else _moment(late)
    values["attributes"] = tuple(_pair(p) for p in _list(read["attributes"]))
    return Entry(**values)  # type: ignore[arg-type]


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return cast("list[object]", value)


def _strings(value: object) -> tuple[str, ...]:
    return tuple(_string(item) for item in _list(value))


def _pair(value: object) -> tuple[str, str]:
    name, word = _strings(value)
    return name, word


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_string(value))
    if moment.tzinfo is None:
        raise ValueError(f"{value} has no zone")
    return moment
