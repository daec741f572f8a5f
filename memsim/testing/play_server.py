"""Play cases in a process of its own, each in a fork that has played nothing before.

A parent sends a line of JSON for each play, and reads a line with what was shown. The process ends
with its parent, because its input ends then.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.testing import process_traces
from memsim.testing.disguise import disguise

if TYPE_CHECKING:
    from memsim.testing.worlds import Subject, World

LONGEST = 300
"""Seconds that one play may take."""


def main() -> None:
    """Answer requests until the input ends."""
    ref, surroundings = sys.argv[1], json.loads(sys.argv[2])
    sys.dont_write_bytecode = True
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a strategy prints is no answer
    if surroundings["clock"]:
        disguise()
    from memsim.testing.subjects import subject_of

    subject = subject_of(ref)
    server = _Server(subject, surroundings)
    for line in sys.stdin:
        answers.write(json.dumps(server.answer(json.loads(line))) + "\n")
        answers.flush()


class _Server:
    def __init__(self, subject: Subject, surroundings: dict[str, Any]) -> None:
        self._subject = subject
        self._surroundings = surroundings

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Play in a fork; modules that it needed are imported here, so that the next need not."""
        if hasattr(os, "fork"):
            answer = _forked(lambda: self._play(request))
        else:
            answer = self._play(request)
        for name in answer.pop("modules", ()):
            with suppress(Exception):
                importlib.import_module(name)
        return answer

    def _play(self, request: dict[str, Any]) -> dict[str, Any]:
        from memsim.testing.counterexamples import decode

        before = {*sys.modules}
        random.seed(99 if self._surroundings["chance"] else 1)
        cases = [decode(json.dumps(case)) for case in request["cases"]]
        with _elsewhere() if self._surroundings["place"] else nullcontext():
            return self._shown(request, cases, before)

    def _shown(self, request: dict[str, Any], cases: list[Any], before: set[str]) -> dict[str, Any]:
        from memsim.testing.shared_plays import found_on_disk, side_by_side

        if request["disk"] == "full":
            limit = process_traces.limit_files
            found = found_on_disk(self._subject, cases[0], lambda full: limit(full=full))
            answer: dict[str, Any] = {"found": found}
        elif request["disk"] is not None:
            answer = {"found": found_on_disk(self._subject, cases[0])}
        else:
            answer = _traced(lambda: side_by_side(self._subject, cases))
        known = ("memsim.", "numpy")
        answer["modules"] = sorted(n for n in {*sys.modules} - before if n.startswith(known))
        return answer


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Work in another folder meanwhile."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="memsim-check-") as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(home)


def _traced(play: Callable[[], tuple[list[World], list[Any]]]) -> dict[str, Any]:
    state, files = process_traces.state_of_process(), process_traces.open_files()
    threads = process_traces.threads()
    with process_traces.WriteWatch("memsim-check-") as written:
        worlds, views = play()
        for world in worlds:
            world.close()
    notes = process_traces.notes_of(state, files, threads, written.outside)
    return {"views": views, "notes": notes}


def _forked(play: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(LONGEST)
        try:
            answer = play()
        except BaseException as error:  # noqa: BLE001 - a stranger's code: it is told, not raised
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}
        with os.fdopen(writing, "w", encoding="ascii") as pipe:
            pipe.write(json.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "its process ended"}


if __name__ == "__main__":
    main()
