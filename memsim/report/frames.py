"""Load a run as data frames, one row for each record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from typing import Any

import pandas as pd

from memsim.context import SECTIONS, in_order
from memsim.leakage import LEAKAGE
from memsim.runs import Run
from memsim.suite.cases import CaseResult, scenario_of

TOKENS = "tokens."
"""Begins the column of a section's tokens."""


BYTES_READ = 4 * 2**20
"""Bytes of a case's turns that are read as a whole; of more, only every so many turns."""


def every(step: int) -> Callable[[bytes], bool]:
    """Choose the first of each so many lines."""
    chosen = cycle([True] + [False] * (step - 1))
    return lambda _line: next(chosen)


def _tells_of_facts(line: bytes) -> bool:
    return b'"moved":' in line or b'"compaction"' in line


@dataclass(frozen=True)
class Frames:
    """The records of a run, each kind read once."""

    run: Run

    @cached_property
    def probes(self) -> pd.DataFrame:
        """One row a probe and repeat.

        Columns: case, scenario, strategy, budget, repeat, dataset, control, probe, ability,
        outcome, reason, whereabouts, recall (0, 1 or missing), false (whether an unanswerable probe
        was answered: 0, 1 or missing), confidence (0 to 1, or missing), sent (tokens), turn, said
        (the turn of its newest evidence), age (turns), compactions, and corpus (messages so far).
        """
        rows = [_probe_row(case, line) for case, line in self._lines() if LEAKAGE not in line]
        return pd.DataFrame(rows, columns=_PROBE_COLUMNS)

    @cached_property
    def turns(self) -> pd.DataFrame:
        """One row a turn in which something was sent; of a very long case, every so many turns.

        Columns: those of the case, turn, sent (tokens of all contexts), largest (tokens of the
        largest one), compactions, freed (tokens), answering, maintaining, searching, cached
        (tokens), and `tokens.NAME` for each section of the largest context.
        """
        lines = list(self._turn_lines())
        names = in_order({*SECTIONS, *(name for _, line in lines for name in line["tokens"])})
        rows = [_turn_row(case, line, names) for case, line in lines]
        return pd.DataFrame(rows, columns=[*_TURN_COLUMNS, *(TOKENS + name for name in names)])

    @property
    def sections(self) -> list[str]:
        """The names of all sections, memsim's own first."""
        columns = [str(name) for name in self.turns.columns]
        return [name.removeprefix(TOKENS) for name in columns if name.startswith(TOKENS)]

    @cached_property
    def facts(self) -> pd.DataFrame:
        """One row a planted fact, case and compaction that the case had gone through.

        Columns: those of the case, fact, turn (of the compaction), compactions, and there (whether
        the fact still stood in what was sent, verbatim or in other words).
        """
        rows: list[dict[str, object]] = []
        for case in self.run.cases:
            if case.dataset != LEAKAGE:
                rows += _survival(case, self.run.turns(case.key, only=_tells_of_facts))
        return pd.DataFrame(rows, columns=_FACT_COLUMNS)

    def _lines(self) -> Iterator[tuple[CaseResult, Mapping[str, Any]]]:
        for case in self.run.cases:
            for line in self.run.probes(case.key):
                yield case, line

    def _turn_lines(self) -> Iterator[tuple[CaseResult, Mapping[str, Any]]]:
        for case in self.run.cases:
            for line in self.run.turns(case.key, only=every(self.step(case))):
                if "tokens" in line:
                    yield case, line

    def step(self, case: CaseResult) -> int:
        """Of how many turns of a case one is read: 1, but for a case of very many."""
        return 1 + self.run.turn_bytes(case.key) // BYTES_READ


_CASE_COLUMNS = ["case", "scenario", "strategy", "budget", "repeat", "dataset", "control"]
_PROBE_COLUMNS = [
    *_CASE_COLUMNS,
    "probe",
    "ability",
    "outcome",
    "reason",
    "whereabouts",
    "recall",
    "false",
    "confidence",
    "sent",
    "turn",
    "said",
    "age",
    "compactions",
    "corpus",
]
_TURN_COLUMNS = [
    *_CASE_COLUMNS,
    "turn",
    "sent",
    "largest",
    "compactions",
    "freed",
    "answering",
    "maintaining",
    "searching",
    "cached",
]
_FACT_COLUMNS = [*_CASE_COLUMNS, "fact", "turn", "compactions", "there"]


def _of_case(case: CaseResult) -> dict[str, object]:
    return {
        "case": case.key,
        "scenario": scenario_of(case.id),
        "strategy": case.strategy,
        "budget": case.budget,
        "repeat": case.repeat,
        "dataset": case.dataset,
        "control": case.control,
    }


def _probe_row(case: CaseResult, line: Mapping[str, Any]) -> dict[str, object]:
    context, age = line["context"], line["age"]
    return {
        **_of_case(case),
        "probe": line["probe"],
        "ability": line["ability"],
        "outcome": line["outcome"],
        "reason": line["reason"] or "",
        "whereabouts": line["whereabouts"] or "",
        "recall": line["scores"].get("recall"),
        "false": line["scores"].get("false_answers"),
        "confidence": line["scores"].get("confidence"),
        "sent": context and context["total"] + line["query_tokens"],
        "turn": line["turn"],
        "said": max((piece["turn"] for piece in line["evidence"]), default=None),
        "age": age and age["turns"],
        "compactions": line["compactions"],
        "corpus": line["corpus"],
    }


def _turn_row(
    case: CaseResult, line: Mapping[str, Any], sections: Sequence[str]
) -> dict[str, object]:
    events = [e for e in line.get("events", ()) if e["kind"] == "compaction"]
    spent = dict.fromkeys(("answer", "maintain", "search", "write"), 0)
    for call in line.get("calls", ()):
        spent[call["phase"]] = spent.get(call["phase"], 0) + call["input"] + call["output"]
    return {
        **_of_case(case),
        "turn": line["turn"],
        "sent": line.get("sent", 0),
        "largest": sum(line["tokens"].values()),
        "compactions": len(events),
        "freed": sum(max(0, (e.get("before") or 0) - (e.get("after") or 0)) for e in events),
        "answering": line.get("sent", 0),
        "maintaining": spent["maintain"] + spent["write"],
        "searching": spent["search"],
        "cached": line.get("cached", 0),
        **{TOKENS + name: line["tokens"].get(name, 0) for name in sections},
    }


def _survival(case: CaseResult, lines: Iterator[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Follow each fact from its planting through every compaction."""
    rows: list[dict[str, object]] = []
    there: dict[str, bool] = {}
    passed: dict[str, int] = {}
    for line in lines:
        for fact, place in line.get("moved", {}).items():
            there[fact] = place != "absent"
            if fact not in passed:
                passed[fact] = 0
                row = {"fact": fact, "turn": line["turn"], "compactions": 0, "there": True}
                rows.append({**_of_case(case), **row})
        count = sum(1 for event in line.get("events", ()) if event["kind"] == "compaction")
        if count:
            passed = {fact: before + count for fact, before in passed.items()}
            for fact, so_many in passed.items():
                row = {"fact": fact, "compactions": so_many, "there": there[fact]}
                rows.append({**_of_case(case), "turn": line["turn"], **row})
    return rows
