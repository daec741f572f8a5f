"""Doubles that erase too little, too late or not for good, and two that mistake what is new."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memsim.strategy import Surface
from tests.doubles.honest import Found, Honest

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.strategy import Environment
    from tests.doubles.honest_tiers import Conversation, Drawer

PAGE = 100
SAME = 80
"""Characters by which two texts pass for the same."""

_TOPIC = re.compile(r"\bmy ([\w ]+?) is ", re.IGNORECASE)


class FirstPage(Honest):
    """Of what is to be erased, the first hundred go."""

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        super().erase(drawer, ids[:PAGE])


class IndexGhost(Honest):
    """The search has a copy of its own, from which nothing is ever taken out."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._ghosts: dict[str, dict[str, Message]] = {}

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        held = drawer.messages
        ghosts = self._ghosts.setdefault(drawer.owner, {})
        ghosts.update({source: held[source] for source in ids if source in held})
        super().erase(drawer, ids)

    def readable(self, principal: str) -> Iterator[Message]:
        yield from super().readable(principal)
        yield from self._ghosts.get(principal, {}).values()

    def tiers(self, drawer: Drawer) -> Iterator[Surface]:
        yield from super().tiers(drawer)
        for message in self._ghosts.get(drawer.owner, {}).values():
            yield Surface(tier="index", sources=(message.id,), text=message.text)


class SummaryKept(Honest):
    """What a summary made of a message outlives it."""

    def erase_summary(self, drawer: Drawer, gone: Collection[str]) -> None:
        return


class HistoryKept(Honest):
    """Each erasure is noted, with the text that was erased."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._changes: list[tuple[str, str]] = []

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        held = drawer.messages
        self._changes += [(source, held[source].text) for source in ids if source in held]
        super().erase(drawer, ids)

    def cached(self, drawer: Drawer) -> Iterator[Surface]:
        yield from super().cached(drawer)
        for source, text in self._changes:
            yield Surface(tier="changes", sources=(source,), text=text)


class Resurrecting(Honest):
    """Whenever it puts things in order, it takes them from where nothing was erased."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._raw: dict[str, dict[str, Message]] = {}

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        held = drawer.messages
        raw = self._raw.setdefault(drawer.owner, {})
        raw.update({source: held[source] for source in ids if source in held})
        super().erase(drawer, ids)

    def consolidate(self) -> None:
        for owner, raw in self._raw.items():
            self.drawer(owner).history.update(raw)
        super().consolidate()


class PurgesLate(Honest):
    """What has a term is there for a second longer."""

    def elapse(self, now: datetime) -> None:
        super().elapse(now - timedelta(seconds=1))


class PrefixDedup(Honest):
    """Two texts that begin with the same eighty characters are one: the first."""

    def observe(self, message: Message) -> None:
        held = self.seen_by(message.principal).messages
        super().observe(message)
        if self._is_known(message, held.values()):
            drawer = self.drawer(message.principal)
            self.erase_history(drawer, [message.id])
            self.erase_index(drawer, [message.id])

    def keep(
        self, drawer: Drawer, key: str, text: str, category: str, present: tuple[str, ...]
    ) -> None:
        if not any(_alike(text, message.text) for message in drawer.messages.values()):
            super().keep(drawer, key, text, category, present)

    def summarise(self, talk: Conversation, gone: Sequence[Message]) -> None:
        lines = self.drawer(talk.principal).summary.values()
        for message in gone:
            if not any(_alike(message.text, line) for line in lines):
                super().summarise(talk, [message])

    def _is_known(self, message: Message, held: Collection[Message]) -> bool:
        return any(_alike(message.text, other.text) for other in held)


class StaleFirst(Honest):
    """Of what is said of one thing, it goes by what was said first."""

    def ranked(self, principal: str, text: str, count: int) -> Found:
        found = self.scored(self.readable(principal), self.statistics(principal), text)
        first: dict[str, str] = {}
        for message in self.readable(principal):
            first.setdefault(_topic(message.text), message.text)
        return tuple((s, m) for s, m in found if first[_topic(m.text)] == m.text)[:count]

    def summary_of(self, principal: str) -> dict[str, str]:
        first: dict[str, tuple[str, str]] = {}
        for source, line in super().summary_of(principal).items():
            first.setdefault(_topic(line), (source, line))
        return dict(first.values())


def _alike(text: str, other: str) -> bool:
    return len(text) > SAME and text[:SAME] == other[:SAME]


def _topic(text: str) -> str:
    """What a text tells of; the text itself where it tells of nothing."""
    named = _TOPIC.search(text)
    return named[1].casefold() if named else text
