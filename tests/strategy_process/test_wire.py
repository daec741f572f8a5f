"""Frames between the two processes: what may be sent, and what stays the same object."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

import pytest

from memsim.context import Context, Section
from memsim.errors import StrategyError
from memsim.message import Text, composed, said
from memsim.models import Prompt, Request
from memsim.strategy import Event
from memsim.strategy_process import wire as module
from memsim.strategy_process.wire import Wire

NOW = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire]]:
    """The player's end, and the strategy's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Wire(ours.fileno(), trusted=False), Wire(theirs.fileno(), trusted=True)


def _context(*messages: object) -> Context:
    return Context(sections=(Section(layer="window", messages=messages, tokens=1),))  # type: ignore[arg-type]


def test_a_message_that_was_observed_comes_back_as_the_same_object(
    ends: tuple[Wire, Wire],
) -> None:
    """So that the player's comparisons by identity hold."""
    player, strategy = ends
    message = said("user", "Hello.", id="m1", principal="ana", time=NOW)
    player.send(message)
    player.know(message)
    heard = strategy.receive()
    strategy.know(heard)

    strategy.send(_context(heard))

    assert message == heard
    assert player.receive().sections[0].messages[0] is message


def test_a_message_of_the_strategys_own_stays_the_same_object(
    ends: tuple[Wire, Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it is among the latest; later it is sent anew, and is equal."""
    monkeypatch.setattr(module, "KEPT", 2)
    player, strategy = ends
    first, *others = (composed("user", f"{n}", id=f"s{n}", time=NOW) for n in range(3))
    seen = []
    for context in (_context(first), _context(first, others[0]), _context(*others)):
        strategy.send(context)
        seen.append(player.receive().sections[0].messages)
    strategy.send(_context(first))
    again = player.receive().sections[0].messages[0]

    assert seen[0][0] is seen[1][0]
    assert seen[1][1] is seen[2][0]
    assert first == again
    assert seen[0][0] is not again


def test_what_cannot_be_sent_spoils_nothing(ends: tuple[Wire, Wire]) -> None:
    """The next frame is read as if it had not been tried."""
    player, strategy = ends
    own = composed("user", "own", id="s1", time=NOW)
    with pytest.raises(StrategyError, match="which cannot leave its process"):
        strategy.send((_context(own), lambda: 0))

    strategy.send(_context(own))

    assert own == player.receive().sections[0].messages[0]


def test_only_records_are_sent_by_a_strategy(ends: tuple[Wire, Wire]) -> None:
    """Objects of other classes are refused before anything of theirs is called."""
    player, strategy = ends
    values = (
        (Event(kind="stored", sources=("m1",), detail="x"), NOW, NOW.date(), timedelta(hours=2)),
        {"a": [1, 2.5, None, b"x", float("inf")], 3: {"s"}, "half": "\ud83d"},
    )
    strategy.send(values)
    assert values == player.receive()

    for value in (PurePosixPath("/etc"), pickle.loads, print):
        with pytest.raises(StrategyError, match="which cannot leave its process"):
            strategy.send(value)


def test_a_forged_frame_changes_nothing(ends: tuple[Wire, Wire]) -> None:
    """Neither a pickle that alters what is there, nor nonsense, is more than an error."""
    player, _ = ends
    message = said("user", "Hello.", id="m1", time=NOW)
    player.know(message)
    altering = pickle.dumps(_Alters())
    for frame in (
        altering,
        b"{}",
        b"[" * 100_000,
        b'{"m": 5}',
        b'{"r": [99]}',
        b'{"l": [1], "d": 2}',
    ):
        os.write(_other_end(ends), len(frame).to_bytes(8, "big") + frame)
        with pytest.raises(StrategyError, match="sent what cannot be read"):
            player.receive()
    os.write(_other_end(ends), (1 << 60).to_bytes(8, "big"))
    with pytest.raises(StrategyError, match="too long"):
        player.receive()

    assert "Hello." == message.text


class _Alters:
    def __reduce__(self) -> tuple[object, ...]:
        return module.known_message, (0,), (None, {"text": "Stolen."})


def _other_end(ends: tuple[Wire, Wire]) -> int:
    return ends[1]._line


def test_a_message_that_was_altered_in_place_is_sent_as_it_is(ends: tuple[Wire, Wire]) -> None:
    """The player sees what the strategy shows, and keeps the original."""
    player, strategy = ends
    message = said("user", "Hello.", id="m1", time=NOW)
    player.send(message)
    player.know(message)
    heard = strategy.receive()
    strategy.know(heard)
    blocks = (Text("Goodbye."),)
    object.__setattr__(heard, "blocks", blocks)

    strategy.send(heard)

    assert "Goodbye." == player.receive().text
    assert "Hello." == message.text


def test_a_request_with_a_prompt_reaches_the_player(ends: tuple[Wire, Wire]) -> None:
    """An isolated strategy asks a live model in its own words, too."""
    player, strategy = ends
    request = Request(task="summarise", prompt=Prompt(system="Keep names.", chat=True))
    strategy.send(request)

    assert request == player.receive()
