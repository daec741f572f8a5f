"""Follow one probe through a saved run: where its evidence was said, and where it went."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memsim.report import number_format
from memsim.report.layout import UNICODE, Marks, TextLine, Tone
from memsim.scenario.script import IN_CONTEXT
from memsim.scoring.probe_types import needs_every
from memsim.scoring.trace_records import inspection_of

# What an agent did with a memory's tools, as terminal lines and as a phrase.

AgentRecord = Mapping[str, Any]

OUTCOMES = {
    "done": "",
    "refused": "refused",
    "failed": "failed",
    "unknown": "not called",
    "skipped": "not called: one too many",
}
"""The word for each outcome of a call; empty where it succeeded."""

MANY_CALLS = 3
"""Most calls of a turn that are listed; the others are counted."""

_NAME = "  agent     "
_LONG = 240
_SHORT = 72
_VALUES = 56


def agent_phrases(rounds: Iterable[AgentRecord], marks: Marks) -> list[str]:
    """Describe what an agent called in a turn, a phrase for each call."""
    calls = [call for each in rounds for call in each.get("calls", ())]
    if not calls:
        return ["called no tool"]
    told = [_agent_phrase(call, marks) for call in calls[:MANY_CALLS]]
    more = len(calls) - MANY_CALLS
    return [*told, f"and {number_format.plural(more, 'more call')}"] if more > 0 else told


def agent_lines(rounds: Sequence[AgentRecord], marks: Marks, width: int) -> Iterator[TextLine]:
    """Render what an agent did for a question, round by round."""
    head = _NAME
    for each in rounds:
        number = f"{each['round'] or marks.dash:>2} "
        for text, tone in _round_rows(each):
            told = textwrap.wrap(
                _short(text, marks, _LONG),
                max(width, 60),
                initial_indent=head + number,
                subsequent_indent=" " * (len(_NAME) + 5),
            )
            yield from (TextLine(text=line, tone=tone) for line in told)
            head, number = " " * len(_NAME), "   "


def _round_rows(each: AgentRecord) -> Iterator[tuple[str, Tone]]:
    if each.get("said"):
        yield f'said "{_flat(each["said"])}"', ""
    for call in each.get("calls", ()):
        yield _called(call), ""
        tone: Tone = "bad" if OUTCOMES[call["outcome"]] else ""
        result = f': "{_flat(call["result"])}"' if call.get("result") else ""
        cut = f", {call['cut']:,} characters had no room" if call.get("cut") else ""
        yield f"{OUTCOMES[call['outcome']] or 'got'}{cut}{result}", tone
    if each.get("note"):
        yield _flat(each["note"]), "bad"
    if len(each) == 1:
        yield "said nothing", ""


def _called(call: AgentRecord) -> str:
    return f"{_flat(call['tool'])} {_flat(call['arguments'])}"


def _agent_phrase(call: AgentRecord, marks: Marks) -> str:
    told = OUTCOMES[call["outcome"]]
    words = _flat(f"{call['tool']} {_given(call['arguments'], marks)}")
    return _short(words, marks, _SHORT) + (f" ({told})" if told else "")


def _given(arguments: str, marks: Marks) -> str:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(given, dict):
        return arguments
    room = _VALUES // max(1, len(given))
    return ", ".join(f"{k}={_short(_flat(str(v)), marks, room)}" for k, v in given.items())


def _flat(text: str) -> str:
    # A result may be thousands of lines long, of which the beginning is told.
    return " ".join(text[:2_000].split())


def _short(text: str, marks: Marks, room: int) -> str:
    return text if len(text) <= room else text[: room - len(marks.dots)] + marks.dots


Line = Mapping[str, Any]

MANY_PIECES = 6
"""Most pieces of evidence that are followed; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryStep:
    """Something that happened to a piece of evidence."""

    turn: int
    what: str
    how: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePiece:
    """One piece of evidence."""

    name: str
    steps: tuple[StoryStep, ...]
    now: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStory:
    """A probe and the way of all its evidence.

    Attributes:
        searched: whether the context was searched, and nobody asked for an answer.
        answer_again: the answer from the evidence in the context alone, where that one counts.
        more: pieces of evidence that are not told.
        context: what the context held at the question.
        votes: a judge's opinions on the answer; empty where there is none.
        agent: what the agent did for the question, round by round.
        stranger: who asks, where somebody else said the evidence; empty otherwise.
    """

    probe: str
    ask: str
    ability: str
    turn: int
    age: str
    budget: int
    pieces: tuple[EvidencePiece, ...]
    more: int
    context: str
    sent: int | None
    answer: str
    expected: str
    outcome: str
    reason: str
    error: str
    votes: tuple[str, ...] = ()
    agent: tuple[Line, ...] = ()
    searched: bool = False
    answer_again: str = ""
    stranger: str = ""


