"""Talk to an MCP server over streamable HTTP: a request is a POST, its answer JSON or an event."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator

from memsim.adapters.http_contract import MOST_REPLY
from memsim.adapters.mcp_messages import VERSIONS, Body, McpError, encoded, read_message
from memsim.adapters.timed_http import TimedConnection

_SESSION = "Mcp-Session-Id"
_LAST_SECONDS = 1.0
_MOST_LINE = 2**16


class HttpTransport:
    """A server that runs elsewhere.

    Args:
        url: of the server, with its path.
        timeout: seconds for each answer.
        token: a bearer token; empty for none.
        answer: takes what the server asks or tells; returns what it is answered, if anything.

    Raises:
        ValueError: the address is none of HTTP.
    """

    def __init__(
        self, url: str, timeout: float, token: str, answer: Callable[[Body], Body | None]
    ) -> None:
        self._connection = TimedConnection(url, timeout)
        self._answer = answer
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def ask(self, request: Body, end: float) -> Body:
        """Send a request, and return the answer to it.

        Raises:
            McpError: the server refused, or said what is no answer.
            TimeoutError: there was none in time.
        """
        response = self._post(request, end)
        if response.status != http.client.OK:
            raise McpError(f"status {response.status}")
        later: list[Body] = []
        found = None
        for told in self._messages(response):
            if "method" in told:
                answer = self._answer(told)
                later += [answer] if answer is not None else []
            elif told.get("id") == request["id"]:
                found = told
                break  # a server may keep the stream open
            else:
                raise McpError("it answered a request that was not made")
        if response.isclosed():
            response.close()
        else:
            self._connection.close()
        for answer in later:
            self.tell(answer, end)
        if found is None:
            raise McpError("the answer ended without a result")
        if request["method"] == "initialize":
            self._begin(response, found)
        return found

    def tell(self, note: Body, end: float) -> None:
        """Send what has no answer."""
        response = self._post(note, end)
        response.read(MOST_REPLY)
        response.close()
        if response.status >= http.client.MULTIPLE_CHOICES:
            raise McpError(f"status {response.status}")

    def close(self) -> None:
        """End the session."""
        end = time.monotonic() + _LAST_SECONDS
        try:
            if _SESSION in self._headers:
                self._connection.send("DELETE", "", None, self._headers, end).read(MOST_REPLY)
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server ends it by itself then
        finally:
            self._connection.close()

    def kill(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _post(self, message: Body, end: float) -> http.client.HTTPResponse:
        try:
            return self._connection.send("POST", "", encoded(message), self._headers, end)
        except http.client.HTTPException as error:
            raise McpError(f"it sent what is no HTTP: {type(error).__name__}") from None

    def _begin(self, response: http.client.HTTPResponse, found: Body) -> None:
        session = response.headers.get(_SESSION)
        if session:
            self._headers[_SESSION] = session
        version = found.get("result")
        version = version.get("protocolVersion") if isinstance(version, dict) else None
        if version in VERSIONS:
            self._headers["MCP-Protocol-Version"] = version

    def _messages(self, response: http.client.HTTPResponse) -> Iterator[Body]:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        try:
            if kind == "text/event-stream":
                yield from map(read_message, _events(response))
                return
            data = response.read(MOST_REPLY + 1)
        except http.client.HTTPException as error:
            raise McpError(f"it sent what is no HTTP: {type(error).__name__}") from None
        if len(data) > MOST_REPLY:
            raise McpError(f"an answer of more than {MOST_REPLY:,} bytes")
        yield read_message(data)


def _events(response: http.client.HTTPResponse) -> Iterator[str]:
    """The data of each event of a stream, within the limit of an answer."""
    taken, data = 0, []
    while piece := response.readline(_MOST_LINE):
        line = piece
        while not line.endswith(b"\n") and piece and len(line) <= MOST_REPLY:
            piece = response.readline(_MOST_LINE)
            line += piece
        taken += len(line)
        if taken > MOST_REPLY:
            raise McpError(f"a stream of more than {MOST_REPLY:,} bytes")
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith("data:"):
            data.append(text[5:].removeprefix(" "))
        elif not text and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)
