"""LangGraph's store under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class Langgraph(LibraryMemory, Strategy):
    """Shows the latest messages, and what LangGraph's `SqliteStore` finds in earlier ones.

    Args:
        k: texts that a search asks for.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-langgraph`.
    """

    library = "langgraph"
    program = "langgraph_store"
    requirements = "langgraph==1.2.22 langgraph-checkpoint-sqlite==3.1.2 pysqlite3==0.6.1"

    def __init__(
        self, env: Environment, *, k: int = 10, window: int = 8, timeout: float = 30.0
    ) -> None:
        super().__init__(env, k=k, window=window, timeout=timeout)
