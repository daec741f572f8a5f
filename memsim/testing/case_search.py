"""Draw cases by number, and simplify a failing case while it still fails."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from memsim.message import Message, Text, ToolResult
from memsim.testing.check_cases import (
    AnyCase,
    Case,
    CaseEvent,
    CaseTurn,
    FileCase,
    LedgerCase,
    RunCase,
    ShelfCase,
)

# Draws cases one by one: each from a seed of its own, so that none is a variation of another.


CaseT = TypeVar("CaseT")

# Of two examples the first is always the simplest there is, and the second is drawn at random.
_TWO = settings(
    max_examples=2,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


def draw_cases(cases: SearchStrategy[CaseT], base: int, number: int) -> CaseT:
    """The case of a number; it depends on the seed and the number alone."""
    found: list[CaseT] = []

    @seed(_seed(base, number))
    @_TWO
    @given(cases)
    def keep(case: CaseT) -> None:
        found.append(case)

    keep()
    return found[-1]


def _seed(base: int, number: int) -> int:
    return random.Random(f"{base}/{number}").getrandbits(62)


T = TypeVar("T")


def simplest(case: AnyCase, fails: Callable[[AnyCase], bool], patience: int) -> AnyCase:
    """The simplest failing case found within a number of tries."""
    tried = 0
    found = True
    while found and tried < patience:
        found = False
        for simpler in candidates(case):
            if tried >= patience:
                break
            tried += 1
            if fails(simpler):
                case, found = simpler, True
                break
    return case


def candidates(case: AnyCase) -> Iterator[AnyCase]:
    """Simpler valid cases of the same kind, the largest cuts first."""
    if isinstance(case, Case):
        yield from (c for c in _conversations(case) if c != case and makes_sense(c))
    elif isinstance(case, LedgerCase):
        yield from (replace(case, ops=ops) for ops in shorter(case.ops))
    elif isinstance(case, ShelfCase):
        yield from (replace(case, entries=entries) for entries in shorter(case.entries))
        if case.fails > 0:
            yield replace(case, fails=0)
    elif isinstance(case, FileCase):
        plain = replace(case, state="{}"), replace(case, other="[]")
        yield from (c for c in plain if c != case)
    elif isinstance(case, RunCase):
        simpler = (replace(case, **{name: 0}) for name in ("seed", "lost", "stop"))
        yield from (c for c in (*simpler, replace(case, filler=1)) if c != case)


def makes_sense(case: Case) -> bool:
    """Whether every tool result answers an open call before it."""
    waiting: set[str] = set()
    for message in case.messages:
        if not waiting.issuperset(message.results):
            return False
        waiting.difference_update(message.results)
        waiting.update(message.calls)
    return True


def shorter(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """The items without a stretch of them: half of them first, single ones last."""
    size = len(items) // 2 or len(items)
    while size:
        # What came last matters least often to what went before.
        for start in range(len(items) - size, -1, -size):
            yield items[:start] + items[start + size :]
        size //= 2


def _conversations(case: Case) -> Iterator[Case]:
    for events in shorter(case.events):
        yield replace(case, events=events)
    for place, event in enumerate(case.events):
        for simpler in _turns(event):
            events = (*case.events[:place], simpler, *case.events[place + 1 :])
            yield replace(case, events=events)
    plain = Case(events=case.events, budget=case.budget)
    for name in ("behaviour", "pins", "tail", "questions"):
        yield replace(case, **{name: getattr(plain, name)})


def _turns(event: CaseEvent) -> Iterator[CaseTurn]:
    if not isinstance(event, CaseTurn):
        return
    yield from (replace(event, reply=fewer) for fewer in shorter(event.reply))
    yield from (replace(event, heard=fewer) for fewer in shorter(event.heard))
    yield from (replace(event, reply=said) for said in _blander(event.reply))
    yield from (replace(event, heard=said) for said in _blander(event.heard))


def _blander(messages: tuple[Message, ...]) -> Iterator[tuple[Message, ...]]:
    for place, message in enumerate(messages):
        for said in _messages(message):
            yield (*messages[:place], said, *messages[place + 1 :])


def _messages(message: Message) -> Iterator[Message]:
    for place, block in enumerate(message.blocks):
        if isinstance(block, Text | ToolResult) and len(block.text) > 1:
            for text in ("x", block.text[: len(block.text) // 2]):
                said = replace(block, text=text)
                yield replace(
                    message, blocks=(*message.blocks[:place], said, *message.blocks[place + 1 :])
                )
