"""mem0 under test, in an environment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class Mem0(LibraryMemory, Strategy):
    """Shows the latest messages, and what mem0 finds in earlier ones.

    Args:
        infer: let the model of the run extract facts from each turn; off adds the messages.
        k: texts that a search asks for.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-mem0`.
    """

    library = "mem0"
    program = "mem0_library"
    requirements = "mem0ai==2.2.1"

    def __init__(
        self,
        env: Environment,
        *,
        infer: bool = False,
        k: int = 10,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(env, k=k, window=window, timeout=timeout, options={"infer": infer})

    def facts_as_json(self, lines: Sequence[str]) -> Any:  # noqa: ANN401 - JSON of mem0's
        return {"memory": [{"id": str(n), "text": text} for n, text in enumerate(lines)]}
