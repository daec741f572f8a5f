"""AutoGen's memory of vectors under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class Autogen(LibraryMemory, Strategy):
    """Shows the latest messages, and what AutoGen's `ChromaDBVectorMemory` finds in earlier ones.

    Args:
        k: texts that a search asks for.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-autogen`.
    """

    library = "autogen"
    program = "autogen_memory"
    requirements = "autogen-core==0.7.5 autogen-ext[chromadb]==0.7.5"

    def __init__(
        self,
        env: Environment,
        *,
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(env, k=k, window=window, timeout=timeout)
