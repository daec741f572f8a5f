"""What the five published systems give away shows where it belongs, and goes once repaired."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.leakage.scores import ChannelScore

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]


def test_an_optional_user_filter_is_found(play: Play, scored: Score) -> None:
    """AEGIS filters by agent; what another's conversation came to is recalled once it is over."""
    leaks = _leaks(play("L1", "aegis", 200))

    assert leaks
    assert all("-> recalled at" in str(trail) for leak in leaks for trail in leak.trails)
    assert "safe" == scored("L1", play("L1", "aegis:fixed=true", 200)).verdict


def test_ranking_before_filtering_is_found(play: Play, scored: Score) -> None:
    """PRX ranks everybody's rows, and by how everybody's words are spread, before it filters."""
    leaks = _leaks(play("L3", "prx:acl=on", 20))

    assert leaks
    assert not [leak for leak in leaks if leak.trails]
    assert "safe" == scored("L3", play("L3", "prx:acl=on,fixed=true", 20)).verdict


def test_a_key_that_is_taken_over_is_found(play: Play, scored: Score) -> None:
    """PRX has one row for a key, whoever stores under it."""
    leaks = _leaks(play("L20", "prx:acl=on", 30))

    assert {"tool memory_store", "tool memory_store spoofed"} == {k.labels["deed"] for k in leaks}
    assert "safe" == scored("L20", play("L20", "prx:acl=on,fixed=true", 30)).verdict


def test_what_is_forgotten_is_in_the_file_until_repaired(play: Play, scored: Score) -> None:
    """PRX deletes a row, which SQLite leaves in free pages and in its log."""
    tiers = {str(k.trails[0].seen.surface) for k in _leaks(play("L7", "prx", 8)) if k.trails}

    assert {"window", "wal"} <= tiers
    assert "safe" == scored("L7", play("L7", "prx:fixed=true,version=0.3.0", 8)).verdict


@pytest.mark.parametrize(
    ("strategy", "collisions"),
    [
        ("agentscope:scope=session", {"joined by '_'"}),
        ("cogtrix:scope=session", {"without suffix '_hybrid'", "same id"}),
    ],
)
def test_confused_sessions_are_found(
    play: Play, scored: Score, strategy: str, collisions: set[str]
) -> None:
    """AgentScope joins names by an underscore; Cogtrix adds a suffix that a name may end with."""
    leaks = _leaks(play("L2", strategy, 100))

    assert collisions == {leak.labels["collision"] for leak in leaks}
    assert "safe" == scored("L2", play("L2", f"{strategy},fixed=true", 100)).verdict


def test_one_session_for_everybody_is_found(play: Play, scored: Score) -> None:
    """Cogtrix knows no principals; repaired, it keeps theirs apart."""
    assert "leak" == scored("L2", play("L2", "cogtrix", 40)).verdict
    assert "safe" == scored("L2", play("L2", "cogtrix:fixed=true", 40)).verdict


def _leaks(played: ChannelRun) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