def story_of(probe: Line, turns: Iterable[Line], budget: int, marks: Marks = UNICODE) -> ProbeStory:
    """Build the story of a probe from its records."""
    evidence = probe["evidence"][:MANY_PIECES]
    happened = _events(evidence, turns, until=probe["turn"])
    return ProbeStory(
        probe=probe["probe"],
        ask=probe["ask"],
        ability=probe["ability"],
        turn=probe["turn"],
        age=_age(probe["age"]),
        budget=budget,
        pieces=tuple(_piece(piece, probe, happened, marks) for piece in evidence),
        more=len(probe["evidence"]) - len(evidence),
        context=_context(probe),
        sent=probe["context"] and probe["context"]["total"],
        answer=probe["answer"] or "",
        expected=_expected(probe),
        outcome=probe["outcome"],
        reason=probe["reason"] or "",
        error=probe["error"] or "",
        votes=tuple(probe.get("judge", ())),
        agent=tuple(probe.get("agent", ())),
        searched=probe["match"] == IN_CONTEXT,
        answer_again=probe.get("answer_again", ""),
        stranger=probe["principal"] if _by_another(probe, happened) else "",
    )


def _by_another(probe: Line, happened: _Happened) -> bool:
    return any(speaker not in {"", probe["principal"]} for speaker in happened.speakers.values())


def _expected(probe: Line) -> str:
    if probe["unanswerable"]:
        return "that it is not known"
    joint = " and " if needs_every(probe["match"]) else " or "
    return joint.join(f'"{text}"' for text in probe["expect"])


def _age(age: Line | None) -> str:
    if not age:
        return ""
    parts = [
        number_format.plural(age["turns"], "turn"),
        f"{number_format.tokens(age['tokens'])} tokens",
    ]
    if age["sessions"]:
        parts.append(number_format.plural(age["sessions"], "session"))
    if age["days"]:
        parts.append(number_format.plural(age["days"], "day"))
    return ", ".join(parts) + " later"


def _context(probe: Line) -> str:
    context = probe["context"]
    if context is None:
        return "there was no context"
    held = f"{len(context['verbatim']):,} of {number_format.plural(probe['corpus'], 'message')}"
    parts = [f"the context holds {held}"]
    if made := len(context["composed"]):
        parts.append(f"{number_format.plural(made, 'text')} made by the strategy")
    if context["overflow"]:
        parts.append(f"{context['overflow']:,} tokens were cut to fit")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _Happened:
    """Collect what the turns of a case say about some messages."""

    tokens: Mapping[int, int]
    events: Mapping[str, Sequence[tuple[int, Line]]]
    agent: Mapping[int, Sequence[Line]]
    speakers: Mapping[int, str]


def _events(evidence: Sequence[Line], turns: Iterable[Line], *, until: int) -> _Happened:
    sources = {piece["source"] for piece in evidence}
    said = {piece["turn"] for piece in evidence}
    agent: dict[int, Sequence[Line]] = {}
    tokens: dict[int, int] = {}
    events: dict[str, list[tuple[int, Line]]] = {source: [] for source in sources}
    speakers: dict[int, str] = {}
    for line in turns:
        if line["turn"] > until:
            break
        if line.get("tokens") is not None:
            tokens[line["turn"]] = sum(line["tokens"].values())
        if line["turn"] in said:
            speakers[line["turn"]] = line.get("principal", "")
        if line["turn"] in said and "agent" in line:
            agent[line["turn"]] = line["agent"]
        for event in line.get("events", ()):
            for source in sources.intersection(event.get("sources", ())):
                events[source].append((line["turn"], event))
    return _Happened(tokens, events, agent, speakers)


