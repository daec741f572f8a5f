"""Damage files and states: bytes and JSON values, mutated by a seed."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

STRANGE = (
    *(b"null ~ no 010 12:30:45 1_000 .inf .nan -1 0 1e9 [] {} [ } ' \" | > # % @ ` ? \\".split()),
    *(b"{{7*7}} {0.__class__} user turns facts session restart true the 0s 52000w".split()),
    *(b"9999-12-31T23:59:59Z 99999999999999999999 1e999 NaN \\ud800 \\u0000".split()),
    *(b": ,- ,\t,&a ,*a ,<<: ,!!str ,---\n,...\n,\r,\x00,\xff,\xed\xa0\x80".split(b",")),
    *(c.encode() for c in "\u202e\x85\ufeff\u200d\u0301"),
)
"""What stands for something in YAML or JSON, or in some encoding."""

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**63,
        2**200,
        1e308,
        -0.0,
        0.5,
        "",
        " ",
        "x",
        "\x00",
        "é\u0301",
    ),
    *("9999-12-31T23:59:59+00:00", "2026-01-05T09:00:00", "0001-01-01T00:00:00+14:00", [], {}),
    *([None], [[]], {"": None}, {"x": {}}, ["x", "y"], [0, 1], "\u202e", "assistant", "x" * 5000),
    *(2**63 - 1, 10**18, 10**4000, "\ud800", json.loads("[" * 150 + "]" * 150)),
    json.loads('{"a":' * 150 + "1" + "}" * 150),
)
"""JSON values that are something else than what is expected."""


RAW = (
    *(b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[" * 100_000),
    *b"NaN Infinity -Infinity 1e999 -1e999 1e-999 -0 01 1. +1 0x10 tru 'x' 1,1 1:1 /**/1".split(),
    *(b"9" * 5_000, b'{"a":1,"a":2}', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b'"\\u12'),
    *(b'"\xff"', b'"\xed\xa0\x80"', b'"\x00"', b'"\n"', b'"', b'"\\', b"", b"\xef\xbb\xbf1"),
    b'"' + b"x" * 1_000_000 + b'"',
    *(b"[" * n + b"]" * n for n in (90, 199, 240, 330, 490, 900, 960, 985, 1000)),
    *(b'{"a":' * n + b"1" + b"}" * n for n in (99, 201, 330, 900, 985)),
)
"""What may stand for a JSON value in a file, and comes out of no encoder."""

_RAW, _TWICE = "raw:8f1c", "twice:8f1c"


def hostile_json(chance: random.Random, value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """The bytes of a mutated JSON value; now and then with a part that is no JSON."""
    holder = [mutated_value(chance, value)]
    kind = chance.random()
    if kind < 0.3:
        within, key = chance.choice(_places(holder))
        if kind < 0.05 and isinstance(within, dict):
            within[_TWICE] = chance.choice(ODD)
            return _dumped(holder[0]).replace(_dumped(_TWICE), _dumped(key))
        within[key] = _RAW
        return _dumped(holder[0]).replace(_dumped(_RAW), chance.choice(RAW))
    return _dumped(holder[0])


def _dumped(value: Any) -> bytes:  # noqa: ANN401 - as above
    return json.dumps(value, separators=(",", ":")).encode()


def mutated_bytes(chance: random.Random, sources: Sequence[bytes]) -> bytes:
    """One of some files after one to four mutations; now and then spliced with another."""
    data = chance.choice(sources)
    if chance.random() < 0.1:
        other = chance.choice(sources)
        data = data[: _spot(chance, data)] + other[_spot(chance, other) :]
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = _mutated(chance, data)
    return data


def _mutated(chance: random.Random, data: bytes) -> bytes:
    at = _spot(chance, data)
    head, tail = data[:at], data[at:]
    kind = chance.randrange(8)
    if kind > 4:
        return (_with_another_value if kind == 5 else _with_lines_moved)(chance, data)
    return (
        head
        + (
            chance.choice(STRANGE) + tail,
            tail[chance.randint(1, 12) :],
            bytes([chance.randrange(256)]) + tail[1:],
            b"",
            bytes(len(tail)),
        )[kind]
    )


def _with_another_value(chance: random.Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"(?<=: )[^\n,{}\[\]]+", data))
    if not found:
        return data
    match = chance.choice(found)
    return data[: match.start()] + chance.choice(STRANGE) + data[match.end() :]


def _with_lines_moved(chance: random.Random, data: bytes) -> bytes:
    rows = data.splitlines(keepends=True)
    if not rows:
        return data
    at, kind = chance.randrange(len(rows)), chance.randrange(4)
    if kind == 0:
        rows.insert(chance.randrange(len(rows) + 1), rows[at])
    elif kind == 1:
        del rows[at]
    elif kind == 2:
        rows.insert(chance.randrange(len(rows)), rows.pop(at))
    else:
        rows[at] = b" " * chance.randint(1, 6) + rows[at].lstrip(b" ")
    return b"".join(rows)


def _spot(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def mutated_value(chance: random.Random, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value of which one to three parts are others, gone, doubled or elsewhere."""
    holder = [json.loads(json.dumps(value))]  # faster than a deep copy
    for _ in range(chance.choice((1, 1, 2, 3))):
        _mutate(chance, *chance.choice(_places(holder)))
    return holder[0]


def _places(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - as above
    """Every part of a value, as what holds it and where."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found


def _mutate(chance: random.Random, holder: Any, key: Any) -> None:  # noqa: ANN401 - as above
    kind = chance.randrange(5)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[chance.choice(("", "x", "id", f"{key}s"))] = holder.pop(key)
    elif kind == 2 and isinstance(holder[key], list) and holder[key]:
        holder[key].append(copy.deepcopy(chance.choice(holder[key])))
    elif kind == 3 and isinstance(holder[key], int | float):
        holder[key] = chance.choice((-holder[key], holder[key] + 1, holder[key] * 10**6, 0.5))
    else:
        holder[key] = copy.deepcopy(chance.choice(ODD))
