"""A memory in three lines: real time, ids that are made, and the same records underneath."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memsim.errors import AccessError
from memsim.memory import open_memory
from memsim.message import said

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_three_lines_remember(tmp_path: Path) -> None:
    """What was added is found at once and after the memory is opened again, and can be erased."""
    with open_memory(tmp_path / "ana.memory") as memory:
        order = memory.add("My order is A-17.", user="ana")
        memory.add("Noted.", user="ana", role="assistant")
        found = memory.search("Where is my order?", user="ana")[0]

    assert found.text == "ana: My order is A-17."
    assert abs(found.entry.created - datetime.now(UTC)) < timedelta(minutes=5)
    with open_memory(tmp_path / "ana.memory") as memory:
        assert memory.search("order", user="ana")[0].text == found.text
        memory.forget("ana", [order])
        assert not any("A-17" in hit.text for hit in memory.search("order", user="ana"))


def test_the_record_is_that_of_the_precise_calls(tmp_path: Path) -> None:
    """One turn with one message, whichever way it was said."""
    with open_memory(tmp_path / "short", now=lambda: START) as memory:
        memory.add("My order is A-17.", user="ana", session="s1", id="m1")
        short = list(memory.entries("ana"))
    with open_memory(tmp_path / "precise", now=lambda: START) as memory:
        told = said("user", "My order is A-17.", id="m1", principal="ana", session="s1", time=START)
        memory.observe(told)
        memory.end_turn("ana")
        precise = list(memory.entries("ana"))

    assert short == precise != []


def test_users_see_only_their_own(tmp_path: Path) -> None:
    """Ids are unique, and a conversation without a name is shared with nobody."""
    with open_memory(tmp_path / "two.memory") as memory:
        ids = {memory.add("My code is 7741.", user=user) for user in ("ana", "ana", "ben")}
        memory.add("My order is A-17.", user="ana", session="team")
        memory.add("I am here too.", user="ben", session="team")
        memory.add("My pin is 5512.", user="ana")

        assert len(ids) == 3
        assert memory.search("order", user="ben")[0].text == "ana: My order is A-17."
        assert not any("5512" in hit.text for hit in memory.search("pin", user="ben"))
        assert "5512" in memory.search("pin", user="ana")[0].text
        assert memory.search("pin", user="ana") == memory.search("pin", principal="ana")
        with pytest.raises(ValueError, match="give one of them"):
            memory.search("pin", user="ana", principal="ben")
        for call in (lambda: memory.search("pin"), lambda: memory.add("x", user="")):
            with pytest.raises(AccessError):
                call()
