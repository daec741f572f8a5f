"""LlamaIndex's `Memory` under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory

_EVERYTHING = 100
"""Texts, more than it sends: it takes as many as its own limit of tokens allows."""


class Llamaindex(LibraryMemory, Strategy):
    """Shows the latest messages, and what LlamaIndex's `Memory` sends with its block of vectors.

    Args:
        tokens: limit of its memory; messages beyond 70% of it go to the block of vectors.
        k: batches of messages that its block retrieves.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-llamaindex`.
    """

    library = "llamaindex"
    program = "llamaindex_memory"
    requirements = "llama-index-core==0.14.25 llama-index-vector-stores-chroma==0.6.0"

    def __init__(
        self,
        env: Environment,
        *,
        tokens: int = 2000,
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        options: dict[str, object] = {"k": k, "tokens": tokens}
        super().__init__(env, k=_EVERYTHING, window=window, timeout=timeout, options=options)
