"""What the source carries over when a summary is dropped: a few facts, for some days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.memory.systems.cogtrix.notes import Note
from memsim.memory.systems.cogtrix.settings import FACTS_DAYS
from memsim.memory.systems.cogtrix.stamps import stored
from memsim.message import composed
from memsim.models import Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.memory.compaction.summary import Summary
    from memsim.models import Model

FACTS, WORDS = 15, 20
"""How many facts at most, and words in each."""


def distilled(summary: Summary, model: Model, now: datetime) -> list[Note]:
    """The facts in a summary; none where the model fails.

    Args:
        summary: what is dropped.
        model: extracts them.
        now: the instant; they hold for `FACTS_DAYS` from then.
    """
    told = composed("user", summary.text, id="summary", derived_from=summary.sources, time=now)
    try:
        reply = model.complete(Request(task="extract", messages=(told,), now=now))
    except (ModelError, OSError):
        return []
    until = stored(now + timedelta(days=FACTS_DAYS))
    lines = [line for line in reply.text.splitlines() if line.strip()][:FACTS]
    return [
        Note(" ".join(line.split()[:WORDS]), summary.sources, {"until": until}) for line in lines
    ]


def valid(facts: Iterable[Note], now: datetime) -> list[Note]:
    """Those of the facts that still hold."""
    current = stored(now)
    return [fact for fact in facts if fact.more["until"] >= current]
