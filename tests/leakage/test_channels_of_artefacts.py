"""L13 to L15 and L19: caches, logs, exports and ledgers, and what they keep of a secret."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.leakage.playing import Performance
from memsim.leakage.records import Attempt
from memsim.leakage.scores import ChannelScore
from memsim.testing.doubles import reading
from memsim.testing.doubles.honest import Honest

Play = Callable[..., Performance]
Score = Callable[[str, Performance], ChannelScore]

CHANNELS = ["L13"]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("strategy", ["layered:acl=on", "layered:acl=on,mode=both", Honest])
def test_who_keeps_things_apart_is_safe(
    play: Play, scored: Score, channel: str, strategy: str
) -> None:
    """With the framework in control, with tools, and with little else."""
    found = scored(channel, play(channel, strategy, 16))

    assert "safe" == found.verdict, (found.why, found.paths)


@pytest.mark.parametrize("channel", CHANNELS)
def test_who_remembers_nothing_is_not_called_safe(play: Play, scored: Score, channel: str) -> None:
    """Nothing was there that could have come out."""
    assert "n/a" == scored(channel, play(channel, "no_memory", 12)).verdict


@pytest.mark.parametrize(("channel", "double"), [("L13", reading.SharedCache)])
def test_a_broken_one_is_caught(
    play: Play, scored: Score, channel: str, double: type[Honest]
) -> None:
    """A tenth of the attempts is enough."""
    assert "leak" == scored(channel, play(channel, double, 16)).verdict


def test_an_answer_that_was_kept_is_served_by_every_way(play: Play) -> None:
    """By context and tool, and to somebody whom the owner let see it no longer."""
    leaks = _leaks(play("L13", reading.SharedCache, 16))

    assert {"context", "taken back", "tool"} == {a.labels["by"] for a in leaks}
    assert {("ana", "ben"), ("ben", "ana")} == {(a.owners[0], a.viewer) for a in leaks}


def _leaks(played: Performance) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
