"""Faults on a schedule: files, databases, models, embedders, time and chance that fail on demand.

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
