"""When a text says a value: its words in a row, whatever their case and punctuation.

In other languages than English, a form of a word counts as the word.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

from memsim.language.form_search import FormSearch, form_test

# Scripts that are written without spaces: there each character is a word of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W{_UNSPACED}]+")
_SYMBOL = re.compile(r"[^\w\s]")
_GAP = re.compile(f"[\\W{_UNSPACED}]")
_PART = 1 << 16

Words = tuple[str, ...]


def words(text: str) -> Words:
    """The words of a text, case-folded; its symbols where it has no word at all."""
    folded = text.casefold()
    return tuple(_WORD.findall(folded)) or tuple(_SYMBOL.findall(folded))


class ValueSearch:
    """Values to look for in many texts, each text being read once whatever their number."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = tuple(dict.fromkeys(values))
        self._forms: FormSearch | None = None
        self._words = _Automaton()
        self._symbols = _Automaton()
        for value in self._values:
            sequence = words(value)
            if sequence:
                by_word = _WORD.match(sequence[0])
                (self._words if by_word else self._symbols).add(sequence, value)
        self._words.link()
        self._symbols.link()

    def found(self, text: str) -> set[str]:
        """The values that a text says."""
        found: set[str] = set()
        if self._words.has_values or self._symbols.has_values:
            folded = text.casefold()
            self._words.find(_WORD, folded, found)
            self._symbols.find(_SYMBOL, folded, found)
        return found | self._found_forms(text) if self._words.has_values else found

    def _found_forms(self, text: str) -> set[str]:
        is_form = form_test(text)
        if is_form is None:
            return set()
        if self._forms is None:
            self._forms = FormSearch(self._values)
        return self._forms.found_by(text, is_form)


class _Automaton:
    """Aho and Corasick's: one pass over the words of a text, however the values overlap.

    State 0 is the beginning; `_fallback` leads to the longest end of a state that begins a value.
    """

    def __init__(self) -> None:
        self._next: dict[tuple[int, str], int] = {}
        self._begin: dict[str, int] = {}
        self._fallback = [0]
        self._values: list[list[str]] = [[]]

    @property
    def has_values(self) -> bool:
        return len(self._values) > 1

    def add(self, sequence: Words, value: str) -> None:
        state = 0
        for word in sequence:
            following = self._next.get((state, word))
            if following is None:
                following = self._next[state, word] = len(self._values)
                self._values.append([])
                self._fallback.append(0)
            state = following
        self._values[state].append(value)

    def link(self) -> None:
        if not self.has_values:
            return
        self._begin = {word: to for (state, word), to in self._next.items() if not state}
        if len(self._begin) == len(self._next):
            return  # single words: no value goes on from the beginning of another
        following: dict[int, list[tuple[str, int]]] = {}
        for (state, word), to in self._next.items():
            following.setdefault(state, []).append((word, to))
        waiting = deque(self._begin.values())
        while waiting:
            state = waiting.popleft()
            for word, to in following.get(state, ()):
                self._fallback[to] = self._step(self._fallback[state], word)
                waiting.append(to)

    def _step(self, state: int, word: str) -> int:
        to = self._next.get((state, word))
        while to is None and state:
            state = self._fallback[state]
            to = self._next.get((state, word))
        return to or 0

    def find(self, pattern: re.Pattern[str], text: str, found: set[str]) -> None:
        if not self.has_values:
            return
        passed = {0}
        state = 0
        begin = self._begin.get
        for part in _parts(text):
            for word in pattern.findall(text, *part):
                state = self._step(state, word) if state else begin(word, 0)
                if state not in passed:
                    self._note(state, passed, found)

    def _note(self, state: int, passed: set[int], found: set[str]) -> None:
        while state not in passed:
            passed.add(state)
            found.update(self._values[state])
            state = self._fallback[state]


def _parts(text: str) -> Iterator[tuple[int, int]]:
    # Part by part: the words of a text of megabytes, all at once, would be many times its size.
    start, size = 0, len(text)
    while start < size:
        after = _GAP.search(text, start + _PART) if start + _PART < size else None
        end = after.start() if after else size
        yield start, end
        start = end


def says(text: str, value: str) -> bool:
    """Whether a text says a value."""
    return bool(ValueSearch((value,)).found(text))
