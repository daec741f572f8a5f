"""What PRX recalled, as the text before a message, as far as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.systems.prx.recall import Recalled, context_text
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from datetime import datetime

    from memsim.context import Context, ContextBuilder, Section
    from memsim.message import Message
    from memsim.tokens import TokenCounter

ID = "recalled:"
HEAD = 16
"""Tokens that the text has beside its lines, at the most."""


def recalled_section(
    found: Sequence[Recalled],
    limit: int,
    *,
    counter: TokenCounter,
    build: ContextBuilder,
    there: Container[object],
    now: datetime,
) -> Section:
    """The best of what was found that has so many tokens.

    Args:
        found: best first.
        limit: tokens.
        counter: token counts.
        build: makes the section.
        there: ids of messages that stand in the context anyway: what is there twice counts there.
        now: the present.
    """
    total, shown = HEAD, 0
    for one in found:
        total += counter.text(f"- {one.row.key}: {one.row.content}\n")
        if total > limit:
            break
        shown += 1
    while shown:
        section = build.section("recalled", (_told(found[:shown], there, now),))
        if section.tokens <= limit:
            return section
        shown -= 1
    return build.section("recalled", ())


def told_rows(context: Context) -> list[str]:
    """The ids of the rows that a context tells of."""
    ids = (m.id for section in context.sections for m in section.messages if m.composed)
    told = (name.removeprefix(ID) for name in ids if name.startswith(ID))
    return [row for names in told for row in names.split(",")]


def _told(found: Sequence[Recalled], there: Container[object], now: datetime) -> Message:
    said = [r.row for r in found if r.row.key.startswith("user_msg_")]
    other = [r.row for r in found if not r.row.key.startswith("user_msg_")]
    quotes = dict.fromkeys(i for row in said for i in row.sources if i not in there)
    made_of = dict.fromkeys(i for row in other for i in row.sources)
    # Not as the user's own words: who acts on those would store them once more.
    return composed(
        "system",
        context_text(list(found)),
        # Not their numbers, which tell how many rows others have.
        id=ID + ",".join(r.row.id for r in found),
        quotes=tuple(quotes),
        derived_from=tuple(made_of),
        time=now,
    )