def _piece(piece: Line, probe: Line, happened: _Happened, marks: Marks) -> EvidencePiece:
    events = happened.events[piece["source"]]
    way = _way(piece)
    steps = [_said(piece, way[0] if way else None, happened)]
    turn = piece["turn"]
    if rounds := happened.agent.get(turn):
        # What became of a fact that an agent was told depends on what it made of it.
        steps += [
            StoryStep(turn=turn, what="agent", how=how) for how in agent_phrases(rounds, marks)
        ]
    steps += [_moved(before, after, events, happened) for before, after in pairwise(way)]
    told = {stop[0] for stop in way[1:]}
    steps += [_event(turn, event, happened) for turn, event in events if turn not in told]
    return EvidencePiece(
        name=piece["fact"] or f"message {piece['source']}",
        steps=tuple(sorted(steps, key=lambda step: step.turn)),
        now=_now(piece, probe, happened.speakers.get(turn, "")),
        found=piece["presence"] != "absent",
    )


def _way(piece: Line) -> list[Sequence[Any]]:
    # A fact's path begins with its first value; only what happened to this one is told.
    before = [stop for stop in piece["path"] if stop[0] < piece["turn"]]
    since = [stop for stop in piece["path"] if stop[0] >= piece["turn"]]
    if before and (not since or since[0][0] > piece["turn"]):
        since.insert(0, [piece["turn"], before[-1][1], ""])
    return since


def _said(piece: Line, first: Sequence[Any] | None, happened: _Happened) -> StoryStep:
    turn = piece["turn"]
    how = "" if first is None else _place(first[1])
    what = "planted" if piece["fact"] else "said"
    return StoryStep(turn=turn, what=what, how=how, tokens=happened.tokens.get(turn))


def _place(presence: str) -> str:
    return "not in the context" if presence == "absent" else f"in the {_section(presence)}"


def _section(name: str) -> str:
    return _SECTION.get(name, f"section {name}")


def _moved(
    before: Sequence[Any], after: Sequence[Any], events: Sequence[tuple[int, Line]], h: _Happened
) -> StoryStep:
    turn, presence, cause = after
    details = next((_detail(e) for t, e in events if t == turn), "")
    if presence == "absent":
        what = cause or f"left the {_section(before[1])}"
        how = details
    else:
        what = cause or "came back" if before[1] == "absent" else cause or "moved"
        how = _place(presence) + (f" ({details})" if details else "")
    return StoryStep(turn=turn, what=what, how=how, tokens=h.tokens.get(turn))


def _event(turn: int, event: Line, happened: _Happened) -> StoryStep:
    return StoryStep(
        turn=turn, what=event["kind"], how=_detail(event), tokens=happened.tokens.get(turn)
    )


def _detail(event: Line) -> str:
    parts = [event["detail"]] if event.get("detail") else []
    parts.append(number_format.plural(len(event.get("sources", ())), "message"))
    if event.get("before") is not None and event.get("after") is not None:
        parts.append(f"{event['before']:,} to {event['after']:,} tokens")
    return ", ".join(parts)


_SECTION = {
    "window": "window",
    "summary": "summary",
    "recalled": "recalled part",
    "core": "core memory",
    "working": "working memory",
    "tools": "tool part",
    "system": "system part",
    "absent": "context",
}


def _beyond(piece: Line, probe: Line, speaker: str) -> str:
    """Tell of evidence that neither a context nor a store showed, as far as one could look."""
    inspection = inspection_of(probe)
    asker = probe["principal"]
    if inspection == "stores" and speaker not in {"", asker}:
        # The stores were looked into as the asker, and the speaker may have it still.
        return f"not in the context, nor in a store that {asker} may read; {speaker} said it"
    if inspection == "stores":
        return "nowhere: not in the context, not stored"
    if inspection == "black-box":
        return "not in the context; the strategy cannot be looked into"
    was_there = any(stop[1] != "absent" for stop in piece["path"])
    left = "left the context" if was_there else "not in the context"
    return f"{left}; this strategy does not report its stores (implement surfaces())"


def _now(piece: Line, probe: Line, speaker: str) -> str:
    if piece["presence"] != "absent":
        form = "in its own words" if piece["verbatim"] else "in other words"
        return f"in the {_section(piece['presence'])}, {form}"
    if piece["trimmed"]:
        return "was in the context and was cut to fit the budget"
    location = piece["location"]
    if location is None:
        return _beyond(piece, probe, speaker)
    parts = [f"kept in the {location['tier']}, not in the context"]
    rank = "" if location["rank"] is None else f"rank {location['rank']}"
    detail = location["detail"] or ""
    # A strategy may have told its rank in its own words already.
    told = rank and detail.startswith(rank) and not detail[len(rank) :][:1].isdecimal()
    return "; ".join(filter(None, [*parts, "" if told else rank, detail]))
