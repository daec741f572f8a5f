"""Any memory that a server of the Model Context Protocol offers, as a mapping describes it."""

from __future__ import annotations

from typing import Literal

from memsim import Environment, Strategy
from memsim.adapters.mcp_memory import McpMemory


class Mcp(McpMemory, Strategy):
    """Shows the latest messages, and what an MCP server finds in earlier ones.

    docs/mcp.md describes mappings.

    Args:
        preset: a mapping that memsim has, such as `server-memory`; `mcp:server-memory` for short.
        mapping: a file of your own instead.
        ask: the question as a `whole`, its `words` one by one, or `all` that the server lists;
            `auto` as the mapping says.
        k: texts that are shown at most.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each question and each message.

    Raises:
        ValueError: a number is out of its range, or there is no such preset or environment.
        MappingError: the mapping is wrong; with file and line.
    """

    def __init__(
        self,
        env: Environment,
        *,
        preset: str = "",
        mapping: str = "",
        ask: Literal["auto", "whole", "words", "all"] = "auto",
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(
            env, preset=preset, mapping=mapping, ask=ask, k=k, window=window, timeout=timeout
        )
