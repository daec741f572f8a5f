"""Read JSON files of strangers: bounded, strict, and with errors that name the place.

Refused in one line: what is no regular file, too large, not UTF-8, not JSON, of more than
`MOST_VALUES`, nested deeper than `DEEPEST`, a key twice in one object, and a number that no record
of memsim can hold.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from memsim.errors import LocatedError

MOST_BYTES = 64 * 2**20
"""Bytes of the largest file, or the largest line of a log, that is read."""

MOST_VALUES = 2_000_000
"""Lists, objects and their members in one file; so many take less than half a gigabyte."""

DEEPEST = 100
"""Nesting of lists and objects that is read; what memsim writes has less than 20."""

_DIGITS = 300
_LARGEST = 1e300
"""Sums of such numbers do not overflow, and neither does making a float of a whole number."""

_SHOWN = 19
_MARK = b"\xef\xbb\xbf"

Refusal = type[LocatedError]
"""The class of the error that a file of some kind is refused with."""


def open_regular(path: Path, refusal: Refusal) -> BinaryIO:
    """Open a regular file to read it; a pipe, a device or a folder is refused at once.

    Raises:
        FileNotFoundError: there is nothing at the path.
        LocatedError: it is no regular file, or cannot be read; of the class `refusal`.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        if path.is_symlink():
            raise refusal("is a link to nothing", path=path) from None
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refusal(f"cannot be read: {reason}", path=path) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        why = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "it is not a regular file"
        raise refusal(f"cannot be read: {why}", path=path)
    return os.fdopen(descriptor, "rb")


def is_regular(path: Path) -> bool:
    """Whether a regular file is at a path; False where the path cannot be looked at."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder is at a path; False where the path cannot be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_bytes(path: Path, refusal: Refusal, *, most: int = MOST_BYTES) -> bytes:
    """Read a regular file as a whole.

    Raises:
        FileNotFoundError: there is nothing at the path.
        LocatedError: it cannot be read, or is larger than `most` bytes; of the class `refusal`.
    """
    try:
        with open_regular(path, refusal) as file:
            size = os.fstat(file.fileno()).st_size
            # One byte more to see it grow; what a kernel makes has no size before it is read.
            data = b"" if size > most else file.read((size or most) + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", path=path) from error
    if size > most or len(data) > most:
        raise refusal(f"is larger than {_size(most)}", path=path)
    return data


def read_lines(path: Path, refusal: Refusal, *, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Read a regular file line by line.

    Raises:
        FileNotFoundError: there is nothing at the path.
        LocatedError: it cannot be read, or a line is longer than `most` bytes; of the class
            `refusal`.
    """
    try:
        with open_regular(path, refusal) as file:
            number = 1
            while line := file.readline(most + 1):
                if len(line) > most:
                    raise refusal(f"is longer than {_size(most)}", path=path, line=number)
                yield line
                number += 1
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", path=path) from error


def read_json(path: Path, refusal: Refusal, *, prefix: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Read the value of a JSON file; `prefix` stands before what is wrong with its content.

    Raises:
        FileNotFoundError: there is nothing at the path.
        LocatedError: it is refused; of the class `refusal`.
    """
    return parse_json(read_bytes(path, refusal), path, refusal, prefix=prefix)


def parse_json(
    data: bytes,
    path: Path,
    refusal: Refusal,
    *,
    line: int | None = None,
    prefix: str = "",
    quick: bool = False,
) -> Any:  # noqa: ANN401 - any JSON value
    """Parse the value that some bytes of a file hold.

    Args:
        data: UTF-8, with or without a byte order mark.
        path: the file, for errors.
        refusal: the class of the error.
        line: the line of the file that the bytes are; None where they are the whole file.
        prefix: stands before what is wrong.
        quick: neither keys nor numbers are looked at; `memsim.json_types` looks at the numbers.

    Raises:
        LocatedError: the bytes are refused; of the class `refusal`.
    """
    if _has_many_values(data):
        raise refusal(f"{prefix}has more than {MOST_VALUES:,} values", path=path, line=line)
    try:
        text = data.removeprefix(_MARK).decode()
        value = (QUICK if quick else _STRICT).decode(text)
    except json.JSONDecodeError as error:
        where = (error.lineno, error.colno) if line is None else (line, None)
        said = f"{prefix}not JSON: {error.msg}"
        raise refusal(said, path=path, line=where[0], column=where[1]) from None
    except UnicodeDecodeError as error:
        raise refusal(f"{prefix}not UTF-8 at byte {error.start}", path=path, line=line) from None
    except RecursionError:
        raise refusal(f"{prefix}nested too deeply", path=path, line=line) from None
    except ValueError as error:
        raise refusal(f"{prefix}{error}", path=path, line=line) from None
    if _may_be_deep(data) and is_deep(value):
        raise refusal(f"{prefix}nested too deeply", path=path, line=line)
    return value


def _has_many_values(data: bytes) -> bool:
    # A comma or bracket takes a byte of a file, and up to a hundred times as much once it is read.
    return len(data) > MOST_VALUES and sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in made if names.count(name) > 1)
        raise ValueError(f"duplicate key {twice!a} in one object")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _float(text: str) -> float:
    number = float(text)
    if abs(number) > _LARGEST:
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _int(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"{text[:_SHOWN]}... is too large a number")
    return int(text)


_STRICT = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_no_constant,
    parse_float=_float,
    parse_int=_int,
)
QUICK = json.JSONDecoder(parse_constant=_no_constant)


def _may_be_deep(data: bytes) -> bool:
    return data.count(b"[") + data.count(b"{") > DEEPEST


def is_deep(value: object) -> bool:
    """Whether lists and objects are nested deeper than `DEEPEST`."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _size(most: int) -> str:
    return f"{most // 2**20} MB" if most >= 2**20 else f"{most:,} bytes"
