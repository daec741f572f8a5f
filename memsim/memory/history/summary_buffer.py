"""The latest messages verbatim and a summary of what was before them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import takewhile
from typing import Any, Literal

from memsim.context import Section, escaped
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.outcome import CompactionOutcome
from memsim.memory.compaction.summary import Summary, merge
from memsim.memory.history.window import Window
from memsim.message import MESSAGE_OVERHEAD, TokenCounter, composed
from memsim.models import Model

HEADER = "Summary of the conversation so far:"

SHARE = 0.5
"""Share of a budget beyond which an older part of the summary is left out."""


class SummaryBuffer:
    """A window that grows into a summary.

    Args:
        counter: token counts.
        keep: tokens that stay verbatim.
        limit: tokens that the summary's section may have.
        share: of a budget beyond which an older part of the summary is left out.
        voice: who the summary speaks as. As `user` it has no more authority than those whose words
            it was made from, and what they said can close or forge no block.
    """

    def __init__(
        self,
        counter: TokenCounter,
        *,
        keep: int,
        limit: int,
        share: float = SHARE,
        voice: Literal["system", "user"] = "system",
    ) -> None:
        self._counter = counter
        self._voice: Literal["system", "user"] = voice
        self._keep = keep
        self._limit = limit
        self._share = share
        self.window = Window(counter)
        self.summary = Summary()
        self._section: tuple[Summary, int, Section] | None = None
        self._stale: frozenset[str] = frozenset()
        """Ids of messages that are shown no more."""

    def expire(self) -> None:
        """Show the messages no more that stand here now: `compact` takes in all of them next."""
        self._stale = frozenset(m.id for m in self.window)

    def showing(self) -> int:
        """How many messages of the window are shown, as far as they fit."""
        return len(self.window) - self._expired()

    def compact(self, model: Model, now: datetime) -> CompactionOutcome | None:
        """Merge what is beyond `keep`, or has expired, into the summary; None when nothing is.

        Raises `ModelError` if the model failed; nothing has changed.
        """
        taken = max(self.window.older(self._keep), self.window.oldest(self._expired()), key=len)
        if not taken:
            return None
        self.summary, outcome = merge(
            taken,
            self.summary,
            model=model,
            counter=self._counter,
            limit=max(1, self._limit - self._heading()),
            now=now,
        )
        if outcome.kind != "refused":
            self.window.drop(len(taken))
            self._stale = self._stale.difference(m.id for m in taken)
        return outcome

    def sections(self, budget: int, *, last: int | None = None) -> tuple[Section, ...]:
        """The summary and the latest messages that fit into a budget.

        Where the summary is more than its share of the budget, its newest lines are given.
        """
        summary = self._summary_section(int(budget * self._share))
        showing = self.showing() if last is None else min(last, self.showing())
        if not showing:
            return (summary,) if summary.messages else ()
        window = self.window.section(budget - summary.tokens, last=showing)
        return tuple(s for s in (summary, window) if s.messages)

    def remove(self, ids: Iterable[str], principal: str) -> tuple[str, ...]:
        """Take out a principal's messages, and the lines that were made from them."""
        wanted = tuple(ids)
        gone = {m.id: None for m in self.window.remove(wanted)}
        owned = [i for i in wanted if self.summary.owners.get(i) == principal]
        gone.update(dict.fromkeys(owned))
        self.summary = self.summary.without(gone)
        self._stale = self._stale.difference(gone)
        return tuple(gone)

    def own(self, principal: str) -> dict[str, str]:
        """What stands here of what a principal said, by message id, oldest first."""
        owners = self.summary.owners
        lines: dict[str, str] = {}
        for line in self.summary.lines:
            for source in line.origins:
                if owners.get(source) == principal:
                    lines[source] = (
                        f"{lines[source]}\n{line.text}" if source in lines else line.text
                    )
        return lines | self.window.own(principal)

    def save(self) -> dict[str, JSON]:
        """The whole state as JSON values."""
        return {
            "window": self.window.save(),
            "stale": [*sorted(self._stale)],
            **self.summary.save(),
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state; called on an empty buffer.

        Raises `StateError` if it is no such state.
        """
        with reading("its summary is damaged"):
            self.summary = Summary.loaded(saved)
            self.window.load(saved["window"])
            self._stale = frozenset("" + source for source in saved.get("stale", ()))

    def _expired(self) -> int:
        if not self._stale:
            return 0
        return sum(1 for _ in takewhile(lambda m: m.id in self._stale, self.window))

    def _heading(self) -> int:
        return self._counter.text(HEADER + "\n") + MESSAGE_OVERHEAD

    def _summary_section(self, room: int) -> Section:
        known = self._section
        if known and known[0] is self.summary and known[1] == room:
            return known[2]
        lines = self.summary.lines
        while lines:
            said = "\n".join(line.text for line in lines)
            text = f"{HEADER}\n{escaped(said) if self._voice == 'user' else said}"
            tokens = self._counter.text(text) + MESSAGE_OVERHEAD
            if tokens <= room:
                break
            lines = lines[1:]
        section = Section(layer="summary", messages=(), tokens=0)
        if lines:
            sources = Summary(lines=lines).sources
            name = f"summary:{self.summary.compactions}"
            message = composed(
                self._voice, text, id=name, derived_from=sources, time=self.summary.time
            )
            section = Section(layer="summary", messages=(message,), tokens=tokens)
        self._section = (self.summary, room, section)
        return section
