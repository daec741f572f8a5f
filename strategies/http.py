"""Any memory that a server offers by the HTTP contract, of which only the answers are seen."""

from __future__ import annotations

from typing import Literal

from memsim import Environment, Strategy
from memsim.adapters.http_memory import HttpMemory


class Http(HttpMemory, Strategy):
    """Shows the latest messages, and what a server finds in earlier ones.

    docs/contract.md describes what the server has to offer.

    Args:
        url: where it is, such as `http://127.0.0.1:8080`.
        read: `context` asks it to compose a context, `search` for single texts; `auto` prefers the
            first of these that it offers.
        k: texts that a search asks for.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or the address is none.
    """

    def __init__(
        self,
        env: Environment,
        *,
        url: str,
        read: Literal["auto", "context", "search"] = "auto",
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(env, url=url, read=read, k=k, window=window, timeout=timeout)
