"""The audit trail: who did what to the memory and when, in records that hold nothing of it.

Records are lines of canonical JSON, each with the hash of the line before it. The first line is a
header::

    {"format":"memsim.audit","salted":"<digest of the salt>","version":1}
    {"category":"core","hash":"...","key":"<salted digest>","number":1,"outcome":"allowed",
     "previous":"...","principal":"ana","time":"2026-01-05T09:00:00+00:00","tool":"memory_store"}

A chain proves that nothing within it was changed, left out or moved. It cannot prove that nothing
is missing at its end, or that not all of it was written anew: for that its head has to be kept
apart, where those who can write the trail cannot. `head` gives it, `verify` holds the trail to it.
Keep it after a record was added, and a crash may leave the trail ahead of it, which is no fault.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from memsim.errors import StateError
from memsim.memory.codec import JSON, canonical, parse, reading
from memsim.memory.entry import CATEGORIES
from memsim.message import utc

AuditOutcome = Literal["allowed", "denied", "missing", "refused", "failed"]
"""`denied` and `missing` look alike to who asked; here they need not. `refused`: the arguments were
not what the tool takes. `failed`: the store was not able to."""

OUTCOMES: tuple[AuditOutcome, ...] = get_args(AuditOutcome)
VERSION = 1

_TOOL = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_NAMES = frozenset(
    {"number", "time", "tool", "key", "category", "principal", "outcome", "previous", "hash"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One thing that was done, or tried.

    `time` is ISO 8601 in UTC; `tool` is `unknown` for what is no name of a tool. `key` is the
    salted digest of the key or query; `category` is `custom` for all words of users' own. Both are
    empty where there is none. `previous` is the hash of the record before, or of the header.
    """

    number: int
    time: str
    tool: str
    key: str
    category: str
    principal: str
    outcome: AuditOutcome
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Where a trail ends; kept apart, it finds out a trail that was cut or written anew.

    `number` is 0 where there is no record; `hash` is then the header's, or empty without one.
    """

    number: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBreak:
    """The first link that does not hold.

    `number` is that of the record that should stand there; 0 for the header. `why` holds nothing of
    the record.
    """

    number: int
    why: str


class Lines(Protocol):
    """Lines that can only be added to."""

    def lines(self) -> Iterator[bytes]:
        """Every line that was added, without its end."""
        ...

    def last(self) -> bytes | None:
        """The last of them; None where there is none."""
        ...

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes out of the last one, while nobody else can add any.

        They have reached the disk when this returns, where there is one. Raises `StoreError` if
        they could not be added.
        """
        ...


