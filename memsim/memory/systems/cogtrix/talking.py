"""Conversation mode: topics, entities and key facts of what is talked about.

They are kept and saved; what is sent to the model holds none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memsim.memory.systems.cogtrix.notes import Note, Notes
from memsim.models.statements import sentence
from memsim.models.text import content, sentences

if TYPE_CHECKING:
    from memsim.memory.state import JSON

TOPICS, ENTITIES, FACTS = 10, 50, 50
"""How many of each are kept."""

_NAME = re.compile(r"(?<=[^\s.!?:][ ])[A-Z][\w\-]*[a-z0-9][\w\-]*(?: [A-Z][\w\-]*[a-z0-9][\w\-]*)*")
_COUNTED = 2000
"""Words whose mentions are counted; the rarest are left out then."""


class TalkState:
    """What conversation mode knows."""

    def __init__(self) -> None:
        self.entities = Notes(ENTITIES)
        self.facts = Notes(FACTS)
        self._mentions: dict[str, int] = {}
        self._sources: dict[str, tuple[str, ...]] = {}

    @property
    def topics(self) -> list[Note]:
        """What is talked about most, the most mentioned first."""
        best = sorted(self._mentions, key=lambda word: (-self._mentions[word], word))[:TOPICS]
        return [Note(word, self._sources[word]) for word in best]

    def hear(self, text: str, sources: tuple[str, ...], *, user: bool) -> None:
        """Take in what somebody says."""
        for line in text.splitlines():
            for said in sentences(line):
                for word in content(said):
                    self._count(word, sources)
                for name in _NAME.findall(said):
                    self.entities.add_once(name, sources)
                meant = sentence(said)
                if user and meant.first and not meant.question:
                    self.facts.add_once(said, sources)
        if len(self._mentions) > _COUNTED:
            self._forget_rare()

    def notes(self) -> Iterator[Note]:
        """Everything that is kept."""
        yield from self.topics
        yield from self.entities
        yield from self.facts

    def remove(self, ids: Iterable[str]) -> None:
        """Forget what is from any of these messages."""
        gone = set(ids)
        self.entities.remove(gone)
        self.facts.remove(gone)
        for word in [w for w, seen in self._sources.items() if not gone.isdisjoint(seen)]:
            del self._sources[word], self._mentions[word]

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            "entities": self.entities.save(),
            "key_facts": self.facts.save(),
            "topics": {
                word: {"mentions": self._mentions[word], "sources": list(self._sources[word])}
                for word in sorted(self._mentions)
            },
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over a saved state."""
        self.entities.load(saved.get("entities"))
        self.facts.load(saved.get("key_facts"))
        topics = saved.get("topics", {})
        self._mentions = {word: 0 + said["mentions"] for word, said in topics.items()}
        self._sources = {word: tuple(said["sources"]) for word, said in topics.items()}

    def _count(self, word: str, sources: tuple[str, ...]) -> None:
        self._mentions[word] = self._mentions.get(word, 0) + 1
        # The latest mentions stand for all: a topic is no quotation.
        self._sources[word] = (*self._sources.get(word, ()), *sources)[-3:]

    def _forget_rare(self) -> None:
        kept = sorted(self._mentions, key=lambda word: (-self._mentions[word], word))
        for word in kept[_COUNTED // 2 :]:
            del self._mentions[word], self._sources[word]
