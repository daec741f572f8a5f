"""A clock that goes wrong and chance that runs dry: nothing that was said is lost by either."""

from __future__ import annotations

import itertools
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, get_args

import pytest

from memsim.atomic_files import write_whole
from memsim.clock import Clock
from memsim.errors import ExitCode, RunFolderError
from memsim.message import EPOCH
from memsim.runs import list_runs, open_run
from memsim.strategy import Environment, Strategy
from memsim.testing import World
from memsim.testing.faults import Mode, Schedule
from memsim.testing.worlds import Sight
from tests.doubles.exploration import one_after_another
from tests.doubles.failing_clock import (
    ChanceFault,
    ClockFault,
    FailingClock,
    FailingRandom,
    failing_names,
)
from tests.faults.areas import plan
from tests.faults.test_models import case, subject

CLOCKED: Final = {
    "rolling_summary": 1,
    "layered:summary=on": 3,
    "cogtrix:window=2": 1,
    "agenticx:threshold_messages=8": 3,
    "agentscope:longterm=reme": 3,
    "aegis:every=1": 11,
    "prx": 7,
    "prx:version=0.3.0": 9,
}
"""Who reads the clock, and which of its readings go wrong: every one, or fewer."""

FORGETTING: Final = {"aegis:every=1", "layered:summary=on", "prx", "prx:version=0.3.0"}
"""Who lets go of what is old, which in ten years everything is; or sums it up."""

CHANCY: Final = ("layered", "aegis:every=1,index=ivfflat", "prx:audit=on")
"""Who draws: salts, and the centres of an index."""


def asked(ref: str, given: Callable[[Environment], Environment]) -> Sight:
    """What a question gets at the end of a play in other surroundings."""
    usual = subject(ref)

    def made(env: Environment) -> Strategy:
        return usual.make(given(env))

    world = World(replace(usual, make=made), case(600))
    world.play(world.case.events)
    found = world.ask("What is my order number 6?", "ana")
    world.close()
    assert (None, "") == (world.transcript.failed, world.transcript.crashed)
    return found


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("fault", get_args(ClockFault))
@pytest.mark.parametrize("ref", CLOCKED)
def test_a_clock_that_goes_wrong_loses_nothing(ref: str, fault: ClockFault, mode: Mode) -> None:
    """An hour back, ten years on, or standing still; for a moment or from then on.

    What is shown is the same messages, but where a term has passed by that clock; and then the
    latest of them are there still.
    """
    calm = asked(ref, lambda env: env)

    def attempt(schedule: Schedule) -> None:
        shown = asked(ref, lambda env: replace(env, clock=FailingClock(env.clock, schedule, fault)))
        if fault == "leap" and ref in FORGETTING:
            assert "A-42" in shown.context.text()
        else:
            assert [m.id for m in calm.messages] == [m.id for m in shown.messages]

    assert list(one_after_another(attempt, mode, step=CLOCKED[ref]))


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("fault", get_args(ChanceFault))
@pytest.mark.parametrize("ref", CHANCY)
def test_chance_decides_nothing_that_is_shown(ref: str, fault: ChanceFault, mode: Mode) -> None:
    """Another seed, or nothing but zeros, at whichever draw."""
    calm = asked(ref, lambda env: env)

    def attempt(schedule: Schedule) -> None:
        shown = asked(ref, lambda env: replace(env, random=FailingRandom(7, schedule, fault)))
        assert [m.id for m in calm.messages] == [m.id for m in shown.messages]

    assert list(one_after_another(attempt, mode))


def test_a_failing_clock_is_wrong_where_it_is_told_to_be() -> None:
    """Ahead, behind or standing, and otherwise as the clock that it goes by."""
    right = Clock()
    readings = {}
    for fault in get_args(ClockFault):
        right.set(EPOCH)
        clock = FailingClock(right, Schedule(at=2), fault)
        readings[fault] = [(clock.now(), clock.advance(timedelta(hours=2)))[0] for _ in range(3)]

    hours = {f: [(r - EPOCH) / timedelta(hours=1) for r in found] for f, found in readings.items()}
    assert {"back": [0, 1, 4], "leap": [0, 2 + 3652 * 24, 4], "still": [0, 0, 4]} == hours


def test_failing_chance_draws_what_it_is_told_to() -> None:
    """The second draw is another, or nothing; the others are those of the seed."""
    usual = random.Random(7)
    expected = [usual.random(), usual.getrandbits(64), usual.random()]
    another, dry = (FailingRandom(7, Schedule(at=2), fault) for fault in get_args(ChanceFault))

    for chance in (another, dry):
        drawn = [chance.random(), chance.getrandbits(64), chance.random()]
        assert [True, False, True] == [a == b for a, b in zip(expected, drawn, strict=True)]
        assert (drawn[1] == 0) == (chance is dry)


@pytest.mark.parametrize("mode", ["transient", "persistent"])
def test_a_name_that_is_taken_is_not_given_again(tmp_path: Path, mode: Mode) -> None:
    """What somebody else has begun is neither written into nor removed; a bounded search ends."""
    (tmp_path / "runs").mkdir()
    writers: tuple[Callable[[], None], ...] = (
        lambda: write_whole(tmp_path / "state", b"whole"),
        lambda: open_run(plan(), tmp_path, resume=False).close(),
    )
    for write in writers:
        with failing_names(Schedule(at=2, mode=mode)):
            taken = secrets.token_hex(4)
            begun = tmp_path / f".state.{taken}.tmp", tmp_path / "runs" / f".new-{taken}"
            begun[0].write_bytes(b"another's")
            begun[1].mkdir()
            if mode == "persistent":
                with pytest.raises((FileExistsError, RunFolderError), match="every name is taken"):
                    write()
            else:
                write()
        assert b"another's" == begun[0].read_bytes()
        assert begun[1].is_dir()


def test_the_newest_run_is_the_last_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the clock was set back an hour, and while it is: `latest` means the run of now."""
    moments = itertools.cycle(EPOCH + timedelta(hours=hours) for hours in (5, 4, 4, 9, 4))

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return next(moments)

    monkeypatch.setattr("memsim.runs.run_folder.datetime", Wrong)
    monkeypatch.setattr(
        "memsim.runs.run_writer.provenance", lambda started: {"created": started.isoformat()}
    )
    made = []
    for _ in range(5):
        with open_run(plan(), tmp_path, resume=False) as writer:
            writer.finish(ExitCode.PASSED)
        made.append(writer.folder)

    assert made[::-1] == [*list_runs(tmp_path)]
