"""Shared by the tests of scenarios: writing a script, and what must hold when one is played."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsim.scenario import Ask, ElapseEvent, Scenario, Turn, load_scenario

HEAD = "memsim: 1\nname: example\n"

Load = Callable[[str], Scenario]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a script from its text; `memsim` and `name` are put before a text without them."""

    def loaded(text: str) -> Scenario:
        path = tmp_path / "example.yaml"
        path.write_text(text if text.startswith("memsim") else HEAD + text, encoding="utf-8")
        return load_scenario(path)

    return loaded


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of good and bad script files."""
    return Path(__file__).resolve().parents[1] / "corpus" / "scenarios"


def check_play(scenario: Scenario, seed: int = 0, most: int = 5_000) -> None:
    """What holds for every scenario: its numbers are as announced and its facts are said."""
    asked: list[str] = []
    expected = itertools.count(1)
    turns = 0
    now = None
    for event in itertools.islice(scenario.events(seed), most):
        if isinstance(event, ElapseEvent):
            assert now is None or event.now >= now
            now = event.now
        elif isinstance(event, Ask):
            asked.append(event.probe.id)
            assert event.turn == turns
        elif isinstance(event, Turn):
            turns += 1
            assert event.number == turns
            assert now is None or event.time >= now
            now = event.time
            check_turn(event, expected)
    if scenario.turns + len(asked) < most:
        assert turns == scenario.turns
        assert asked == [probe.id for probe in scenario.probes]


def check_turn(turn: Turn, expected: Iterator[int]) -> None:
    """Message ids count on, calls are answered, and each fact stands in the message it names."""
    messages = {message.id: message for message in (*turn.heard, *turn.reply)}
    assert list(messages) == [f"m{next(expected)}" for _ in messages]
    assert turn.reply[-1].role == "assistant"
    calls = [call for message in messages.values() for call in message.calls]
    assert calls == [answer for message in messages.values() for answer in message.results]
    for message in messages.values():
        assert (message.turn, message.session, message.time) == (
            turn.number,
            turn.session,
            turn.time,
        )
    for fact in turn.facts:
        text = " ".join(messages[fact.source].text.casefold().split())
        assert " ".join(fact.value.casefold().split()) in text


@pytest.fixture
def check() -> Callable[[Scenario], None]:
    """`check_play`, for tests that cannot import this file."""
    return check_play
