"""The tiers in which the honest memory stores one principal's entries; each erases its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from memsim.language.text import index_terms
from memsim.memory.codec import JSON, pack, unpack
from memsim.memory.history.window import Window

if TYPE_CHECKING:
    from datetime import datetime

    from memsim.message import Message, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What a term's weight is worked out from.

    Attributes:
        count: of documents.
        length: of all of them, in terms.
        holding: documents that hold a term.
    """

    count: int
    length: int
    holding: Counter[str]


@dataclass(slots=True)
class Drawer:
    """One principal's memory but for the conversations.

    Attributes:
        owner: the principal.
        history: every message of theirs, by its id, oldest first.
        stored: what was stored by a tool, by the key.
        index: the terms of each of both, by the id.
        summary: a line for each message that left a window, by its id.
        pins: standing rules, by the message's id.
        answers: what a search gave, by the address of the question.
        audit: what was done, without content.
    """

    owner: str
    history: dict[str, Message] = field(default_factory=dict)
    stored: dict[str, Message] = field(default_factory=dict)
    index: dict[str, Counter[str]] = field(default_factory=dict)
    summary: dict[str, str] = field(default_factory=dict)
    pins: dict[str, Message] = field(default_factory=dict)
    answers: dict[str, tuple[tuple[float, Message], ...]] = field(default_factory=dict)
    audit: list[str] = field(default_factory=list)

    @property
    def messages(self) -> dict[str, Message]:
        """Everything that can be found, by its id, in the order in which it was written."""
        return self.history | {m.id: m for m in self.stored.values()}

    @property
    def statistics(self) -> Statistics:
        """Of this principal's documents alone."""
        holding = Counter(chain.from_iterable(self.index.values()))
        length = sum(chain.from_iterable(terms.values() for terms in self.index.values()))
        return Statistics(count=len(self.index), length=length, holding=holding)

    def take_in(self, message: Message) -> None:
        """Put a message's words into the index."""
        self.index[message.id] = count_terms(message.text)

    def save(self) -> dict[str, JSON]:
        """Everything as JSON values; the index is made anew from the rest, answers are not kept."""
        return {
            "history": pack(self.history.values()),
            "stored": {key: pack([message]) for key, message in self.stored.items()},
            "indexed": [*self.index],
            "summary": dict(self.summary),
            "pins": pack(self.pins.values()),
            "audit": [*self.audit],
        }

    @classmethod
    def loaded(cls, owner: str, saved: Any) -> Drawer:  # noqa: ANN401 - what was read from a file may be anything
        """The drawer that `save` gave."""
        drawer = cls(owner)
        drawer.history = {m.id: m for m in unpack(saved["history"])}
        drawer.stored = {key: unpack(kept)[0] for key, kept in saved["stored"].items()}
        drawer.summary = dict(saved["summary"])
        drawer.pins = {m.id: m for m in unpack(saved["pins"])}
        drawer.audit = [*saved["audit"]]
        messages = drawer.messages
        for source in saved["indexed"]:
            if source in messages:
                drawer.take_in(messages[source])
        return drawer


@dataclass(slots=True)
class Conversation:
    """One conversation of one principal.

    Attributes:
        window: its latest messages.
        selected: skills that were asked for, and whose content is still to come.
        ledger: skills that were given to this conversation, and are still there.
        given: their content, by the skill.
    """

    principal: str
    session: str
    window: Window
    selected: list[str] = field(default_factory=list)
    ledger: set[str] = field(default_factory=set)
    given: dict[str, Message] = field(default_factory=dict)

    def erase(self, ids: Collection[str]) -> None:
        """Take messages out, and what was injected from them."""
        self.window.remove(ids)
        for skill in [s for s, m in self.given.items() if m.id in ids]:
            del self.given[skill]
            self.ledger.discard(skill)

    def save(self) -> dict[str, JSON]:
        """Everything as JSON values."""
        return {
            "principal": self.principal,
            "session": self.session,
            "window": self.window.save(),
            "selected": [*self.selected],
            "ledger": [*sorted(self.ledger)],
            "given": {skill: pack([m]) for skill, m in self.given.items()},
        }

    @classmethod
    def loaded(cls, saved: Any, counter: TokenCounter) -> Conversation:  # noqa: ANN401 - what was read from a file may be anything
        """The conversation that `save` gave."""
        window = Window(counter)
        window.load(saved["window"])
        return cls(
            saved["principal"],
            saved["session"],
            window,
            selected=[*saved["selected"]],
            ledger=set(saved["ledger"]),
            given={skill: unpack(kept)[0] for skill, kept in saved["given"].items()},
        )


@lru_cache(maxsize=1 << 13)
def count_terms(text: str) -> Counter[str]:
    """How often a text has each of its terms; nobody changes the counter, which is shared."""
    return Counter(index_terms(text))


def made_from(drawer: Drawer, gone: Collection[str]) -> Iterator[str]:
    """Keys under which something is stored that was made from what goes."""
    for key, message in drawer.stored.items():
        if message.id in gone or not set(message.derived_from).isdisjoint(gone):
            yield key


def due(drawer: Drawer, before: datetime) -> tuple[str, ...]:
    """Keys of what is stored with a term and was written before a time."""
    return tuple(
        key
        for key, message in drawer.stored.items()
        if message.session == "daily" and message.time <= before
    )
