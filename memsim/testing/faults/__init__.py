"""Faults on a schedule: files, databases, models, embedders, time and chance that fail on demand.

One seam for each area, and every seam counts what goes through it on a `Schedule`: files
(`failing_files`), databases (`failing_database`), models (`FailingModel`), providers of them
(`FailingAsker`), embedders (`FailingEmbedder`), the clock (`FailingClock`) and chance
(`FailingRandom`). What a provider sends over HTTP fails in `memsim.testing.provider`.

::

    for schedule in one_after_another(attempt, "transient"):
        ...  # the first operation failed, then the second, until an attempt completes
"""

from __future__ import annotations

from memsim.testing.faults.chance import FailingRandom, failing_names
from memsim.testing.faults.clock import FailingClock
from memsim.testing.faults.database import failing_database
from memsim.testing.faults.exploring import Area, Explored, explore, failing_disk, sequences
from memsim.testing.faults.filesystem import failing_files
from memsim.testing.faults.models import (
    FailingAsker,
    FailingEmbedder,
    FailingModel,
    OtherEmbedder,
)
from memsim.testing.faults.schedule import Crashed, Mode, Schedule, one_after_another

__all__ = [
    "Area",
    "Crashed",
    "Explored",
    "FailingAsker",
    "FailingClock",
    "FailingEmbedder",
    "FailingModel",
    "FailingRandom",
    "Mode",
    "OtherEmbedder",
    "Schedule",
    "explore",
    "failing_database",
    "failing_disk",
    "failing_files",
    "failing_names",
    "one_after_another",
    "sequences",
]
