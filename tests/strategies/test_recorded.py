"""The lane of what a recorded agent itself sent."""

from __future__ import annotations

from dataclasses import replace

from memsim.message import said
from memsim.strategy import Forget, SentContext
from tests.strategies.conversations import ask, strategy

SENT = SentContext(
    system="You help.",
    summary="It was about a mower.",
    recalled=(("My order is A-17.", ("m1",)), ("A depot.", ("gone",))),
    since="m3",
)


def test_it_sends_what_was_sent() -> None:
    """Instructions, summary, recalled texts, and the session since the compaction."""
    memory = strategy("recorded")
    for number, session in enumerate(["s0", "s1", "s1", "s1"], start=1):
        memory.observe(said("user", f"word {number}", id=f"m{number}", session=session))
    query = replace(ask(memory), sent=SENT)

    context = memory.context(query)

    texts = [m.text for section in context.sections for m in section.messages]
    recalled = context.sections[1].messages
    assert ["You help.", "It was about a mower.", "My order is A-17.", "A depot."] == texts[:4]
    assert ["word 3", "word 4"] == texts[4:]
    assert [("m1",), ()] == [m.quotes for m in recalled]
    assert context == memory.context(query)


def test_it_sends_nothing_where_nothing_was_recorded() -> None:
    """In a scripted scenario it is a floor."""
    memory = strategy("recorded")
    memory.observe(said("user", "hello", id="m1"))

    assert () == memory.context(ask(memory)).sections


def test_it_forgets_and_restarts() -> None:
    """A message that was erased is not sent, and counts as no evidence."""
    memory = strategy("recorded")
    for number in (1, 3):
        memory.observe(said("user", f"word {number}", id=f"m{number}", principal="ana"))
    outcome = memory.forget(Forget(principal="ana", text="forget it", sources=("m1",)))
    again = strategy("recorded")
    again.load(memory.save())
    query = replace(ask(again), sent=SENT)

    assert ("m1",) == outcome.removed
    assert ["m3"] == [s.sources[0] for s in again.surfaces("ana")]
    assert () == again.context(query).sections[1].messages[0].quotes
