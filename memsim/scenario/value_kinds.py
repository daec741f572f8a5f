"""Kinds of single values: strict readers with a JSON Schema for each."""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from memsim.clock import parse_duration
from memsim.errors import ScenarioError
from memsim.message import utc
from memsim.scenario.document import (
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    describe_node,
    nearest_name,
    quote,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Schema = dict[str, object]

_NEGATIVE = re.compile(r"-[0-9]+")
_WHOLE = re.compile(r"(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?")
_TOKENS = re.compile(r"([1-9][0-9]*(?:\.[0-9]+)?)(k?)")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_BOUND = re.compile(r"(>=|<=|==|>|<)\s*-?[0-9]+(\.[0-9]+)?\s*%?")
_MAX_TOKENS = 100_000_000
_MAX_GAP = timedelta(days=365 * 1000)
PLAIN: Schema = {"type": ["string", "number", "boolean"]}


class FieldKind(ABC, Generic[T_co]):
    """A kind of value."""

    @abstractmethod
    def read(self, node: Node, name: str) -> T_co:
        """The node's value.

        Raises:
            ScenarioError: it is something else; without a path.
        """

    @abstractmethod
    def schema(self) -> Schema:
        """What it may be, as JSON Schema."""


def wrong_kind(name: str, what: str, node: Node, hint: str | None = None) -> ScenarioError:
    """The error of a node that is not what its place needs."""
    return ScenarioError(
        f"{name} must be {what}, not {describe_node(node)}", line=node.line, hint=hint
    )


def scalar_of(node: Node, name: str, what: str) -> ScalarNode:
    if not isinstance(node, ScalarNode):
        raise wrong_kind(name, what, node)
    if node.null:
        word = f'; put "{node.text}" in quotes if the word is meant' if node.text else ""
        raise ScenarioError(f"{name} has no value{word}", line=node.line)
    return node


class TextKind(FieldKind[str]):
    """Words, exactly as written: `no`, `010` and `12:30:45` stay what they are.

    Args:
        blank: whether the text may be empty, in quotes.
        most: characters at most; None for as many as a file may hold.
    """

    def __init__(self, *, blank: bool = False, most: int | None = None) -> None:
        self._blank = blank
        self._most = most

    def read(self, node: Node, name: str) -> str:
        text = scalar_of(node, name, "text").text
        if not self._blank and not text.strip():
            raise ScenarioError(f"{name} is blank", line=node.line)
        if self._most is not None and len(text) > self._most:
            raise ScenarioError(f"{name} has more than {self._most:,} characters", line=node.line)
        return text

    def schema(self) -> Schema:
        said = dict(PLAIN) if self._blank else {**PLAIN, "pattern": r"\S"}
        return said if self._most is None else {**said, "maxLength": self._most}


class WholeKind(FieldKind[int]):
    """A whole number in plain digits."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def read(self, node: Node, name: str) -> int:
        what = "a whole number"
        found = scalar_of(node, name, what)
        if not (found.plain and _WHOLE.fullmatch(found.text)):
            if found.plain and _NEGATIVE.fullmatch(found.text):
                raise wrong_kind(name, self._range(), node)
            if not found.plain and _WHOLE.fullmatch(found.text):
                raise wrong_kind(name, f"{what} without quotes", node)
            digits = found.text.strip().replace("_", "").lstrip("0+")
            raise wrong_kind(name, what, node, digits if _is_digits(digits) else None)
        number = int(found.text) if len(found.text) < 20 else self._most + 1
        if not self._least <= number <= self._most:
            raise wrong_kind(name, self._range(), node)
        return number

    def _range(self) -> str:
        return f"from {self._least:,} to {self._most:,}"

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self._least, "maximum": self._most}


def _is_digits(text: str) -> bool:
    return len(text) < 20 and text.isascii() and text.isdigit()


class DecimalKind(FieldKind[float]):
    """A number of zero or more, such as 0.05."""

    def __init__(self, most: float) -> None:
        self._most = most

    def read(self, node: Node, name: str) -> float:
        found = scalar_of(node, name, "a number")
        if not (found.plain and len(found.text) < 40 and _DECIMAL.fullmatch(found.text)):
            raise wrong_kind(name, "a number such as 0.05", node)
        number = float(found.text)
        if number > self._most:
            raise wrong_kind(name, f"at most {self._most:g}", node)
        return number

    def schema(self) -> Schema:
        return {"type": "number", "minimum": 0, "maximum": self._most}


class FlagKind(FieldKind[bool]):
    """`true` or `false`, and no other way to say it."""

    def read(self, node: Node, name: str) -> bool:
        found = scalar_of(node, name, "true or false")
        if not found.plain or found.text not in {"true", "false"}:
            meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}
            lower = found.text.lower()
            hint = lower if lower in {"true", "false"} else meant.get(lower)
            raise wrong_kind(name, "true or false", node, hint)
        return found.text == "true"

    def schema(self) -> Schema:
        return {"type": "boolean"}


class ChoiceKind(FieldKind[str]):
    """One of a few words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def read(self, node: Node, name: str) -> str:
        text = scalar_of(node, name, f"one of {', '.join(self._words)}").text
        if text not in self._words:
            raise wrong_kind(
                name, f"one of {', '.join(self._words)}", node, nearest_name(text, self._words)
            )
        return text

    def schema(self) -> Schema:
        return {"enum": list(self._words)}


class DurationKind(FieldKind[timedelta]):
    """A length of time, such as `90s`, `2min`, `36h`, `3d` or `1d 6h`.

    Args:
        zero: whether it may be nothing.
    """

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def read(self, node: Node, name: str) -> timedelta:
        what = "a duration such as 90s, 5min, 36h, 3d or 2w"
        text = scalar_of(node, name, what).text
        if len(text) > 40 or not text.isascii():
            raise wrong_kind(name, what, node)
        try:
            span = parse_duration(text)
        except (ValueError, OverflowError):
            raise wrong_kind(name, what, node) from None
        if span > _MAX_GAP:
            raise wrong_kind(name, "less than a thousand years", node)
        if not span and not self._zero:
            raise wrong_kind(name, "longer than nothing", node)
        return span

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\s*(\d+\s*(s|min|m|h|d|w)\s*)+$"}


class InstantKind(FieldKind[datetime]):
    """A moment with its time zone, such as `2026-03-02T09:00:00Z`."""

    def read(self, node: Node, name: str) -> datetime:
        what = "a moment such as 2026-03-02T09:00:00Z"
        text = scalar_of(node, name, what).text
        if not _INSTANT.fullmatch(text):
            raise wrong_kind(name, f"{what}, with its time zone", node)
        try:
            moment = utc(datetime.fromisoformat(text.upper()))
        except (ValueError, OverflowError):
            raise wrong_kind(name, what, node) from None
        if not 1900 <= moment.year <= 9000:
            raise wrong_kind(name, "between the years 1900 and 9000", node)
        return moment.astimezone(UTC)

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{_INSTANT.pattern}$"}


class TokensKind(FieldKind[int]):
    """A number of tokens, such as 4096 or 4k; a k is 1,024."""

    def read(self, node: Node, name: str) -> int:
        what = "a number of tokens such as 4096 or 4k"
        text = scalar_of(node, name, what).text
        found = _TOKENS.fullmatch(text) if len(text) < 20 else None
        tokens = float(found[1]) * (1024 if found[2] else 1) if found else 0.0
        if not 1 <= tokens <= _MAX_TOKENS or tokens != int(tokens):
            raise wrong_kind(name, what, node)
        return int(tokens)

    def schema(self) -> Schema:
        number: Schema = {"type": "integer", "minimum": 1, "maximum": _MAX_TOKENS}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{_TOKENS.pattern}$"}]}


class BoundKind(FieldKind[str]):
    """What a metric must keep to, such as `">= 0.80"`."""

    def read(self, node: Node, name: str) -> str:
        what = 'a bound such as ">= 0.80"'
        text = scalar_of(node, name, what).text.strip()
        if len(text) > 40 or not _BOUND.fullmatch(text):
            raise wrong_kind(name, what, node)
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": rf"^\s*{_BOUND.pattern}\s*$"}


class ArgumentsKind(FieldKind[str]):
    """A tool's arguments: a mapping of JSON values, read as canonical JSON text."""

    def read(self, node: Node, name: str) -> str:
        if not isinstance(node, MappingNode):
            raise wrong_kind(name, "a mapping", node)
        return json.dumps(
            _json(node, name), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )

    def schema(self) -> Schema:
        return {"type": "object"}


def _json(node: Node, name: str) -> object:
    if isinstance(node, MappingNode):
        return {key: _json(value, name) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [_json(item, name) for item in node.items]
    if not node.plain:
        return node.text
    if node.text in {"true", "false", "null"}:
        return {"true": True, "false": False}.get(node.text)
    if not _JSON_NUMBER.fullmatch(node.text):
        return node.text
    if len(node.text) > 18:
        raise ScenarioError(f"the number {quote(node.text)} in {name} is too long", line=node.line)
    return float(node.text) if "." in node.text else int(node.text)


ID_LENGTH = 100
# For editors, whose regular expressions know no Unicode letters; `$` is for `$i` in a repeat.
_NEVER = r"\s!-#%-,/:-@\[-^`{-~\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_PATTERN = f"^[^{_NEVER}.\\-][^{_NEVER}]*$"
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)


class NameKind(FieldKind[str]):
    """A name: letters, digits, `_`, `-` and `.`, beginning with a letter, a digit or `_`."""

    def read(self, node: Node, name: str) -> str:
        text = scalar_of(node, name, "a name").text
        problem = name_problem(text)
        if problem:
            raise ScenarioError(f"{name} {quote(text)} {problem}", line=node.line)
        return text

    def schema(self) -> Schema:
        return {**PLAIN, "maxLength": ID_LENGTH, "pattern": _PATTERN}


def name_problem(text: str) -> str:
    if not text:
        return "is empty"
    if len(text) > ID_LENGTH:
        return f"is longer than {ID_LENGTH} characters"
    for character in text:
        if not (character.isalnum() or character in "_-." or _combining(character)):
            return f"must not contain {_character_name(character)}: use letters, digits, _ - and ."
    return "" if text[0].isalnum() or text[0] == "_" else "must begin with a letter or a digit"


def _combining(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Mc"}


def _character_name(character: str) -> str:
    if character == " ":
        return "a space"
    if character.isprintable():
        return repr(character)
    return f"the invisible U+{ord(character):04X}"


def fold_name(name: str) -> str:
    """Fold a name for comparison: NFC, without case and outer blanks."""
    if name.isascii():
        return name.lower().strip()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


class DistinctNames:
    """Names seen so far, which must differ in more than case."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._seen: dict[str, str] = {}

    def spell(self, name: str, line: int | None) -> None:
        """A name that may come again.

        Raises:
            ScenarioError: it was seen in another spelling.
        """
        twin = self._seen.setdefault(fold_name(name), name)
        if twin != name:
            raise ScenarioError(
                f"{self._noun} {quote(name)} is the same name as {quote(twin)}; rename one",
                line=line,
            )

    def add(self, name: str, line: int | None) -> None:
        """A name that may not come again.

        Raises:
            ScenarioError: it was seen, in whatever spelling.
        """
        if self._seen.get(fold_name(name)) == name:
            raise ScenarioError(f"duplicate {self._noun} {quote(name)}", line=line)
        self.spell(name, line)


class TitleKind(NameKind):
    """The name of a scenario, which can also be that of a file on any system."""

    def read(self, node: Node, name: str) -> str:
        text = super().read(node, name)
        if text.casefold().split(".")[0] in _RESERVED:
            raise ScenarioError(
                f"{name} {quote(text)} is a reserved file name on Windows", line=node.line
            )
        return text
