"""A client of the HTTP contract: one connection that stays open, strict limits, no retries.

Every request has a deadline that covers the whole answer, however slowly it trickles in. A server
that failed to answer once is not asked again. Redirects are not followed, and no proxy is used.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

from memsim.adapters.http_contract import DEEPEST, MOST_REPLY, REPLY_SECONDS, SPACE
from memsim.adapters.json_depth import nested_deeper
from memsim.adapters.timed_http import TimedConnection
from memsim.errors import StrategyError

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
        self._connection = TimedConnection(url, timeout)
        self.host = self._connection.host
        self.timeout = timeout
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
        end = time.monotonic() + timeout
        response = self._connection.send(method, path, body, self._headers, end)
        length = response.length
        if length is not None and length > MOST_REPLY:
            raise ValueError(f"an answer of {length:,} bytes, and {MOST_REPLY:,} are allowed")
        data = response.read(MOST_REPLY + 1)
        if len(data) > MOST_REPLY:
            raise ValueError(f"an answer of more than {MOST_REPLY:,} bytes")
        response.close()
        return response.status, data


def _address(path: str, fields: Fields) -> str:
    return f"{path}?{urlencode(fields, quote_via=quote)}" if fields else path


def _cause(error: Exception) -> str:
    said = " ".join(str(error).split())[:_SHOWN]
    return said or type(error).__name__


def _parsed(what: str, status: int, data: bytes) -> Any:  # noqa: ANN401 - JSON
    if nested_deeper(data, DEEPEST):
        raise ServerError(f"{what}: the answer is nested deeper than {DEEPEST}", status=status)
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
