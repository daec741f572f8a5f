"""What executors share: the queue of cases, lost cases, and the errors of workers."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence

from memsim.errors import Unmeasurable
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result

PlayCase = Callable[[CaseSpec], CaseOutcome]
Outcomes = Generator[tuple[int, CaseOutcome], None, None]

Begin = Callable[[str], None]
"""Is told the key of each case that is about to be played."""


def begin_unheard(_case: str) -> None:
    """Tell nobody that a case is about to be played."""


_BATCH = 16
_BATCH_TURNS = 100
STARTS = 3
"""Workers in a row that may be killed while they start; after that, something kills them all."""


class WorkerError(Exception):
    """A worker could not start, or raised an unexpected error; the message is complete."""


class WorkersKilledError(Unmeasurable):
    """Several workers in a row were killed before they could play a case."""


def lost_outcome(spec: CaseSpec, cause: str) -> CaseOutcome:
    """The outcome of a case whose process died."""
    error = f"the process that played it died ({cause})"
    return CaseOutcome(result=blank_result(spec, state="lost", error=error))


def available_processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CaseQueue:
    """The cases that nobody plays yet, handed out in short batches.

    Small cases are handed out several at a time and large ones alone, so that each batch is short.
    """

    def __init__(self, specs: Sequence[CaseSpec]) -> None:
        self._specs = specs
        self._places = deque(range(len(specs)))

    def __len__(self) -> int:
        return len(self._places)

    def take(self, workers: int) -> list[int]:
        """Hand out the places of the next batch.

        Args:
            workers: how many share the cases.
        """
        most = max(1, min(_BATCH, len(self._places) // (4 * workers)))
        places = [self._places.popleft()]
        turns = self._specs[places[0]].turns
        while self._places and len(places) < most and turns < _BATCH_TURNS:
            places.append(self._places.popleft())
            turns += self._specs[places[-1]].turns
        return places

    def give_back(self, places: Sequence[int]) -> None:
        """Take back places whose cases were not begun; they are handed out next."""
        self._places.extendleft(reversed(places))
