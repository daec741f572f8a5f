"""What a memory brings up for a question: found, put in order, and quoted within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.memory.layers.episodic import read_message
from memsim.memory.retrieval.fusion import weighted_scores, with_neighbours
from memsim.memory.retrieval.recollection import Recollection

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memsim.context import Section
    from memsim.memory.acl import Where
    from memsim.memory.entry import Entry
    from memsim.memory.options import MemoryOptions
    from memsim.memory.retrieval import Hit
    from memsim.memory.timeline import Timeline
    from memsim.memory.vault import Vault
    from memsim.message import Message
    from memsim.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What was brought up.

    Attributes:
        section: as a context shows it; without messages where nothing was found, or nothing fits.
        ranking: ids of messages, best first, as far as was looked.
    """

    section: Section
    ranking: tuple[str, ...]


class Recaller:
    """Finds entries for questions.

    Args:
        vault: where they are.
        timeline: which messages stand beside each other.
        counter: token counts.
        options: how many, and by what.
        stale: whether what a message stated has been superseded since.
    """

    def __init__(
        self,
        vault: Vault,
        timeline: Timeline,
        counter: TokenCounter,
        options: MemoryOptions,
    ) -> None:
        self._vault = vault
        self._timeline = timeline
        self._options = options
        self._lines = Recollection(counter)

    def recall(
        self,
        text: str,
        where: Where,
        *,
        visible: Collection[str],
        budget: int,
        now: datetime,
        turn: int,
    ) -> Recalled:
        """What speaks to a question, quoted.

        Args:
            text: the question.
            where: what may be seen.
            visible: ids of messages that stand in the context already.
            budget: tokens that the section may have.
            now: when it is asked.
            turn: the turn in which it is asked.
        """
        hits = self.search(text, where)
        ranking = [s for hit in hits if (s := self._timeline.source(hit.id)) is not None]
        shown = set(visible)
        wanted = [h.id for h in hits if self._timeline.source(h.id) not in shown]
        messages = [_quoted(e) for e in self._vault.fetch(wanted[: self._options.k], where)]
        place = {m.id: n for n, m in enumerate(sorted(messages, key=_said))}
        section = self._lines.section(
            messages,
            question=text,
            budget=budget,
            order=lambda source: place[source],
            id=f"recalled:{turn}",
            time=now,
        )
        return Recalled(section=section, ranking=tuple(ranking[: self._options.depth]))

    def search(self, text: str, where: Where) -> list[Hit]:
        """Entries that speak to a text, best first."""
        depth = max(self._options.depth, self._options.k + self._options.window)
        found: list[Sequence[Hit]] = [self._vault.lexical(text, where, depth)]
        if self._options.vectors:
            found.append(self._vault.nearest(text, where, depth))
        order = self._timeline.order
        found = [with_neighbours(hits, self._timeline.beside, order, share=0.5) for hits in found]
        return weighted_scores(found, order, scaling="zscore")


def _quoted(entry: Entry) -> Message:
    return read_message(entry)


def _said(message: Message) -> tuple[datetime, int, str]:
    return message.time, message.turn, message.id
