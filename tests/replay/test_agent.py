"""Agents that call a strategy's own tools, by decision or by script."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import pytest

from memsim.context import Context
from memsim.errors import ModelError, StoreError, StrategyError
from memsim.message import (
    EPOCH,
    Message,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    load_tokenizer,
    said,
)
from memsim.models import AGENT_CALLS, AGENT_ROUNDS, Reply, Request, ToolSpec
from memsim.replay.strategy_calls import MeteredModel, calls_by_phase
from memsim.replay.tool_agent import NO_MORE, AgentTask, ToolAgent, question_message, results_text
from memsim.strategy import Event, Query, Strategy
from memsim.trace import AgentRound
from tests.strategies.conversations import strategy

REF = "layered:store=memory,vectors=off,mode=both"
KEY = '{"key": "desk"}'
COUNTER = TokenCounter(load_tokenizer())
ME = said("user", "Where is my desk?", id="q", principal="ana")


class Scripted:
    """A model that calls what it is told to, round by round, or fails."""

    name = "scripted"

    def __init__(self, *rounds: tuple[ToolUse, ...] | ModelError, text: str = "") -> None:
        self.rounds = list(rounds)
        self.text = text
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        calls = self.rounds.pop(0) if self.rounds else ()
        if isinstance(calls, ModelError):
            raise calls
        return Reply(text=self.text, tool_calls=calls)


def use(name: str, number: int = 1, **arguments: object) -> ToolUse:
    """A call."""
    return ToolUse(id=f"c{number}", name=name, arguments=json.dumps(arguments))


@dataclass
class Work:
    """What an agent did, what it was asked, and what was logged and kept of it."""

    model: Scripted
    log: list[Event] = field(default_factory=list)
    kept: list[AgentRound] = field(default_factory=list)
    traffic: tuple[Message, ...] = ()

    def agent(self, memory: Strategy) -> ToolAgent:
        return ToolAgent(
            self.model,
            memory,
            repeat=3,
            counter=COUNTER,
            hold=calls_by_phase(MeteredModel(self.model))["write"],
            log=self.log.append,
            keep=self.kept.append,
        )

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for each in self.kept for call in each.calls]


def working(
    memory: Strategy,
    *rounds: tuple[ToolUse, ...],
    tools: tuple[ToolSpec, ...] | None = None,
    text: str = "",
    sent: tuple[Message, ...] = (),
    room: int = 1_000,
) -> Work:
    """An agent that decides so, for ana."""
    work = Work(Scripted(*rounds, text=text))
    offered = tuple(memory.tools("ana")) if tools is None else tools
    task = AgentTask(offered, "ana", EPOCH, room)
    work.traffic = work.agent(memory).work([*sent, ME], task)
    return work


def test_calls_are_carried_out_and_shown_to_the_model() -> None:
    """Each result answers its call, and the model sees both before it goes on."""
    memory = strategy(REF)

    work = working(
        memory,
        (use("memory_store", key="desk", value="4A"),),
        (use("memory_get", 2, key="desk"), use("memory_get", 3, key="bus")),
        text="One moment.",
    )
    traffic, asked_for = work.traffic, work.model.asked

    assert ["assistant", "tool", "assistant", "tool"] == [m.role for m in traffic]
    assert [("c1",), ("c2", "c3")] == [m.results for m in traffic if m.results]
    assert results_text(traffic).startswith("Stored memory: desk\n4A\nNo memory found")
    assert "One moment." == traffic[0].text.partition("\n")[0]
    assert [(ME,), (ME, *traffic[:2]), (ME, *traffic)] == [r.messages for r in asked_for]
    assert {(3, "act", "ana")} == {(r.repeat, r.task, r.asker) for r in asked_for}
    assert [0, 1, 2] == [r.round for r in asked_for]
    assert ["memory_store", "memory_get", "memory_get"] == [e.detail for e in work.log]


def test_who_calls_nothing_leaves_no_traffic() -> None:
    """And is asked once; what it said instead is kept."""
    work = working(strategy(REF), text='{"name": "memory_store", "arguments": {"key": "k"}}')

    assert ((), 1) == (work.traffic, len(work.model.asked))
    assert [AgentRound(number=1, said=work.model.text)] == work.kept


def test_an_agent_that_never_stops_is_stopped() -> None:
    """After as many rounds as it may have, and the record says so."""
    work = working(
        strategy(REF), *[(use("memory_get", n, key="k"),) for n in range(AGENT_ROUNDS + 3)]
    )

    assert (2 * AGENT_ROUNDS, AGENT_ROUNDS) == (len(work.traffic), len(work.model.asked))
    assert ["", "", "", NO_MORE] == [each.note for each in work.kept]


def test_what_is_not_offered_is_not_carried_out() -> None:
    """Even where the strategy has it: with a question, only tools that read are offered."""
    memory = strategy(REF)
    reading = tuple(t for t in memory.tools("ana") if t.reads)

    work = working(memory, (use("memory_store", key="desk", value="4A"),), tools=reading)

    (result,) = work.traffic[1].blocks
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert "memory_store" not in {t.name for t in reading}
    assert ["unknown"] == work.outcomes
    assert [] == work.log
    assert [] == list(memory.surfaces())


def test_scripted_calls_of_the_strategys_tools_get_its_own_results() -> None:
    """Results of other tools, and messages without any, are as the script has them."""
    memory = strategy(REF)
    work = Work(Scripted())
    agent = work.agent(memory)
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
    assert [0] == [each.number for each in work.kept]
    assert "4A" == memory.call_tool("memory_get", '{"key": "desk"}', "ana")
    assert "4A" not in memory.call_tool("memory_get", '{"key": "desk"}', "ben")


NASTY = [
    ("memory_forgets", "{}", "unknown"),
    ("", "{}", "unknown"),
    ("x" * 5_000, "{}", "unknown"),
    ("memory_store", '{"key": "desk", "val', "refused"),
    ("memory_store", "[" * 99_999, "refused"),
    ("memory_store", "[1]", "refused"),
    ("memory_store", '{"key": "desk"}', "refused"),
    ("memory_store", '{"key": "desk", "value": ["4A"]}', "refused"),
    ("memory_store", '{"key": "desk", "value": "\\ud83d"}', "refused"),
    ("memory_search", '{"query": "desk", "max_results": NaN}', "refused"),
    ("memory_search", '{"query": "desk", "max_results": 1e999}', "refused"),
    ("memory_search", '{"query": "desk", "principal": "ben"}', "refused"),
    ("memory_get", '{"key": "desk", "owner": "ben"}', "refused"),
]


def test_whatever_a_model_calls_has_an_outcome() -> None:
    """It is told what is wrong, in a line; nothing is stored, nobody else's is shown."""
    memory = strategy(REF)
    memory.call_tool("memory_store", '{"key": "desk", "value": "9Z of Ben"}', "ben")
    calls = [ToolUse(id="same", name=n, arguments=a) for n, a, _ in NASTY]

    work = working(memory, tuple(calls))

    assert [outcome for _, _, outcome in NASTY] == work.outcomes
    results = [b for b in work.traffic[1].blocks if isinstance(b, ToolResult)]
    assert all(r.is_error and r.text.startswith("Error: ") and len(r.text) < 120 for r in results)
    assert len(NASTY) == len({r.id for r in results})
    assert "9Z" not in "".join(r.text for r in results)
    assert "" == results_text(work.traffic)
    assert "No memory found with key: desk" == memory.call_tool("memory_get", KEY, "ana")


