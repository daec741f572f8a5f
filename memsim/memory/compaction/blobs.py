"""Where large content goes: blobs by the digest of their bytes, in the scope of one session.

A session sees its own blobs alone. What another session has, what never was, and what is no digest
at all are one and the same to it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from memsim.errors import StoreError
from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.message import Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from memsim.message import Message

    Opens = Callable[[str], "Blobs"]


Referring = Callable[[bytes, int], str]
"""How a context refers to a blob: from its bytes and the characters that it stands for."""

_REFERENCE = re.compile(r'<offloaded ref="sha256:([0-9a-f]{64})" length="[0-9]+"/>')

NOTHING_OFFLOADED = "nothing is offloaded under this reference"
"""What is said of what never was, and of what another session has."""


class Blobs(Protocol):
    """The blobs of one session."""

    def put(self, data: bytes) -> str:
        """Keep bytes; their sha256 in hex. What is there already stays."""
        ...

    def get(self, digest: str) -> bytes:
        """The bytes of a digest.

        Raises `StoreError` if this session has no such blob, or `StateError` if it is damaged.
        """
        ...

    def digests(self) -> tuple[str, ...]:
        """Every blob that there is, sorted."""
        ...

    def drop(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Remove blobs; those that were there, sorted."""
        ...


class MemoryBlobs:
    """Blobs that are gone with the process."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._blobs.setdefault(digest, bytes(data))
        return digest

    def get(self, digest: str) -> bytes:
        if digest not in self._blobs:
            raise _missing()
        return self._blobs[digest]

    def digests(self) -> tuple[str, ...]:
        return tuple(sorted(self._blobs))

    def drop(self, digests: Iterable[str]) -> tuple[str, ...]:
        gone = sorted({d for d in digests if d in self._blobs})
        for digest in gone:
            del self._blobs[digest]
        return tuple(gone)

    def save(self) -> JSON:
        """Every blob as JSON values."""
        return {d: base64.b64encode(self._blobs[d]).decode() for d in sorted(self._blobs)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Take over saved blobs in place of the present ones.

        Raises `StateError` if they are none, or one is damaged.
        """
        loaded: dict[str, bytes] = {}
        with reading("what was offloaded is damaged"):
            for digest, text in saved.items():
                loaded[digest] = base64.b64decode(text, validate=True)
                if hashlib.sha256(loaded[digest]).hexdigest() != digest:
                    raise ValueError(digest)
        self._blobs = loaded


def stored(messages: tuple[Message, ...]) -> bytes:
    """Messages as the bytes of a blob: canonical, and whatever characters they hold."""
    text = json.dumps(pack(messages), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.encode("ascii")


def reference(data: bytes, messages: Iterable[Message]) -> str:
    """What stands in a context for messages that were offloaded."""
    return reference_of(data, sum(len(m.text) for m in messages))


def reference_of(data: bytes, length: int) -> str:
    """What stands in a context for content of so many characters."""
    return f'<offloaded ref="sha256:{hashlib.sha256(data).hexdigest()}" length="{length}"/>'


def reload(ref: str, blobs: Blobs) -> tuple[Message, ...]:
    """The messages behind a reference, as they were.

    Args:
        ref: a reference as it stands in a context, or `sha256:` and the digest, or the digest.
        blobs: of the session that asks.

    Raises:
        StoreError: there is nothing under it, or it is another session's; which, is not said.
        StateError: what is there is damaged.
    """
    found = _REFERENCE.search(ref)
    digest = found[1] if found else ref.strip().removeprefix("sha256:")
    return tuple(unpack(json.loads(blobs.get(digest))))


def referenced(messages: Iterable[Message]) -> tuple[str, ...]:
    """Digests that composed messages refer to, sorted; words that somebody said refer to nothing.

    Nor do the arguments of calls, which are an agent's own words in any message.
    """
    return tuple(sorted({d for m in messages if is_made(m) for d in _references(m)}))


def is_made(message: Message) -> bool:
    """Whether a message was made of others, and not only merged of their very words."""
    return message.composed and not (message.quotes and not message.derived_from)


def _references(message: Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, Text | ToolResult):
            yield from _REFERENCE.findall(block.text)


def live(messages: Iterable[Message], blobs: Blobs) -> frozenset[str]:
    """Digests of the blobs that messages refer to, and that what is in these refers to."""
    known = frozenset(blobs.digests())
    found: set[str] = set()
    waiting = [d for d in referenced(messages) if d in known]
    while waiting:
        digest = waiting.pop()
        if digest not in found:
            found.add(digest)
            inner = unpack(json.loads(blobs.get(digest)))
            waiting.extend(d for d in referenced(inner) if d in known)
    return frozenset(found)


def collect(messages: Iterable[Message], blobs: Blobs) -> tuple[str, ...]:
    """Remove the blobs that nothing refers to any more; what was removed, sorted."""
    needed = live(messages, blobs)
    return blobs.drop(d for d in blobs.digests() if d not in needed)


def holding(ids: Collection[str], blobs: Blobs) -> tuple[str, ...]:
    """Digests of the blobs that hold any of these messages, or something made from one; sorted."""
    wanted = frozenset(ids)
    found: list[str] = []
    for digest in blobs.digests():
        inside = unpack(json.loads(blobs.get(digest)))
        if any(not wanted.isdisjoint((m.id, *m.quotes, *m.derived_from)) for m in inside):
            found.append(digest)
    return tuple(found)


def _missing() -> StoreError:
    return StoreError(NOTHING_OFFLOADED)


# What was offloaded from conversations, each conversation's apart.


class ConversationBlobs:
    """The blobs of every conversation of a memory, by its name."""

    def __init__(self, opens: Opens | None = None) -> None:
        self._opens: Opens = opens or (lambda _: MemoryBlobs())
        self._opened: dict[str, Blobs] = {}

    def of(self, session: str) -> Blobs:
        """The blobs of a conversation."""
        if session not in self._opened:
            self._opened[session] = self._opens(session)
        return self._opened[session]

    def save(self) -> JSON:
        """All content as JSON values.

        Raises `StateError` if some of it is damaged, or `StoreError` if some of it cannot be read.
        """
        saved: dict[str, JSON] = {}
        for session in sorted(self._opened):
            blobs = self._opened[session]
            held: JSON = {d: base64.b64encode(blobs.get(d)).decode() for d in blobs.digests()}
            if held:
                saved[session] = held
        return saved

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved content in place of the present one.

        Raises `StateError` if it is no such content; nothing has changed. Raises `StoreError` if it
        cannot be kept.
        """
        loaded: dict[str, MemoryBlobs] = {}
        with reading("what was offloaded is damaged"):
            for session, held in saved.items():
                loaded["" + session] = MemoryBlobs()
                loaded[session].load(held)
        for session in sorted({*self._opened, *loaded}):
            new, there = loaded.get(session, MemoryBlobs()), self.of(session)
            for digest in new.digests():
                there.put(new.get(digest))
            there.drop(set(there.digests()).difference(new.digests()))
