"""Run folders: records that survive a crash and that a resume does not double.

::

    reports/
    ├── .gitignore              written by memsim: `runs/` and `shards/`
    ├── shards/f3a1…/1-of-4/    one part of a run, in the same files; its run.json says which
    └── runs/20260923T104200-4f1a/
        ├── run.json            plan, refs, fingerprints, versions, settings, finished, exit
        ├── turns.jsonl         one line per turn and case
        ├── probes.jsonl        one line per probe and case
        ├── contexts.jsonl      what was sent in every turn and at every question
        ├── cases.jsonl         one line per case, and where its records end in the three above
        ├── ahead.jsonl         while it runs: costly cases whose turn has not come
        ├── comparison.json         what the gate found against a baseline, if there was one
        └── report.md

`cases.jsonl` is the log of what is complete: a case's records are written and flushed before its
line. Whatever lies behind the last sound line is cut off when a run is resumed. Cases are kept in
the plan's order, however they finished, so the bytes do not depend on the number of processes.
"""

from __future__ import annotations

from memsim.runs.execution import perform
from memsim.runs.run_folder import list_runs
from memsim.runs.run_reader import Run, load_run
from memsim.runs.run_writer import RunWriter, open_run

__all__ = ["Run", "RunWriter", "list_runs", "load_run", "open_run", "perform"]
