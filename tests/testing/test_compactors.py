"""Adapters of other tools: what is handed on to them, and what of it comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.peers.handover import Handover, Peer
from memsim.message import Message, Text, ToolResult, ToolUse, said
from memsim.strategy import Strategy
from memsim.testing import PROFILES, Case, check, verify

ONE = ToolUse(id="c1", name="look", arguments="{}")
TWO = ToolUse(id="c2", name="look", arguments="{}")
CALL = Message(id="m1", role="assistant", blocks=(ONE, TWO))
FIRST = Message(id="m2", role="tool", blocks=(ToolResult(id="c1", text="found"),))
SECOND = Message(id="m3", role="tool", blocks=(ToolResult(id="c2", text="found"),))
WORD = said("user", "And now?", id="m4")


def test_a_call_is_handed_on_with_all_of_its_results() -> None:
    """In one piece, and not before the last of them."""
    handover = Handover()

    assert [((), ()), ((), ())] == [handover.take(m) for m in (CALL, FIRST)]
    assert (CALL, FIRST) == handover.waiting
    assert ((CALL, FIRST, SECOND), ()) == handover.take(SECOND)
    assert ((WORD,), ()) == handover.take(WORD)


def test_a_call_that_is_given_up_is_not_handed_on_and_neither_is_its_late_result() -> None:
    """What no provider would take is not held against who is handed it."""
    handover = Handover()
    handover.take(CALL)

    assert ((WORD,), (CALL,)) == handover.take(WORD)
    assert ((), (FIRST,)) == handover.take(FIRST)


class Halving(Peer, Strategy):
    """Another tool's messages are pairs of an id and a text; it sends the newer half of them."""

    keeps = True

    def part(self, message: Message, block: Text | ToolResult, id: str) -> Any:  # noqa: A002, ANN401
        return (id, block.text)

    def calling(self, message: Message, text: str, id: str) -> Any:  # noqa: A002, ANN401
        return (id, text)

    def id_of(self, sent: Any) -> str:  # noqa: ANN401
        return str(sent[0])

    def compacted(self, history: list[Any], budget: int) -> list[Any]:
        while self.tokens(history) > budget:
            history = history[1 + len(history) // 2 :]
        return history


REF = f"{__file__}@Halving"


def test_what_comes_back_are_the_messages_that_were_handed_on() -> None:
    """An adapter adds no fault of its own: what it is not told to break, it holds."""
    few = replace(PROFILES["commit"], examples=15)
    told = "(i3 or i4 or i10 or i12 or i15 or i17 or i19 or i58) and strategy"
    checked = check(REF, k=told, profile=few)

    assert [] == [(r.invariant, r.why) for r in checked.results if r.verdict == "violated"]
    assert 0 == verify("order", REF, Case())


def test_half_a_group_does_not_come_back() -> None:
    """Where a tool cuts between the results of one message, none of it is shown."""
    peer = object.__new__(Halving)
    both = Message(id="m5", role="tool", blocks=(*FIRST.blocks, *SECOND.blocks))
    peer._said = {"m5": both, "m4": WORD}

    assert [WORD] == peer.originals([("m5/1", "found"), ("m4", "And now?")])
    assert [both] == peer.originals([("m5", "found"), ("m5/1", "found")])
