"""Records: what the run's files say of a probe and of a turn."""

from __future__ import annotations

import json
from collections.abc import Callable

from memsim.context import Context
from memsim.message import EPOCH, composed, said
from memsim.scenario.script import Fact
from memsim.scoring.probes import score_probe
from memsim.scoring.trace_records import record, turn_record
from memsim.strategy import Event, Location
from memsim.trace import (
    Age,
    CallRecord,
    EvidenceTrace,
    ProbeTrace,
    Stop,
    TurnRecord,
    json_line,
)

KEYS = (
    "case,repeat,probe,turn,session,time,ask,principal,ability,match,labels,expect,forbid,"
    "superseded,unanswerable,tolerance,choices,excluded,answer,outcome,reason,whereabouts,detail,"
    "error,scores,leaks,hidden,evidence,ranks,corpus,age,compactions,context,query_tokens,"
    "inspectable,calls"
)


def test_a_probe_says_all_that_was_seen(
    trace_of: Callable[..., ProbeTrace], context_of: Callable[..., Context]
) -> None:
    """Every field has its place, and nothing is left out."""
    summary = composed("system", "To Oslo.", id="summary:2", quotes=("m3",), derived_from=("m1",))
    window = (said("user", "Hi", id="m8"), said("user", "So", id="m9"))
    pin = Fact(
        id="pin", value="44-11", source="m5", principal="ben", turn=2, time=EPOCH, session="s1"
    )
    trace = trace_of(
        context=context_of(summary=(summary,), window=window, ranking=("m4", "m1")),
        overflow=12,
        answer="to 44-11",
        evidence=(
            EvidenceTrace(
                source="m1",
                turn=1,
                fact="city",
                location=Location(tier="store", rank=14, detail="k 8"),
                path=(Stop(turn=1, presence="window"), Stop(turn=5, presence="absent", cause="x")),
            ),
        ),
        age=Age(turns=8, tokens=500, sessions=1, days=2),
        hidden=(pin,),
        superseded=("Bonn",),
        sessions={"m1": "s1", "m4": "s2"},
        corpus=9,
        compactions=2,
        calls=(CallRecord(phase="answer", task="answer", input=40, output=3, cost=None),),
    )
    made = record(trace, score_probe(trace, {}), "f.yaml::one[bm25@4k]", 3)

    assert KEYS == ",".join(made)
    assert ("f.yaml::one[bm25@4k]", 3, "p") == (made["case"], made["repeat"], made["probe"])
    assert (made["outcome"], made["reason"]) == ("LEAK", "retrieval-miss")
    assert made["leaks"] == [{"fact": "pin", "in": "answer"}]
    assert made["hidden"] == 1
    assert made["evidence"] == [
        {
            "source": "m1",
            "turn": 1,
            "fact": "city",
            "presence": "absent",
            "verbatim": False,
            "trimmed": False,
            "location": {"tier": "store", "rank": 14, "detail": "k 8"},
            "path": [[1, "window", ""], [5, "absent", "x"]],
        }
    ]
    assert made["ranks"] == {"looked": 2, "turns": [2], "sessions": [2], "sessions_looked": 2}
    assert made["age"] == {"turns": 8, "tokens": 500, "sessions": 1, "days": 2}
    assert made["context"] == {
        "tokens": {"summary": 10, "window": 20},
        "total": 30,
        "overflow": 12,
        "verbatim": ["m3", "m8", "m9"],
        "derived": ["m1"],
        "composed": [{"id": "summary:2", "layer": "summary", "text": "To Oslo."}],
    }
    assert made["calls"] == [
        {"phase": "answer", "task": "answer", "input": 40, "output": 3, "cost": None}
    ]


def test_a_secret_is_told_by_name_only(trace_of: Callable[..., ProbeTrace]) -> None:
    """A record of a leak repeats no value but what was answered."""
    pin = Fact(
        id="pin", value="44-11", source="m5", principal="b", turn=2, time=EPOCH, session="s1"
    )
    trace = trace_of(hidden=(pin,), answer="Oslo")

    assert "44-11" not in json_line(record(trace, score_probe(trace, {}), "c"))


def test_a_failed_probe_has_every_key_too(trace_of: Callable[..., ProbeTrace]) -> None:
    """What there was not is null."""
    trace = trace_of(context=None, answer=None, error="it broke")
    made = record(trace, score_probe(trace, {}), "c")

    assert KEYS == ",".join(made)
    assert [None, None, None, None] == [made[k] for k in ("context", "answer", "ranks", "age")]
    assert (made["error"], made["outcome"]) == ("it broke", "ERROR")


def test_a_record_is_the_same_after_json(trace_of: Callable[..., ProbeTrace]) -> None:
    """Nothing in it is lost on the way to the file and back; fractions have six digits."""
    pieces = tuple(
        EvidenceTrace(source=f"m{n}", turn=n, presence="window", verbatim=n < 1) for n in range(3)
    )
    trace = trace_of(evidence=pieces)
    made = record(trace, score_probe(trace, {}), "c")

    assert made == json.loads(json_line(made))
    assert '"evidence_recall":0.333333,' in json_line(made)


def test_a_quiet_turn_says_little(turn_of: Callable[..., TurnRecord]) -> None:
    """Fields that are empty are left out."""
    assert {
        "case": "c",
        "turn": 4,
        "session": "s1",
        "principal": "ana",
        "time": "2026-01-05T09:00:00Z",
    } == turn_record(turn_of(4), "c")


def test_a_busy_turn_says_all(turn_of: Callable[..., TurnRecord]) -> None:
    """In a fixed order; a later repeat names itself."""
    turn = turn_of(
        4,
        tokens={"window": 212, "summary": 40},
        sent=252,
        contexts=1,
        cached=180,
        overflow=12,
        moved={"city": "absent"},
        events=(
            Event(kind="compaction", sources=("m1",), before=900, after=0, detail="rolled"),
            Event(kind="stored"),
        ),
        calls=(CallRecord(phase="maintain", task="summarise", input=850, output=60, cost=0.5),),
    )
    made = turn_record(turn, "c", 2)

    assert (
        "case,turn,session,principal,time,repeat,tokens,sent,contexts,cached,overflow,moved,events,"
        "calls"
    ) == ",".join(made)
    assert made["events"] == [
        {"kind": "compaction", "sources": ["m1"], "before": 900, "after": 0, "detail": "rolled"},
        {"kind": "stored"},
    ]


def test_an_empty_context_was_asked_for(turn_of: Callable[..., TurnRecord]) -> None:
    """No tokens are not no context."""
    made = turn_record(turn_of(1, tokens={}, contexts=1), "c")

    assert (made["tokens"], made["contexts"]) == ({}, 1)
