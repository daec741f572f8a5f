"""Unpack members of an archive that are packed with Zstandard, as Inspect packs its logs.

Python unpacks them itself from version 3.14 on. Before, the package `zstandard` does, where it is
installed; memsim does not depend on it.
"""

from __future__ import annotations

import importlib
import io
import struct
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from memsim.errors import ScenarioError

ZSTANDARD = 93
"""The method's number in an archive."""

_HEADER = struct.Struct("<4s5H3L2H")
_ADVICE = "is packed with Zstandard: `pip install zstandard`, or convert the log to JSON"


def open_zstd_member(path: Path, member: zipfile.ZipInfo) -> BinaryIO:
    """Open a member to read what it unpacks to, as it is read.

    Raises:
        ScenarioError: its header is damaged, or nothing here unpacks it.
    """
    return io.BufferedReader(_unpacked(_packed(path, member)))


def _packed(path: Path, member: zipfile.ZipInfo) -> BinaryIO:
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or header[:4] != b"PK\x03\x04":
            raise ScenarioError("cannot be unpacked: its header is damaged")
        *_, name, extra = _HEADER.unpack(header)
        file.seek(name + extra, io.SEEK_CUR)
        return io.BytesIO(file.read(member.compress_size))


def _unpacked(packed: BinaryIO) -> Any:  # noqa: ANN401 - a stream of a library that may be missing
    for name, opener in (("compression.zstd", "ZstdFile"), ("zstandard", "open")):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return getattr(library, opener)(packed, "rb")
    raise ScenarioError(_ADVICE)
