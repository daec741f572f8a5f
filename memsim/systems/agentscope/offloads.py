"""The references that AgentScope leaves where something was offloaded, and what is behind them.

A reference is a comment with a uuid of 36 characters. The uuid is made from the digest of what it
stands for, so that a replay gives the same one every time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from uuid import UUID

from memsim.memory.compaction import Blobs, MemoryBlobs, reload
from memsim.message import Message

NULL_UUID = "Error: UUID cannot be null or empty."
NO_MESSAGES = (
    "No messages found for UUID: {uuid}, The context may have been cleared or the UUID is invalid."
)
NO_OFFLOADER = "Error: Context offloader is not available. Cannot reload context with UUID: {uuid}"

_TAG = re.compile(r"<!-- CONTEXT_OFFLOAD: uuid=([0-9a-f-]{36}) -->")


def uuid_of(digest: str) -> str:
    """The uuid of a blob, from its sha256 in hex."""
    return str(UUID(digest[:32]))


def tag(data: bytes, _length: int) -> str:
    """The reference to a blob."""
    return f"<!-- CONTEXT_OFFLOAD: uuid={uuid_of(hashlib.sha256(data).hexdigest())} -->"


def tags(text: str) -> tuple[str, ...]:
    """The uuids that a text refers to, in order."""
    return tuple(_TAG.findall(text))


def reload_messages(uuid: str, blobs: Blobs) -> tuple[Message, ...]:
    """The messages behind a uuid, as they were; none where there is no such."""
    digest = next((d for d in blobs.digests() if uuid_of(d) == uuid), None)
    return () if digest is None else reload(digest, blobs)


def reload_answer(uuid: str, blobs: Blobs | None) -> str | tuple[Message, ...]:
    """What the tool `context_reload` gives: the messages, or a sentence that says why not."""
    if not uuid.strip():
        return NULL_UUID
    if blobs is None:
        return NO_OFFLOADER.replace("{uuid}", uuid)
    return reload_messages(uuid, blobs) or NO_MESSAGES.replace("{uuid}", uuid)


class BlobDraft(Blobs):
    """Blobs over others, which do not change before `adopt`."""

    def __init__(self, base: MemoryBlobs) -> None:
        self._base = base
        self._own = MemoryBlobs()

    def put(self, data: bytes) -> str:
        return self._own.put(data)

    def get(self, digest: str) -> bytes:
        own = self._own if digest in self._own.digests() else self._base
        return own.get(digest)

    def digests(self) -> tuple[str, ...]:
        return tuple(sorted({*self._base.digests(), *self._own.digests()}))

    def drop(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Remove blobs that are only here; those that were, sorted."""
        return self._own.drop(digests)

    def adopt(self) -> None:
        """Keep everything in the blobs beneath."""
        for digest in self._own.digests():
            self._base.put(self._own.get(digest))
