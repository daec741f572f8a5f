"""What a conversation shows: the memory node's message in its prompt, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.systems.aegis.pipeline import Origin, Recalled
from memsim.message import composed

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.memory.systems.aegis.episodes import Episode
    from memsim.memory.systems.aegis.talk import Talk
    from memsim.memory.systems.aegis.working import AegisWorking
    from memsim.message import Message
    from memsim.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNode:
    """Writes the memory node's message.

    Attributes:
        counter: token counts.
        origins: by episode, what it was made from.
        turn, time: of the question.
    """

    counter: TokenCounter
    origins: Mapping[str, Origin]
    turn: int
    time: datetime

    def message(self, recalled: Recalled, talk: Talk | None, budget: int) -> Message | None:
        """As much of what was recalled as fits: the fewest episodes are left out, then the notes.

        Args:
            recalled: what was found.
            talk: the conversation; None where nothing was said in it yet.
            budget: tokens; AEGIS knows none.
        """
        count = len(recalled.found)
        tries = [(n, notes) for notes in (True, False) for n in range(count, -1, -1)]
        for episodes, notes in tries:
            text = recalled.text(episodes=episodes, scratchpad=notes)
            if not text:
                continue
            message = self._told(text, recalled, episodes, talk)
            if self.counter.message(message) <= budget:
                return message
        return None

    def _told(self, text: str, recalled: Recalled, episodes: int, talk: Talk | None) -> Message:
        found = recalled.found[:episodes]
        made = [i for f in found for i in self.origins[f.episode.id].sources]
        made += [source for source, _ in talk.entities.values()] if talk else []
        return composed(
            "system",
            text,
            id=f"memory:{self.turn}",
            derived_from=tuple(dict.fromkeys(made)),
            time=self.time,
        )


def kept_of(talk: Talk, working: AegisWorking) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Where a conversation stands: a tier, ids of the messages, and a text, one after another."""
    shown = (*talk.systems, *talk.window)
    for message in shown:
        yield "window", message.verbatim, message.text
    in_window = {i for m in shown for i in m.verbatim}
    for message in talk.pending:
        if message.id not in in_window:
            yield "history", (message.id,), message.text
    if text := Recalled(fields=working.peek(talk.id)).text():
        sources = tuple(dict.fromkeys(source for source, _ in talk.entities.values()))
        yield "working", sources, text


def decided(episode: Episode) -> str:
    """The decisions of an episode, which no prompt shows."""
    found = episode.key_decisions
    return "\n".join(map(str, found)) if isinstance(found, list) else ""


def heard_by(talk: Talk) -> set[str]:
    """Everybody who takes part in a conversation."""
    return {talk.principal, *(m.principal for m in (*talk.systems, *talk.window, *talk.pending))}
