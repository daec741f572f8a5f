"""Tables of a run's records as data frames: flat columns, each with one type and one meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memsim.errors import UsageError, nearest
from memsim.leakage import LEAKAGE
from memsim.suite.cases import scenario_of

if TYPE_CHECKING:
    import pandas as pd

    from memsim.runs import Run
    from memsim.suite.cases import CaseResult

TableName = Literal["probes", "turns", "cases", "leaks", "facts"]
Kind = Literal["text", "count", "number", "flag", "time"]
Row = dict[str, object]

DTYPES: Mapping[Kind, str] = {
    "text": "string",
    "count": "Int64",
    "number": "Float64",
    "flag": "boolean",
    "time": "datetime64[ns, UTC]",
}
"""The type of a column in pandas; each of them can hold that a value is missing."""

_CASE: Mapping[str, Kind] = {
    "case": "text",
    "scenario": "text",
    "dataset": "text",
    "strategy": "text",
    "control": "text",
    "budget": "count",
    "repeat": "count",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTable:
    """How one table is made.

    Attributes:
        columns: the type of each column that it always has, in order.
        rows: its rows, from the records of a run.
        more: the type of the columns that depend on the run.
    """

    columns: Mapping[str, Kind]
    rows: Callable[[Run], Iterator[Row]]
    more: Kind = "number"


def frame_of(run: Run, name: str) -> pd.DataFrame:
    """A table of a run.

    Raises:
        UsageError: there is no such table.
        RunFolderError: the run's records are damaged.
    """
    if name not in TABLES:
        known = ", ".join(TABLES)
        near = nearest(str(name), TABLES)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise UsageError(f"there is no table {name!r}: the tables are {known}{hint}")
    import pandas as pd

    table = TABLES[name]
    rows = list(table.rows(run))
    own = dict.fromkeys(column for row in rows for column in row)
    kinds = {**table.columns, **{c: table.more for c in own if c not in table.columns}}
    return pd.DataFrame(
        {
            column: pd.Series([row.get(column) for row in rows], dtype="object").astype(
                DTYPES[kind]  # type: ignore[call-overload]
            )
            for column, kind in kinds.items()
        }
    )


def _case_row(case: CaseResult) -> Row:
    return {
        "case": case.key,
        "scenario": scenario_of(case.id),
        "dataset": case.dataset,
        "strategy": case.strategy,
        "control": case.control,
        "budget": case.budget,
        "repeat": case.repeat,
    }


def _probes(run: Run) -> Iterator[Row]:
    for case in run.cases:
        for line in run.probes(case.key):
            if LEAKAGE not in line:
                yield _case_row(case) | _probe(line)


def _probe(line: Mapping[str, Any]) -> Row:
    from memsim.scoring.outcomes import PASSED

    context, age = line["context"], line["age"] or {}
    return {
        "probe": line["probe"],
        "ability": line["ability"],
        "principal": line["principal"],
        "session": line["session"],
        "turn": line["turn"],
        "time": line["time"],
        "ask": line["ask"],
        "expect": " | ".join(line["expect"]),
        "answer": line["answer"],
        "answer_again": line.get("answer_again"),
        "outcome": line["outcome"],
        "passed": line["outcome"] in PASSED,
        "reason": line["reason"],
        "whereabouts": line["whereabouts"],
        "detail": line["detail"],
        "error": line["error"],
        "tokens": context["total"] + line["query_tokens"] if context else None,
        "said": max((piece["turn"] for piece in line["evidence"]), default=None),
        "age_turns": age.get("turns"),
        "age_tokens": age.get("tokens"),
        "compactions": line["compactions"],
        "corpus": line["corpus"],
        "leaks": len(line["leaks"]),
        **line["scores"],
    }


def _turns(run: Run) -> Iterator[Row]:
    for case in run.cases:
        for line in run.turns(case.key):
            yield _case_row(case) | _turn(line)


def _turn(line: Mapping[str, Any]) -> Row:
    events = [event for event in line.get("events", ()) if event["kind"] == "compaction"]
    calls = line.get("calls", ())
    sections = line.get("tokens", {})
    return {
        "turn": line["turn"],
        "session": line["session"],
        "principal": line["principal"],
        "time": line["time"],
        "contexts": line.get("contexts", 0),
        "tokens": line.get("sent", 0),
        "cached": line.get("cached", 0),
        "overflow": line.get("overflow", 0),
        "compactions": len(events),
        "freed": sum(max(0, (e.get("before") or 0) - (e.get("after") or 0)) for e in events),
        "calls": len(calls),
        "call_tokens": sum(call["input"] + call["output"] for call in calls),
        **{f"tokens_{name}": tokens for name, tokens in sections.items()},
    }


def _cases(run: Run) -> Iterator[Row]:
    for case in run.cases:
        yield {
            **_case_row(case),
            "state": case.state,
            "error": case.error,
            "seconds": case.seconds,
            **{name: case.counts.get(name) for name in _COUNTS},
            "broken": len(case.expect_failures),
            **case.metrics,
        }


_COUNTS = ("probes", "answerable", "passed", "failed", "errors")


def _leaks(run: Run) -> Iterator[Row]:
    for case in run.cases:
        for line in run.probes(case.key):
            attack: Any = line.get(LEAKAGE)
            for leak in _attack_leaks(attack) if attack else _probe_leaks(line):
                yield _case_row(case) | {"probe": line["probe"], **leak}


def _probe_leaks(line: Mapping[str, Any]) -> Iterator[Row]:
    for leak in line["leaks"]:
        yield {
            "attack": "",
            "viewer": line["principal"],
            "surface": leak["in"],
            "fact": leak["fact"],
            "seen": line["turn"],
        }


def _attack_leaks(record: Mapping[str, Any]) -> Iterator[Row]:
    for trail in record.get("trails", ()):
        seen = trail["seen"]
        yield {
            "attack": record["attack"],
            "viewer": seen["viewer"] or record["viewer"],
            "owner": trail["owner"],
            "surface": seen["surface"],
            "planted": trail["planted"],
            "seen": seen["turn"],
            "tier": trail["tier"],
            "excerpt": trail.get("excerpt", ""),
            "detail": record.get("detail", ""),
        }


def _facts(run: Run) -> Iterator[Row]:
    for case in run.cases:
        for line in run.turns(case.key):
            store: Any = line.get("store", {})
            for fact, kind, stored in store.get("facts", ()):
                yield _case_row(case) | {"fact": fact, "kind": kind, "stored": stored}


TABLES: Mapping[str, RecordTable] = {
    "probes": RecordTable(
        columns={
            **_CASE,
            "probe": "text",
            "ability": "text",
            "principal": "text",
            "session": "text",
            "turn": "count",
            "time": "time",
            "ask": "text",
            "expect": "text",
            "answer": "text",
            "answer_again": "text",
            "outcome": "text",
            "passed": "flag",
            "reason": "text",
            "whereabouts": "text",
            "detail": "text",
            "error": "text",
            "tokens": "count",
            "said": "count",
            "age_turns": "count",
            "age_tokens": "count",
            "compactions": "count",
            "corpus": "count",
            "leaks": "count",
            "recall": "number",
        },
        rows=_probes,
    ),
    "turns": RecordTable(
        columns={
            **_CASE,
            "turn": "count",
            "session": "text",
            "principal": "text",
            "time": "time",
            "contexts": "count",
            "tokens": "count",
            "cached": "count",
            "overflow": "count",
            "compactions": "count",
            "freed": "count",
            "calls": "count",
            "call_tokens": "count",
        },
        rows=_turns,
        more="count",
    ),
    "cases": RecordTable(
        columns={
            **_CASE,
            "state": "text",
            "error": "text",
            "seconds": "number",
            **dict.fromkeys(_COUNTS, "count"),
            "broken": "count",
            "recall": "number",
        },
        rows=_cases,
    ),
    "leaks": RecordTable(
        columns={
            **_CASE,
            "probe": "text",
            "attack": "text",
            "viewer": "text",
            "owner": "text",
            "surface": "text",
            "fact": "text",
            "planted": "count",
            "seen": "count",
            "tier": "text",
            "excerpt": "text",
            "detail": "text",
        },
        rows=_leaks,
    ),
    "facts": RecordTable(
        columns={**_CASE, "fact": "text", "kind": "text", "stored": "flag"},
        rows=_facts,
    ),
}
"""The tables of a run by name."""
