"""An outcome as a text that a test report carries from the process that played it."""

from __future__ import annotations

import json

from memsim.runs.log import read_result, result_record
from memsim.suite.cases import CaseOutcome


def encode(outcome: CaseOutcome, *, turns: bool) -> str:
    """The text of an outcome.

    Args:
        outcome: of a case.
        turns: whether the records of its turns and contexts are wanted; they are most of it.
    """
    record = {
        "result": result_record(outcome.result),
        "probes": outcome.probe_lines.decode(),
        "turns": outcome.turn_lines.decode() if turns else "",
        "contexts": outcome.context_lines.decode() if turns else "",
    }
    # ASCII: half an emoji that a model ended in must not keep a report from travelling.
    return json.dumps(record, ensure_ascii=True)


def decode(text: str) -> CaseOutcome:
    """The outcome that `encode` wrote."""
    record = json.loads(text)
    return CaseOutcome(
        result=read_result(record["result"]),
        probe_lines=record["probes"].encode(),
        turn_lines=record["turns"].encode(),
        context_lines=record["contexts"].encode(),
    )
