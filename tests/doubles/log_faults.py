"""Doubles that log or export too much, or track wrongly what a context holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from memsim.strategy import Surface
from tests.doubles.honest import Honest

if TYPE_CHECKING:
    from memsim.context import Section
    from memsim.message import Message
    from memsim.strategy import Environment, Query
    from tests.doubles.honest_tiers import Conversation

LOG = logging.getLogger("tests.doubles")


class LogsAtInfo(Honest):
    """Every message is logged as it is kept, so that one can see that it works."""

    def observe(self, message: Message) -> None:
        LOG.info("add memory: %s", message.text)
        super().observe(message)


class LogsAtDebug(Honest):
    """The same, for whoever looks closer."""

    def observe(self, message: Message) -> None:
        LOG.debug("add memory: %s", message.text)
        super().observe(message)


class LogsQueries(Honest):
    """What is stored is logged nowhere; what is asked for is."""

    def told(self, principal: str, text: str, count: int) -> str:
        LOG.warning("search for %r", text, extra={"asked": text})
        return super().told(principal, text, count)


class ExportsRaw(Honest):
    """Whoever looks at their own tiers finds an export among them, which is everybody's."""

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        yield from super().surfaces(viewer)
        yield Surface(tier="export", text=json.dumps(self.save(), ensure_ascii=False))


class MarksFirst(Honest):
    """A skill counts as injected once it is asked for; a crash comes before its content does."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._coming: set[tuple[str, str, str]] = set()

    def skill(self, talk: Conversation, message: Message) -> bool:
        if message.role == "tool" and talk.selected:
            name = talk.selected[0]
            place = (talk.principal, talk.session, name)
            if place in self._coming:
                self._coming.discard(place)
                talk.ledger.discard(name)
        before = len(talk.selected)
        done = super().skill(talk, message)
        for name in talk.selected[before:]:
            if name not in talk.ledger:
                talk.ledger.add(name)
                self._coming.add((talk.principal, talk.session, name))
        return done


class NeverRearmed(Honest):
    """A compaction takes skills out, and the ledger goes on saying that they are there."""

    def rearm(self, talk: Conversation) -> None:
        talk.given.clear()


class InjectsAgain(Honest):
    """Nothing is noted, so a skill is put in as often as it is asked for."""

    def inject(self, talk: Conversation, name: str, content: Message) -> None:
        super().inject(talk, f"{name} {len(talk.given) + 1}", content)


class SharedLedger(Honest):
    """One ledger for everybody: what one conversation was given, no other gets."""

    def skill(self, talk: Conversation, message: Message) -> bool:
        if message.role == "tool" and talk.selected:
            for other in self.talks.values():
                if other is not talk and talk.selected[0] in other.ledger:
                    talk.ledger.add(talk.selected[0])
        return super().skill(talk, message)


class RecallsTwice(Honest):
    """What stands in the window already is recalled all the same."""

    def _recalled(self, query: Query, left: int, there: Collection[str]) -> Section:
        return super()._recalled(query, left, ())
