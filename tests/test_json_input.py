"""JSON of strangers: read strictly, bounded, and refused in one line that names the place."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import pytest

from memsim.errors import RunFolderError
from memsim.json_input import MOST_BYTES, parse_json, read_bytes, read_json, read_lines
from memsim.json_types import WrongTypeError, convert
from tests.doubles.hostile_files import SPECIAL, TEXTS, clear

HARMLESS = {
    *("a byte order mark", "a list", "null", "a text", "half a character", "no last line end"),
    *("lines that end in CR LF", "lines that end in CR", "a megabyte of blanks"),
}
"""What is JSON; whether it is what was expected is for types to tell."""


def test_what_is_no_file_is_refused_at_once(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A pipe is not waited for, a device is not read, and nothing large is held."""
    path = tmp_path / "x.json"
    for name, make in SPECIAL.items():
        with subtests.test(name=name):
            make(path)
            refused = FileNotFoundError if name == "nothing" else RunFolderError
            with pytest.raises(refused) as raised:
                read_json(path, RunFolderError)
            if name != "a link to the environment":  # whose lines are lines
                with pytest.raises(refused):
                    list(read_lines(path, RunFolderError))
            assert "\n" not in str(raised.value)
        clear(path)


def test_a_file_that_does_not_say_its_size_is_read_whole(tmp_path: Path) -> None:
    """As those that a kernel makes while they are read."""
    path = tmp_path / "x.json"
    path.symlink_to("/proc/self/environ")

    assert len(read_bytes(path, RunFolderError)) > 1
    with pytest.raises(RunFolderError, match="larger than 9 bytes"):
        read_bytes(path, RunFolderError, most=9)


def test_a_pipe_with_a_writer_is_refused_as_well(tmp_path: Path) -> None:
    """It would be read for as long as somebody writes."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    refused: list[Exception] = []

    def read() -> None:
        try:
            read_bytes(path, RunFolderError)
        except RunFolderError as error:
            refused.append(error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(10)
    os.close(descriptor)

    assert ["it is not a regular file"] == [str(error).rpartition(": ")[2] for error in refused]


def test_odd_texts_are_refused_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Nesting, numbers, constants, keys that repeat, other encodings."""
    path = tmp_path / "x.json"
    for name, text in TEXTS.items():
        with subtests.test(name=name):
            path.write_bytes(text(b'{"memsim": 1}'))
            if name in HARMLESS:
                read_json(path, RunFolderError)
                continue
            with pytest.raises(RunFolderError, match=r"x\.json") as raised:
                read_json(path, RunFolderError, prefix="is damaged: ")
            assert str(raised.value).isprintable()
            assert ": is damaged: " in str(raised.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "log:7: not JSON: Expecting property name enclosed in double quotes"),
        (b'{"a": 1, "a": 2}', "log:7: duplicate key 'a' in one object"),
        (b"1e301", "log:7: 1e301 is too large a number"),
        (b"9" * 301, "log:7: 9999999999999999999... is too large a number"),
        (b"[" * 101 + b"]" * 101, "log:7: nested too deeply"),
    ],
)
def test_a_line_of_a_log_is_named(data: bytes, said: str) -> None:
    """By its number, without a column of a file that has other lines."""
    with pytest.raises(RunFolderError) as raised:
        parse_json(data, Path("log"), RunFolderError, line=7)

    assert said == str(raised.value)


def test_what_is_within_the_bounds_is_read(tmp_path: Path) -> None:
    """Just so deep, just so large, and with the mark that editors write."""
    path = tmp_path / "x.json"
    path.write_bytes(b"\xef\xbb\xbf" + b"[" * 100 + b"]" * 100)
    read_json(path, RunFolderError)
    with path.open("wb") as file:
        file.truncate(MOST_BYTES)

    assert MOST_BYTES == len(read_bytes(path, RunFolderError))
    assert [b"a\n", b"b"] == list(_lines(tmp_path / "log", b"a\nb"))


def _lines(path: Path, data: bytes) -> list[bytes]:
    path.write_bytes(data)
    return list(read_lines(path, RunFolderError))


class Row(TypedDict):
    """A row of the test."""

    name: str
    size: NotRequired[int | None]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet of the test."""

    rows: tuple[Row, ...]
    word: Literal["same", "worse"] = "same"
    share: float = 0.0


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "is a list, not an object"),
        ({}, "lacks one of rows, word, share"),
        ({"rows": {}}, "rows: is an object, not a list"),
        ({"rows": [{"name": "a"}, {"name": 3}]}, "rows[1].name: is a whole number, not a text"),
        ({"rows": [{"nam": "a"}]}, "rows[0]: has no 'name' (did you mean 'nam'?)"),
        ({"rows": [{"name": "a", "size": True}]}, "rows[0].size: is true or false, not a whole"),
        ({"rows": [{"name": "a", "size": 2**63}]}, "rows[0].size: is too large a number"),
        ({"rows": [], "wrod": "same"}, "has an unknown key 'wrod' (did you mean 'word'?)"),
        ({"rows": [], "word": "worst"}, "word: is 'worst', which is not known (did you mean 'wor"),
        ({"rows": [], "word": ["same"]}, "word: is ['same'], which is not known"),
        ({"rows": [], "share": None}, "share: is null, not a number"),
    ],
)
def test_a_value_of_another_type_is_named(value: object, said: str) -> None:
    """With the way to it, and with the name that may have been meant."""
    with pytest.raises(WrongTypeError) as raised:
        convert(value, Sheet)

    assert str(raised.value).startswith(said)


def test_a_value_of_its_type_is_what_it_stands_for() -> None:
    """Lists become tuples, objects become dataclasses, and further keys of a row stay."""
    row = {"name": "a", "size": None, "more": [1]}

    assert Sheet(rows=(row,), share=1) == convert({"rows": [row], "share": 1}, Sheet)  # type: ignore[arg-type]
