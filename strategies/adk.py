"""Google ADK's `InMemoryMemoryService` under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class Adk(LibraryMemory, Strategy):
    """Shows the latest messages, and what ADK's memory in RAM finds by common words.

    Args:
        k: texts that are taken, of the ten that it finds at most.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-adk`.
    """

    library = "adk"
    program = "adk_memory"
    requirements = "google-adk==2.13.0"
    durable = False

    def __init__(
        self,
        env: Environment,
        *,
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(env, k=k, window=window, timeout=timeout)