class InProcessLines:
    """Lines that last as long as their process."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Every line there is now."""
        yield from tuple(self._lines)

    def last(self) -> bytes | None:
        """The last line."""
        return self._lines[-1] if self._lines else None

    def append(self, make: Callable[[bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `make` makes out of the last one."""
        with self._lock:
            self._lines.extend(make(self.last()))


class AuditTrail:
    """What was done, in order.

    `salt` makes the digests of keys worthless to who does not have it. The memory keeps it, the
    trail never. `lines` is where the trail is kept. Raises `StateError` if the lines belong to a
    trail with another salt, or to none.
    """

    def __init__(
        self,
        salt: bytes | None = None,
        lines: Lines | None = None,
    ) -> None:
        self.salt = secrets.token_bytes(16) if salt is None else salt
        self._lines: Lines = InProcessLines() if lines is None else lines
        first = next(self._lines.lines(), None)
        if first not in {None, self._header()}:
            raise StateError("the audit trail cannot be gone on with: it is not of this salt")

    def record(
        self,
        tool: str,
        *,
        principal: str,
        outcome: AuditOutcome,
        now: datetime,
        key: str = "",
        category: str = "",
    ) -> AuditHead:
        """Add a record; it has reached the disk when this returns, where there is one.

        Of the key or query only its salted digest is kept. Returns the head, to be kept apart.

        Raises:
            ValueError: the outcome is none of those there are, or the time has no zone.
            StoreError: it could not be added.
            StateError: the last record is damaged, so that nothing can follow it.
        """
        if outcome not in OUTCOMES:
            raise ValueError(f"an outcome is one of {', '.join(OUTCOMES)}")
        body: dict[str, JSON] = {
            "time": utc(now).isoformat(),
            "tool": tool if _TOOL.fullmatch(tool) else "unknown",
            "key": self.digest(key) if key else "",
            "category": category if category in {"", *CATEGORIES} else "custom",
            "principal": _encodable(principal),
            "outcome": outcome,
        }
        made: list[bytes] = []

        def make(last: bytes | None) -> list[bytes]:
            made[:] = [] if last is not None else [self._header()]
            made.append(_following(body, _head_of(last or self._header())))
            return made

        self._lines.append(make)
        return _head_of(made[-1])

    def digest(self, key: str) -> str:
        """What stands in the trail for a key: 32 hexadecimal digits."""
        encoded = key.encode("utf-8", "surrogatepass")
        return hmac.new(self.salt, encoded, hashlib.sha256).hexdigest()[:32]

    def records(self) -> Iterator[AuditRecord]:
        """Every record, the oldest first. Raises `StateError` if one of them is damaged."""
        for place, line in enumerate(self._lines.lines()):
            if place:
                yield _read(line)

    def head(self) -> AuditHead:
        """Where the trail ends. Raises `StateError` if its last record is damaged."""
        last = self._lines.last()
        return AuditHead() if last is None else _head_of(last)

    def verify(self, head: AuditHead | None = None) -> AuditBreak | None:
        """Look at every link; the first that does not hold, or None where all do.

        `head` is what `record` or `head` gave once; the trail has to lead to it, and may go on.
        """
        before: AuditHead | None = None
        for place, line in enumerate(self._lines.lines()):
            why = self._fault(line, before)
            if why:
                return AuditBreak(number=place, why=why)
            before = _head_of(line)
            if head is not None and head.number == place and head.hash not in {"", before.hash}:
                return AuditBreak(number=place, why="it is not the one that the head was taken of")
        reached = before or AuditHead()
        if head is not None and head.hash and (before is None or head.number > reached.number):
            return AuditBreak(
                number=reached.number + 1 if before else 0, why="the trail was cut off"
            )
        return None

    def save(self) -> JSON:
        """The salt and every line; what is saved with it has to be kept as safe as the memory."""
        return {
            "salt": self.salt.hex(),
            "lines": [line.decode("utf-8") for line in self._lines.lines()],
        }

    @classmethod
    def load(cls, saved: Any) -> AuditTrail:  # noqa: ANN401 - what was read may be anything
        """The trail that was saved, in this process.

        Raises `StateError` if it was no such trail, or a link of it does not hold.
        """
        lines = InProcessLines()
        with reading("it is not an audit trail"):
            salt = bytes.fromhex(saved["salt"])
            encoded = [line.encode("utf-8") for line in saved["lines"]]
            if not isinstance(saved["lines"], list):
                raise TypeError("not a list")
        lines.append(lambda _: encoded)
        trail = cls(salt, lines)
        if broken := trail.verify():
            said = f"record {broken.number}: {broken.why}"
            raise StateError(f"the saved state cannot be read back: audit trail, {said}")
        return trail

    def _header(self) -> bytes:
        salted = self.digest("\0salt")
        return canonical({"format": "memsim.audit", "version": VERSION, "salted": salted}).encode()

    def _fault(self, line: bytes, before: AuditHead | None) -> str:
        if before is None:
            return "" if line == self._header() else "the header is not this trail's"
        try:
            record = _read(line)
        except StateError:
            return "it is not a record"
        if _following(_body(record), before) == line:
            return ""
        if record.hash != _hash(_signed(record)):
            return "it was changed"
        return "it does not follow the one before it"


def _encodable(principal: str) -> str:
    return principal.encode("utf-8", "backslashreplace").decode("utf-8")


def _following(body: dict[str, JSON], before: AuditHead) -> bytes:
    signed: dict[str, JSON] = {**body, "number": before.number + 1, "previous": before.hash}
    return canonical({**signed, "hash": _hash(signed)}).encode("utf-8")


def _hash(signed: dict[str, JSON]) -> str:
    return hashlib.sha256(canonical(signed).encode("utf-8")).hexdigest()


def _head_of(line: bytes) -> AuditHead:
    document = parse(line)
    if isinstance(document, dict) and document.get("format") == "memsim.audit":
        return AuditHead(number=0, hash=hashlib.sha256(line).hexdigest())
    record = _read(line)
    return AuditHead(number=record.number, hash=record.hash)


def _read(line: bytes) -> AuditRecord:
    document = parse(line)
    with reading("it is not an audit record"):
        if set(document) != _NAMES or not all(
            isinstance(value, int if name == "number" else str) for name, value in document.items()
        ):
            raise TypeError("not a record")
        return AuditRecord(**document)


def _signed(record: AuditRecord) -> dict[str, JSON]:
    return {name: getattr(record, name) for name in sorted(_NAMES - {"hash"})}


def _body(record: AuditRecord) -> dict[str, JSON]:
    return {name: getattr(record, name) for name in sorted(_NAMES - {"hash", "number", "previous"})}
