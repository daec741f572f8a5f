"""Recordings of a provider's vectors: one file per embedding model, shared by all cases.

The file has a header and one line per text: its hash, and the vector as base 64 of little-endian
float32. During a run, new vectors go at once into a hidden file beside it, under a lock. So each
text is embedded once and has one vector, however many processes need it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import UnrecordedCall
from memsim.json_input import parse_json, read_bytes
from memsim.models.cassette import CassetteError, RecordMode
from memsim.models.cassette.case_recordings import folder_lock, path_part, write_if_changed
from memsim.models.cassette.tape import unwritable

if TYPE_CHECKING:
    from memsim.models import Embedder, Vectors

FORMAT = 1
LARGEST = 256 << 20
_WRONG = "is not a recording of an embedder's vectors"
"""Maximum number of bytes of the file."""

_Stamp = tuple[int, int, int]
_NEW = ".vectors.part"


def vectors_path(folder: Path, name: str) -> Path:
    """The file of an embedder."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / "embedders" / f"{path_part(name)}-{digest[:8]}" / "vectors.jsonl"


def text_key(text: str) -> str:
    """The key of a text: 128 bits of a hash in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class RecordedEmbedder:
    """An embedder whose vectors are replayed, recorded, or both."""

    def __init__(self, embedder: Embedder, path: Path, mode: RecordMode, shown: str) -> None:
        self._embedder = embedder
        self._path = path
        self._mode = mode
        self._shown = shown
        self._known: dict[str, bytes] = {}
        self._own: set[str] = set()
        self._dimension = 0
        self._stamps: tuple[_Stamp | None, _Stamp | None] = (None, None)

    @property
    def name(self) -> str:
        """The embedder's own name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Length of each vector.

        Raises:
            Missed: nothing is recorded, and the real embedder may not be called.
            ModelError: the real embedder failed.
        """
        if not self._dimension:
            self._refresh()
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension); an empty text gives zeros.

        Raises:
            Missed: a text is not recorded, and the real embedder may not be called.
            CassetteError: recordings are damaged or cannot be written.
            ModelError: the real embedder failed.
        """
        import numpy as np

        keys = [text_key(text) for text in texts]
        spoken = {key: text for key, text in zip(keys, texts, strict=True) if text.strip()}
        if not self._has(spoken):
            self._fetch(spoken)
        width = self._dimension or self.dimension
        found = np.zeros((len(texts), width), dtype=np.float32)
        for row, key in enumerate(keys):
            if key in spoken:
                found[row] = np.frombuffer(self._known[key], dtype="<f4")
        return found

    def keep(self) -> None:
        """Write new vectors into the file.

        Raises:
            CassetteError: the file cannot be written; new vectors are kept and found again.
        """
        new = self._path.with_name(_NEW)
        if self._mode not in {"new", "rewrite"} or not new.exists():
            return
        try:
            with folder_lock(self._path.parent):
                self._refresh()
                write_if_changed(self._path, self._encoded())
                new.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self._path, error) from error

    def _has(self, keys: Sequence[str] | dict[str, str]) -> bool:
        wanted = self._own if self._mode == "rewrite" else self._known
        return all(key in wanted for key in keys)

    def _fetch(self, spoken: dict[str, str]) -> None:
        if self._mode == "none":
            self._refresh()
            if missing := [text for key, text in spoken.items() if key not in self._known]:
                raise UnrecordedCall(self._miss(missing))
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with folder_lock(self._path.parent):
                self._refresh()
                missing = [text for key, text in spoken.items() if not self._has([key])]
                if missing:
                    self._add(missing, self._embedder.embed(missing))
        except OSError as error:
            raise unwritable(self._path, error) from error

    def _miss(self, missing: Sequence[str]) -> str:
        from memsim.models.cassette.call_recorder import text_start

        some = "one text" if len(missing) == 1 else f"{len(missing):,} texts"
        where = f" in {self._shown}" if self._known else f": there is no {self._shown}"
        return (
            f"what {self.name} makes of {some} is not recorded{where}; the first is"
            f" {text_start(missing[0])!r}; `--record new` records what is missing"
        )

    def _add(self, texts: Sequence[str], vectors: Vectors) -> None:
        from memsim.models.embedders import check_vectors

        rows = check_vectors(self._embedder, vectors, len(texts))
        self._checked_width(rows.shape[1], self._path)
        lines = bytearray()
        for text, row in zip(texts, rows, strict=True):
            key, data = text_key(text), row.astype("<f4").tobytes()
            self._known[key] = data
            self._own.add(key)
            line = _line(key, data)
            lines += b"\n%08x %s" % (zlib.crc32(line), line)
        new = self._path.with_name(_NEW)
        with new.open("ab") as file:
            file.write(lines)
        self._stamps = (self._stamps[0], _stamp(new))

    # -- the file

    def _refresh(self) -> None:
        new = self._path.with_name(_NEW)
        stamps = (_stamp(self._path), _stamp(new))
        if stamps == self._stamps:
            return
        self._stamps = stamps
        if stamps[0] is not None:
            self._read()
        if stamps[1] is not None and self._mode != "none":
            self._read_new(new)

    def _read(self) -> None:
        path = self._path
        data = read_bytes(path, CassetteError, most=LARGEST)
        for number, line in enumerate(data.splitlines(), start=1):
            record = parse_json(line, path, CassetteError, line=number, prefix=f"{_WRONG}: ")
            try:
                if number == 1:
                    self._read_header(record)
                    continue
                key, data = _read_line(record)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise CassetteError(_WRONG, path=path, line=number) from error
            if len(data) != 4 * self._dimension:
                said = f"is not a vector of dimension {self._dimension}"
                raise CassetteError(said, path=path, line=number)
            if key not in self._own:
                self._known[key] = data

    def _read_header(self, record: dict[str, object]) -> None:
        if record["memsim_vectors"] != FORMAT or record["embedder"] != self.name:
            raise ValueError("another format, or another embedder")
        width = record["dimension"]
        if not isinstance(width, int) or width < 1:
            raise ValueError("no dimension")
        self._checked_width(width, self._path)

    def _checked_width(self, width: int, path: Path) -> None:
        if self._dimension not in {0, width}:
            raise CassetteError(
                f"holds vectors of dimension {self._dimension}, and {self.name} now makes"
                f" {width}: they cannot be mixed; move the file away to record anew",
                path=path,
            )
        self._dimension = width

    def _read_new(self, new: Path) -> None:
        for line in read_bytes(new, CassetteError, most=LARGEST).splitlines():
            crc, _, text = line.partition(b" ")
            if crc != b"%08x" % zlib.crc32(text):
                continue
            try:
                key, data = _read_line(parse_json(text, new, CassetteError))
            except (ValueError, TypeError, AttributeError) as error:
                raise CassetteError(_WRONG, path=new) from error
            self._checked_width(len(data) // 4, new)
            if key not in self._own:
                self._known[key] = data

    def _encoded(self) -> bytes:
        header = {"dimension": self._dimension, "embedder": self.name, "memsim_vectors": FORMAT}
        lines = [json.dumps(header, separators=(",", ":")).encode()]
        lines += [_line(key, data) for key, data in sorted(self._known.items())]
        return b"\n".join([*lines, b""])


def _line(key: str, data: bytes) -> bytes:
    vector = base64.b64encode(data).decode()
    return json.dumps({"text": key, "vector": vector}, separators=(",", ":")).encode()


def _read_line(record: dict[str, str]) -> tuple[str, bytes]:
    if record.keys() != {"text", "vector"} or len(record["text"]) != 32:
        raise ValueError("no vector")
    try:
        return record["text"], base64.b64decode(record["vector"], validate=True)
    except binascii.Error as error:
        raise ValueError("no base 64") from error


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CassetteError(f"cannot be read: {error.strerror}", path=path) from error
    return found.st_ino, found.st_size, found.st_mtime_ns
