"""Parse a script file into nodes with line numbers, under limits that stop hostile files.

Aliases, merge keys, tags, several documents and duplicate keys are errors. The file is read from
parser events and never composed, so that each limit holds while it is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Mapping as AbstractMapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Union

import yaml

from memsim.errors import ScenarioError, nearest
from memsim.scenario.script_files import MAX_BYTES, read_bytes

MAX_DEPTH = 50
"""Levels of nesting; a real script has about eight."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 48
_NAME = 100
_CANDIDATES = 1_000


class ScalarNode(NamedTuple):
    """One piece of text, exactly as written.

    Attributes:
        plain: written without quotes, so that it may stand for a number, `true` or nothing.
    """

    text: str
    line: int | None
    plain: bool = False

    @property
    def null(self) -> bool:
        """Nothing was written, or a word that means nothing."""
        return self.plain and self.text in NULLS


class ListNode(NamedTuple):
    """Items in order."""

    items: tuple[Node, ...]
    line: int | None


class MappingNode(NamedTuple):
    """Keys and values in the order written, with the line of each key."""

    entries: AbstractMapping[str, Node]
    lines: AbstractMapping[str, int | None]
    line: int | None

    def line_of(self, key: str) -> int | None:
        """The line of a key, or of the mapping where it has no such key."""
        return self.lines.get(key, self.line)


Node = Union[ScalarNode, ListNode, MappingNode]  # noqa: UP007 - the classes above name it before it exists


def scalar(text: str, line: int | None, *, plain: bool = False) -> ScalarNode:
    """A scalar whose text can be printed and stored.

    Raises:
        ScenarioError: it holds a control character or half of a surrogate pair.
    """
    if not text.isprintable():
        found = _CONTROL.search(text) or _SURROGATE.search(text)
        if found:
            kind = "control character" if found[0] < "\x80" else "surrogate"
            raise ScenarioError(f"text contains the {kind} U+{ord(found[0]):04X}", line=line)
    return ScalarNode(text, line, plain)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant; very long names and lists are not searched."""
    return nearest(name, islice(known, _CANDIDATES)) if len(name) <= _NAME else None


def describe_node(node: Node) -> str:
    """What a node is, in words for a message."""
    if isinstance(node, ScalarNode):
        return "nothing" if node.null else f"{quote(node.text)}"
    return "a list" if isinstance(node, ListNode) else "a mapping"


def quote(text: str) -> str:
    """A text quoted for a one-line message, shortened in its middle when long."""
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN - 12]}…{text[-11:]}"
    return ascii(text) if not text.isprintable() else repr(text)


MAX_VALUES = 100_000
"""Keys, values and collections in one file; `filler` and `repeat` write longer conversations."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOMS = (
    (b"\xef\xbb\xbf", "begins with a byte order mark; save it as UTF-8 without one"),
    (b"\xff\xfe\x00\x00", "is UTF-32; save it as UTF-8"),
    (b"\x00\x00\xfe\xff", "is UTF-32; save it as UTF-8"),
    (b"\xff\xfe", "is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16; save it as UTF-8"),
)
_BOM_STARTS = tuple(mark for mark, _ in _BOMS)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NO_KEYS = NULLS | {"<<"}
_DIRECTIVE = re.compile("^%", re.MULTILINE)
_BREAK = re.compile("\r\n|\r|\n")


def read_text(path: Path) -> str:
    """The text of a script file.

    Raises:
        ScenarioError: it cannot be read, is too large, or is not plain UTF-8. Without a path, which
            the caller adds.
    """
    return decode(read_bytes(path))


def decode(data: bytes) -> str:
    """The text of what a script file holds.

    Raises:
        ScenarioError: it is too large, or is not plain UTF-8; without a path.
    """
    if len(data) > MAX_BYTES:
        raise ScenarioError(
            f"is larger than {MAX_BYTES // 2**20} MB; write long conversations with filler"
        )
    if data.startswith(_BOM_STARTS):
        problem = next(problem for mark, problem in _BOMS if data.startswith(mark))
        raise ScenarioError(problem, line=1)
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise ScenarioError("contains a NUL byte; is it UTF-16? save it as UTF-8", line=line)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        raise ScenarioError(f"is not UTF-8: invalid byte {byte}", line=line) from None
    _check_characters(text)
    return text


def _check_characters(text: str) -> None:
    found = _FORBIDDEN.search(text)
    if found:
        code = f"U+{ord(found[0]):04X}"
        raise ScenarioError(
            f'contains the character {code}; write it as an escape in double quotes ("\\u…")',
            line=_line_at(text, found.start()),
        )
    found = _DIRECTIVE.search(text)
    if found:
        raise ScenarioError(
            "a line may not begin with %: YAML directives are not allowed",
            line=_line_at(text, found.start()),
        )


def _line_at(text: str, index: int) -> int:
    return sum(1 for _ in _BREAK.finditer(text, 0, index)) + 1


def parse(text: str) -> Node | None:
    """The one document of a text as nodes; None when it holds nothing at all.

    Raises:
        ScenarioError: it is not YAML, or uses a part of YAML that scripts do without.
    """
    loader = _LOADER(text)
    try:
        return _Tree().read(loader.get_event)
    except yaml.YAMLError as error:
        raise _explained(error, text) from None
    except RecursionError:
        raise ScenarioError(f"is nested more than {MAX_DEPTH} levels deep", line=1) from None
    finally:
        loader.dispose()


