"""Faults on a schedule: files, databases, models, embedders, time and chance that fail on demand.

One seam for each area, and every seam counts what goes through it on a `Schedule`: files
(`failing_files`), databases (`failing_database`), models (`FailingModel`), providers of them
(`FailingAsker`), embedders (`FailingEmbedder`), the clock (`FailingClock`) and chance
(`FailingRandom`). What a provider sends over HTTP fails in `memsim.testing.fake_provider`.

::

    for schedule in one_after_another(attempt, "transient"):
        ...  # the first operation failed, then the second, until an attempt completes
"""

from __future__ import annotations

from memsim.testing.faults.exploration import Area, Exploration, explore, failing_disk, sequences
from memsim.testing.faults.filesystem import failing_database, failing_files
from memsim.testing.faults.model_faults import (
    FailingAsker,
    FailingEmbedder,
    FailingModel,
    OtherEmbedder,
)
from memsim.testing.faults.schedule import (
    FailingClock,
    FailingRandom,
    Mode,
    Schedule,
    SimulatedCrash,
    failing_names,
    one_after_another,
)

__all__ = [
    "Area",
    "Exploration",
    "FailingAsker",
    "FailingClock",
    "FailingEmbedder",
    "FailingModel",
    "FailingRandom",
    "Mode",
    "OtherEmbedder",
    "Schedule",
    "SimulatedCrash",
    "explore",
    "failing_database",
    "failing_disk",
    "failing_files",
    "failing_names",
    "one_after_another",
    "sequences",
]