def test_calls_too_many_are_told_of_and_not_made() -> None:
    """A round has its bound; neither call nor result of the rest is sent back."""
    memory = strategy(REF)
    calls = tuple(use("memory_get", n, key="k") for n in range(AGENT_CALLS + 2))

    work = working(memory, calls)

    assert ["done"] * AGENT_CALLS + ["skipped"] * 2 == work.outcomes
    assert (
        AGENT_CALLS == len(work.traffic[0].calls) == len(work.traffic[1].results) == len(work.log)
    )


def test_ids_are_told_apart_from_those_of_the_script_and_of_earlier_rounds() -> None:
    """Else a provider, or a model, would take one call's result for another's."""
    memory = strategy(REF)
    before = (
        Message(id="m1", role="assistant", blocks=(use("weather"),), principal="ana"),
        Message(id="m2", role="tool", blocks=(ToolResult(id="c1", text="rain"),), principal="ana"),
    )

    get = use("memory_get", key="k")
    work = working(memory, (get, get), (get,), sent=before)

    assert [("c1_2", "c1_3"), ("c1_4",)] == [m.calls for m in work.traffic if m.calls]
    assert [m.calls for m in work.traffic[::2]] == [m.results for m in work.traffic[1::2]]


def test_a_result_over_the_room_is_cut_and_says_so() -> None:
    """All results together keep to it."""
    memory = strategy(REF)
    memory.call_tool("memory_store", json.dumps({"key": "desk", "value": "word " * 900}), "ana")

    get = use("memory_get", key="desk")
    work = working(memory, (get, get), room=200)

    first, second = (b.text for b in work.traffic[1].blocks if isinstance(b, ToolResult))
    assert 200 == COUNTER.text(first.partition("\n[cut: ")[0])
    assert second.endswith("[cut: 4,500 of 4,500 characters are left out]")
    assert [("done", 3501), ("done", 4500)] == [(c.outcome, c.cut) for c in work.kept[0].calls]


