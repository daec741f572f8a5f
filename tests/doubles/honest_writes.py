"""The honest memory's write path: it stores, erases and shows entries of each principal."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from memsim.memory.codec import reading
from memsim.memory.deletion import identifying_words, requests_naming
from memsim.memory.entry import digest_of
from memsim.memory.forget_request import requested_message
from memsim.memory.history.window import Window
from memsim.memory.recall.search import Recollection
from memsim.strategy import (
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Retention,
    State,
    Strategy,
    Surface,
)
from tests.doubles.honest_tiers import Conversation, Drawer, due, made_from

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.strategy import Environment

LOG = logging.getLogger("tests.doubles")
WINDOW = 12
COMPACT_AT, COMPACTED = 40, 20
"""Messages in a conversation at which the oldest are summarised, and how many of them."""
LINES, LINE = 24, 240
"""Lines of a summary, and characters of a line."""
TERM = timedelta(days=7)
"""For which what is stored as `daily` is kept."""

_SELECTED = re.compile(r"SKILL_SELECT:([\w.-]*\w)")


class HonestWrites(Strategy):
    """Everybody's own messages, notes, summary, rules and skills.

    Args:
        files: whether every principal's notes are also written to the case's folder.
    """

    voice: Literal["user", "system"] = "user"
    """Who its summary and what it recalls speak as."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env)
        self.drawers: dict[str, Drawer] = {}
        self.talks: dict[str, Conversation] = {}
        self.grants: dict[str, set[tuple[str, str]]] = {}
        self._files = files
        self._lines = Recollection(env.counter, voice=self.voice)
        self._here: tuple[str, str] = ("", "")
        self._present: dict[str, None] = {}

    # -- whose is what

    def address(self, *parts: str) -> str:
        """Another text for every other sequence of names."""
        return _joined(parts)

    def caller(self, principal: str, arguments: Mapping[str, Any]) -> str:
        """Who acts: the session says so, never an argument."""
        return principal

    def drawer(self, principal: str) -> Drawer:
        """A principal's memory, to write to."""
        return self.drawers.setdefault(self.address(principal), Drawer(principal))

    def seen_by(self, principal: str) -> Drawer:
        """A principal's memory, to read; reading leaves no trace."""
        return self.drawers.get(self.address(principal)) or Drawer(principal)

    def talk(self, principal: str, session: str) -> Conversation:
        """A principal's conversation, to write to."""
        made = Conversation(principal, session, Window(self.env.counter))
        return self.talks.setdefault(self.address(principal, session), made)

    def readable(self, principal: str) -> Iterator[Message]:
        """Everything that a principal may find: their own, and what they were granted."""
        yield from self.seen_by(principal).messages.values()
        granted = self.grants.get(principal, set())
        for drawer in self.drawers.values() if granted else ():
            if drawer.owner != principal:
                for message in drawer.messages.values():
                    sources = {"", message.id, *message.derived_from}
                    if any((drawer.owner, source) in granted for source in sources):
                        yield message

    # -- writing

    def observe(self, message: Message) -> None:
        drawer, talk = self.drawer(message.principal), self.talk(message.principal, message.session)
        if self._here != (message.principal, message.session):
            self._here, self._present = (message.principal, message.session), {}
        self._present[message.id] = None
        drawer.answers.clear()
        if message.role == "system":
            self.pin(drawer, message)
            return
        if self.skill(talk, message):
            return
        drawer.history[message.id] = message
        drawer.take_in(message)
        if talk.window.answers_here(message):
            talk.window.add(message)
        self.note("kept", message.principal, message.id)

    def pin(self, drawer: Drawer, message: Message) -> None:
        """A standing rule stays in every context."""
        drawer.pins[message.id] = message

    def end_turn(self) -> None:
        self._present = {}
        talk = self.talks.get(self.address(*self._here))
        if talk is not None and len(talk.window) > COMPACT_AT:
            self.compact(talk)
        self.write_files()

    def compact(self, talk: Conversation) -> None:
        """What is oldest leaves the window, and its lines go into the principal's summary."""
        before = talk.window.tokens
        gone = talk.window.older(before // 2)[:COMPACTED] or talk.window.older(before // 2)
        talk.window.remove([m.id for m in gone])
        self.summarise(talk, gone)
        self.rearm(talk)
        event = Event(kind="compaction", before=before, after=talk.window.tokens)
        self.env.log(event)

    def summarise(self, talk: Conversation, gone: Sequence[Message]) -> None:
        """A line for each of a user's messages; the oldest lines give way."""
        summary = self.drawer(talk.principal).summary
        for message in gone:
            if message.role == "user":
                summary[message.id] = message.text[:LINE]
        for source in list(summary)[:-LINES]:
            del summary[source]

    def retention(self, wanted: Retention | None = None) -> Retention:
        return {"daily": (TERM, TERM)}

    def elapse(self, now: datetime) -> None:
        for drawer in self.drawers.values():
            for key in due(drawer, now - TERM):
                self.erase(drawer, [drawer.stored[key].id])
        self.consolidate()

    def consolidate(self) -> None:
        """The index is made anew from what there is."""
        for drawer in self.drawers.values():
            drawer.index.clear()
            for message in drawer.messages.values():
                drawer.take_in(message)
            drawer.answers.clear()

    def grant(self, grant: Grant) -> None:
        granted = self.grants.setdefault(grant.viewer, set())
        meant_ = {(grant.owner, s) for s in (("",) if grant.everything else grant.sources)}
        if grant.revoked:
            granted -= meant_
        else:
            granted |= meant_
        self.seen_by(grant.viewer).answers.clear()

    # -- skills

    def skill(self, talk: Conversation, message: Message) -> bool:
        """Whether a message is the content of a skill; it is given once."""
        if message.role == "assistant":
            talk.selected += _SELECTED.findall(message.text)
        if message.role == "user":
            talk.selected = []
        if message.role != "tool" or not talk.selected:
            return False
        name = talk.selected.pop(0)
        if name not in talk.ledger:
            self.inject(talk, name, message)
        talk.window.remove([m.id for m in talk.window if set(m.calls) & set(message.results)])
        return True

    def inject(self, talk: Conversation, name: str, content: Message) -> None:
        """Put a skill into the conversation, then note that it is there."""
        talk.given[name] = content
        talk.ledger.add(name)
        self.env.log(Event(kind="injected", sources=(content.id,), detail=name))

    def rearm(self, talk: Conversation) -> None:
        """A compaction takes skills out, so each may be given again."""
        talk.given.clear()
        talk.ledger.clear()

    # -- forgetting

    def forget(self, request: Forget) -> ForgetOutcome:
        drawer = self.drawer(request.principal)
        own = {m.id: m.text for m in drawer.messages.values()}
        named = requested_message(request.text, request.sources, own)
        telling = identifying_words(" ".join(own[source] for source in named))
        repeated = requests_naming(telling, drawer.messages.values(), request.principal)
        gone = dict.fromkeys((*named, *repeated))
        removed = tuple(i for i in gone if i in drawer.history)
        self.erase(drawer, [*gone])
        return ForgetOutcome(supported=True, removed=removed)

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        """Take messages out of every tier."""
        notes = [drawer.stored[key].id for key in made_from(drawer, ids)]
        gone = dict.fromkeys((*ids, *notes))
        self.erase_history(drawer, gone)
        self.erase_stored(drawer, gone)
        self.erase_index(drawer, gone)
        self.erase_summary(drawer, gone)
        self.erase_answers(drawer, gone)
        self.erase_talks(drawer, gone)
        self.note("erased", drawer.owner, *gone)
        self.write_files()

    def erase_history(self, drawer: Drawer, gone: Collection[str]) -> None:
        """The messages themselves."""
        for source in gone:
            drawer.history.pop(source, None)
            drawer.pins.pop(source, None)

    def erase_stored(self, drawer: Drawer, gone: Collection[str]) -> None:
        """What was stored by a tool, and what it was made from."""
        for key in [*made_from(drawer, gone)]:
            del drawer.stored[key]

    def erase_index(self, drawer: Drawer, gone: Collection[str]) -> None:
        """Their words."""
        for source in gone:
            drawer.index.pop(source, None)

    def erase_summary(self, drawer: Drawer, gone: Collection[str]) -> None:
        """The lines that were made from them."""
        for source in gone:
            drawer.summary.pop(source, None)

    def erase_answers(self, drawer: Drawer, gone: Collection[str]) -> None:
        """What was found before."""
        drawer.answers.clear()

    def erase_talks(self, drawer: Drawer, gone: Collection[str]) -> None:
        """Where they still stand in a conversation."""
        for talk in self.talks.values():
            if talk.principal == drawer.owner:
                talk.erase(gone)

    # -- what can be seen from outside

    def note(self, what: str, principal: str, *names: str) -> None:
        """What was done, for log and audit: names as digests, content not at all."""
        digests = " ".join(digest_of(principal, name)[:12] for name in names)
        self.drawer(principal).audit.append(f"{what} {digests}")
        LOG.info("%s %s", what, digests)

    def write_files(self) -> None:
        """Everybody's notes as a file each, under a name that tells nothing."""
        if not self._files:
            return
        for drawer in self.drawers.values():
            path = self.env.folder() / f"{digest_of(drawer.owner)}.json"
            notes = {key: message.text for key, message in drawer.stored.items()}
            path.write_text(json.dumps(notes, sort_keys=True), encoding="utf-8")

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for drawer in self.drawers.values():
            if viewer in {None, drawer.owner}:
                yield from self.tiers(drawer)
            if viewer is None:
                yield from self.cached(drawer)
        for talk in self.talks.values():
            if viewer in {None, talk.principal}:
                for message in (*talk.window, *talk.given.values()):
                    yield Surface(tier="window", sources=(message.id,), text=message.text)

    def tiers(self, drawer: Drawer) -> Iterator[Surface]:
        """Every place of a drawer."""
        for name, kept in (("history", drawer.history), ("core", drawer.pins)):
            for message in kept.values():
                yield Surface(tier=name, sources=(message.id,), text=message.text)
        for message in drawer.stored.values():
            yield Surface(tier="store", sources=message.derived_from, text=message.text)
        for source, terms in drawer.index.items():
            yield Surface(tier="index", sources=(source,), text=" ".join(sorted(terms)))
        for source, line in drawer.summary.items():
            yield Surface(tier="summary", sources=(source,), text=line)
        for line in drawer.audit:
            yield Surface(tier="audit", text=line)

    def cached(self, drawer: Drawer) -> Iterator[Surface]:
        """Answers that are kept: the operator's, for who asks must not see that it was asked."""
        for found in drawer.answers.values():
            for _, message in found:
                yield Surface(tier="cache", sources=(message.id,), text=message.text)

    def save(self) -> State:
        return {
            "drawers": [[d.owner, d.save()] for d in self.drawers.values()],
            "talks": [talk.save() for talk in self.talks.values()],
            "grants": {
                viewer: [[owner, source] for owner, source in sorted(granted)]
                for viewer, granted in sorted(self.grants.items())
            },
        }

    def load(self, state: State) -> None:
        saved: Any = state
        with reading("it is not an honest memory"):
            drawers = [Drawer.loaded(owner, kept) for owner, kept in saved["drawers"]]
            talks = [Conversation.loaded(talk, self.env.counter) for talk in saved["talks"]]
            grants = {
                viewer: {(owner, source) for owner, source in granted}
                for viewer, granted in saved["grants"].items()
            }
        self.drawers = {self.address(drawer.owner): drawer for drawer in drawers}
        self.talks = {self.address(talk.principal, talk.session): talk for talk in talks}
        self.grants = grants
        self.write_files()


@lru_cache(maxsize=1 << 13)
def _joined(parts: tuple[str, ...]) -> str:
    return json.dumps(parts)
