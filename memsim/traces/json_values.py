"""Read the JSON values of a stranger's file one by one: lines, a long list, or one object.

A list is read element by element, so that an export of a gigabyte needs the memory of its largest
element. A line that is no JSON becomes a problem, and reading goes on behind it.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from memsim.errors import ScenarioError
from memsim.json_input import QUICK, is_deep, parse_json

MOST_VALUE = 64 * 2**20
"""Bytes of the largest line, or element of a list."""

MOST_DOCUMENT = 256 * 2**20
"""Bytes of the largest file that is one object over several lines."""

MOST_PLAIN = 100_000
"""Numbers, texts and empty objects in a row after which a file is given up."""

MOST_BAD_LINES = 1_000
"""Bad lines in a row after which a file is given up."""

_CHUNK = 1 << 20
_MARK = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_BETWEEN = " \t\r\n,"

Problem = Callable[[ScenarioError], None]


def json_values(stream: BinaryIO, name: str, problem: Problem) -> Iterator[tuple[int, Any]]:
    """The values of a stream, each with its line, counted from 1."""
    try:
        yield from _telling(_values(stream, name, problem), name)
    except ScenarioError as error:
        problem(error)
    except OSError as error:
        problem(ScenarioError(f"cannot be read: {error.strerror or error}", path=name))


def _telling(values: Iterator[tuple[int, Any]], name: str) -> Iterator[tuple[int, Any]]:
    plain = 0
    for line, value in values:
        plain = 0 if value and isinstance(value, dict | list) else plain + 1
        if plain > MOST_PLAIN:
            said = f"{MOST_PLAIN:,} values in a row hold nothing; the rest is not read"
            raise ScenarioError(said, path=name, line=line)
        yield line, value


def _values(stream: BinaryIO, name: str, problem: Problem) -> Iterator[tuple[int, Any]]:
    first = stream.readline(_CHUNK).removeprefix(_MARK)
    if first.startswith(_WIDE) or b"\x00" in first[:100]:
        raise ScenarioError("is not UTF-8 text", path=name, line=1)
    begun = 1
    while first.endswith(b"\n") and not first.strip():
        first, begun = stream.readline(_CHUNK), begun + 1
    if first.lstrip().startswith(b"["):
        yield from _Elements(stream, first, name, begun)
        return
    if not first.endswith(b"\n"):
        first += stream.readline(MOST_VALUE)
    try:
        value = _parsed(first, name, begun)
    except ScenarioError as error:
        # An object over several lines, or a bad line.
        blank, following = _past_blank(stream)
        if following and not following.startswith(b"{") and first.lstrip().startswith(b"{"):
            yield begun, _document(first + b"\n" * blank + following, stream, name)
            return
        problem(error)
        yield from _lines(chain([following], _rest(stream)), name, begun + 1 + blank, problem)
        return
    yield begun, value
    yield from _lines(_rest(stream), name, begun + 1, problem)


def _past_blank(stream: BinaryIO) -> tuple[int, bytes]:
    """How many blank lines come, and the line behind them."""
    blank = 0
    while (line := stream.readline(MOST_VALUE + 1)) and not line.strip():
        blank += 1
    return blank, line


def _rest(stream: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: stream.readline(MOST_VALUE + 1), b"")


def _document(begin: bytes, stream: BinaryIO, name: str) -> Any:  # noqa: ANN401 - any JSON value
    data = begin + stream.read(MOST_DOCUMENT)
    if len(data) > MOST_DOCUMENT:
        raise ScenarioError(f"is larger than {MOST_DOCUMENT // 2**20} MB", path=name)
    return parse_json(data, Path(name), ScenarioError, quick=True)


def _lines(
    lines: Iterator[bytes], name: str, begun: int, problem: Problem
) -> Iterator[tuple[int, Any]]:
    bad = 0
    for number, line in enumerate(lines, start=begun):
        if not line.strip():
            continue
        try:
            value = _parsed(line, name, number)
        except ScenarioError as error:
            problem(error)
            bad += 1
            if bad == MOST_BAD_LINES:
                said = f"{bad:,} lines in a row are not JSON; the rest of the file is not read"
                problem(ScenarioError(said, path=name, line=number))
            if bad == MOST_BAD_LINES or len(line) > MOST_VALUE:
                return
            continue
        bad = 0
        yield number, value


def _parsed(line: bytes, name: str, number: int) -> Any:  # noqa: ANN401 - any JSON value
    if len(line) > MOST_VALUE:
        said = f"is longer than {MOST_VALUE // 2**20} MB; the rest of the file is not read"
        raise ScenarioError(said, path=name, line=number)
    return parse_json(line, Path(name), ScenarioError, line=number, quick=True)


class _Elements:
    """The elements of a list, of which no more than the largest is held."""

    def __init__(self, stream: BinaryIO, first: bytes, name: str, line: int) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._name = name
        self._line = line
        self._ended = False
        self._at = 0
        self._text = ""
        self._text = self._decoded(first).lstrip()[1:]

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while not self._closes():
            try:
                value, end = QUICK.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                self._read_more(f"not JSON: {error.msg}")
                continue
            except (RecursionError, ValueError) as error:
                deep = isinstance(error, RecursionError)
                raise self._refusal("nested too deeply" if deep else str(error)) from None
            if value and is_deep(value):
                raise self._refusal("nested too deeply")
            yield self._line, value
            self._line += self._text.count("\n", self._at, end)
            self._at = end

    def _closes(self) -> bool:
        text = self._text
        while self._at < len(text) and text[self._at] in _BETWEEN:
            self._line += text[self._at] == "\n"
            self._at += 1
        return text.startswith("]", self._at)

    def _read_more(self, problem: str) -> None:
        held = len(self._text) - self._at
        if self._ended:
            raise self._refusal(problem)
        if held > MOST_VALUE:
            raise self._refusal(f"an element is longer than {MOST_VALUE // 2**20} MB")
        data = self._stream.read(max(_CHUNK, held))
        self._ended = not data
        self._text, self._at = self._text[self._at :] + self._decoded(data), 0

    def _decoded(self, data: bytes) -> str:
        try:
            return self._decoder.decode(data, final=not data)
        except UnicodeDecodeError:
            raise self._refusal("not UTF-8") from None

    def _refusal(self, said: str) -> ScenarioError:
        return ScenarioError(said, path=self._name, line=self._line)
