"""Models that misbehave when they are asked for a summary or for facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.models import Reply
from memsim.models.offline.model import OfflineModel
from memsim.testing.check_cases import BAD

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
SIGNS: Mapping[Behaviour, str] = {
    "refusal": "I can't help with that",
    "garbage": "\x01",
    "truncated": "word word word",
    "cut": "The rest of wha",
}
"""Words by which a bad reply is found again; nobody says them in a case."""

_ON = "It went on and on, and then on. "
SLOWNESS = timedelta(minutes=10)
_WRITING = frozenset({"summarise", "extract"})


@dataclass(frozen=True, slots=True)
class BadReply:
    """A text that is no summary, and the request that it answers."""

    request: Request
    text: str


class BehavingModel:
    """The offline model with a behaviour for summaries and facts; it counts its requests.

    Attributes:
        written: number of requests to write a summary or facts.
        bad: what it wrote that is no summary.
        turn: the turn that is played, from 1.
        wrote: its summaries and facts, good or bad.
    """

    def __init__(
        self, behaviour: Behaviour, counter: TokenCounter, clock: Clock, good_first: int = 0
    ) -> None:
        self._behaviour = behaviour
        self._good_first = good_first
        self._offline = OfflineModel(counter)
        self._clock = clock
        self.requests: list[Request] = []
        self.written = 0
        self.bad: list[BadReply] = []
        self.wrote: list[str] = []
        self.turn = 0

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
        if request.task not in _WRITING:
            return self._offline.complete(request)
        # By the turn, and not by how often it was asked: a question in between changes nothing.
        good = self._behaviour == "good" or 0 < self.turn <= self._good_first
        reply = self._offline.complete(request) if good else self._text(request)
        self.wrote.append(reply.text)
        if not good and self._behaviour in BAD:
            self.bad.append(BadReply(request, reply.text))
        return reply

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Within it, requests count for nothing, and no time passes."""
        now, written, asked, bad = (
            self._clock.now(),
            self.written,
            len(self.requests),
            len(self.bad),
        )
        try:
            yield
        finally:
            self._clock.set(now)
            self.written = written
            del self.requests[asked:], self.bad[bad:]

    def _text(self, request: Request) -> Reply:
        if self._behaviour == "raising":
            raise ModelError("no answer")
        if self._behaviour == "slow":
            self._clock.advance(SLOWNESS)
            return self._offline.complete(request)
        if self._behaviour == "longer":
            given = len(request.previous) + sum(len(m.text) for m in request.messages)
            return Reply(text=_ON * (400 + given // len(_ON)))
        if self._behaviour == "cut":
            return self._broken_off(self._offline.complete(request).text)
        if self._behaviour == "truncated":
            return Reply(text="word " * ((request.max_tokens or 64) - 1) + "t", cut=True)
        return Reply(text=SAID[self._behaviour])

    def _broken_off(self, text: str) -> Reply:
        # As of a provider that stops at its limit: in the middle of a word, and it says so.
        return Reply(text=f"{text[: len(text) // 2]} {SIGNS['cut']}", cut=True)
