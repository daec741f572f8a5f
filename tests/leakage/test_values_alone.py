"""A memory that hides every code and shows every value gives secrets away all the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from memsim.context import Context
from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.message import Message, Text
from memsim.strategy import Environment, Forget, ForgetOutcome, Query, Strategy

_CODE = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}\b")
WINDOW = 60


class Masks(Strategy):
    """Shows everybody everything, others' codes masked; to forget is to mask a code too."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._said: list[Message] = []
        self._masked: frozenset[str] = frozenset()

    def observe(self, message: Message) -> None:
        self._said.append(message)

    def context(self, query: Query) -> Context:
        shown = [self._shown(m, query.principal) for m in self._said[-WINDOW:]]
        return self.env.build.context(self.env.build.section("window", shown))

    def forget(self, request: Forget) -> ForgetOutcome:
        self._masked |= frozenset(request.sources)
        return ForgetOutcome(removed=request.sources)

    def _shown(self, message: Message, viewer: str) -> Message:
        if message.principal == viewer and message.id not in self._masked:
            return message
        return replace(message, blocks=(Text(_CODE.sub("[code]", message.text)),))


@pytest.mark.parametrize("channel", ["L1", "L2", "L6", "L13"])
def test_a_value_is_a_secret_where_its_code_is_masked(
    play: Callable[..., ChannelRun], channel: str
) -> None:
    """It is asked for four times, and comes first too often for a guess."""
    attempts = [f for f in play(channel, Masks, 12).findings if isinstance(f, Attempt)]

    assert "T4" in {trail.tier for attempt in attempts for trail in attempt.trails}
