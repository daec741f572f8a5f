"""A model of any provider, as a memory and the harness ask it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.models.access import NOTHING, Spent
from memsim.models.live.failing import Outage, Refused
from memsim.models.live.prompts import compose
from memsim.models.live.provider import AT_ONCE
from memsim.models.live.replies import reply_of

if TYPE_CHECKING:
    from memsim.models import Reply, Request
    from memsim.models.live import Answer, Asker
    from memsim.models.refs import LiveRef


class Account:
    """Keeps count of the calls of one case; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = NOTHING

    @property
    def spent(self) -> Spent:
        """What they came to so far."""
        return self._spent

    def paid(self, answer: Answer) -> None:
        """A provider answered."""
        with self._lock:
            before = self._spent
            self._spent = replace(
                before,
                asked=before.asked + 1,
                input=before.input + answer.input,
                output=before.output + answer.output,
                cost=before.cost + (answer.cost or 0.0),
            )

    def found(self) -> None:
        """A recording answered."""
        with self._lock:
            self._spent = replace(self._spent, replayed=self._spent.replayed + 1)

    def fail(self, said: str) -> None:
        """Nobody answered."""
        with self._lock:
            self._spent = replace(self._spent, failed=(*self._spent.failed, said))


class LiveModel:
    """Summarises, extracts, reads, judges and acts by asking a language model.

    It may be used from several threads.

    Args:
        ref: which model, and with what parameters.
        asker: who turns calls into answers: a provider, or recordings of one.
        account: is told of calls that nobody answered.
    """

    def __init__(self, ref: LiveRef, asker: Asker, account: Account | None = None) -> None:
        self._ref = ref
        self._asker = asker
        self._account = account or Account()

    @property
    def name(self) -> str:
        """The ref that names it."""
        return self._ref.shown

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: the model failed, or gave nothing usable.
        """
        call = compose(request, self._ref)
        try:
            answer = self._asker.ask(call)
        except (Outage, Refused) as error:
            self._account.fail(str(error))
            raise
        return reply_of(call, answer)

    def complete_all(
        self, requests: Sequence[Request], at_once: int = AT_ONCE
    ) -> tuple[Reply, ...]:
        """Answer several requests, some of them at the same time; the replies in their order.

        Raises:
            ModelError: the model failed on one of them.
        """
        with ThreadPoolExecutor(max_workers=max(1, min(at_once, len(requests)))) as pool:
            return tuple(pool.map(self.complete, requests))
