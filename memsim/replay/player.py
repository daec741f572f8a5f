"""Call a strategy in the order of a conversation: for replay, checks and leakage attacks.

The calls of one turn::

    observe      each message that is said before the model speaks
    context      before each message of the assistant
    delivered    with that context, when it is sent
    observe      the assistant's message, and the results of its tool calls
    end_turn     once
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

from memsim.errors import StrategyError
from memsim.message import ToolUse
from memsim.strategy import Environment, Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memsim.context import Context
    from memsim.message import Message
    from memsim.strategy import Event, Forget, ForgetOutcome, Grant

    ReplaceResult = Callable[[Message, dict[str, ToolUse]], Message]

MakeStrategy = Callable[[Environment], Strategy]

_UNGUARDED = dict.fromkeys(("write", "maintain", "search"), nullcontext())


class PlayedTurn(Protocol):
    """The part of a turn that is played."""

    @property
    def time(self) -> datetime:
        """When it takes place."""

    @property
    def heard(self) -> tuple[Message, ...]:
        """Messages before the model speaks."""

    @property
    def reply(self) -> tuple[Message, ...]:
        """Messages of the assistant, and tool results."""


class Player:
    """One strategy and its environment; plays turns, requests and restarts.

    Args:
        make: makes the strategy from its environment; called again at each restart.
        env: what the strategy may use. Its log becomes `events`.
        calls: by phase, a context manager that is entered around each call of the strategy.
        timed: the same for calls that come in every turn; `calls` if not given.

    Attributes:
        events: what the strategy logged, until the caller clears it.
    """

    def __init__(
        self,
        make: MakeStrategy,
        env: Environment,
        calls: Mapping[str, AbstractContextManager[None]] = _UNGUARDED,
        timed: Mapping[str, AbstractContextManager[None]] | None = None,
    ) -> None:
        self.env = env
        self.events: list[Event] = []
        env.log = self.events.append
        self._make = make
        self._calls = calls
        self._timed = timed or calls
        self._strategy: Strategy | None = None

    @property
    def strategy(self) -> Strategy:
        """The strategy in play; another object after each restart."""
        if self._strategy is None:
            raise StrategyError("the strategy was not made")
        return self._strategy

    @property
    def opened(self) -> bool:
        """Whether the strategy was made."""
        return self._strategy is not None

    def open(self) -> None:
        """Make the strategy."""
        with self._calls["write"]:
            self._strategy = self._make(self.env)

    def close(self) -> None:
        """Release the strategy."""
        with self._calls["maintain"]:
            self.strategy.close()

    def turn(
        self,
        turn: PlayedTurn,
        *,
        hear: Callable[[Message], None],
        send: Callable[[], None],
        result: ReplaceResult = lambda message, _calls: message,
    ) -> None:
        """Play one turn.

        Args:
            turn: its time and messages.
            hear: takes each message before the strategy observes it.
            send: requests and delivers the context, before each message of the assistant.
            result: gives the message to observe in place of a scripted tool result; it gets the
                calls of the assistant's last message, by id.
        """
        self.env.clock.set(turn.time)
        for message in turn.heard:
            self._observe(message, hear)
        calls: dict[str, ToolUse] = {}
        for message in turn.reply:
            if message.role == "assistant":
                send()
                calls = {b.id: b for b in message.blocks if isinstance(b, ToolUse)}
            elif calls:
                message = result(message, calls)  # noqa: PLW2901
            self._observe(message, hear)
        with self._timed["maintain"]:
            self.strategy.end_turn()

    def _observe(self, message: Message, hear: Callable[[Message], None]) -> None:
        hear(message)
        with self._timed["write"]:
            self.strategy.observe(message)

    def deliver(self, context: Context) -> None:
        """Tell the strategy that a context was sent."""
        with self._timed["maintain"]:
            self.strategy.delivered(context)

    def elapse(self, now: datetime) -> None:
        """Set the clock, and tell the strategy that time has passed."""
        self.env.clock.set(now)
        with self._timed["maintain"]:
            self.strategy.elapse(now)

    def grant(self, grant: Grant) -> None:
        """Grant a viewer somebody's messages, or revoke the grant."""
        with self._calls["write"]:
            self.strategy.grant(grant)

    def forget(self, request: Forget) -> ForgetOutcome:
        """Request an erasure."""
        with self._calls["write"]:
            return self.strategy.forget(request)

    def restart(self) -> bool:
        """Save and close the strategy, make it anew and load the saved state.

        A strategy whose state lives outside of the process restarts by itself.

        Returns:
            False when the strategy does not implement `save`: the new one is then empty.
        """
        old = self.strategy
        if type(old).restart is not Strategy.restart:
            with self._calls["maintain"]:
                if old.restart():
                    return True
        saves = type(old).save is not Strategy.save
        with self._calls["maintain"]:
            state = json.loads(json.dumps(old.save(), allow_nan=False)) if saves else None
            old.close()
            self._strategy = self._make(self.env)
            if state is not None:
                self._strategy.load(state)
        return saves
