"""The offline agent finds a use for each tool that a memory offers, in a scenario of one day."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.discovery.loader import prepare
from memsim.memory.tools import TOOLS
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.registry import load_model
from memsim.replay import replay
from memsim.scenario import load_scenario
from memsim.systems.agenticx.tools import tool_specs
from memsim.systems.agentscope.tools import RECORD, RELOAD, RETRIEVE
from memsim.systems.prx.tools import NAMES
from memsim.trace import Trace
from tests.strategies.conversations import embedder, own_folder

DAY = Path(__file__).with_name("every_tool.yaml")
LARGE = "offload=on,window=12,window_share=0.7"
AGENTSCOPE = (
    "agentscope:longterm=store,mode=agent,memory=autocontext,msg_threshold=6,last_keep=4,"
    "large_payload_threshold=1000"
)
OFFERED = {
    f"layered:mode=agent,acl=off,vectors=off,{LARGE}": frozenset(TOOLS),
    f"layered:mode=both,vectors=off,{LARGE}": frozenset(TOOLS) - {"memory_recall"},
    "agenticx:tools=true": frozenset(spec.name for spec in tool_specs()),
    AGENTSCOPE: frozenset({RECORD, RETRIEVE, RELOAD}),
    "prx": frozenset(NAMES),
    "prx:version=0.3.0": frozenset(NAMES),
}


def played(ref: str, budget: int = 3000) -> Trace:
    """The day, with the offline agent."""
    counter = TokenCounter(load_tokenizer("chars/4"))
    return replay(
        load_scenario(DAY),
        prepare(ref),
        model=load_model("offline", counter),
        embed=embedder,
        counter=counter,
        budget=budget,
        seed=7,
        folder=own_folder,
    )


def called(trace: Trace) -> dict[str, set[str]]:
    """The outcomes of the calls of each tool."""
    rounds = [
        *(r for t in trace.turns for r in t.agent),
        *(r for p in trace.probes for r in p.agent),
    ]
    found: dict[str, set[str]] = {}
    for call in (call for each in rounds for call in each.calls):
        found.setdefault(call.name, set()).add(call.outcome)
    return found


@pytest.mark.parametrize("ref", OFFERED)
def test_each_tool_of_a_memory_is_used(ref: str) -> None:
    """And does something at least once; none is called with arguments that it refuses."""
    trace = played(ref)
    used = called(trace)

    assert "" == trace.error
    assert OFFERED[ref] == used.keys()
    assert [] == [name for name, outcomes in used.items() if "done" not in outcomes]
    assert {"done", "refused"} >= set().union(*used.values())


def test_a_corrected_value_is_what_is_found() -> None:
    """The agent has stored the new value, and forgotten its entry of the old one."""
    trace = played("prx")
    (code,) = [probe for probe in trace.probes if probe.probe.id == "new_code"]

    assert code.answer is not None
    assert "9912" in code.answer
    assert "7741" not in code.answer
