"""The episode of a long conversation: read in parts, written seldom, as if written each time."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from memsim.errors import ModelError
from memsim.memory import ingest_queue
from memsim.memory.ingest_queue import TurnProcessor
from memsim.memory.options import MemoryOptions
from tests.memory.remembering import Remembering

MANY = 200
PART = 4
"""Messages that are read at once; each has 13 tokens."""


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> Remembering:
    """A conversation of many messages that is over, and stands in no episode yet."""
    it = Remembering(
        options=MemoryOptions(vectors=False, facts=False, window=4, episode_tokens=9000)
    )
    it.say(*(f"Word {n:03d} of it." for n in range(MANY)))
    monkeypatch.setattr(ingest_queue, "READ_AT_ONCE", PART * 13)
    it.clock.advance(timedelta(days=2))
    return it


def test_a_long_conversation_is_read_in_parts_and_written_seldom(long: Remembering) -> None:
    """Each message is read once, in order, with what was made of those before it."""
    before = long.store.writes
    long.memory.elapse(long.clock.now())
    [episode] = long.memory.episodic.episodes("ana")
    ids = [f"ana-{n}" for n in range(1, MANY + 1)]
    assert [i for part in long.summarised() for i in part] == ids == [*episode.sources]
    assert {len(part) for part in long.summarised()[:-1]} == {PART}
    asked = [r for r in long.model.asked if r.task == "summarise"]
    assert [r.previous.count("Word") for r in asked] == [PART * n for n in range(len(asked))]
    assert episode.summary.count("Word") == MANY
    assert 1 < long.store.writes - before < len(long.summarised()) // 2


def test_what_was_read_before_the_model_failed_is_kept(long: Remembering) -> None:
    """The rest is read when the model is there again, and nothing is read twice."""
    long.model.poison = "Word 145"
    with pytest.raises(ModelError):
        long.memory.elapse(long.clock.now())
    [episode] = long.memory.episodic.episodes("ana")
    kept = len(episode.sources)
    assert kept == 144
    asked = len(long.summarised())
    long.model.poison = "\0"
    long.memory.elapse(long.clock.now())
    [episode] = long.memory.episodic.episodes("ana")
    assert [*episode.sources] == [f"ana-{n}" for n in range(1, MANY + 1)]
    again = [i for part in long.summarised()[asked:] for i in part]
    assert again == [f"ana-{n}" for n in range(kept + 1, MANY + 1)]


def test_messages_are_read_whole_but_for_a_result_that_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Passages of a message stay together; of one that is longer than a part, the rest is left."""
    monkeypatch.setattr(ingest_queue, "READ_AT_ONCE", 6)
    timeline = SimpleNamespace(source=lambda entry: entry[0])
    queue: Any = SimpleNamespace(timeline=timeline, _tokens=lambda _entry: 3)
    read = TurnProcessor._in_parts(queue, ["a", "b1", "b2", "c", "d1", "d2", "d3", "d4", "e"])
    assert [*read] == [["a"], ["b1", "b2"], ["c"], ["d1", "d2"], ["e"]]
