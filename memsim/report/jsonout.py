"""A run as JSON: one document of the summary, or one line for each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from memsim.report.rows import Summary

if TYPE_CHECKING:
    from memsim.runs import Run


def document(summary: Summary) -> str:
    """The summary as one JSON document, in ASCII so that every pipe carries it."""
    return json.dumps(asdict(summary), indent=2, ensure_ascii=True, allow_nan=False)


def case_lines(run: Run) -> Iterator[str]:
    """One line of JSON for each case, in the order of the plan."""
    for case in run.cases:
        yield json.dumps(asdict(case), ensure_ascii=True, allow_nan=False)
