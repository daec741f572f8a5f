"""Read the answers of a contract server: strictly, because a wrong answer must not be scored."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from memsim.adapters.credit import ForeignText
from memsim.adapters.http_client import ContractClient, Fields, ServerError
from memsim.adapters.http_contract import CAPABILITIES, MOST_NAME, READERS, VERSION, Capability

T = TypeVar("T")

_MOST_TEXTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """Who serves, and what is offered."""

    name: str
    version: str
    capabilities: frozenset[Capability]


def read_identity(answer: Mapping[str, Any]) -> ServerIdentity:
    """Read the answer of `GET /v1/identity`; unknown capabilities are left out.

    Raises:
        ServerError: it is none, is of another version, or offers no way to read.
    """
    where = "GET /v1/identity"
    if answer.get("contract") != VERSION:
        raise ServerError(f"{where}: it serves contract {answer.get('contract')!r}, not {VERSION}")
    offered = _checked(answer.get("capabilities"), list, f"{where}: capabilities")
    found = frozenset(c for c in CAPABILITIES if c in offered)
    if found.isdisjoint(READERS):
        raise ServerError(f"{where}: it offers neither {' nor '.join(READERS)}")
    names = (_checked(answer.get(key), str, f"{where}: {key}") for key in ("name", "version"))
    name, version = (word[:MOST_NAME] for word in names)
    return ServerIdentity(name=name, version=version, capabilities=found)


def read_texts(answer: Mapping[str, Any], where: str, most: int = _MOST_TEXTS) -> list[ForeignText]:
    """Read the answer of `POST /v1/context` or `POST /v1/search`.

    Raises:
        ServerError: it is none, or holds more texts than were asked for.
    """
    texts = _checked(answer.get("texts"), list, f"{where}: texts")
    if len(texts) > most:
        raise ServerError(f"{where}: {len(texts):,} texts, and {most:,} were asked for")
    return [_text(_checked(each, dict, f"{where}: a text"), where) for each in texts]


def read_names(answer: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Read a list of ids.

    Raises:
        ServerError: it is none.
    """
    names = _checked(answer.get(key), list, f"{where}: {key}")
    return tuple(_checked(name, str, f"{where}: {key}") for name in names)


def read_page(answer: Mapping[str, Any], where: str) -> tuple[list[ForeignText], str]:
    """Read one page of `GET /v1/memories`, and the cursor of the next; empty for the last.

    Raises:
        ServerError: it is none.
    """
    texts = _checked(answer.get("memories"), list, f"{where}: memories")
    following = answer.get("next")
    if following is not None and not isinstance(following, str):
        raise ServerError(f"{where}: next is {type(following).__name__}, not a text")
    found = [_text(_checked(each, dict, f"{where}: a memory"), where) for each in texts]
    return found, following or ""


def read_pages(client: ContractClient, fields: Fields = ()) -> Iterator[ForeignText]:
    """Read everything on the pages of `GET /v1/memories`.

    Raises:
        ServerError: the server fails, or its pages have no end.
    """
    cursor, seen = "", set[str]()
    while True:
        more = [("cursor", cursor)] if cursor else []
        found, cursor = read_page(client.get("/v1/memories", [*fields, *more]), "GET /v1/memories")
        yield from found
        if not cursor:
            return
        if cursor in seen or len(seen) > _MOST_TEXTS:
            raise ServerError("GET /v1/memories: the pages have no end")
        seen.add(cursor)


def _text(record: Mapping[str, Any], where: str) -> ForeignText:
    text = _checked(record.get("text"), str, f"{where}: text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ServerError(f"{where}: a text holds half a character") from None
    sources = record.get("sources")
    return ForeignText(
        text=text,
        sources=() if sources is None else read_names(record, "sources", where),
        score=_score(record.get("score"), where),
        time=_time(record.get("time"), where),
        tier=_checked(record.get("tier") or "", str, f"{where}: tier")[:MOST_NAME],
    )


def _score(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ServerError(f"{where}: a score is no number")
    return float(value)


def _time(value: object, where: str) -> datetime | None:
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
        return time.astimezone(UTC) if time is not None and time.tzinfo else _no_time(where)
    except (ValueError, OverflowError):
        return _no_time(where)


def _no_time(where: str) -> datetime:
    raise ServerError(f"{where}: a time is none of ISO 8601 with a zone")


def _checked(value: object, kind: type[T], where: str) -> T:
    if not isinstance(value, kind):
        raise ServerError(f"{where} is {type(value).__name__}, not {kind.__name__}")
    return value
