"""LangMem's summarisation under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class Langmem(LibraryMemory, Strategy):
    """Shows the latest messages, and LangMem's running summary of earlier ones.

    Args:
        tokens: of messages from which on they are summarised.
        summary: tokens of the summary.
        k: texts that are taken: the summary, and messages that are not in it.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-langmem`.
    """

    library = "langmem"
    program = "langmem_summary"
    requirements = "langmem==0.0.30 langchain-openai==1.7.3"
    durable = False

    def __init__(
        self,
        env: Environment,
        *,
        tokens: int = 1000,
        summary: int = 400,
        k: int = 100,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(
            env, k=k, window=window, timeout=timeout, options={"tokens": tokens, "summary": summary}
        )
