"""A client of the HTTP contract: one connection that stays open, strict limits, no retries.

Every request has a deadline that covers the whole answer, however slowly it trickles in. A server
that failed to answer once is not asked again. Redirects are not followed, and no proxy is used.
"""

from __future__ import annotations

import http.client
import io
import json
import select
import socket
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

from memsim.adapters.http_contract import MOST_REPLY, REPLY_SECONDS, SPACE
from memsim.errors import StrategyError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Body = Mapping[str, object]
Fields = Sequence[tuple[str, str]]

_SHOWN = 200
_OK = 200


class ServerError(StrategyError):
    """A server did not answer as the contract says.

    Attributes:
        status: the HTTP status; 0 if there was no answer.
        code: the contract's word for a refusal; empty if the answer holds none.
    """

    def __init__(self, said: str, *, status: int = 0, code: str = "") -> None:
        self.status, self.code = status, code
        super().__init__(said)


class ContractClient:
    """Asks one server.

    Args:
        url: such as `http://127.0.0.1:8080`; a path in it stands before each route.
        space: the memory that is meant; empty for the server's only one.
        timeout: seconds for each answer.

    Raises:
        ValueError: the address is none of HTTP.
    """

    def __init__(self, url: str, *, space: str = "", timeout: float = REPLY_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
            raise ValueError(f"url is {url!r}: it begins with http:// and names a host")
        if parts.username is not None:
            raise ValueError("url holds a user or a password, which would stand in every report")
        if not 0 < timeout <= 3600:
            raise ValueError(f"timeout is {timeout}: more than 0 seconds, at most 3600")
        self.host: str = parts.hostname
        self.timeout = timeout
        self._prefix = parts.path.rstrip("/")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else None
        self._connection = (kind or http.client.HTTPConnection)(
            parts.hostname, parts.port, timeout=timeout
        )
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if space:
            self._headers[SPACE] = space
        self._why_dead = ""

    def get(self, path: str, fields: Fields = (), *, timeout: float | None = None) -> Any:  # noqa: ANN401 - JSON
        """Ask for something."""
        return self.call("GET", _address(path, fields), timeout=timeout)

    def post(self, path: str, body: Body) -> Any:  # noqa: ANN401 - JSON
        """Tell or ask something."""
        return self.call("POST", path, body)

    def delete(self, path: str, fields: Fields = ()) -> Any:  # noqa: ANN401 - JSON
        """Have something erased."""
        return self.call("DELETE", _address(path, fields))

    def call(
        self, method: str, path: str, body: Body | None = None, *, timeout: float | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Make one request, and read its answer as JSON.

        Raises:
            ServerError: the server refused, did not answer in time, or answered wrongly.
        """
        if self._why_dead:
            raise ServerError(self._why_dead)
        sent = None if body is None else json.dumps(body).encode()
        what = f"{method} {path.partition('?')[0]}"
        try:
            status, data = self._exchange(method, path, sent, timeout or self.timeout)
        except TimeoutError:
            self._die(f"{what}: no answer within {timeout or self.timeout:g} s")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._die(f"{what}: {_cause(error)}")
        return _parsed(what, status, data)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _die(self, said: str) -> NoReturn:
        self._connection.close()
        self._why_dead = said
        raise ServerError(said) from None

    def _exchange(
        self, method: str, path: str, body: bytes | None, timeout: float
    ) -> tuple[int, bytes]:
        connection = self._connection
        end = time.monotonic() + timeout
        line = self._connect(timeout)
        line.end = end
        connection.request(method, self._prefix + path, body=body, headers=self._headers)
        line.flush()
        response = connection.getresponse()
        length = response.length
        if length is not None and length > MOST_REPLY:
            raise ValueError(f"an answer of {length:,} bytes, and {MOST_REPLY:,} are allowed")
        data = response.read(MOST_REPLY + 1)
        if len(data) > MOST_REPLY:
            raise ValueError(f"an answer of more than {MOST_REPLY:,} bytes")
        response.close()
        return response.status, data

    def _connect(self, timeout: float) -> _TimedSocket:
        connection = self._connection
        held = connection.sock
        if isinstance(held, _TimedSocket):
            if not held.has_news():
                return held
            connection.close()  # the server closed it, or speaks without being asked
        connection.timeout = timeout
        connection.connect()
        timed = _TimedSocket(connection.sock)
        connection.sock = timed  # it has what http.client uses of a socket
        return timed


class _TimedSocket:
    """A socket whose every read and write ends at one moment."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self._waiting: list[bytes] = []
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
        return io.BufferedReader(_Receiver(self))

    def close(self) -> None:
        """Close the socket."""
        self._real.close()

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


def _address(path: str, fields: Fields) -> str:
    return f"{path}?{urlencode(fields, quote_via=quote)}" if fields else path


def _cause(error: Exception) -> str:
    said = " ".join(str(error).split())[:_SHOWN]
    return said or type(error).__name__


def _parsed(what: str, status: int, data: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        value = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if status == _OK and isinstance(value, dict):
        return value
    if status == _OK:
        raise ServerError(f"{what}: the answer is no JSON object", status=status)
    told = value.get("error") if isinstance(value, dict) else None
    told = told if isinstance(told, dict) else {}
    code, said = str(told.get("code", ""))[:40], str(told.get("message", ""))[:_SHOWN]
    plain = " ".join(said.split()) or http.client.responses.get(status, "no reason")
    raise ServerError(f"{what}: status {status}: {plain}", status=status, code=code)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)
