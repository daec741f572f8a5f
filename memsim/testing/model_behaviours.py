"""Models that misbehave when they are asked for a summary or for facts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.models import Reply
from memsim.models.offline.model import OfflineModel

if TYPE_CHECKING:
    from memsim.clock import Clock
    from memsim.message import TokenCounter
    from memsim.models import Request
    from memsim.testing.check_cases import Behaviour

SAID = {
    "empty": "",
    "blank": " \n\t",
    "refusal": "I'm sorry, but I can't help with that.",
    "garbage": "\x00\x01\ufffd\x7f",
}
_ON = "It went on and on, and then on. "
SLOWNESS = timedelta(minutes=10)
_WRITING = frozenset({"summarise", "extract"})


class BehavingModel:
    """The offline model with a behaviour for summaries and facts; it counts its requests."""

    def __init__(self, behaviour: Behaviour, counter: TokenCounter, clock: Clock) -> None:
        self._behaviour = behaviour
        self._offline = OfflineModel(counter)
        self._clock = clock
        self.requests: list[Request] = []
        self.written = 0

    def behave(self, behaviour: Behaviour) -> None:
        """Change the behaviour."""
        self._behaviour = behaviour

    @property
    def name(self) -> str:
        """As the offline model, and how it behaves."""
        return f"offline, {self._behaviour}"

    def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ModelError: its behaviour is to raise.
        """
        self.requests.append(request)
        self.written += request.task in _WRITING
        if self._behaviour == "good" or request.task not in _WRITING:
            return self._offline.complete(request)
        return self._text(request)

    def _text(self, request: Request) -> Reply:
        if self._behaviour == "raising":
            raise ModelError("no answer")
        if self._behaviour == "slow":
            self._clock.advance(SLOWNESS)
            return self._offline.complete(request)
        if self._behaviour == "longer":
            given = len(request.previous) + sum(len(m.text) for m in request.messages)
            return Reply(text=_ON * (400 + given // len(_ON)))
        if self._behaviour == "truncated":
            return Reply(text="word " * ((request.max_tokens or 64) - 1) + "t")
        return Reply(text=SAID[self._behaviour])
