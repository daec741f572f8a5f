"""Write traces and scores as JSON records, from which every metric can be recomputed.

::

    turns.jsonl
    {"case": "...", "turn": 3, "session": "s1", "principal": "ana", "time": "2026-01-05T09:00:00Z",
     "tokens": {"window": 212}, "sent": 212, "contexts": 1, "cached": 180, "overflow": 12,
     "moved": {"order_id": "absent"},
     "events": [{"kind": "compaction", "sources": ["m1"], "before": 900, "after": 300}],
     "calls": [{"phase": "maintain", "task": "summarise", "input": 850, "output": 60, "cost": 0}],
     "agent": [...]}

    probes.jsonl
    {"case": "...", "repeat": 0, "probe": "order_id", "turn": 40, "session": "s2", "time": "...",
     "ask": "...", "principal": "ana", "ability": "recall", "match": "tokens", "labels": {},
     "expect": ["A-17"], "forbid": [], "superseded": [], "unanswerable": false, "tolerance": 0,
     "choices": [], "excluded": "", "answer": "...", "outcome": "MISS",
     "reason": "evicted", "whereabouts": "lost", "detail": "a17 is missing", "error": "",
     "scores": {"recall": 0, ...}, "leaks": [{"fact": "pin", "in": "answer"}], "hidden": 2,
     "evidence": [{"source": "m5", "turn": 3, "fact": "order_id", "presence": "absent",
                   "verbatim": false, "trimmed": false,
                   "location": {"tier": "store", "rank": 14, "detail": "k 8"},
                   "path": [[3, "window", ""], [19, "absent", "dropped"]]}],
     "ranks": {"looked": 40, "turns": [14], "sessions": [2], "sessions_looked": 3}, "corpus": 80,
     "age": {"turns": 37, "tokens": 5100, "sessions": 1, "days": 3}, "compactions": 1,
     "context": {"tokens": {"window": 812}, "total": 812, "overflow": 0, "verbatim": ["m61", ...],
                 "derived": ["m5"],
                 "composed": [{"id": "summary:2", "layer": "summary", "text": "..."}]},
     "query_tokens": 9, "inspectable": true, "calls": [...]}

A turn's fields that are empty are left out; a probe's never are. A probe of a run with a judge has
`"judge": ["right", "wrong", "unread"]` as well, its opinions one by one. A strategy that does not
report its stores has `"inspectable": false` and `"inspection": "context"`; a black box has the
first alone. `"retained": [["pin", "context"]]` follows `hidden` where a fact was kept or used that
was not to be remembered. `"answer_again"` follows the answer where that was wrong, and the answer
from the evidence in the context alone is right and counts. A turn names its repeat when it is not
the first.

What an agent did with the memory's tools stands in a turn and in a probe::

    "agent": [{"round": 1, "said": "Let me see.", "calls": [
                  {"tool": "memory_search", "arguments": "{...}", "outcome": "done",
                   "result": "Found 2 memories: ...", "cut": 120}]},
              {"round": 2, "said": "It is in the cupboard."}]

The last turn of a case has what the memory wrote, if the strategy shows it::

    "store": {"entries": 40, "verbatim": 30, "kinds": {"right": 8, "stale": 1, "unplanted": 31},
              "exact": 1, "near": 0, "characters": 812, "turns": 40,
              "facts": [["order_id", "plain", true], ["pin", "no-store", false]]}

It is `{"error": "..."}` if the store could not be read, and `{"only_window": true}` if the strategy
shows its window alone.

Rounds are counted from 1 for each message or question; round 0 is what the script calls. A `note`
says why an agent was stopped. Texts are kept up to 4,000 characters; `cut` counts the characters
of an answer that were left out. Empty fields are left out, and so is `agent` without tools.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from memsim.clock import stamp
from memsim.scoring.votes import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memsim.context import Context
    from memsim.scoring.probes import ProbeScore
    from memsim.scoring.stored_entries import StoreScore
    from memsim.scoring.votes import Ballot
    from memsim.strategy import Event
    from memsim.trace import (
        AgentRound,
        CallRecord,
        EvidenceTrace,
        Inspection,
        ProbeTrace,
        StoreTrace,
        ToolCallRecord,
        TurnRecord,
    )

    Record = dict[str, object]

# Writes what an agent did with a memory's tools, round by round.

LONGEST_TEXT = 4_000
"""Characters that are kept of a text."""


def agent_record(rounds: Sequence[AgentRound]) -> Record:
    """The field of a turn's or a probe's record; nothing where no tools were offered."""
    return {"agent": [_round(each) for each in rounds]} if rounds else {}


def _round(each: AgentRound) -> Record:
    made: Record = {"round": each.number}
    if each.said:
        made["said"] = _kept(each.said)
    if each.calls:
        made["calls"] = [_call(call) for call in each.calls]
    if each.note:
        made["note"] = _kept(each.note)
    return made


def _call(call: ToolCallRecord) -> Record:
    made: Record = {
        "tool": _kept(call.name),
        "arguments": _kept(call.arguments),
        "outcome": call.outcome,
    }
    if call.result:
        made["result"] = _kept(call.result)
    if call.cut:
        made["cut"] = call.cut
    return made


def _kept(text: str) -> str:
    more = len(text) - LONGEST_TEXT
    return text if more <= 0 else f"{text[:LONGEST_TEXT]} [{more:,} more characters]"


_DIGITS = 6


def record(
    trace: ProbeTrace,
    score: ProbeScore,
    case_id: str,
    repeat: int = 0,
    ballot: Ballot | None = None,
) -> Record:
    """One probe as an object of `probes.jsonl`."""
    scores = {k: v if v is None else round(v, _DIGITS) for k, v in score.scores.items()}
    if ballot is not None:
        verdict = ballot.verdict
        scores["judged"] = None if verdict is None else float(verdict)
    made = {
        "case": case_id,
        "repeat": repeat,
        **_question(trace),
        "answer": trace.answer,
        **({"answer_again": trace.answer_again} if score.read_again else {}),
        "outcome": score.outcome,
        "reason": score.reason,
        "whereabouts": score.whereabouts,
        "detail": score.detail,
        "error": trace.error,
        "scores": scores,
        "leaks": [{"fact": leak.fact, "in": leak.place} for leak in score.leaks],
        "hidden": len(trace.hidden),
        **({"retained": [list(found) for found in score.retained]} if score.retained else {}),
        "evidence": [_evidence(piece) for piece in trace.evidence],
        "ranks": score.ranks and _values(score.ranks),
        "corpus": trace.corpus,
        "age": trace.age and _values(trace.age),
        "compactions": trace.compactions,
        "context": _context(trace.context, trace.overflow),
        "query_tokens": trace.query_tokens,
        **_inspection(trace),
        "calls": _calls((*trace.calls, *(ballot.calls if ballot else ()))),
        **agent_record(trace.agent),
    }
    return made if ballot is None else made | {"judge": words_of(ballot.votes)}


def turn_record(turn: TurnRecord, case_id: str, repeat: int = 0) -> Record:
    """One turn as an object of `turns.jsonl`, without what is empty."""
    made: Record = {
        "case": case_id,
        "turn": turn.turn,
        "session": turn.session,
        "principal": turn.principal,
        "time": stamp(turn.time),
    }
    if repeat:
        made["repeat"] = repeat
    if turn.tokens is not None:
        made["tokens"] = dict(turn.tokens)
        made["sent"] = turn.sent
        made["contexts"] = turn.contexts
    if turn.cached:
        made["cached"] = turn.cached
    if turn.overflow:
        made["overflow"] = turn.overflow
    if turn.moved:
        made["moved"] = dict(turn.moved)
    if turn.events:
        made["events"] = [_event(event) for event in turn.events]
    if turn.calls:
        made["calls"] = _calls(turn.calls)
    return made | agent_record(turn.agent)


def store_record(store: StoreTrace, score: StoreScore) -> Record:
    """What the memory wrote in a case: the field `store` of its last turn."""
    if store.error:
        return {"error": _kept(store.error)}
    if score.only_window:
        return {"only_window": True}
    kinds = Counter(entry.kind for entry in score.entries)
    return {
        "entries": len(score.entries),
        "verbatim": sum(entry.verbatim for entry in score.entries),
        "kinds": dict(sorted(kinds.items())),
        "exact": score.exact,
        "near": score.near,
        "characters": score.characters,
        "turns": store.turns,
        "facts": [list(fact) for fact in score.facts],
    }


def _values(found: Any, *names: str) -> Record:  # noqa: ANN401 - of any record
    """The named fields of a record, or all of them; tuples become lists."""
    values = {name: getattr(found, name) for name in names or found.__slots__}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def _question(trace: ProbeTrace) -> Record:
    probe = trace.probe
    return {
        "probe": probe.id,
        "turn": trace.turn,
        "session": trace.session,
        "time": stamp(trace.time),
        **_values(probe, "ask", "principal", "ability", "match"),
        "labels": dict(probe.labels),
        **_values(probe, "expect", "forbid"),
        "superseded": list(trace.superseded),
        **_values(probe, "unanswerable", "tolerance", "choices", "excluded"),
    }


def _inspection(trace: ProbeTrace) -> Record:
    if trace.inspection == "context":
        return {"inspectable": False, "inspection": trace.inspection}
    return {"inspectable": trace.inspection == "stores"}


def inspection_of(line: Mapping[str, Any]) -> Inspection:
    """How far evidence was looked for, from a record of a probe."""
    found: Inspection = line.get("inspection", "stores" if line["inspectable"] else "black-box")
    return found


def _evidence(piece: EvidenceTrace) -> Record:
    return {
        **_values(piece, "source", "turn", "fact", "presence", "verbatim", "trimmed"),
        "location": piece.location and _values(piece.location),
        "path": [[stop.turn, stop.presence, stop.cause] for stop in piece.path],
    }


def _context(context: Context | None, overflow: int) -> Record | None:
    if context is None:
        return None
    tokens: dict[str, int] = {}
    for section in context.sections:
        tokens[section.layer] = tokens.get(section.layer, 0) + section.tokens
    messages = [m for section in context.sections for m in section.messages]
    return {
        "tokens": tokens,
        "total": sum(tokens.values()),
        "overflow": overflow,
        "verbatim": list(dict.fromkeys([i for m in messages for i in m.verbatim])),
        "derived": list(dict.fromkeys([i for m in messages for i in m.derived_from])),
        "composed": [
            {"id": m.id, "layer": s.layer, "text": m.text}
            for s in context.sections
            for m in s.messages
            if m.composed
        ],
    }


def _event(event: Event) -> Record:
    filled = {name: v for name, v in _values(event).items() if v not in (None, "", [])}
    return {"kind": event.kind} | filled


def _calls(calls: Sequence[CallRecord]) -> list[Record]:
    return [_values(call) for call in calls]
