"""A client of MCP servers: it opens a session, reads the tools, and calls them under deadlines.

Nothing is tried twice. A server that did not answer in time, or answered wrongly, is ended and not
asked again. The client is memsim's own, because it bounds every answer in time and size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from memsim.adapters.mcp_messages import (
    VERSIONS,
    Body,
    McpError,
    ToolReply,
    note,
    read_reply,
    reply_to,
    request,
    result_of,
)

_MOST_PAGES = 50
_CHANGED = "notifications/tools/list_changed"


class Transport(Protocol):
    """How messages reach a server."""

    def ask(self, request: Body, end: float) -> Body:
        """Send a request, and return the answer to it."""

    def tell(self, note: Body, end: float) -> None:
        """Send what has no answer."""

    def close(self) -> None:
        """Leave the server."""

    def kill(self) -> None:
        """Leave it at once."""


Connect = Callable[[Callable[[Body], Body | None]], Transport]
"""Makes a transport, given what answers the server's own messages."""


class McpClient:
    """A session with a server.

    Args:
        connect: makes the transport.
        name: of the server, for errors.
        start_seconds: until the session is open.

    Attributes:
        identity: name and version of the server, and the version of the protocol.
        tools: the schema of each tool's arguments.

    Raises:
        McpError: the server does not speak the protocol.
    """

    def __init__(self, connect: Connect, *, name: str, start_seconds: float) -> None:
        self._name = name
        self._number = 0
        self._stale = False
        self._why_dead = ""
        end = time.monotonic() + start_seconds
        self._transport = connect(self._hear)
        self.identity = self._opened(end)
        self.tools = self._listed(end)
        self._stale = False

    def call(self, tool: str, arguments: Body, end: float) -> ToolReply:
        """Call a tool, and read its answer until a moment of the monotonic clock.

        Raises:
            McpError: it failed, or the server did.
        """
        if self._stale:
            if self._listed(end) != self.tools:
                self._die("its tools changed while it ran")
            self._stale = False
        params = {"name": tool, "arguments": arguments}
        answer = self._ask("tools/call", params, end, what=tool)
        try:
            return read_reply(result_of(answer, tool), tool)
        except McpError as error:
            raise type(error)(f"{self._name}: {error}") from None

    def close(self) -> None:
        """End the session."""
        if not self._why_dead:
            self._transport.close()

    def _opened(self, end: float) -> tuple[str, str, str]:
        client = {"name": "memsim", "version": "1"}
        params = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": client}
        told = self._result("initialize", params, end)
        version, server = told.get("protocolVersion"), told.get("serverInfo")
        if version not in VERSIONS:
            self._die(f"it speaks version {str(version)[:40]!r} of the protocol")
        server = server if isinstance(server, dict) else {}
        self._guarded("initialize", end, lambda: self._transport.tell(_INITIALIZED, end))
        return str(server.get("name"))[:100], str(server.get("version"))[:100], str(version)

    def _listed(self, end: float) -> Mapping[str, Body]:
        found: dict[str, Body] = {}
        params: Body = {}
        for _ in range(_MOST_PAGES):
            told = self._result("tools/list", params, end)
            tools = told.get("tools")
            for tool in tools if isinstance(tools, list) else self._die("its tools are no list"):
                if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
                    self._die("a tool has no name")
                schema = tool.get("inputSchema")
                found[tool["name"]] = schema if isinstance(schema, dict) else {}
            cursor = told.get("nextCursor")
            if not cursor:
                return found
            params = {"cursor": cursor}
        return self._die("the list of its tools has no end")

    def _result(self, method: str, params: Body, end: float) -> Body:
        answer = self._ask(method, params, end, what=method)
        try:
            return result_of(answer, method)
        except McpError as error:
            self._die(str(error))

    def _ask(self, method: str, params: Body, end: float, *, what: str) -> Body:
        self._number += 1
        sent = request(self._number, method, params)
        answer: Body = self._guarded(what, end, lambda: self._transport.ask(sent, end))
        return answer

    def _guarded(self, what: str, end: float, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it returns
        if self._why_dead:
            raise McpError(self._why_dead)
        try:
            return act()
        except TimeoutError:
            self._die(f"{what}: no answer in time")
        except McpError as error:
            self._die(f"{what}: {error}")
        except (OSError, ValueError) as error:
            self._die(f"{what}: {' '.join(str(error).split()) or type(error).__name__}")

    def _hear(self, told: Body) -> Body | None:
        if told.get("method") == _CHANGED:
            self._stale = True
        return reply_to(told)

    def _die(self, said: str) -> NoReturn:
        self._transport.kill()
        self._why_dead = f"{self._name}: {said}"
        raise McpError(self._why_dead) from None


_INITIALIZED = note("notifications/initialized")
