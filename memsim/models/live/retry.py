"""Retry calls that a provider could not answer, a limited number of times."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from memsim.models.live import Outage, TransientError

if TYPE_CHECKING:
    from memsim.models.live import Call, ModelClient, ProviderAnswer

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The number of attempts, and the waits between them.

    Attributes:
        attempts: maximum number of attempts.
        first: seconds before the second attempt; each further wait is twice as long.
        longest: maximum wait in seconds. If a provider asks for more, the call fails at once.
    """

    attempts: int = 7
    first: float = 1.0
    longest: float = 120.0


class RetryClient:
    """A client that retries until there is an answer.

    The waits grow and vary, so that processes do not retry at the same moment. They depend only on
    the seed, the call and the attempt.
    """

    def __init__(
        self,
        asker: ModelClient,
        *,
        seed: int = 0,
        patience: RetryPolicy | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        self._asker = asker
        self._seed = seed
        self._patience = patience or RetryPolicy()
        self._wait = wait

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            Outage: no attempt was answered, or the provider asks for too long a wait.
            ModelError: the call failed, and a retry would not help.
        """
        return retry(
            lambda: self._asker.ask(call),
            name=call.model,
            key=f"{self._seed}/{call.messages[-1].text}",
            patience=self._patience,
            wait=self._wait or time.sleep,
        )


def retry(
    attempt: Callable[[], _Found],
    *,
    name: str,
    key: str,
    patience: RetryPolicy,
    wait: Callable[[float], None],
) -> _Found:
    """Repeat an attempt until it succeeds or the policy ends.

    Raises:
        Outage: no attempt was answered, or the provider asks for too long a wait.
        ModelError: the call failed, and a retry would not help.
    """
    for number in range(1, patience.attempts + 1):
        try:
            return attempt()
        except TransientError as error:
            pause = _pause(patience, key, number, error)
            if number == patience.attempts or pause is None:
                raise Outage(_given_up(name, number, error, pause)) from error
        wait(pause)
    raise AssertionError("there is at least one attempt")


def _pause(patience: RetryPolicy, key: str, number: int, error: TransientError) -> float | None:
    if error.after is not None and error.after > patience.longest:
        return None
    grown = min(patience.longest, patience.first * 2.0 ** (number - 1))
    varied = grown * random.Random(f"{number}/{key}").uniform(0.5, 1.0)
    return varied if error.after is None else error.after + varied * 0.1


def _given_up(name: str, number: int, error: TransientError, pause: float | None) -> str:
    if pause is None:
        return f"{name} asks to be left alone for {error.after:,.0f} s: {error}"
    times = "once" if number == 1 else f"{number} times"
    return f"{name} was asked {times} and never answered: {error}"
