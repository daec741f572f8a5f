"""The kinds of value that a script is made of: each reads strictly and has its JSON Schema."""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from memsim.clock import parse_duration, utc
from memsim.errors import ScenarioError, nearest
from memsim.scenario.nodes import Listing, Mapping, Node, Scalar, kind_of, shown

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Schema = dict[str, object]

ID_LENGTH = 100
_WHOLE = re.compile(r"(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?")
_TOKENS = re.compile(r"([1-9][0-9]*(?:\.[0-9]+)?)(k?)")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_BOUND = re.compile(r"(>=|<=|==|>|<)\s*-?[0-9]+(\.[0-9]+)?\s*%?")
_MAX_TOKENS = 100_000_000
_MAX_GAP = timedelta(days=365 * 1000)
_PLAIN: Schema = {"type": ["string", "number", "boolean"]}


class Kind(ABC, Generic[T_co]):
    """A kind of value."""

    @abstractmethod
    def read(self, node: Node, name: str) -> T_co:
        """The node's value.

        Args:
            node: where it stands.
            name: what to call it in a message.

        Raises:
            ScenarioError: it is something else; without a path.
        """

    @abstractmethod
    def schema(self) -> Schema:
        """What it may be, as JSON Schema."""


def expected(name: str, what: str, node: Node, hint: str | None = None) -> ScenarioError:
    """The error of a node that is not what its place needs."""
    return ScenarioError(f"{name} must be {what}, not {kind_of(node)}", line=node.line, hint=hint)


def _written(node: Node, name: str, what: str) -> Scalar:
    if not isinstance(node, Scalar):
        raise expected(name, what, node)
    if node.null:
        word = f'; put "{node.text}" in quotes if the word is meant' if node.text else ""
        raise ScenarioError(f"{name} has no value{word}", line=node.line)
    return node


class Text(Kind[str]):
    """Words, exactly as written: `no`, `010` and `12:30:45` stay what they are.

    Args:
        blank: whether the text may be empty, in quotes.
    """

    def __init__(self, *, blank: bool = False) -> None:
        self._blank = blank

    def read(self, node: Node, name: str) -> str:
        text = _written(node, name, "text").text
        if not self._blank and not text.strip():
            raise ScenarioError(f"{name} is blank", line=node.line)
        return text

    def schema(self) -> Schema:
        return dict(_PLAIN) if self._blank else {**_PLAIN, "pattern": r"\S"}


class Ident(Kind[str]):
    """A name: letters, digits, `_`, `-` and `.`, beginning with a letter, a digit or `_`."""

    def read(self, node: Node, name: str) -> str:
        text = _written(node, name, "a name").text
        problem = _ident_problem(text)
        if problem:
            raise ScenarioError(f"{name} {shown(text)} {problem}", line=node.line)
        return text

    def schema(self) -> Schema:
        return {**_PLAIN, "minLength": 1, "maxLength": ID_LENGTH, "pattern": r"^[^\s/\\:\[\]%]+$"}


def _ident_problem(text: str) -> str:
    if not text:
        return "is empty"
    if len(text) > ID_LENGTH:
        return f"is longer than {ID_LENGTH} characters"
    for character in text:
        if not (character.isalnum() or character in "_-." or _combining(character)):
            return f"may not hold {_named(character)}: letters, digits, _ - and . only"
    return "" if text[0].isalnum() or text[0] == "_" else "must begin with a letter or a digit"


def _combining(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Mc"}


def _named(character: str) -> str:
    if character == " ":
        return "a space"
    if character.isprintable():
        return repr(character)
    return f"the invisible U+{ord(character):04X}"


def folded(name: str) -> str:
    """The form in which two names must differ: NFC, without case and outer blanks."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


class Whole(Kind[int]):
    """A whole number in plain digits.

    Args:
        least: the smallest allowed.
        most: the largest allowed.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def read(self, node: Node, name: str) -> int:
        what = "a whole number"
        written = _written(node, name, what)
        if not (written.plain and _WHOLE.fullmatch(written.text)):
            digits = written.text.strip().replace("_", "").lstrip("0+")
            raise expected(name, what, node, digits if _is_digits(digits) else None)
        number = int(written.text) if len(written.text) < 20 else self._most + 1
        if not self._least <= number <= self._most:
            raise expected(name, f"from {self._least:,} to {self._most:,}", node)
        return number

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self._least, "maximum": self._most}


