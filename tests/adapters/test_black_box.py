"""The base of strategies over foreign memories: window, credit, users, coroutines, notes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from memsim.adapters.black_box import WALL_TIME, BlackBox
from memsim.adapters.credit import ForeignText
from memsim.clock import Clock
from memsim.errors import StrategyError
from memsim.message import CharsOverFour, Message, TokenCounter, said
from memsim.models.registry import load_model
from memsim.strategy import Environment, Event, Forget, Grant, Query


class Shelf(BlackBox):
    """Finds every text of a user that shares a word with the question; its methods wait."""

    def __init__(self, env: Environment, *, window: int = 8, timeout: float = 30.0) -> None:
        super().__init__(env, window=window, timeout=timeout)
        self.texts: list[tuple[str, str]] = []
        self.threads: set[int] = set()

    async def add(self, message: Message) -> None:
        self.threads.add(threading.get_ident())
        await asyncio.sleep(0)
        self.texts.append((message.principal, message.text))

    async def find(self, query: Query, user: str, room: int) -> Sequence[ForeignText]:
        self.threads.add(threading.get_ident())
        asked = set(query.text.split())
        mine = [text for who, text in self.texts if who == user]
        return [ForeignText(text=text) for text in mine if asked & set(text.split())]


class Sleeper(Shelf):
    """Never answers."""

    async def find(self, query: Query, user: str, room: int) -> Sequence[ForeignText]:
        await asyncio.sleep(60)
        return []


def environment(events: list[Event]) -> Environment:
    """An environment that keeps what is logged."""
    counter = TokenCounter(CharsOverFour())

    def none() -> Any:  # noqa: ANN401 - never called
        raise AssertionError

    return Environment(
        clock=Clock(),
        model=load_model("offline", counter),
        counter=counter,
        embed=none,
        folder=none,
        budget=400,
        log=events.append,
    )


def ask(memory: BlackBox, text: str, who: str = "ana", budget: int = 400) -> Query:
    """A question."""
    now = memory.env.clock.now()
    return Query(text=text, principal=who, session="s1", time=now, turn=9, budget=budget)


def tell(memory: BlackBox, *texts: str, who: str = "ana") -> None:
    """Say messages, numbered in their order."""
    for text in texts:
        number = len(memory._said) + 1
        memory.observe(said("user", text, id=f"m{number}", principal=who, turn=number))
        memory.end_turn()


def test_a_context_is_what_is_found_and_the_latest() -> None:
    """Each message once: an original as it was said, by its id."""
    memory = Shelf(environment([]), window=2)
    tell(memory, "order A-17", "blue door", "green door", "red door")
    context = memory.context(ask(memory, "which door is order A-17"))

    sections = {s.layer: s.verbatim for s in context.sections}
    assert sections == {"recalled": ("m1", "m2"), "window": ("m3", "m4")}
    assert not any(m.composed for s in context.sections for m in s.messages)
    memory.close()


def test_a_budget_is_kept() -> None:
    """What does not fit is left out, whole text by whole text."""
    memory = Shelf(environment([]), window=0)
    tell(memory, "door " * 100, "door one", "door two")
    context = memory.context(ask(memory, "door", budget=30))

    assert context.verbatim == {"m2", "m3"}
    assert context.tokens <= 30
    memory.close()


def test_coroutines_run_on_one_loop() -> None:
    """In one thread that is not ours, and none is left behind."""
    before = threading.active_count()
    memory = Shelf(environment([]), window=1)
    tell(memory, "order A-17", "blue door")
    memory.context(ask(memory, "order"))

    assert len(memory.threads) == 1
    assert threading.get_ident() not in memory.threads
    memory.close()
    assert threading.active_count() == before


def test_waiting_ends() -> None:
    """A memory that does not answer is an error."""
    memory = Sleeper(environment([]), timeout=0.05)
    tell(memory, "order A-17")

    with pytest.raises(StrategyError, match=r"no answer within 0\.05 s"):
        memory.context(ask(memory, "order"))
    memory.close()


def test_wall_time_is_noted_once() -> None:
    """A memory that takes no virtual time says so in the trace."""
    events: list[Event] = []
    memory = Shelf(environment(events))
    tell(memory, "order A-17", "blue door")

    assert [e.detail for e in events if e.kind == "note"] == [WALL_TIME]
    memory.close()


def test_grants_of_everything_ask_for_more_users() -> None:
    """What one lets another read is found for the other; until it is taken back."""
    memory = Shelf(environment([]))
    tell(memory, "order A-17")
    question = ask(memory, "which order", who="ben")
    assert memory.context(question).verbatim == frozenset()

    memory.grant(Grant(owner="ana", viewer="ben", everything=True))
    assert memory.context(question).verbatim == {"m1"}
    memory.grant(Grant(owner="ana", viewer="ben", everything=True, revoked=True))
    with pytest.raises(StrategyError, match="is not measured"):
        memory.context(question)
    memory.close()


def test_an_empty_context_is_unmeasured_where_grants_are_not_kept() -> None:
    """One message was shared, and the memory has no notion of that."""
    memory = Shelf(environment([]))
    tell(memory, "order A-17")
    memory.grant(Grant(owner="ana", viewer="ben", sources=("m1",)))

    with pytest.raises(StrategyError, match="what others let ben read is not measured"):
        memory.context(ask(memory, "which order", who="ben"))
    memory.close()


def test_a_memory_that_cannot_forget_says_so() -> None:
    """It is no success, and nothing is dropped."""
    memory = Shelf(environment([]))
    tell(memory, "order A-17")

    outcome = memory.forget(Forget(principal="ana", text="the order", sources=("m1",)))
    assert not outcome.supported
    assert memory.context(ask(memory, "order")).verbatim == {"m1"}
    memory.close()


def test_standing_rules_stay() -> None:
    """A system message outlives the window, of its principal alone, until it is erased."""
    memory = Shelf(environment([]), window=1)
    rule = said("system", "Never name the colour.", id="r1", principal="ana")
    memory.observe(rule)
    tell(memory, "blue door", "green door", "red door")
    query = ask(memory, "Hello?")

    sections = {s.layer: s.messages for s in memory.context(query).sections}
    assert sections["system"] == (rule,)
    assert [m.text for m in sections["window"]] == ["red door"]
    assert "system" not in {s.layer for s in memory.context(ask(memory, "Hi?", "ben")).sections}
    assert memory.context(ask(memory, "Hello?", budget=2)).sections == ()
    memory._drop(["r1"])
    assert "r1" not in memory.context(query).verbatim
    memory.close()
