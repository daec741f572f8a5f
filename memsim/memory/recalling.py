"""What a memory brings up for a question: found, put in order, and quoted within a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memsim.memory.entry import Shelf
from memsim.memory.layers.episodic import passage_of, read_message
from memsim.memory.repeating import words_of
from memsim.memory.retrieval.passages import excerpt, quoted
from memsim.memory.retrieval.recall import About, fitting, recall
from memsim.memory.retrieval.recollection import Recollection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from memsim.context import Section
    from memsim.memory.acl import Permissions, Where
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
        timeline: what is known of the messages among them.
        counter: token counts.
        permissions: who takes part in which conversation; None where everybody sees everything.
        options: how many, and by what.
    """

    def __init__(
        self,
        vault: Vault,
        timeline: Timeline,
        counter: TokenCounter,
        *,
        permissions: Permissions | None,
        options: MemoryOptions,
    ) -> None:
        self._vault = vault
        self._timeline = timeline
        self._permissions = permissions
        self._policy = options.policy
        self._vectors = options.vectors
        self._counter = counter
        self._lines = Recollection(counter, voice="user")

    def recall(
        self,
        text: str,
        where: Where,
        *,
        visible: Collection[str],
        beside: Iterable[Message],
        budget: int,
        now: datetime,
        turn: int,
    ) -> Recalled:
        """What speaks to a question, quoted.

        Args:
            text: the question.
            where: what may be seen.
            visible: ids of messages, and of entries that were never said, that stand in the context
                already; or were brought up before, as `Section.items` names them.
            beside: messages that stand in the context already: what they say is not quoted again.
            budget: tokens that the section may have.
            now: when it is asked.
            turn: the turn in which it is asked.
        """
        hits = self.search(text, where, now)
        sources = {hit.id: self._timeline.source(hit.id) for hit in hits}
        shown = self._shown(sources, set(visible), where)
        shown |= self._repeated(sources, shown, beside)
        chosen = fitting(hits, tokens=self._tokens, room=budget, policy=self._policy, shown=shown)
        entries = self._vault.fetch(chosen, where)
        found = _joined(entries)
        order = {m.id: n for n, m in enumerate(sorted((m for m, _ in found.values()), key=_said))}
        section = quoted(
            self._lines,
            found,
            question=text,
            budget=budget,
            order=order.__getitem__,
            id=f"recalled:{turn}",
            time=now,
        )
        # An entry goes by its id among messages, and by more where another may take its place.
        names = {entry.id: entry.version for entry in entries}
        section = replace(section, items=tuple(names.get(i, i) for i in section.items))
        ranking = dict.fromkeys(source for source in sources.values() if source is not None)
        return Recalled(section=section, ranking=tuple(ranking))

    def search(self, text: str, where: Where, now: datetime) -> list[Hit]:
        """Entries that speak to a text, best first."""
        depth = self._policy.depth
        may_follow = self._followed(where)
        lexical = self._vault.lexical(text, where, depth)
        nearest = self._vault.nearest(text, where, depth) if self._vectors else []
        return recall(
            text,
            lexical=lexical,
            nearest=nearest,
            about=self._known({hit.id for hit in (*lexical, *nearest)}, where, may_follow),
            beside=lambda entry: self._timeline.beside(entry) if may_follow(entry) else (),
            policy=self._policy,
            now=now,
        )

    def _shown(
        self, sources: Mapping[str, str | None], seen: Collection[str], where: Where
    ) -> set[str]:
        """Entries that are visible already, or were brought up before as they are now."""
        shown = {entry for entry, source in sources.items() if entry in seen or source in seen}
        before = {name.partition("@")[0] for name in seen}
        unsaid = [entry for entry, source in sources.items() if source is None and entry in before]
        return shown.union(e.id for e in self._vault.fetch(unsaid, where) if e.version in seen)

    def _repeated(
        self, found: Iterable[str], shown: Collection[str], beside: Iterable[Message]
    ) -> set[str]:
        """Entries, best first, that say what one before them says, or what stands there already."""
        words = self._timeline.words
        there = {words(entry) for entry in shown}
        for message in beside:
            there.add(words_of(message.principal, message.time, message.text))
            there.update(map(words, self._timeline.entries(message.principal, message.id)))
        again: set[str] = set()
        for entry in found:
            said = words(entry)
            if said is not None and said in there:
                again.add(entry)
            there.add(said)
        return again

    def _known(
        self, found: set[str], where: Where, may_follow: Callable[[str], bool]
    ) -> Callable[[str], About | None]:
        """What is known of an entry, where it was found or its conversation may be read.

        Whether a message is superseded is known to those alone who may see its speaker's facts: it
        depends on all that was said, in conversations with others as well.
        """
        known = self._timeline.about
        told: dict[str, bool] = {}

        def about(entry: str) -> About | None:
            if entry not in found and not may_follow(entry):
                return None
            said = known(entry)
            if said is None:
                return _UNSAID if entry in found else None
            if said.successor is None:
                return said
            whose = said.principal
            may = told.get(whose)
            if may is None:
                may = told[whose] = where.reader is None or where.reader.may_see(_facts_of(whose))
            return said if may else replace(said, successor=None)

        return about

    def _followed(self, where: Where) -> Callable[[str], bool]:
        """Whether the conversation of a message may be read, all of it."""
        readable: dict[str | None, bool] = {}
        session = self._timeline.session

        def may_follow(entry: str) -> bool:
            name = session(entry)
            may = readable.get(name)
            if may is None:
                may = readable[name] = self._may_read(name, where)
            return may

        return may_follow

    def _may_read(self, session: str | None, where: Where) -> bool:
        if self._permissions is None or where.reader is None:
            return True
        return session is not None and self._permissions.may_follow(where.reader.principal, session)

    def _tokens(self, entry: str) -> int:
        about = self._timeline.about(entry)
        return _UNSAID.tokens if about is None else about.tokens


_UNSAID = About(order=-1, tokens=40)
"""What is known of an entry that was never said: a stored fact, a page of the workspace."""


def _facts_of(owner: str) -> Shelf:
    return Shelf(owner=owner, layer="semantic", category="conversation")


def _joined(entries: Collection[Entry]) -> dict[str, tuple[Message, str | None]]:
    """Entries as messages, best first; the passages of one message together, the rest left out."""
    found: dict[str, tuple[Message, str | None]] = {}
    parts: dict[str, dict[int, str]] = {}
    for entry in entries:
        message = read_message(entry)
        place = passage_of(entry)
        if place is None:
            found.setdefault(message.id, (message, None))
            continue
        held = parts.setdefault(message.id, {})
        held[place] = message.text
        found[message.id] = (message, _excerpt(held))
    return found


def _excerpt(held: dict[int, str]) -> str:
    places = sorted(held)
    most = places[-1] + 1
    return excerpt([held.get(n, "") for n in range(most)], places)


def _said(message: Message) -> tuple[datetime, int, str]:
    return message.time, message.turn, message.id
