"""L2, L3, L4, L20: who mixes people up is caught, and who does not is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.leakage.playing import Performance
from memsim.leakage.records import Attempt
from memsim.leakage.scores import ChannelScore

Play = Callable[..., Performance]
Score = Callable[[str, Performance], ChannelScore]


@pytest.mark.parametrize("channel", ["L2", "L3", "L4", "L20"])
@pytest.mark.parametrize("strategy", ["layered:acl=on", "layered:acl=on,mode=both"])
def test_the_reference_is_safe(play: Play, scored: Score, channel: str, strategy: str) -> None:
    """With the framework in control, and with tools."""
    found = scored(channel, play(channel, strategy, 26))

    assert "safe" == found.verdict


@pytest.mark.parametrize("channel", ["L2", "L3", "L4", "L20"])
def test_an_amnesiac_is_not_called_safe(play: Play, scored: Score, channel: str) -> None:
    """Nothing was there that could have come out."""
    found = scored(channel, play(channel, "no_memory", 26))

    assert "n/a" == found.verdict


@pytest.mark.parametrize("channel", ["L2", "L3", "L4"])
def test_one_memory_for_all_leaks(play: Play, scored: Score, channel: str) -> None:
    """Words are looked for among everybody's."""
    assert "leak" == scored(channel, play(channel, "bm25", 26)).verdict


def test_joined_keys_are_found(play: Play) -> None:
    """AgentScope joins user and session with an underscore, and nothing else."""
    played = play("L2", "agentscope:scope=session", 60)

    leaked = {a.labels["collision"] for a in _leaks(played)}
    assert {"joined by '_'"} == leaked


def test_ranking_before_filtering_is_found(play: Play, scored: Score) -> None:
    """PRX shows only what is one's own, but what others said decides which."""
    played = play("L3", "prx:acl=on", 60)

    assert "leak" == scored("L3", played).verdict
    assert all(not attempt.trails and attempt.detail for attempt in _leaks(played))


def test_a_key_that_is_taken_over_is_found(play: Play) -> None:
    """PRX's row goes to whoever stores under its key; repaired, it stays."""
    leaked = {a.labels["deed"] for a in _leaks(play("L20", "prx:acl=on", 50))}

    assert {"tool memory_store", "tool memory_store spoofed"} == leaked
    assert not _leaks(play("L20", "prx:acl=on,fixed=true", 50))


def _leaks(played: Performance) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
