"""Play a case in another process, whose hash seed, clock, chance and place may be others."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from memsim.discovery.loader import resolve
from memsim.errors import MemsimError
from memsim.testing.check_cases import Case
from memsim.testing.claims import Claims
from memsim.testing.counterexamples import encode
from memsim.testing.invariant_catalogue import NotApplicable
from memsim.testing.isolated_subject import SubjectProcess, guarded_of, note_breach
from memsim.testing.views import View
from memsim.testing.worlds import Subject


@dataclass(frozen=True, slots=True)
class ProcessSetting:
    """What a process finds around it.

    Attributes:
        hashes: the seed of its hashes.
        clock: its clock is years ahead, and variables of the environment have other values.
        chance: its global random numbers are others.
        place: its folder, time zone, locale and user are others.
    """

    hashes: int = 1
    clock: bool = False
    chance: bool = False
    place: bool = False


Disk = Literal["good", "full"]

HOME = ProcessSetting()
AWAY = (
    ProcessSetting(hashes=11, clock=True, chance=True, place=True),
    ProcessSetting(hashes=38, clock=True, chance=True, place=True),
)
"""ProcessSetting that differ from `HOME` in everything."""

CAUSES = {
    "its hash seed (the order of a set, or `hash`)": ProcessSetting(hashes=11),
    "another hash seed (the order of a set, or `hash`)": ProcessSetting(hashes=38),
    "its clock or environment variables": ProcessSetting(clock=True),
    "its global random numbers": ProcessSetting(chance=True),
    "its folder, time zone, locale or user": ProcessSetting(place=True),
}
"""What may be the cause of a difference, and surroundings that differ in that alone."""

_PLACE = {
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "POSIX",
    "LANG": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "USER": "somebody",
    "LOGNAME": "somebody",
    "COLUMNS": "33",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePlay:
    """What other processes show of some cases, and what they noticed.

    Attributes:
        notes: what was left behind in the process, one sentence each.
        found: ids of the messages that are found by their own words, where a disk was tried.
    """

    views: tuple[View, ...] = ()
    notes: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


class FreshProcess:
    """A process that plays cases of one strategy, each as if it were the first."""

    def __init__(self, ref: str, surroundings: ProcessSetting) -> None:
        given = {**os.environ, "PYTHONHASHSEED": str(surroundings.hashes)}
        given["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        given |= _PLACE if surroundings.place else {}
        wanted = json.dumps(asdict(surroundings))
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and a module of memsim
            [sys.executable, "-m", "memsim.testing.play_server", ref, wanted],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=given,
            encoding="ascii",
        )

    def ask(self, cases: Sequence[Case], disk: Disk | None = None) -> None:
        """Let it play cases side by side; `answer` waits for what they show."""
        request = {"cases": [encode(case) for case in cases], "disk": disk}
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def answer(self) -> RemotePlay:
        """What the cases show that were asked for first.

        Raises:
            MemsimError: the process could not play them.
        """
        line = self._process.stdout.readline() if self._process.stdout else ""
        answer = json.loads(line) if line else {"error": "the process cannot load the strategy"}
        if "error" in answer:
            raise MemsimError(f"in a process of its own: {answer['error']}")
        views = tuple([(one[0], one[1]) for one in view] for view in answer.get("views", ()))
        notes, found = answer.get("notes", ()), answer.get("found", ())
        return RemotePlay(views=views, notes=tuple(notes), found=tuple(found))

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()


_OPEN: dict[tuple[str, ProcessSetting, tuple[str, ...]], FreshProcess] = {}


def _process(ref: str, surroundings: ProcessSetting) -> FreshProcess:
    key = ref, surroundings, tuple(sys.path)
    if key not in _OPEN:
        _OPEN[key] = FreshProcess(ref, surroundings)
    return _OPEN[key]


def play_in(
    ref: str,
    surroundings: Sequence[ProcessSetting],
    cases: Sequence[Case],
    disk: Disk | None = None,
) -> list[RemotePlay]:
    """Play cases side by side, at the same time in a process of each kind.

    With a `disk`, the first case alone is played; a full one cannot be written to in the middle.

    Raises:
        NotApplicable: a process cannot play them.
    """
    return list(_played(ref, tuple(surroundings), tuple(cases), disk, tuple(sys.path)))


@lru_cache(maxsize=8)
def _played(
    ref: str,
    surroundings: tuple[ProcessSetting, ...],
    cases: tuple[Case, ...],
    disk: Disk | None,
    _path: tuple[str, ...],
) -> tuple[RemotePlay, ...]:
    # Several invariants look at the same play.
    guarded = guarded_of(ref)
    if guarded is not None:
        return tuple([_played_apart(ref, guarded, one, cases, disk) for one in surroundings])
    processes = [_process(ref, one) for one in surroundings]
    try:
        for process in processes:
            process.ask(cases, disk)
        return tuple([process.answer() for process in processes])
    except BrokenPipeError:
        raise NotApplicable("a process of its own cannot load the strategy") from None


def _played_apart(
    ref: str,
    guarded: Sequence[Path],
    around: ProcessSetting,
    cases: Sequence[Case],
    disk: Disk | None,
) -> RemotePlay:
    """Play cases here, with the strategy in a process of its own."""
    from memsim.testing.shared_plays import found_on_disk, side_by_side

    interpreter = {"PYTHONHASHSEED": str(around.hashes), **(_PLACE if around.place else {})}
    process = SubjectProcess(
        resolve(ref),
        guarded,
        interpreter=interpreter,
        begin=lambda new: new.probe("surround", asdict(around)),
    )
    with process:
        claims = Claims(**process.running.probe("claims"))
        subject = Subject(ref=ref, make=process.make, claims=claims)
        if disk is not None:
            limit = partial(_limit, process) if disk == "full" else _no_limit
            played = RemotePlay(found=tuple(found_on_disk(subject, cases[0], limit)))
        else:
            process.running.probe("begin_trace")
            worlds, views = side_by_side(subject, cases)
            for world in worlds:
                world.close()
            notes = process.running.probe("end_trace")
            played = RemotePlay(views=tuple(views), notes=tuple(notes))
    note_breach(process.breach)
    return played


def _limit(process: SubjectProcess, full: bool) -> None:  # noqa: FBT001 - as it is called
    process.running.probe("limit_files", full)


def _no_limit(_full: bool) -> None:  # noqa: FBT001 - as it is called
    """Let every write work."""


def close_processes(besides: str = "") -> None:
    """End every process that was started, but for those of one strategy."""
    for key in [key for key in _OPEN if key[0] != besides]:
        _OPEN.pop(key).close()
    _played.cache_clear()


atexit.register(close_processes)
