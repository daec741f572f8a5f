"""One HTTP connection that stays open, whose every request ends at one moment at the latest.

No redirect is followed, and no proxy is used.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class TimedConnection:
    """A connection to one server.

    Args:
        url: such as `http://127.0.0.1:8080`; a path in it stands before each path.
        timeout: seconds for each answer.

    Attributes:
        host: the name or address of the server.

    Raises:
        ValueError: the address is none of HTTP.
    """

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
            raise ValueError(f"url is {url!r}: it begins with http:// and names a host")
        if parts.username is not None:
            raise ValueError("url holds a user or a password, which would stand in every report")
        if not 0 < timeout <= 3600:
            raise ValueError(f"timeout is {timeout}: more than 0 seconds, at most 3600")
        self.host: str = parts.hostname
        self._prefix = parts.path.rstrip("/")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else None
        self._connection = (kind or http.client.HTTPConnection)(
            parts.hostname, parts.port, timeout=timeout
        )

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], end: float
    ) -> http.client.HTTPResponse:
        """Make a request; the answer has to be read until a moment of the monotonic clock."""
        connection = self._connection
        line = self._connect(end)
        line.end = end
        connection.request(method, self._prefix + path or "/", body=body, headers=dict(headers))
        line.flush()
        return connection.getresponse()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _connect(self, end: float) -> _TimedSocket:
        connection = self._connection
        held = connection.sock
        if isinstance(held, _TimedSocket):
            if not held.has_news():
                return held
            connection.close()  # the server closed it, or speaks without being asked
        connection.timeout = max(end - time.monotonic(), 0.001)
        connection.connect()
        timed = _TimedSocket(connection.sock)
        connection.sock = timed  # it has what http.client uses of a socket
        return timed


class _TimedSocket:
    """A socket whose every read and write ends at one moment."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self._waiting: list[bytes] = []
        self._readers, self._closed = 0, False
        self.end = 0.0

    def has_news(self) -> bool:
        """Whether anything can be read; between two requests, that is the end."""
        if not hasattr(select, "poll"):
            return bool(select.select([self._real], [], [], 0)[0])
        waiting = select.poll()
        waiting.register(self._real, select.POLLIN)
        return bool(waiting.poll(0))

    def sendall(self, data: bytes) -> None:
        """Keep it for `flush`: head and body in one piece wake the server once."""
        self._waiting.append(data)

    def flush(self) -> None:
        """Send what is waiting."""
        data, self._waiting = b"".join(self._waiting), []
        self._real.settimeout(self._left())
        self._real.sendall(data)

    def receive_into(self, buffer: WriteableBuffer) -> int:
        """Read what there is."""
        self._real.settimeout(self._left())
        return self._real.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """A file of what is received; closing it leaves the socket open."""
        self._readers += 1
        return io.BufferedReader(_Receiver(self))

    def close(self) -> None:
        """Close the socket, once no file reads from it."""
        # http.client closes before it reads, if the server says that this answer is the last.
        self._closed = True
        if not self._readers:
            self._real.close()

    def release(self) -> None:
        """A file reads no more."""
        self._readers -= 1
        if self._closed:
            self.close()

    def _left(self) -> float:
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Receiver(io.RawIOBase):
    def __init__(self, timed: _TimedSocket) -> None:
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._timed.receive_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._timed.release()
        super().close()
