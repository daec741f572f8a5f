"""L2, L3, L4, L20: who mixes people up is caught, and who does not is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.leakage.channel import ChannelRun
from memsim.leakage.scores import ChannelScore

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]


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