class Breaking(Strategy):
    """Its tools raise, or give no text."""

    def context(self, query: Query) -> Context:
        """Nothing."""
        return Context()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        """Break in one way or another."""
        if name == "gives":
            return {"found": 1}  # type: ignore[return-value]
        if name == "asks":
            raise ModelError("the embedder is out")
        raise {"raises": KeyError("k"), "stores": StoreError("full")}[name]


BREAKING = tuple(
    ToolSpec(name=name, description="", parameters='{"required": ["key"]}')
    for name in ("raises", "stores", "gives", "asks")
)


def test_a_tool_that_breaks_on_bad_arguments_is_told_of_and_ends_nothing() -> None:
    """It is the model that did not keep to the schema."""
    calls = (use("raises"), use("stores", 2), use("gives", 3))

    work = working(Breaking(strategy(REF).env), calls, tools=BREAKING)

    assert ["failed"] * 3 == work.outcomes
    raised, stored, gave = (call.result for call in work.kept[0].calls)
    assert re.fullmatch(r"Error: test_agent.py:\d+: KeyError: 'k'", raised)
    assert "Error: full" == stored
    assert "Error: gives gave a dict, not a text" == gave


@pytest.mark.parametrize(
    ("tool", "error", "said"),
    [
        ("raises", StrategyError, r"test_agent.py:\d+: KeyError: 'k'"),
        ("stores", StoreError, "full"),
        ("gives", StrategyError, "gives gave a dict, not a text"),
        ("asks", ModelError, "the embedder is out"),
    ],
)
def test_a_tool_that_breaks_on_good_arguments_is_the_strategys_error(
    tool: str, error: type[Exception], said: str
) -> None:
    """As any other of its methods that raises; an outage is one whatever was asked."""
    memory = Breaking(strategy(REF).env)

    with pytest.raises(error, match=said):
        working(memory, (use(tool, key="k"),), tools=BREAKING)
    with pytest.raises(ModelError):
        working(memory, (use("asks"),), tools=BREAKING)


def test_where_the_model_fails_the_record_says_in_which_round() -> None:
    """What it did before stands there as well."""
    memory = strategy(REF)
    work = Work(Scripted((use("memory_get", key="k"),), ModelError("out of words")))

    with pytest.raises(ModelError):
        work.agent(memory).work([ME], AgentTask(tuple(memory.tools("ana")), "ana", EPOCH, 99))

    assert [(1, 1, ""), (2, 0, "the model failed: out of words")] == [
        (each.number, len(each.calls), each.note) for each in work.kept
    ]


def test_a_question_is_the_askers_message() -> None:
    """With their name, their conversation and its time."""
    question = question_message("Where?", principal="ben", session="s2", turn=7, now=EPOCH)

    assert ("user", "ben", "s2", 7, EPOCH, "Where?") == (
        question.role,
        question.principal,
        question.session,
        question.turn,
        question.time,
        question.text,
    )
