"""What Redis 7 says that a hash takes in memory, computed without a server.

Measured on Redis 7.0 with the system's allocator: classes of sizes, string headers, and the two
forms of a hash, a packed list while it is small and a table from then on.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PACKED_FIELDS = 512
"""Fields up to which a hash is a packed list."""

PACKED_BYTES = 64
"""Bytes of a name or value up to which a hash is a packed list."""

SAMPLES = 5
"""Fields of a table that `MEMORY USAGE` measures unless told otherwise; 0 means all."""

_TABLE = 56
_ENTRY = 24
_SLOT = 8
_FIRST_SLOTS = 4
_STRING_HEADERS = ((32, 1), (256, 3), (65_536, 5))
_INTEGERS = ((-4096, 4095, 2), (-(2**15), 2**15 - 1, 3), (-(2**23), 2**23 - 1, 4))
_WIDE = ((-(2**31), 2**31 - 1, 5), (-(2**63), 2**63 - 1, 9))
_LONGEST_INTEGER = 20


def usage(key: str, fields: Mapping[str, str], samples: int = SAMPLES) -> int | None:
    """Bytes that `MEMORY USAGE` reports of a hash; None where it has no fields.

    A table's fields are taken to be all like the first `samples`, in the order in which they came.
    The server takes them in the order of its table, which differs from start to start.

    Args:
        key: the hash's own name, which counts.
        fields: the fields with their values, in the order in which they were first written.
        samples: fields that are measured; 0 for all.
    """
    if not fields:
        return None
    inside = _packed_list(fields) if encoding(fields) == "listpack" else _table(fields, samples)
    return 16 + _string(_length(key)) + 24 + inside


def encoding(fields: Mapping[str, str]) -> str:
    """How Redis keeps a hash that was written at once: `listpack` or `hashtable`."""
    small = len(fields) <= PACKED_FIELDS and all(
        _length(text) <= PACKED_BYTES for pair in fields.items() for text in pair
    )
    return "listpack" if small else "hashtable"


def allocated(size: int) -> int:
    """Bytes that the allocator gives for so many: its next class of sizes."""
    if size <= 8:
        return 8
    if size <= 128:
        return -(-size // 16) * 16
    step = 1 << max(0, (size - 1).bit_length() - 3)
    return -(-size // step) * step


def _packed_list(fields: Mapping[str, str]) -> int:
    return allocated(7 + sum(_packed(text) for pair in fields.items() for text in pair))


def _packed(text: str) -> int:
    length = _length(text)
    body = _integer(text) or length + (1 if length < 64 else 2 if length < 4096 else 5)
    return body + (1 if body < 128 else 2)


def _integer(text: str) -> int:
    """Bytes of a text that a packed list keeps as a number; 0 where it does not."""
    if len(text) > _LONGEST_INTEGER or not text.removeprefix("-").isascii():
        return 0
    if not text.removeprefix("-").isdigit() or str(int(text)) != text:
        return 0
    number = int(text)
    if 0 <= number <= 127:
        return 1
    return next((size for low, high, size in _INTEGERS + _WIDE if low <= number <= high), 0)


def _table(fields: Mapping[str, str], samples: int) -> int:
    measured = samples or len(fields)
    entries = [_ENTRY + _strings(pair) for pair in islice(fields.items(), measured)]
    return _TABLE + _SLOT * _slots(fields) + int(sum(entries) / len(entries) * len(fields))


def _slots(fields: Mapping[str, str]) -> int:
    count = len(fields)
    slots = max(_FIRST_SLOTS, 1 << (count - 1).bit_length())
    if all(_length(text) <= PACKED_BYTES for pair in fields.items() for text in pair):
        return slots  # a packed list becomes a table of the right size at once
    # A table doubles when it is full, and every field written since has moved two of the buckets
    # that are not empty, which are about five of eight.
    half = slots // 2
    moving = half >= _FIRST_SLOTS and 2 * (count - half - 1) < 5 * half // 8
    return slots + (half if moving else 0)


def _strings(texts: Iterable[str]) -> int:
    return sum(_string(_length(text)) for text in texts)


def _string(length: int) -> int:
    header = next((size for below, size in _STRING_HEADERS if length < below), 9)
    return allocated(length + 1 + header)


def _length(text: str) -> int:
    return len(text.encode("utf-8"))
