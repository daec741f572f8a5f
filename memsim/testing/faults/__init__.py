"""Faults on a schedule: files, databases, models, embedders, time and chance that fail on demand.

One seam for each area, and every seam counts what goes through it on a `Schedule`: files
(`failing_files`), databases (`failing_database`), models, providers and embedders (`models`), the
clock (`clock`) and chance (`chance`). What a provider sends over HTTP fails in
`memsim.testing.provider`.

::

    for schedule in one_after_another(attempt, "transient"):
        ...  # the first operation failed, then the second, until an attempt completes
"""

from __future__ import annotations

from memsim.testing.faults.database import failing_database
from memsim.testing.faults.exploring import Area, Explored, explore, failing_disk, sequences
from memsim.testing.faults.filesystem import failing_files
from memsim.testing.faults.schedule import Crashed, Mode, Schedule, one_after_another

__all__ = [
    "Area",
    "Crashed",
    "Explored",
    "Mode",
    "Schedule",
    "explore",
    "failing_database",
    "failing_disk",
    "failing_files",
    "one_after_another",
    "sequences",
]
