"""Encode what a strategy's process sends, as JSON that can name only a few records.

The player reads it without running anything, and nothing in it reaches an object that is there::

    "x", 1, 2.5, true, null        itself
    ["a", 1]                       a tuple
    {"l": [1]}  {"d": [key, value]}  {"u": [1]}  {"f": [1]}   a list, a dictionary, sets
    {"t": ["datetime", text]}  {"s": [days, seconds, microseconds]}  {"b": text}   times, bytes
    {"r": [number, field, ...]}    a record of `RECORDS`
    {"c": [layer, messages, ...]}  a section; an original message in it is its number alone
    {"m": number}                  an original message, which both sides have
    {"k": number}                  a message of the strategy's own that was sent before
    {"n": [number, field, ...]}    a message of the strategy's own, which both sides keep
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from operator import attrgetter
from typing import Any

from memsim.context import Context, Section
from memsim.errors import StrategyError
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.models import Prompt, Request, ToolSpec
from memsim.strategy import (
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    SentContext,
    Surface,
)

RECORDS = (
    Context,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    Request,
    Section,
    SentContext,
    Surface,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    Prompt,
)
NAMES = tuple(tuple(field.name for field in fields(kind)) for kind in RECORDS)
_PLAIN = frozenset({str, int, float, bool, type(None)})
_TIMES: dict[str, Any] = {kind.__name__: kind for kind in (date, datetime, time)}
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class FrameEncoder:
    """Makes frames; `name` gives a message as the other side knows it."""

    def __init__(self, name: Callable[[Message], dict[str, Any]]) -> None:
        self._by_kind: dict[type, Callable[[Any], Any]] = {
            tuple: lambda value: [self.tree(v) for v in value],
            list: lambda value: {"l": [self.tree(v) for v in value]},
            dict: lambda value: {"d": [self.tree(v) for pair in value.items() for v in pair]},
            set: lambda value: {"u": [self.tree(v) for v in value]},
            frozenset: lambda value: {"f": [self.tree(v) for v in value]},
            bytes: lambda value: {"b": b2a_base64(value, newline=False).decode()},
            timedelta: lambda value: {"s": [value.days, value.seconds, value.microseconds]},
            Message: name,
        }
        for moment in _TIMES.values():
            self._by_kind[moment] = lambda value: {"t": [type(value).__name__, value.isoformat()]}
        for number, record in enumerate(RECORDS):
            self._by_kind[record] = self._of_record(number)
        self._by_kind[Section] = self._of_section

    def encode(self, value: object) -> bytes:
        """The frame of a value.

        Raises:
            StrategyError: it holds what cannot be sent.
        """
        try:
            tree = self.tree(value)
            text = json.dumps(tree, ensure_ascii=False, check_circular=False, separators=(",", ":"))
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise StrategyError(f"gave what cannot leave its process: {error}") from None
        return text.encode("utf-8", "surrogatepass")

    def tree(self, value: Any) -> Any:  # noqa: ANN401 - any value
        """The value of plain types only."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        known = self._by_kind.get(kind)
        return self._of_subclass(value) if known is None else known(value)

    def _of_record(self, number: int) -> Callable[[Any], Any]:
        names = NAMES[number]
        given = attrgetter(*names)
        if len(names) == 1:
            return lambda value: {"r": [number, self.tree(given(value))]}
        tree = self.tree
        return lambda value: {
            "r": [number, *(v if type(v) in _PLAIN else tree(v) for v in given(value))]
        }

    def _of_section(self, section: Section) -> Any:  # noqa: ANN401 - plain types
        tree = self.tree
        if type(section.messages) is not tuple:
            return self._of_record(RECORDS.index(Section))(section)
        names = [tree(m) for m in section.messages]
        messages = [n["m"] if type(n) is dict and "m" in n else n for n in names]
        return {"c": [tree(section.layer), messages, tree(section.tokens), tree(section.items)]}

    def _of_subclass(self, value: Any) -> Any:  # noqa: ANN401 - any value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        for kind in (tuple, list, dict):
            if isinstance(value, kind):
                return self._by_kind[kind](value)
        where = f"{type(value).__module__}.{type(value).__qualname__}"
        raise StrategyError(f"gave a {where}, which cannot leave its process")


class FrameDecoder:
    """Reads frames.

    Args:
        messages: make a message of what `m`, `k` and `n` hold.
    """

    def __init__(self, messages: Mapping[str, Callable[[Any], Message]]) -> None:
        build = self._build
        self._makers: dict[str, Callable[[Any], Any]] = {
            "l": lambda inside: [build(v) for v in inside],
            "d": self._dictionary,
            "u": lambda inside: {build(v) for v in inside},
            "f": lambda inside: frozenset(build(v) for v in inside),
            "t": lambda inside: _TIMES[inside[0]].fromisoformat(inside[1]),
            "s": lambda inside: timedelta(*inside),
            "b": a2b_base64,
            "r": self._record,
            "c": self._section,
            "m": messages["m"],
            "k": messages["k"],
            "n": lambda inside: messages["n"]([build(v) for v in inside]),
        }

    def decode(self, frame: bytes) -> Any:  # noqa: ANN401 - whatever was sent
        """The value of a frame.

        Raises:
            StrategyError: it is no frame.
        """
        try:
            return self._build(json.loads(frame.decode("utf-8", "surrogatepass")))
        except _UNREADABLE as error:
            raise StrategyError(f"sent what cannot be read: {type(error).__name__}") from None

    def _build(self, value: Any) -> Any:  # noqa: ANN401 - any value
        kind = type(value)
        if kind is list:
            return tuple([v if type(v) is str else self._build(v) for v in value])
        if kind is dict:
            ((tag, inside),) = value.items()
            return self._makers[tag](inside)
        return value

    def _section(self, inside: list[Any]) -> Section:
        layer, messages, tokens, items = inside
        known = self._makers["m"]
        return Section(
            layer=layer,
            messages=tuple([known(m) if type(m) is int else self._build(m) for m in messages]),
            tokens=self._build(tokens),
            items=self._build(items),
        )

    def _dictionary(self, inside: list[Any]) -> dict[Any, Any]:
        built = [self._build(v) for v in inside]
        return dict(zip(built[::2], built[1::2], strict=True))

    def _record(self, inside: list[Any]) -> object:
        names, (number, *given) = NAMES[inside[0]], inside
        built = [v if type(v) is str else self._build(v) for v in given]
        return RECORDS[number](**dict(zip(names, built, strict=True)))
