"""Every double is caught where it is broken and nowhere else, and the honest memory nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import LEAST, ChannelRun
from memsim.leakage.channels import load_channel, modules
from memsim.leakage.scores import ChannelScore
from tests.doubles.catalogue import ALWAYS_RAISES, AMNESIAC, DOUBLES, HONEST, QUIET, Double, load

if TYPE_CHECKING:
    from memsim.leakage.attempt import Finding


Play = Callable[..., ChannelRun]
Findings = Callable[..., Generator["Finding", None, None]]
Score = Callable[[str, ChannelRun], ChannelScore]

BROKEN, WHOLE = (2, 8, 30), 5
"""Attempts on a channel that a double breaks, the few first, and on one that it does not."""
CHANNELS = tuple(modules())
SLICE = 1 if os.environ.get("MEMSIM_WHOLE_MATRIX") else 4
"""Of the channels that a double leaves whole, one in so many is played; all of them by
`benchmarks/doubles_matrix.py`."""


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_honest_memory_passes(play: Play, scored: Score, channel: str) -> None:
    """Nothing that may not leak does, and enough of it could be tried."""
    found = scored(channel, _honest(play, channel, max(BROKEN)))

    assert not found.gated.k, found.paths
    if load_channel(channel).header.gate == "zero":
        assert "safe" == found.verdict, found.why


@pytest.mark.parametrize("double", DOUBLES, ids=lambda d: d.name.replace(" ", "-"))
def test_a_double_is_caught_where_it_is_broken_and_nowhere_else(
    play: Play, findings: Findings, double: Double
) -> None:
    """On each channel against what the honest memory shows there."""
    there = set(double.caught_on) & set(CHANNELS)
    whole = [c for c in CHANNELS if c not in there and c not in double.may]
    elsewhere = whole[DOUBLES.index(double) % SLICE :: SLICE]

    caught = {c for c in there if any(_caught(play, findings, c, double, n) for n in BROKEN)}
    wrongly = {c for c in elsewhere if _caught(play, findings, c, double, WHOLE)}

    assert (there, set()) == (caught, wrongly)


@pytest.mark.parametrize("double", QUIET, ids=lambda d: d.name.replace(" ", "-"))
def test_a_quiet_leak_is_caught_with_few_attempts(
    play: Play, findings: Findings, double: Double
) -> None:
    """What is logged aside, printed, packed, quoted in errors, claimed or taken for the same."""
    caught = {c for c in double.caught_on if _caught(play, findings, c, double, LEAST)}

    assert double.caught_on == caught


@pytest.mark.parametrize("channel", CHANNELS)
def test_who_keeps_nothing_has_no_number(play: Play, scored: Score, channel: str) -> None:
    """An amnesiac is neither safe nor a leak."""
    assert "n/a" == scored(channel, play(channel, load(AMNESIAC), WHOLE)).verdict


@pytest.mark.parametrize("channel", CHANNELS)
def test_who_always_raises_is_in_error(play: Play, scored: Score, channel: str) -> None:
    """Silence that comes of a failure is not safety."""
    assert "error" == scored(channel, play(channel, load(ALWAYS_RAISES), WHOLE)).verdict


def test_every_double_has_a_name_of_its_own_and_a_channel() -> None:
    """And where a real one was told of, its public thread; a name says what it is caught for."""
    every = (*DOUBLES, *QUIET)
    assert len(every) == len({d.name for d in every}) == len({d.path for d in every})
    for double in every:
        assert double.caught_on, double.name
        assert not double.caught_on & double.may, double.name
        assert not double.thread or double.thread.startswith("https://"), double.name
        assert (load(double.path).__doc__ or "").strip(), double.name


def test_doubles_need_no_hypothesis() -> None:
    """They are played where nothing but memsim is installed."""
    root = Path(__file__).parents[2]
    code = (
        "import sys; from tests.doubles.catalogue import DOUBLES; [d.make for d in DOUBLES];"
        "sys.exit('hypothesis' in sys.modules)"
    )

    assert 0 == subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode


def _caught(play: Play, findings: Findings, channel: str, double: Double, count: int) -> bool:
    """Whether an attempt leaks with the double and not with the honest memory.

    The first one settles it: the attempts after it are not made.
    """
    if not any(_found(findings, channel, double, count)):
        return False
    honest = _leaks(_honest(play, channel, count))
    return not honest or any(i not in honest for i in _found(findings, channel, double, count))


def _found(findings: Findings, channel: str, double: Double, count: int) -> Iterator[str]:
    """Attempts that leak with the double, as they come."""
    with closing(findings(channel, double.make, count)) as found:
        yield from (f.id for f in found if _is_leak(f))


_PLAYED: dict[tuple[str, int], ChannelRun] = {}


def _honest(play: Play, channel: str, count: int) -> ChannelRun:
    """What the honest memory comes to; it is the same however often it is played."""
    if (channel, count) not in _PLAYED:
        _PLAYED[channel, count] = play(channel, load(HONEST), count)
    return _PLAYED[channel, count]


def _leaks(played: ChannelRun) -> set[str]:
    return {f.id for f in played.findings if _is_leak(f)}


def _is_leak(finding: Finding) -> bool:
    return isinstance(finding, Attempt) and finding.state == "leak"
