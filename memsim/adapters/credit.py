"""Find the messages that a text of a foreign memory came from.

A text is credited by the first of these that names a message:

1. ids that the memory names itself, as far as the messages have a word in common with the text;
2. exact text: the text contains a message, or a message contains a line or sentence of the text;
3. rare anchors: identifiers, numbers and names that at most `RARE` messages have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memsim.memory.deletion import identifying_words
from memsim.message import Message

RARE = 3
"""Messages that may share an anchor, for it to tell which is meant."""

SHORTEST = 12
"""Characters of a line that tells by itself which message it is from."""

_SHORTEST_MESSAGE = 4
_CANDIDATES = 50
_WORD = re.compile(r"\w+")
_LINES = re.compile(r"\n+|(?<=[.!?\u3002\uff01\uff1f])\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignText:
    """A text that a foreign memory found.

    Attributes:
        sources: ids of the messages that it came from, as the memory says; empty if it does not.
        score: how well it matches, by the memory's own measure.
        time: when it was said or written, as the memory says.
        tier: where it is kept, in the memory's own word.
    """

    text: str
    sources: tuple[str, ...] = ()
    score: float | None = None
    time: datetime | None = None
    tier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCredit:
    """The messages that a text came from; the fields are those of `composed`."""

    quotes: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.quotes, *self.excerpts, *self.derived_from)))


class CreditIndex:
    """Every message that was said, by its text, its words and its anchors."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._by_text: dict[str, dict[str, None]] = {}
        self._by_word: dict[str, dict[str, None]] = {}
        self._by_anchor: dict[str, dict[str, None]] = {}

    def __contains__(self, source: object) -> bool:
        return source in self._texts

    def add(self, message: Message) -> None:
        """Take in a message; one that is known changes nothing."""
        if message.id in self._texts:
            return
        text = _plain(message.text)
        self._texts[message.id] = text
        for table, keys in self._keys(text):
            for key in keys:
                table.setdefault(key, {})[message.id] = None

    def remove(self, ids: Iterable[str]) -> None:
        """Take messages out."""
        for source in ids:
            text = self._texts.pop(source, None)
            for table, keys in self._keys(text) if text is not None else ():
                for key in keys:
                    table[key].pop(source, None)

    def of(self, found: ForeignText) -> SourceCredit:
        """The messages that a text came from; none if nothing tells."""
        text = _plain(found.text)
        if not text:
            return SourceCredit()
        named = [s for s in found.sources if s in self._texts]
        credit = self._compare(found.text, text, named, named=True)
        if credit.sources:
            return credit
        same = self._by_text.get(text)
        if same:
            return SourceCredit(quotes=tuple(same))
        credit = self._compare(found.text, text, self._candidates(found.text), named=False)
        return credit if credit.sources else SourceCredit(derived_from=self._anchored(found.text))

    def _keys(self, text: str) -> Iterator[tuple[dict[str, dict[str, None]], Iterable[str]]]:
        yield self._by_text, (text,)
        yield self._by_word, _words(text)
        yield self._by_anchor, identifying_words(text)

    def _compare(self, raw: str, text: str, sources: Iterable[str], *, named: bool) -> SourceCredit:
        lines = [line for line in map(_plain, _LINES.split(raw)) if len(line) >= SHORTEST]
        words = _words(text) if named else frozenset()
        quotes, excerpts, derived = [], [], []
        for source in sources:
            said = self._texts[source]
            if len(said) >= _SHORTEST_MESSAGE and said in text:
                quotes.append(source)
            elif (named and text in said) or any(line in said for line in lines):
                excerpts.append(source)
            elif not words.isdisjoint(_words(said)):
                derived.append(source)
        return SourceCredit(
            quotes=tuple(quotes), excerpts=tuple(excerpts), derived_from=tuple(derived)
        )

    def _candidates(self, raw: str) -> list[str]:
        """Messages that share the rarest words of a line with it."""
        if not raw.isascii():
            return list(self._texts)  # not every script has blanks between words
        found: dict[str, None] = {}
        for line in _LINES.split(raw):
            tables = (self._by_word.get(word) for word in _words(line))
            known = sorted((table for table in tables if table), key=len)
            for table in known[:2]:
                found.update(dict.fromkeys([*table][-_CANDIDATES:]))
        return list(found)

    def _anchored(self, raw: str) -> tuple[str, ...]:
        tables = (self._by_anchor.get(word) for word in sorted(identifying_words(raw)))
        rare = (table for table in tables if table and len(table) <= RARE)
        return tuple(dict.fromkeys(source for table in rare for source in table))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
