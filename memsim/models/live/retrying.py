"""Asks again where a provider could not answer: in a while, a bounded number of times."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.models.live.failing import Outage, Transient

if TYPE_CHECKING:
    from memsim.models.live import Answer, Asker, Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a provider is given.

    Attributes:
        attempts: how often a call is made before it is given up.
        first: seconds before the second attempt; twice as many before each further one.
        longest: seconds that are waited at most, also where a provider asks for more: then the
            call is given up at once.
    """

    attempts: int = 7
    first: float = 1.0
    longest: float = 120.0


class Retrying:
    """Asks until there is an answer, and never answers anything itself.

    The waits grow and vary, so that many processes do not all come back at the same moment. They
    depend on the seed, the call and the attempt alone.

    Args:
        asker: is asked.
        seed: of the variation.
        patience: how often and how long.
        wait: spends so many seconds; None for real ones.
    """

    def __init__(
        self,
        asker: Asker,
        *,
        seed: int = 0,
        patience: Patience | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        self._asker = asker
        self._seed = seed
        self._patience = patience or Patience()
        self._wait = wait or time.sleep

    def ask(self, call: Call) -> Answer:
        """The answer to a call.

        Raises:
            Outage: there was none in all attempts, or the provider asks for too long a wait.
            ModelError: there is none, and asking again would not help.
        """
        most = self._patience.attempts
        for attempt in range(1, most + 1):
            try:
                return self._asker.ask(call)
            except Transient as error:
                wait = self._pause(call, attempt, error)
                if attempt == most or wait is None:
                    raise Outage(_given_up(call, attempt, error, wait)) from error
            self._wait(wait)
        raise AssertionError("there is at least one attempt")

    def _pause(self, call: Call, attempt: int, error: Transient) -> float | None:
        patience = self._patience
        if error.after is not None and error.after > patience.longest:
            return None
        grown = min(patience.longest, patience.first * 2.0 ** (attempt - 1))
        chance = random.Random(f"{self._seed}/{attempt}/{call.messages[-1].text}")
        varied = grown * chance.uniform(0.5, 1.0)
        return varied if error.after is None else error.after + varied * 0.1


def _given_up(call: Call, attempt: int, error: Transient, wait: float | None) -> str:
    if wait is None:
        return f"{call.model} asks to be left alone for {error.after:,.0f} s: {error}"
    times = "once" if attempt == 1 else f"{attempt} times"
    return f"{call.model} was asked {times} and never answered: {error}"
