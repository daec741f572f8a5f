"""One connection to Redis, on which no answer is ever left for somebody else.

What goes wrong is a `StoreError`; a namespace that was there and is not any more is one as well,
because a server that came up empty, or drops what it likes, would otherwise look like a memory
without a past. A marker of its own tells a namespace from a later one of the same name.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

import redis
from redis.exceptions import ReadOnlyError, RedisError, ResponseError

from memsim.errors import StoreError

Argument = bytes | str | int

_ATTEMPTS = 2
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CODE = re.compile(r"(?:^|-)([A-Z]{3,16})\b")
_PATIENCE = 30.0

_LOST = (
    "the memory {name} has vanished from Redis, in part or as a whole: the server came up empty, or"
    " evicts keys; restore it, or open it anew"
)


class RedisConnection:
    """A namespace of a Redis server. The name has letters, digits, `_`, `.` and `-`."""

    def __init__(self, url: str, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise StoreError(f"{name!r} is no name for a memory: letters, digits, _, . and - only")
        self.name = name
        try:
            pool = redis.ConnectionPool.from_url(
                url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE, protocol=2
            )
        except ValueError as error:
            raise StoreError(f"Redis cannot be used: {error}") from error
        self._connection: Any = pool.make_connection()
        self._turn = threading.RLock()
        self._closed = False

    def key(self, *parts: str) -> str:
        """A key of the namespace; all of its keys live on one node of a cluster."""
        return ":".join((f"memsim:{{{self.name}}}", *parts))

    def run(self, script: str, keys: Sequence[str], *values: Argument) -> Any:  # noqa: ANN401 - RESP
        """What a script gives, which is all done or, where it refuses, not begun.

        Raises `StoreError` if the server failed, or the namespace has vanished.
        """
        return self.call("EVAL", script, len(keys), *keys, *values)

    def call(self, *command: Argument) -> Any:  # noqa: ANN401 - whatever RESP holds
        """What the server answers to a command; asked once more where the connection was lost.

        Raises `StoreError` if the server failed.
        """
        with self._turn:
            for attempt in range(1, _ATTEMPTS + 1):
                if self._closed:
                    raise StoreError("the store is closed")
                try:
                    return self._answer(command)
                except ResponseError as error:
                    raise self._refused(error) from error
                except (RedisError, OSError) as error:
                    if attempt == _ATTEMPTS:
                        raise StoreError(
                            f"Redis failed: {type(error).__name__}: {error}"
                        ) from error
            raise AssertionError("unreachable")

    def lost(self) -> StoreError:
        """The error for a namespace that was there, and is not any more."""
        return StoreError(_LOST.format(name=self.name))

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""
        with self._turn:
            self._closed = True
            self._connection.disconnect()

    def _answer(self, command: Sequence[Argument]) -> Any:  # noqa: ANN401 - whatever RESP holds
        try:
            self._connection.send_command(*command)
            return self._connection.read_response()
        except ResponseError:
            raise
        except BaseException:
            self._connection.disconnect()
            raise

    def _refused(self, error: ResponseError) -> StoreError:
        """What the server objects to, without the arguments, which are what users wrote."""
        said = str(error)
        if "MEMSIM-LOST" in said:
            return self.lost()
        code = _CODE.search(said)
        kind = "READONLY" if isinstance(error, ReadOnlyError) else type(error).__name__
        return StoreError(f"Redis refused: {code.group(1) if code else kind}")
