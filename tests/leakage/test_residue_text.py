"""Packed copies are read: compressed, encoded, nested, in databases and archives."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import io
import json
import lzma
import random
import sqlite3
import zipfile
import zlib
from collections.abc import Callable

import pytest

from memsim.leakage.residue_text import packed_texts

SECRET = "My garage code is 6PXW-4B5K-WJKR."
TEXT = f"What was said before of the lake. {SECRET} And what was said after it.".encode()

Pack = Callable[[bytes], bytes]


def _raw(data: bytes) -> bytes:
    made = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return made.compress(data) + made.flush()


def _database(data: bytes) -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE kept (id, data)")
    base.execute("INSERT INTO kept VALUES (1, ?)", (data,))
    base.commit()
    return base.serialize()


def _archive(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kept.txt", data)
    return made.getvalue()


COMPRESSIONS: dict[str, Pack] = {
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
    "raw deflate": _raw,
}
DIGITS: dict[str, Pack] = {
    "base64": base64.b64encode,
    "base64 in lines": base64.encodebytes,
    "base64 of URLs": base64.urlsafe_b64encode,
    "base32": base64.b32encode,
    "base16": base64.b16encode,
    "base85": base64.b85encode,
    "ascii85": base64.a85encode,
    "framed ascii85": lambda data: base64.a85encode(data, adobe=True),
    "numbers": lambda data: json.dumps([*data]).encode(),
}
WRITINGS: dict[str, Pack] = {
    "UTF-16": lambda data: data.decode("latin-1").encode("utf-16"),
    "backwards": lambda data: data[::-1],
    "rot13": lambda data: codecs.encode(data.decode("latin-1"), "rot13").encode(),
    "escapes": lambda data: "".join(f"\\u{byte:04x}" for byte in data).encode(),
}
PLACES: dict[str, Pack] = {
    "file": bytes,
    "JSON": lambda data: json.dumps({"v": 1, "data": data.decode("latin-1")}).encode(),
    "database": _database,
    "archive": _archive,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_packed_copy_is_read(place: str) -> None:
    """In each place, each compression, each writing, and each compression in each digits."""
    packings = COMPRESSIONS | DIGITS | WRITINGS
    once = {name: pack(TEXT) for name, pack in packings.items()}
    twice = {
        f"{digits} of {name}": write(pack(TEXT))
        for name, pack in (COMPRESSIONS | DIGITS).items()
        for digits, write in DIGITS.items()
        if "framed" not in name
    }

    missed = [name for name, data in (once | twice).items() if not _reads(PLACES[place](data))]

    assert [] == missed


def test_noise_takes_little_and_holds_nothing() -> None:
    """Random bytes, ids and compact JSON are opened in vain, and do not multiply."""
    chance = random.Random(7)
    ids = [{"id": chance.randbytes(32).hex(), "at": n} for n in range(200)]
    for data in (chance.randbytes(50_000), json.dumps(ids, separators=(",", ":")).encode()):
        assert not _reads(data)
        assert 200_000 > sum(map(len, packed_texts(data)))


@pytest.mark.parametrize(
    "data",
    [
        b"SQLite format 3\x00" + b"\xff" * 200,
        b"PK\x03\x04" + b"\x00" * 100,
        b"\x1f\x8b\x08" + b"\x00" * 50,
        b"\xfd7zXZ\x00" + b"\xff" * 50,
        b'"\\u12"' * 20,
    ],
)
def test_damage_is_no_error(data: bytes) -> None:
    """Whatever cannot be opened is left."""
    assert not _reads(data)


def test_a_bomb_is_opened_to_a_limit() -> None:
    """Not more than a megabyte of a piece."""
    assert 10_000_000 > sum(map(len, packed_texts(zlib.compress(bytes(20_000_000)))))


def _reads(data: bytes) -> bool:
    return any(SECRET in text for text in packed_texts(data))
