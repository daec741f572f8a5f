"""What stands before the window: summary, recalled exchanges, and what the mode keeps track of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memsim.context import SectionName
from memsim.memory.compaction.summary import Summary
from memsim.message import Message, composed
from memsim.systems.cogtrix.exchanges import PastExchange
from memsim.systems.cogtrix.session_notes import Note, NotePart, note_part

HEADER = "Current context:\n"
SUMMARY = "Conversation summary (older context):\n{summary}"
FACTS = "Persistent context from prior sessions:\n{facts}"
RECALLED = "Related past exchanges:\n{exchanges}"
BETWEEN = "\n---\n"
ID = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixPart:
    """A part of the prefix, and what a report files it under."""

    layer: SectionName
    text: str
    quotes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()


def prefix_parts(
    summary: Summary,
    facts: Iterable[Note],
    exchanges: Iterable[PastExchange],
    parts: Iterable[NotePart],
) -> Iterator[PrefixPart]:
    """The parts of the prefix, in order."""
    if summary.lines:
        text = SUMMARY.format(summary=summary.text)
        yield PrefixPart(layer="summary", text=text, derived_from=summary.sources)
    known = list(facts)
    if known:
        text = FACTS.format(facts="\n".join(f"• {fact.text}" for fact in known))
        yield PrefixPart(layer="summary", text=text, derived_from=note_part(text, known).sources)
    found = list(exchanges)
    if found:
        text = RECALLED.format(exchanges=BETWEEN.join(x.text for x in found))
        yield PrefixPart(
            layer="recalled",
            text=text,
            quotes=tuple(dict.fromkeys(i for x in found for i in x.whole)),
            derived_from=tuple(dict.fromkeys(i for x in found for i in x.parts)),
        )
    for part in parts:
        yield PrefixPart(layer="working", text=part.text, derived_from=part.sources)


def prefix_message(
    pieces: Sequence[PrefixPart], time: datetime, name: str = ID, head: str = HEADER
) -> Message:
    """Write parts of the prefix as one message."""
    return composed(
        "user",
        head + "\n\n".join(piece.text for piece in pieces),
        id=name,
        quotes=tuple(dict.fromkeys(i for p in pieces for i in p.quotes)),
        derived_from=tuple(dict.fromkeys(i for p in pieces for i in p.derived_from)),
        time=time,
    )


def parts_by_layer(
    found: Iterable[PrefixPart], time: datetime
) -> Iterator[tuple[SectionName, Message]]:
    """The prefix taken apart by what a report files its parts under."""
    grouped: dict[SectionName, list[PrefixPart]] = {}
    for piece in found:
        grouped.setdefault(piece.layer, []).append(piece)
    head = HEADER
    for layer, listed in grouped.items():
        yield layer, prefix_message(listed, time, f"{ID}:{layer}", head)
        head = ""
