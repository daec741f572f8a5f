"""One MCP server of a case: it is started or reached, checked against its mapping, and asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from memsim.adapters.credit import ForeignText
from memsim.adapters.mcp_client import Connect, McpClient
from memsim.adapters.mcp_http import HttpTransport
from memsim.adapters.mcp_mapping import FindMapping, McpMapping, ToolMapping, fill
from memsim.adapters.mcp_messages import McpError
from memsim.adapters.mcp_replies import read_items
from memsim.adapters.mcp_stdio import StdioTransport
from memsim.errors import nearest

PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP")
"""The user's variables that a server gets; `pass_env` names more."""


class McpServer:
    """A server and the session with it.

    Args:
        mapping: which tools it has.
        folder: where it runs and may write, if it is started.
        given: values of placeholders that are known before any message: `environment`, `models`.
        timeout: seconds for each call.
        around: is entered around all that the server does.

    Attributes:
        folder: as given.

    Raises:
        McpError: it cannot be started, or has not the tools of its mapping.
    """

    def __init__(
        self,
        mapping: McpMapping,
        folder: Path,
        given: Mapping[str, str],
        timeout: float,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._mapping, self._timeout, self._around = mapping, timeout, around
        self.folder = folder
        self._given = {**given, "folder": str(folder)}
        self._client = self._opened()

    @property
    def identity(self) -> tuple[str, str, str]:
        """Name and version of the server, and the version of the protocol."""
        return self._client.identity

    def call(
        self, tool: ToolMapping | FindMapping, given: Mapping[str, object], end: float = 0.0
    ) -> list[ForeignText]:
        """Call a tool; the texts in its answer, if the mapping says where they are.

        Args:
            tool: of the mapping.
            given: values of its placeholders.
            end: until when, by the monotonic clock; 0 for the usual time.
        """
        end = end or time.monotonic() + self._timeout
        with self._around():
            reply = self._client.call(tool.tool, fill(dict(tool.arguments), given), end)
        return read_items(reply, tool.reply, tool.tool) if tool.reply is not None else []

    def restart(self) -> None:
        """End the server, and start it again in the same folder.

        Raises:
            McpError: it cannot be started, or is another one now.
        """
        before = self.identity, self._client.tools
        self._client.close()
        self._client = self._opened()
        if (self.identity, self._client.tools) != before:
            self._client.close()
            raise McpError(f"{self._mapping.name}: it is another server after a restart")

    def close(self) -> None:
        """End the server, or leave it."""
        self._client.close()

    def _opened(self) -> McpClient:
        mapping = self._mapping
        token = os.environ.get(mapping.token_env, "") if mapping.token_env else ""
        reach = partial(HttpTransport, mapping.url, self._timeout, token)
        connect: Connect = reach if mapping.url else self._start
        with self._around():
            client = McpClient(connect, name=mapping.name, start_seconds=mapping.slow_start)
        fault = next(_mismatches(mapping, client.tools), "")
        if fault:
            client.close()
            raise McpError(f"{mapping.name}: {fault}")
        return client

    def _start(self, answer: object) -> StdioTransport:
        mapping = self._mapping
        names = (*PASSED, *mapping.pass_env)
        passed = {name: os.environ[name] for name in names if name in os.environ}
        variables = {"HOME": str(self.folder), **passed, **fill(dict(mapping.env), self._given)}
        argv: Sequence[str] = fill(list(mapping.command), self._given)
        return StdioTransport(argv, variables, self.folder, self.folder / "server.log", answer)  # type: ignore[arg-type]


def _mismatches(mapping: McpMapping, tools: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """What a mapping names and the server has not."""
    for part, tool in mapping.tools:
        if tool.tool not in tools:
            yield f"{part}: the server has no tool {tool.tool!r}{_meant(tool.tool, tools)}"
            continue
        schema = tools[tool.tool]
        known, required = schema.get("properties"), schema.get("required")
        for name in tool.arguments:
            if isinstance(known, dict) and known and name not in known:
                yield f"{part}: {tool.tool} has no argument {name!r}{_meant(name, known)}"
        for name in required if isinstance(required, list) else ():
            if name not in tool.arguments:
                yield f"{part}: {tool.tool} needs the argument {str(name)[:100]!r}"


def _meant(name: str, known: Mapping[str, object]) -> str:
    near = nearest(name, [each for each in known if isinstance(each, str)])
    return f" (did you mean {near!r}?)" if near else ""
