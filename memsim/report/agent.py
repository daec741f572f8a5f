"""Tells what an agent did with a memory's tools: in lines for a terminal, and in a phrase."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memsim.report import numbers
from memsim.report.layout import TextLine, Tone
from memsim.report.marks import Marks

Line = Mapping[str, Any]

OUTCOMES = {
    "done": "",
    "refused": "refused",
    "failed": "failed",
    "unknown": "not called",
    "skipped": "not called: one too many",
}
"""How each outcome of a call is told; nothing is said of what went well."""

MANY_CALLS = 3
"""Calls of a turn that are told one by one; the others are counted."""

_NAME = "  agent     "
_LONG = 240
_SHORT = 72
_VALUES = 56


def phrases(rounds: Iterable[Line], marks: Marks) -> list[str]:
    """What an agent called in a turn, in a phrase for each call.

    Args:
        rounds: as `memsim.scoring.transcripts` writes them.
        marks: signs that can be shown.
    """
    calls = [call for each in rounds for call in each.get("calls", ())]
    if not calls:
        return ["called no tool"]
    told = [_phrase(call, marks) for call in calls[:MANY_CALLS]]
    more = len(calls) - MANY_CALLS
    return [*told, f"and {numbers.plural(more, 'more call')}"] if more > 0 else told


def agent_lines(rounds: Sequence[Line], marks: Marks, width: int) -> Iterator[TextLine]:
    """What an agent did for a question, round by round, of each text the beginning.

    Args:
        rounds: as `memsim.scoring.transcripts` writes them.
        marks: signs that can be shown.
        width: cells in a line.
    """
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


def _round_rows(each: Line) -> Iterator[tuple[str, Tone]]:
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


def _called(call: Line) -> str:
    return f"{_flat(call['tool'])} {_flat(call['arguments'])}"


def _phrase(call: Line, marks: Marks) -> str:
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
