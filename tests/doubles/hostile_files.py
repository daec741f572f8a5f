"""Hostile files: special ones, odd encodings, huge ones, and runs sealed again after damage."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.doubles.damage import hostile_json, mutated_bytes, mutated_value

HUGE = 200 * 2**20
"""Bytes of a file of one line, which takes no room on the disk."""

RECORDS = ("turns.jsonl", "probes.jsonl", "contexts.jsonl")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("there-is-no-such-file")


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _unreadable(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # a regular file, and reading it fails


def _environment(path: Path) -> None:
    path.symlink_to("/proc/self/environ")  # a regular file that has no size


def _overlong(path: Path) -> None:
    path.symlink_to("x" * 300)


def _through(path: Path) -> None:
    path.symlink_to("/dev/null/x")


def _socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)  # a whole path may be too long


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


def _absent(_: Path) -> None:
    return


SPECIAL: Mapping[str, Callable[[Path], None]] = {
    "a pipe": _pipe,
    "a folder": _folder,
    "a link to itself": _loop,
    "a link to nothing": _nowhere,
    "a link to an endless device": _endless,
    "a link to a file that cannot be read": _unreadable,
    "a link to the environment": _environment,
    "a link to a name that is too long": _overlong,
    "a link through a file": _through,
    "a socket": _socket,
    "a line of 200 MB": _huge,
    "nothing": _absent,
}
"""What may stand in the place of a file; each is made at a path that is free."""

TEXTS: Mapping[str, Callable[[bytes], bytes]] = {
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode(errors="replace").encode("utf-16"),
    "UTF-16 without a mark": lambda data: data.decode(errors="replace").encode("utf-16-be"),
    "UTF-32": lambda data: data.decode(errors="replace").encode("utf-32"),
    "Latin-1": lambda data: data + "\xe9\xff".encode("latin-1"),
    "lines that end in CR LF": lambda data: data.replace(b"\n", b"\r\n"),
    "lines that end in CR": lambda data: data.replace(b"\n", b"\r"),
    "no last line end": lambda data: data.rstrip(b"\n"),
    "twice the file": lambda data: data + data,
    "a megabyte of blanks": lambda data: b" " * 2**20 + data,
    "no bytes": lambda _: b"",
    "zeros": lambda data: bytes(len(data)),
    "open lists": lambda _: b"[" * 100_000,
    "deep lists": lambda _: b"[" * 100_000 + b"]" * 100_000,
    "deep objects": lambda _: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a list that is just too deep": lambda _: b"[" * 300 + b"]" * 300,
    "a number of many digits": lambda _: b"1" + b"0" * 5_000,
    "a number beyond all": lambda _: b'{"memsim": 1e999}',
    "no number": lambda _: b'{"memsim": NaN}',
    "a key twice": lambda _: b'{"memsim": 1, "memsim": 1}',
    "half a character": lambda _: b'{"memsim": "\\ud800"}',
    "a list": lambda _: b"[]",
    "null": lambda _: b"null",
    "a text": lambda _: b'"x"',
}
"""What a whole file may be instead."""


_LARGE = 50 * 2**20
LARGE: tuple[bytes, ...] = (
    *(b"[[],", b'[{"a":1},', b"[1.5,", b'{"a":', b'["', b"- a\n", b"a: 1\n"),
    *(b"a.b = 1\n", b"[a.a]\n", b"a.", b'{"memsim":1}\n', b"\x00", b"#\n", b"{a: ", b"\n"),
)
"""What fifty megabytes may begin with, and what they then repeat."""


def large_bytes(chance: random.Random) -> bytes:
    """Fifty megabytes of something simple."""
    unit = chance.choice(LARGE)
    rest = unit[1:] if len(unit) > 1 and chance.random() < 0.7 else unit
    return unit + rest * (_LARGE // len(rest))


def clear(path: Path) -> None:
    """Remove whatever stands at a path."""
    if not path.is_symlink() and path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


LARGEST_SHARE = 0.9997
"""Beyond it, `random()` asks for one of the largest files."""


def damage_json(chance: random.Random, path: Path, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Put a mutated JSON value at a path, now and then something that is none or no file."""
    if chance.random() < 0.4:
        damage_file(chance, path, [json.dumps(value, indent=1).encode()])
    else:
        clear(path)
        path.write_bytes(hostile_json(chance, value))


def damage_file(chance: random.Random, path: Path, sources: list[bytes]) -> None:
    """Put one of some files at a path, mutated; now and then something that is no file."""
    clear(path)
    what = chance.random()
    if what < 0.05:
        chance.choice([*SPECIAL.values()])(path)
    elif what < 0.12:
        path.write_bytes(chance.choice([*TEXTS.values()])(chance.choice(sources)))
    elif what > LARGEST_SHARE:
        path.write_bytes(large_bytes(chance))
    else:
        path.write_bytes(mutated_bytes(chance, sources))


def damage_run(chance: random.Random, folder: Path, whole: Mapping[str, bytes]) -> None:
    """Write a run into a folder with one file damaged.

    Half of the time the damage is to a value, and every checksum is right again: what a stranger
    can write who knows the format.
    """
    for name in {*whole, *(p.name for p in folder.iterdir())}:
        clear(folder / name)
    files = dict(whole)
    name = chance.choice(sorted(files))
    if chance.random() < 0.25:
        for other, data in files.items():
            if other != name:
                (folder / other).write_bytes(data)
        damage_file(chance, folder / name, [files[name]])
        return
    if name.endswith(".jsonl"):
        lines = files[name].splitlines()
        place = chance.randrange(len(lines))
        lines[place] = _dumped(mutated_value(chance, json.loads(lines[place])))
        files[name] = b"".join(line + b"\n" for line in lines)
    else:
        files[name] = _dumped(mutated_value(chance, json.loads(files[name])))
    for other, data in (files if name == "cases.jsonl" else sealed(files, whole)).items():
        (folder / other).write_bytes(data)
    if name == "cases.jsonl":
        (folder / name).write_bytes(_sealed_log(files[name]))


def sealed(files: Mapping[str, bytes], before: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a run whose log tells the checksums of records that were changed."""
    log, starts, count = [], [0, 0, 0], [0, 0, 0]
    for line in files["cases.jsonl"].splitlines():
        entry = json.loads(line)
        for number, name in enumerate(RECORDS):
            old = before.get(name, b"")[: entry["ends"][number]].count(b"\n")
            rows = files.get(name, b"").splitlines(keepends=True)[count[number] : old]
            data = b"".join(rows)
            count[number] = old
            entry["ends"][number] = starts[number] + len(data)
            starts[number] = entry["ends"][number]
            entry["crc"][number] = zlib.crc32(data)
        log.append(_dumped(entry))
    return {**files, "cases.jsonl": _sealed_log(b"\n".join(log))}


def _sealed_log(log: bytes) -> bytes:
    return b"".join(map(_sealed_line, log.splitlines()))


def _sealed_line(line: bytes) -> bytes:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        return line + b"\n"
    entry.pop("own", None)
    bare = _dumped(entry) + b"\n"
    return b'%s,"own":%d}\n' % (bare.removesuffix(b"}\n"), zlib.crc32(bare))


def _dumped(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    return json.dumps(value, separators=(",", ":")).encode()
