"""L13 to L15 and L19: caches, logs, exports and ledgers, and what they keep of a secret."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.leakage.playing import Performance
from memsim.leakage.records import Attempt
from memsim.leakage.scores import ChannelScore
from memsim.testing.doubles import reading, telling
from memsim.testing.doubles.honest import Honest

Play = Callable[..., Performance]
Score = Callable[[str, Performance], ChannelScore]

CHANNELS = ["L13", "L14"]


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


@pytest.mark.parametrize(
    ("channel", "double"),
    [
        ("L13", reading.SharedCache),
        ("L14", telling.LogsAtInfo),
        ("L14", telling.LogsQueries),
    ],
)
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


def test_what_is_logged_for_who_looks_closer_is_reported_and_not_gated(
    play: Play, scored: Score
) -> None:
    """DEBUG is switched on by hand; INFO and above is what an operation keeps."""
    found = scored("L14", play("L14", telling.LogsAtDebug, 16))

    assert (8, 0, 8) == (found.leaks.k, found.gated.k, found.gated.n)


def test_metadata_and_traceback_of_a_record_are_read(play: Play) -> None:
    """A record is more than its message: what a formatter of JSON would write counts too."""
    told = [_leaks(play("L14", double, 16)) for double in (MetadataOnly, TracebackOnly)]

    assert [{"log"}, {"log"}] == [{t.seen.surface for a in of for t in a.trails} for of in told]


class MetadataOnly(Honest):
    """Says nothing, but hands the text over beside the message."""

    def told(self, principal: str, text: str, count: int) -> str:
        telling.LOG.info("a search", extra={"query_text": text})
        return super().told(principal, text, count)


class TracebackOnly(Honest):
    """Logs what went wrong with all that was there when it did."""

    def told(self, principal: str, text: str, count: int) -> str:
        try:
            int(text)
        except ValueError:
            telling.LOG.exception("a search failed")
        return super().told(principal, text, count)


def _leaks(played: Performance) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]