def _is_digits(text: str) -> bool:
    return len(text) < 20 and text.isascii() and text.isdigit()


class Decimal(Kind[float]):
    """A number of zero or more, such as 0.05.

    Args:
        most: the largest allowed.
    """

    def __init__(self, most: float) -> None:
        self._most = most

    def read(self, node: Node, name: str) -> float:
        written = _written(node, name, "a number")
        if not (written.plain and len(written.text) < 40 and _DECIMAL.fullmatch(written.text)):
            raise expected(name, "a number such as 0.05", node)
        number = float(written.text)
        if number > self._most:
            raise expected(name, f"at most {self._most:g}", node)
        return number

    def schema(self) -> Schema:
        return {"type": "number", "minimum": 0, "maximum": self._most}


class Flag(Kind[bool]):
    """`true` or `false`, and no other way to say it."""

    def read(self, node: Node, name: str) -> bool:
        written = _written(node, name, "true or false")
        if not written.plain or written.text not in {"true", "false"}:
            meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}
            lower = written.text.lower()
            hint = lower if lower in {"true", "false"} else meant.get(lower)
            raise expected(name, "true or false", node, hint)
        return written.text == "true"

    def schema(self) -> Schema:
        return {"type": "boolean"}


class Choice(Kind[str]):
    """One of a few words.

    Args:
        words: what may be chosen.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def read(self, node: Node, name: str) -> str:
        text = _written(node, name, f"one of {', '.join(self._words)}").text
        if text not in self._words:
            raise expected(
                name, f"one of {', '.join(self._words)}", node, nearest(text, self._words)
            )
        return text

    def schema(self) -> Schema:
        return {"enum": list(self._words)}


class Duration(Kind[timedelta]):
    """A length of time, such as `90s`, `2min`, `36h`, `3d` or `1d 6h`.

    Args:
        zero: whether it may be nothing.
    """

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def read(self, node: Node, name: str) -> timedelta:
        what = "a duration such as 90s, 5min, 36h, 3d or 2w"
        text = _written(node, name, what).text
        if len(text) > 40 or not text.isascii():
            raise expected(name, what, node)
        try:
            span = parse_duration(text)
        except (ValueError, OverflowError):
            raise expected(name, what, node) from None
        if span > _MAX_GAP:
            raise expected(name, "less than a thousand years", node)
        if not span and not self._zero:
            raise expected(name, "longer than nothing", node)
        return span

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\s*(\d+\s*(s|min|m|h|d|w)\s*)+$"}


class Instant(Kind[datetime]):
    """A moment with its time zone, such as `2026-03-02T09:00:00Z`."""

    def read(self, node: Node, name: str) -> datetime:
        what = "a moment such as 2026-03-02T09:00:00Z"
        text = _written(node, name, what).text
        if not _INSTANT.fullmatch(text):
            raise expected(name, f"{what}, with its time zone", node)
        try:
            moment = utc(datetime.fromisoformat(text.upper()))
        except (ValueError, OverflowError):
            raise expected(name, what, node) from None
        if not 1900 <= moment.year <= 9000:
            raise expected(name, "between the years 1900 and 9000", node)
        return moment.astimezone(UTC)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{_INSTANT.pattern}$"}


class Tokens(Kind[int]):
    """A number of tokens, such as 4096 or 4k; a k is 1,024."""

    def read(self, node: Node, name: str) -> int:
        what = "a number of tokens such as 4096 or 4k"
        written = _written(node, name, what)
        found = _TOKENS.fullmatch(written.text) if len(written.text) < 20 else None
        tokens = float(found[1]) * (1024 if found[2] else 1) if found else 0.0
        if not 1 <= tokens <= _MAX_TOKENS or tokens != int(tokens):
            raise expected(name, what, node)
        return int(tokens)

    def schema(self) -> Schema:
        number: Schema = {"type": "integer", "minimum": 1, "maximum": _MAX_TOKENS}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{_TOKENS.pattern}$"}]}


class Bound(Kind[str]):
    """What a metric must keep to, such as `">= 0.80"`."""

    def read(self, node: Node, name: str) -> str:
        what = 'a bound such as ">= 0.80"'
        text = _written(node, name, what).text.strip()
        if len(text) > 40 or not _BOUND.fullmatch(text):
            raise expected(name, what, node)
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": rf"^\s*{_BOUND.pattern}\s*$"}


class Arguments(Kind[str]):
    """A tool's arguments: a mapping of JSON values, read as canonical JSON text."""

    def read(self, node: Node, name: str) -> str:
        if not isinstance(node, Mapping):
            raise expected(name, "a mapping", node)
        return json.dumps(
            _json(node, name), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )

    def schema(self) -> Schema:
        return {"type": "object"}


