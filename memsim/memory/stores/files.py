"""One file for each of a markdown store's entries, such as people like to read.

A file::

    ---
    key: "tea"
    owner: "ann"
    ...
    check: "0f3c..."
    ---
    Ann drinks green tea.

Values are JSON, which is YAML too. The text stands as it is, and one line break after it. Who edits
a file takes out its `check`; a file that was changed and has it still is damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from memsim.memory.stores.codec import Damaged, encode, fields, from_fields

if TYPE_CHECKING:
    from memsim.memory.entry import Entry
    from memsim.models import Vectors

FENCE: Final = b"---\n"
TEMPORARY: Final = ".new-"
"""What the names of unfinished files begin with."""

_DIGEST: Final = 8

_ORDER: Final = (
    *("key", "owner", "layer", "category", "subject", "session", "created", "updated"),
    *("superseded", "visibility", "readers", "pinned", "archived", "sources", "attributes"),
)


def check(entry: Entry) -> str:
    """What tells whether an entry is as it was written."""
    return hashlib.blake2b(encode(entry).encode(), digest_size=8).hexdigest()


def render(entry: Entry) -> bytes:
    """An entry as the bytes of its file."""
    known = fields(entry)
    lines = [f"{name}: {json.dumps(known[name], ensure_ascii=False)}\n" for name in _ORDER]
    lines.append(f'check: "{check(entry)}"\n')
    return b"".join((FENCE, "".join(lines).encode(), FENCE, entry.text.encode(), b"\n"))


def parse(content: bytes, source: str) -> Entry:
    """The entry of a file.

    Args:
        content: what `render` gave, or what somebody made of it.
        source: the id by which the file is named.

    Raises:
        Damaged: there is no such entry in it.
    """
    place = f"entry {source}"
    end = content.find(b"\n" + FENCE)
    if not content.startswith(FENCE) or end < 0:
        raise Damaged(f"{place} is damaged: it does not begin with fields between two lines of ---")
    try:
        lines = content[len(FENCE) : end].decode().split("\n")
        read = {name: json.loads(value) for name, _, value in (x.partition(": ") for x in lines)}
        text = content[end + 1 + len(FENCE) :].decode().removesuffix("\n")
    except ValueError as error:
        raise Damaged(f"{place} is damaged: {error}") from error
    told = read.pop("check", None)
    entry = from_fields({**read, "text": text}, place)
    if entry.id != source:
        raise Damaged(f"{place} is damaged: its owner, layer or key are another entry's")
    if told is not None and told != check(entry):
        raise Damaged(
            f"{place} is damaged: it is not as it was written (if you edited it, take out its"
            " line `check`)"
        )
    return entry


def stage(folder: Path, content: bytes, *, synced: bool) -> Path:
    """Write a file beside its place, for good, under a name of its own, and tell the name."""
    descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if synced:
                os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def vector_bytes(vector: Vectors) -> bytes:
    """A vector as the bytes of its file: float32, little end first, and a digest of these."""
    raw = vector.astype("<f4").tobytes()
    return raw + _digest(raw)


def read_vector(content: bytes, dimension: int, place: str) -> Vectors:
    """The vector that `vector_bytes` wrote.

    Raises:
        Damaged: it is not as it was written.
    """
    raw, told = content[:-_DIGEST], content[-_DIGEST:]
    if len(raw) != 4 * dimension or _digest(raw) != told:
        raise Damaged(f"{place} is damaged: it is not the vector that was written")
    return np.frombuffer(raw, "<f4").astype(np.float32)


def _digest(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_DIGEST).digest()
