"""The session of OpenAI's Agents SDK under test, in an environment of its own."""

from __future__ import annotations

from memsim import Environment, Strategy
from memsim.adapters.library_memory import LibraryMemory


class OpenaiSession(LibraryMemory, Strategy):
    """Shows the latest messages of a session of OpenAI's Agents SDK, which has no search.

    Args:
        k: items of the session.
        window: latest messages of the asker that are always there; 0 for none.
        timeout: seconds for each answer.

    Raises:
        ValueError: a number is out of its range, or there is no environment `.venv-openai-agents`.
    """

    library = "openai-agents"
    program = "openai_session"
    requirements = "openai-agents==0.24.0"

    def __init__(
        self,
        env: Environment,
        *,
        k: int = 20,
        window: int = 8,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(env, k=k, window=window, timeout=timeout)