class _Tree:
    """Builds nodes from events with a stack, so that depth is counted and never recurses."""

    def __init__(self) -> None:
        self._open: list[_Frame] = [_Frame(0)]
        self._documents = 0

    def read(self, following: Callable[[], Any]) -> Node | None:
        # A file has tens of events for each turn, and a suite thousands of files.
        opened, values = self._open, 0
        while (event := following()) is not None:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                line = event.start_mark.line + 1
                values += 1
                if event.anchor is not None or event.tag is not None or values > MAX_VALUES:
                    raise _refused(event, line)
                text = event.value
                plain = not event.style
                opened[-1].add(
                    ScalarNode(text, line, plain)
                    if text.isprintable()
                    else scalar(text, line, plain=plain)
                )
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                values += 1
                if event.anchor is not None or event.tag is not None or values > MAX_VALUES:
                    raise _refused(event, event.start_mark.line + 1)
                self._begin(event, mapping=kind is yaml.MappingStartEvent)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                node = opened.pop().close()
                opened[-1].add(node)
            elif kind is yaml.AliasEvent:
                raise _alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._document(event)
        return opened[0].first

    def _document(self, event: Any) -> None:  # noqa: ANN401 - PyYAML's events are untyped
        self._documents += 1
        if self._documents > 1:
            raise ScenarioError(
                "a file holds one scenario; here a second document begins",
                line=event.start_mark.line + 1,
            )

    def _begin(self, event: Any, *, mapping: bool) -> None:  # noqa: ANN401 - as _document
        line = event.start_mark.line + 1
        if len(self._open) > MAX_DEPTH:
            raise ScenarioError(f"is nested more than {MAX_DEPTH} levels deep", line=line)
        if self._open[-1].wants_key:
            raise ScenarioError("a key must be plain text", line=line)
        self._open.append(_MappingFrame(line) if mapping else _Frame(line))


def _refused(event: Any, line: int) -> ScenarioError:  # noqa: ANN401 - as _Tree._document
    if event.anchor is not None:
        return ScenarioError(f"anchors are not allowed: &{event.anchor}", line=line)
    if event.tag is not None:
        return ScenarioError(f"tags are not allowed: {event.tag}", line=line)
    return ScenarioError(
        f"contains more than {MAX_VALUES:,} values; write long conversations with filler", line=line
    )


def _alias(event: Any) -> ScenarioError:  # noqa: ANN401 - as _Tree._document
    return ScenarioError(
        f"aliases are not allowed: *{event.anchor}", line=event.start_mark.line + 1
    )


class _Frame:
    """A list that is still open."""

    __slots__ = ("_items", "line")
    wants_key = False

    def __init__(self, line: int) -> None:
        self.line = line
        self._items: list[Node] = []

    def add(self, node: Node) -> None:
        self._items.append(node)

    @property
    def first(self) -> Node | None:
        return self._items[0] if self._items else None

    def close(self) -> Node:
        return ListNode(tuple(self._items), self.line)


class _MappingFrame(_Frame):
    """A mapping that is still open."""

    __slots__ = ("_entries", "_key", "_lines")

    def __init__(self, line: int) -> None:
        self.line = line
        self._key: str | None = None
        self._entries: dict[str, Node] = {}
        self._lines: dict[str, int | None] = {}

    @property
    def wants_key(self) -> bool:  # type: ignore[override]
        return self._key is None

    def add(self, node: Node) -> None:
        if self._key is not None:
            self._entries[self._key] = node
            self._key = None
            return
        assert isinstance(node, ScalarNode)  # noqa: S101 - _begin has refused every other key
        key, line, plain = node
        if key in self._lines or (plain and key in _NO_KEYS):
            raise self._refused(node)
        self._key = key
        self._lines[key] = line

    def _refused(self, node: ScalarNode) -> ScenarioError:
        if node.plain and node.text == "<<":
            return ScenarioError("merge keys are not allowed", line=node.line)
        if node.null:
            return ScenarioError("a key is missing before the colon", line=node.line)
        return ScenarioError(
            f"duplicate key {quote(node.text)} (first defined on line {self._lines[node.text]})",
            line=node.line,
        )

    def close(self) -> Node:
        return MappingNode(self._entries, self._lines, self.line)


_SENTENCES = (
    ("mapping values are not allowed", "unexpected colon; put the text in quotes"),
    ("did not find expected comment or line break", "a value that begins with > or | needs quotes"),
    ("did not find expected alphabetic or numeric", "a value that begins with & or * needs quotes"),
    ("unknown escape character", "an unknown escape in double quotes; use single quotes"),
    ("found invalid Unicode character escape", "an escape that is no character (a surrogate?)"),
    ("unexpected end of stream", "a quote is not closed"),
    ("found unexpected document indicator", "a quote is not closed"),
)


def _explained(error: yaml.YAMLError, text: str) -> ScenarioError:
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    line = mark.line + 1 if mark is not None else 1
    line = min(line, _line_at(text, len(text.rstrip())))
    if "cannot start any token" in problem and mark is not None:
        return ScenarioError(_bad_start(text[mark.index : mark.index + 1]), line=line)
    for part, sentence in _SENTENCES:
        if part in problem:
            return ScenarioError(f"is not YAML: {sentence}", line=line)
    return ScenarioError(f"is not YAML: {' '.join(problem.split())}", line=line)


def _bad_start(character: str) -> str:
    if character == "\t":
        return "is not YAML: a tab may not indent; use spaces"
    return f"is not YAML: a value that begins with {character!r} needs quotes"
