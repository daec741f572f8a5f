"""Traces by the piece: what a test does not say of one is plain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memsim.context import Context, Section, SectionName
from memsim.message import EPOCH, Message
from memsim.scenario.script import Probe
from memsim.trace import ProbeTrace, TurnRecord

OF_PROBE = frozenset(Probe.__dataclass_fields__) - {"evidence"}


@pytest.fixture
def context_of() -> Callable[..., Context]:
    """Makes a context from messages by section, ten tokens each."""

    def make(*, ranking: tuple[str, ...] = (), **sections: tuple[Message, ...]) -> Context:
        layers: dict[SectionName, tuple[Message, ...]] = sections
        made = (
            Section(layer=layer, messages=messages, tokens=10 * len(messages))
            for layer, messages in layers.items()
        )
        return Context(sections=tuple(made), ranking=ranking)

    return make


@pytest.fixture
def trace_of() -> Callable[..., ProbeTrace]:
    """Makes the trace of a probe: fields of the probe and of the trace, by name."""

    def make(**fields: Any) -> ProbeTrace:  # noqa: ANN401 - whatever the two records take
        plain = ProbeTrace(
            probe=Probe(id="p", ask="Where to?", expect=("Oslo",)),
            turn=9,
            session="s1",
            time=EPOCH,
            query_tokens=5,
            context=Context(),
            answer="Oslo",
        )
        asked = {name: value for name, value in fields.items() if name in OF_PROBE}
        seen = {name: value for name, value in fields.items() if name not in OF_PROBE}
        return replace(plain, probe=replace(plain.probe, **asked), **seen)

    return make


@pytest.fixture
def turn_of() -> Callable[..., TurnRecord]:
    """Makes the record of a turn."""

    def make(turn: int = 1, **fields: Any) -> TurnRecord:  # noqa: ANN401 - as above
        plain = TurnRecord(turn=turn, session="s1", principal="ana", time=EPOCH)
        return replace(plain, **fields)

    return make
