"""The names of things in a script, and collections of what is named."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Generic, TypeVar

from memsim.errors import ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.scenario.nodes import Listing, Mapping, Node, Scalar, shown
from memsim.scenario.values import PLAIN, Kind, Schema, expected, written

T = TypeVar("T")

ID_LENGTH = 100
# For editors, whose regular expressions know no Unicode letters; `$` is for `$i` in a repeat.
_NEVER = r"\s!-#%-,/:-@\[-^`{-~\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_PATTERN = f"^[^{_NEVER}.\\-][^{_NEVER}]*$"
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)


class Ident(Kind[str]):
    """A name: letters, digits, `_`, `-` and `.`, beginning with a letter, a digit or `_`."""

    def read(self, node: Node, name: str) -> str:
        text = written(node, name, "a name").text
        problem = _ident_problem(text)
        if problem:
            raise ScenarioError(f"{name} {shown(text)} {problem}", line=node.line)
        return text

    def schema(self) -> Schema:
        return {**PLAIN, "maxLength": ID_LENGTH, "pattern": _PATTERN}


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
    if name.isascii():
        return name.lower().strip()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


class Distinct:
    """Names seen so far, which must differ in more than case.

    Args:
        noun: what they name, for messages.
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._seen: dict[str, str] = {}

    def spell(self, name: str, line: int | None) -> None:
        """A name that may come again.

        Raises:
            ScenarioError: it was seen in another spelling.
        """
        twin = self._seen.setdefault(folded(name), name)
        if twin != name:
            raise ScenarioError(
                f"{self._noun} {shown(name)} is the same name as {shown(twin)}", line=line
            )

    def add(self, name: str, line: int | None) -> None:
        """A name that may not come again.

        Raises:
            ScenarioError: it was seen, in whatever spelling.
        """
        if self._seen.get(folded(name)) == name:
            raise ScenarioError(f"{self._noun} {shown(name)} stands twice", line=line)
        self.spell(name, line)


class Title(Ident):
    """The name of a scenario, which can also be that of a file on any system."""

    def read(self, node: Node, name: str) -> str:
        text = super().read(node, name)
        if text.casefold().split(".")[0] in _RESERVED:
            raise ScenarioError(
                f"{name} {shown(text)} is a reserved file name on Windows", line=node.line
            )
        return text


class Names(Kind[tuple[str, ...]]):
    """A list of names, each once.

    Args:
        noun: what they name, for messages.
        single: whether one name may stand without its list.
    """

    def __init__(self, noun: str, *, single: bool = False) -> None:
        self._noun = noun
        self._single = single

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        names = ListOf(Ident(), single=self._single).read(node, name)
        seen = Distinct(self._noun)
        items = node.items if isinstance(node, Listing) else (node,)
        for each, item in zip(names, items, strict=True):
            seen.add(each, item.line)
        return names

    def schema(self) -> Schema:
        several: Schema = {
            "type": "array",
            "items": Ident().schema(),
            "minItems": 1,
            "uniqueItems": True,
        }
        return {"anyOf": [Ident().schema(), several]} if self._single else several


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


@fast_init
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
        most: how many there may be; None for as many as a file may hold.
    """

    def __init__(
        self,
        kind: Kind[T],
        noun: str,
        names: Kind[str] | None = None,
        *,
        most: int | None = None,
    ) -> None:
        self._kind = kind
        self._names = names or Ident()
        self._noun = noun
        self._most = most

    def read(self, node: Node, name: str) -> tuple[Named[T], ...]:
        if not isinstance(node, Mapping):
            raise expected(name, "a mapping", node)
        if self._most is not None and len(node.entries) > self._most:
            raise ScenarioError(f"{name} has more than {self._most:,} entries", line=node.line)
        seen = Distinct(self._noun)
        return tuple(self._item(node, key, seen) for key in node.entries)

    def _item(self, node: Mapping, key: str, seen: Distinct) -> Named[T]:
        line = node.lines[key]
        self._names.read(Scalar(key, line), self._noun)
        seen.spell(key, line)
        return Named(key, self._kind.read(node.entries[key], f"{self._noun} {key}"), line)

    def schema(self) -> Schema:
        most: Schema = {} if self._most is None else {"maxProperties": self._most}
        return {
            "type": "object",
            **most,
            "propertyNames": self._names.schema(),
            "additionalProperties": self._kind.schema(),
        }
