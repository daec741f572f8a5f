"""Agents that call a strategy's own tools, by decision or by script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memsim.message import EPOCH, Message, Text, ToolResult, ToolUse, said
from memsim.models import Reply, Request, ToolSpec
from memsim.replay.agent import ROUNDS, Agent, asked, results_text
from tests.strategies.conversations import strategy

if TYPE_CHECKING:
    from memsim.strategy import Event, Strategy

REF = "layered:store=memory,vectors=off,mode=both"
ME = said("user", "Where is my desk?", id="q", principal="ana")


class Scripted:
    """A model that calls what it is told to, round by round."""

    name = "scripted"

    def __init__(self, *rounds: tuple[ToolUse, ...]) -> None:
        self.rounds = list(rounds)
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(tool_calls=self.rounds.pop(0) if self.rounds else ())


def use(name: str, number: int = 1, **arguments: object) -> ToolUse:
    """A call."""
    return ToolUse(id=f"c{number}", name=name, arguments=json.dumps(arguments))


def working(
    memory: Strategy, *rounds: tuple[ToolUse, ...], tools: tuple[ToolSpec, ...] | None = None
) -> tuple[tuple[Message, ...], Scripted, list[Event]]:
    """What an agent that decides so did, what it was asked, and what was logged."""
    model, log = Scripted(*rounds), []  # type: ignore[var-annotated]
    agent = Agent(model, memory, repeat=3, log=log.append)
    offered = tuple(memory.tools("ana")) if tools is None else tools
    return agent.work([ME], offered, principal="ana", now=EPOCH), model, log


def test_calls_are_carried_out_and_shown_to_the_model() -> None:
    """Each result answers its call, and the model sees both before it goes on."""
    memory = strategy(REF)

    traffic, model, log = working(
        memory,
        (use("memory_store", key="desk", value="4A"),),
        (use("memory_get", 2, key="desk"), use("memory_get", 3, key="bus")),
    )

    assert ["assistant", "tool", "assistant", "tool"] == [m.role for m in traffic]
    assert [("c1",), ("c2", "c3")] == [m.results for m in traffic if m.results]
    assert results_text(traffic).startswith("Stored memory: desk\n4A\nNo memory found")
    assert [(ME,), (ME, *traffic[:2]), (ME, *traffic)] == [r.messages for r in model.asked]
    assert {(3, "act", "ana")} == {(r.repeat, r.task, r.asker) for r in model.asked}
    assert ["memory_store", "memory_get", "memory_get"] == [e.detail for e in log]


def test_who_calls_nothing_leaves_no_traffic() -> None:
    """And is asked once."""
    traffic, model, _ = working(strategy(REF))

    assert ((), 1) == (traffic, len(model.asked))


def test_an_agent_that_never_stops_is_stopped() -> None:
    """After as many rounds as it may have."""
    traffic, model, _ = working(
        strategy(REF), *[(use("memory_get", n, key="k"),) for n in range(ROUNDS + 3)]
    )

    assert (2 * ROUNDS, ROUNDS) == (len(traffic), len(model.asked))


def test_what_is_not_offered_is_not_carried_out() -> None:
    """Even where the strategy has it: with a question, only tools that read are offered."""
    memory = strategy(REF)
    reading = tuple(t for t in memory.tools("ana") if t.reads)

    traffic, _, log = working(memory, (use("memory_store", key="desk", value="4A"),), tools=reading)

    (result,) = traffic[1].blocks
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert "memory_store" not in {t.name for t in reading}
    assert [] == log
    assert [] == list(memory.surfaces())


def test_scripted_calls_of_the_strategys_tools_get_its_own_results() -> None:
    """Results of other tools, and messages without any, are as the script has them."""
    memory = strategy(REF)
    agent = Agent(Scripted(), memory, repeat=0, log=lambda _event: None)
    calls = {
        "c1": use("memory_store", key="desk", value="4A"),
        "c2": use("get_weather", 2),
    }
    blocks = tuple(ToolResult(id=i, text="as scripted") for i in ("c1", "c2", "c3"))
    scripted = Message(id="m3", role="tool", blocks=blocks, principal="ana", turn=2)
    plain = Message(id="m4", role="tool", blocks=(Text("words"), *blocks[1:]), principal="ana")

    replaced = agent.replaced(scripted, calls, "ana")

    assert ["Stored memory: desk", "as scripted", "as scripted"] == [
        b.text for b in replaced.blocks if isinstance(b, ToolResult)
    ]
    assert ("m3", "ana", 2) == (replaced.id, replaced.principal, replaced.turn)
    assert plain is agent.replaced(plain, calls, "ana")
    assert "4A" == memory.call_tool("memory_get", '{"key": "desk"}', "ana")
    assert "4A" not in memory.call_tool("memory_get", '{"key": "desk"}', "ben")


def test_a_question_is_the_askers_message() -> None:
    """With their name, their conversation and its time."""
    question = asked("Where?", principal="ben", session="s2", turn=7, now=EPOCH)

    assert ("user", "ben", "s2", 7, EPOCH, "Where?") == (
        question.role,
        question.principal,
        question.session,
        question.turn,
        question.time,
        question.text,
    )
