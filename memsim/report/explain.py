"""Tells the way of a probe's evidence as lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from memsim.report.agent import agent_lines
from memsim.report.layout import TextLine, Tone, cells_wide, pad
from memsim.report.marks import Marks
from memsim.report.story import Piece, Story
from memsim.scoring.outcomes import PASSED


def story_lines(story: Story, marks: Marks, width: int) -> list[TextLine]:
    """A story as lines for a terminal.

    Args:
        story: what is told.
        marks: signs that can be shown.
        width: cells in a line; only what was answered is wrapped.
    """
    asked = f"asked at turn {story.turn}" + (f" ({story.age})" if story.age else "")
    head = [story.probe, f'"{story.ask}"', f"ability: {story.ability}", asked]
    rows = [row for piece in story.pieces for row in _piece_rows(piece, story)]
    sent = "" if story.sent is None else f"{story.sent:,} / {story.budget:,} tokens"
    rows.append((f"turn {story.turn:>3}", "asked", story.context, sent, ""))
    wide = [max(map(cells_wide, column)) for column in zip(*(r[:4] for r in rows), strict=True)]
    lines = [TextLine(text="   ".join(head), tone="head")]
    for row in rows:
        when, what, how = (pad(text, width) for text, width in zip(row[:3], wide, strict=False))
        text = "  ".join(("", when, what, how, pad(row[3], wide[3], right=True)))
        lines.append(TextLine(text=text.rstrip(), tone=row[4]))
    if story.more:
        lines.append(TextLine(text=f"  {marks.dots} and {story.more:,} more pieces of evidence"))
    lines += agent_lines(story.agent, marks, width)
    return [*lines, *_answer_lines(story, width)]


_Row = tuple[str, str, str, str, Tone]


def _piece_rows(piece: Piece, story: Story) -> Iterator[_Row]:
    several = len(story.pieces) > 1
    for step in piece.steps:
        tokens = "" if step.tokens is None else f"{step.tokens:,} / {story.budget:,} tokens"
        named = several and step is piece.steps[0]
        what = f"{step.what} {piece.name}" if named else step.what
        yield f"turn {step.turn:>3}", what, step.how, tokens, ""
    yield "", "at the end", piece.now, "", "" if piece.found else "bad"


def _answer_lines(story: Story, width: int) -> Iterator[TextLine]:
    if story.error:
        yield TextLine(text=f"  error     {story.error}", tone="bad")
        return
    answer = " ".join(story.answer.split())
    yield from _hanging("  answer    ", f'"{answer}"', width)
    yield from _hanging("  expected  ", story.expected, width)
    why = f", {story.reason}" if story.reason else ""
    tone: Tone = "good" if story.outcome in PASSED else "bad"
    yield TextLine(text=f"  outcome   {story.outcome}{why}", tone=tone)
    if story.votes:
        yield TextLine(text=f"  judge     {', '.join(story.votes)}")


def _hanging(name: str, text: str, width: int) -> Iterator[TextLine]:
    room = max(width, len(name) + 24)
    lines = textwrap.wrap(text, room, initial_indent=name, subsequent_indent=" " * len(name))
    yield from (TextLine(text=line) for line in lines)
