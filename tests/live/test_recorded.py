"""What the small real model said is replayed to the byte, and asks nobody."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from memsim.models.model_access import Spending
from tests.live.flows import CASSETTES, FLOWS, kept, replayed

AGAIN = (
    "where only the records changed, `python -m tests.live.flows` writes them anew; where other"
    " calls are made, `make test-live LIVE_FLAGS=--save-recordings` asks the model again"
)


def recordings() -> list[dict[str, object]]:
    """Every call that was recorded."""
    lines = (line for p in CASSETTES.rglob("*.jsonl") for line in p.read_text().splitlines())
    return [record for record in map(json.loads, lines) if "call" in record]


@pytest.mark.parametrize("flow", FLOWS)
def test_what_a_real_model_said_is_replayed_to_the_byte(flow: str) -> None:
    """The records are those of the day it was recorded, on whatever machine."""
    played = replayed(flow)

    assert "" == played.error, AGAIN
    assert kept(flow).read_bytes() == played.records, AGAIN
    assert 0 < played.spent.replayed
    assert Spending(replayed=played.spent.replayed) == played.spent


def test_every_task_was_asked_of_it() -> None:
    """And a tool was called over the protocol's own calls, more than once."""
    calls = recordings()
    tasks = Counter(call["task"] for call in calls)
    used = [call for call in calls if call["task"] == "act" and call["answer"]["calls"]]  # type: ignore[index]

    assert {"act", "answer", "extract", "judge", "summarise"} == set(tasks)
    assert 2 <= len(used)


def test_recordings_are_small() -> None:
    """A repository is no place for more."""
    assert 500_000 > sum(p.stat().st_size for p in CASSETTES.parent.rglob("*") if p.is_file())