def _json(node: Node, name: str) -> object:
    if isinstance(node, Mapping):
        return {key: _json(value, name) for key, value in node.entries.items()}
    if isinstance(node, Listing):
        return [_json(item, name) for item in node.items]
    if not node.plain:
        return node.text
    if node.text in {"true", "false", "null"}:
        return {"true": True, "false": False}.get(node.text)
    if not _JSON_NUMBER.fullmatch(node.text):
        return node.text
    if len(node.text) > 18:
        raise ScenarioError(f"the number {shown(node.text)} in {name} is too long", line=node.line)
    return float(node.text) if "." in node.text else int(node.text)


class ListOf(Kind[tuple[T, ...]]):
    """Several values of a kind.

    Args:
        kind: what each is.
        single: whether one value may stand without its list.
        least: how many there must be.
    """

    def __init__(self, kind: Kind[T], *, single: bool = False, least: int = 1) -> None:
        self._kind = kind
        self._single = single
        self._least = least

    def read(self, node: Node, name: str) -> tuple[T, ...]:
        if not isinstance(node, Listing):
            if self._single:
                return (self._kind.read(node, name),)
            raise expected(name, "a list", node)
        if len(node.items) < self._least:
            raise ScenarioError(f"{name} is an empty list", line=node.line)
        return tuple(self._kind.read(item, name) for item in node.items)

    def schema(self) -> Schema:
        item = self._kind.schema()
        several: Schema = {"type": "array", "items": item, "minItems": self._least}
        return {"anyOf": [item, several]} if self._single else several


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """A value under a name, with the line of the name."""

    name: str
    value: T
    line: int | None


class MapOf(Kind[tuple[Named[T], ...]]):
    """Values under names that differ in more than case, in the order written.

    Args:
        kind: what each value is.
        names: what each name is.
        noun: what a name names, for messages.
    """

    def __init__(self, kind: Kind[T], noun: str, names: Kind[str] | None = None) -> None:
        self._kind = kind
        self._names = names or Ident()
        self._noun = noun

    def read(self, node: Node, name: str) -> tuple[Named[T], ...]:
        if not isinstance(node, Mapping):
            raise expected(name, "a mapping", node)
        seen: dict[str, str] = {}
        return tuple(self._item(node, key, seen) for key in node.entries)

    def _item(self, node: Mapping, key: str, seen: dict[str, str]) -> Named[T]:
        line = node.lines[key]
        self._names.read(Scalar(key, line), self._noun)
        twin = seen.setdefault(folded(key), key)
        if twin != key:
            raise ScenarioError(
                f"{self._noun} {shown(key)} is the same name as {shown(twin)}", line=line
            )
        return Named(key, self._kind.read(node.entries[key], f"{self._noun} {key}"), line)

    def schema(self) -> Schema:
        return {
            "type": "object",
            "propertyNames": {"minLength": 1, "maxLength": ID_LENGTH},
            "additionalProperties": self._kind.schema(),
        }
