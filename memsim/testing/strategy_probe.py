"""Measure a strategy inside its own process, for `memsim check`.

Each function gets the process's strategies and one of them, or None. What they look at cannot be
seen from outside: memory that is reached, calls of functions, settings, threads and open files.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memsim.discovery.loader import load_strategy
from memsim.discovery.strategy_ref import snake_case
from memsim.testing import process_traces
from memsim.testing.claims import claims_of
from memsim.testing.disguise import disguise
from memsim.testing.footprint import bytes_of

if TYPE_CHECKING:
    from memsim.strategy import Strategy
    from memsim.strategy_process.child import StrategyHost


def claims(host: StrategyHost, _: Strategy | None) -> dict[str, Any]:
    """The promises of the strategy's class."""
    kind = load_strategy(host.ref, host.project)
    return asdict(claims_of(kind, snake_case(kind.__name__), dict(host.ref.params)))


def held(host: StrategyHost, strategy: Strategy) -> int:
    """Bytes of everything that it holds."""
    return bytes_of(strategy, host.embedders.values())


def surround(_: StrategyHost, _strategy: Strategy | None, given: Mapping[str, Any]) -> None:
    """Let the process have another clock, other random numbers or another place."""
    if given["clock"]:
        disguise()
    random.seed(99 if given["chance"] else 1)
    if given["place"]:
        time.tzset()


class _CallCount:
    """Counts calls of functions while strategies work."""

    def __init__(self) -> None:
        self._profile = Profile(builtins=False)
        self._depth = 0

    @contextmanager
    def around(self) -> Iterator[None]:
        self._depth += 1
        if self._depth == 1:
            self._profile.enable()
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._profile.disable()

    @property
    def calls(self) -> int:
        """Those of the pipe are left out: how often it is read differs from time to time."""
        stats = self._profile.getstats()
        return sum(int(one.callcount) for one in stats if not _is_pipe(one.code))


def _is_pipe(code: object) -> bool:
    return _PIPE in getattr(code, "co_filename", _PIPE)


_PIPE = f"{os.sep}strategy_process{os.sep}"
_COUNTS: list[tuple[_CallCount, Any]] = []


def count_calls(host: StrategyHost, _: Strategy | None) -> None:
    """Begin to count."""
    count = _CallCount()
    _COUNTS.append((count, host.around))
    host.around = count.around


def calls_counted(host: StrategyHost, _: Strategy | None) -> int:
    """End the count; its result."""
    count, host.around = _COUNTS.pop()
    return count.calls


_TRACES: list[tuple[Mapping[str, object], Mapping[str, str], set[int], Any]] = []


def begin_trace(_: StrategyHost, _strategy: Strategy | None) -> None:
    """Note what the process is like before a play."""
    written = process_traces.WriteWatch("memsim-check-")
    state, files = process_traces.state_of_process(), process_traces.open_files()
    _TRACES.append((state, files, process_traces.threads(), written))
    written.__enter__()


def end_trace(_: StrategyHost, _strategy: Strategy | None) -> Sequence[str]:
    """What was left behind, one sentence each."""
    state, files, threads, written = _TRACES.pop()
    written.__exit__()
    return process_traces.notes_of(state, files, threads, written.outside)


def limit_files(_: StrategyHost, _strategy: Strategy | None, full: bool) -> None:  # noqa: FBT001 - as it is sent
    """Let every write to a file fail, or work again."""
    process_traces.limit_files(full=full)
