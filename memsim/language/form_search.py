"""Find values in a text in any language: inflected forms, native digits and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from memsim.language.native_values import join_groups, part_prefixes, plain_dates, plain_values
from memsim.language.scripts import UNSPACED, has_native_letters, marks
from memsim.language.word_forms import (
    bare,
    is_english,
    is_foreign_form_of,
    is_form_of,
    is_latin,
    letters_alike,
    prefix_sizes,
    says_foreign_word,
)

START: Final = 2
"""Letters at the beginning of a word that all of its forms share."""

PREFIXED: Final = 4
"""Letters that an article and prepositions may put before them in Hebrew, Arabic and Amharic."""

KNOWN_WORDS: Final = 1 << 14
"""Words of texts for which a search remembers the values that begin with them."""

LINE: Final = 1 << 10
"""Characters of the longest line whose words are remembered."""

KNOWN_LINES: Final = 1 << 12
"""Lines whose words are remembered."""

_PREFIXING: Final = re.compile("[\u0590-\u08ff\u1200-\u137f]")

FormTest = Callable[[str, str], bool]


def text_words(text: str) -> list[str]:
    """The words of a text that forms are looked for in; of scripts without spaces, characters."""
    # The lines of a summary stay while others join them.
    return [
        word
        for line in text.splitlines()
        for word in (_known_line_words if len(line) <= LINE else _line_words)(line)
    ]


def _line_words(text: str) -> tuple[str, ...]:
    plain = bare(part_prefixes(join_groups(text)))
    plain = plain_dates(plain) if text.isascii() else plain_values(plain)
    return tuple(_words().findall(plain))


_known_line_words = lru_cache(maxsize=KNOWN_LINES)(_line_words)


def says_value(text: str, value: str) -> bool:
    """Whether a text says a value, be it as other forms of its words."""
    return bool(FormSearch([value]).found(text))


class FormSearch:
    """Values to look for in texts in any language but English."""

    def __init__(self, values: Iterable[str]) -> None:
        self._root = _Branch()
        self._begun: dict[tuple[str, FormTest], tuple[_Branch, ...]] = {}
        for value in values:
            branch = self._root
            for word in text_words(value):
                branch = branch.grow(word)
            branch.values.append(value)
        self._root.values.clear()

    def found(self, text: str) -> set[str]:
        """The values that a text says, be it in other forms."""
        is_form = form_test(text)
        return self.found_by(text, is_form) if is_form else set()

    def found_by(self, text: str, is_form: FormTest) -> set[str]:
        """The values that a text says, if its words are compared like this."""
        said = text_words(text)
        begun = {word: self._begin(word, is_form) for word in set(said)}
        found: set[str] = set()
        reached: list[_Branch] = []
        for word in said:
            if reached or begun[word]:
                reached = [to for at in reached for to in at.reach(word, is_form)]
                reached += begun[word]
                for branch in reached:
                    found.update(branch.values)
        return found

    def _begin(self, word: str, is_form: FormTest) -> tuple[_Branch, ...]:
        begun = self._begun.get((word, is_form))
        if begun is None:
            if len(self._begun) >= KNOWN_WORDS:
                self._begun.clear()
            begun = self._begun[word, is_form] = tuple(self._root.reach(word, is_form))
        return begun


class _Branch:
    """Values that begin with the same words, by the word that follows."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._following: dict[str, _Branch] = {}
        self._by_start: dict[str, list[str]] = {}

    def grow(self, word: str) -> _Branch:
        if word not in self._following:
            self._following[word] = _Branch()
            if not word.isdecimal():
                for start in {_start(word.removeprefix("ال")), *_after_prefix(word)}:
                    self._by_start.setdefault(start, []).append(word)
        return self._following[word]

    def reach(self, written: str, is_form: FormTest) -> Iterator[_Branch]:
        if written in self._following:
            yield self._following[written]
        if self._by_start and not written.isdecimal():
            for start in _starts(written):
                for word in self._by_start.get(start, ()):
                    if word != written and is_form(word, written):
                        yield self._following[word]


def form_test(text: str) -> FormTest | None:
    """How words of a text are compared with others; None in English, where they are equal."""
    native = has_native_letters(text)
    if is_english(text):
        return _is_equal_or_of_another_script if native else None
    return is_form_of if native or says_foreign_word(text) else is_foreign_form_of


def _is_equal_or_of_another_script(word: str, written: str) -> bool:
    return word == written or (not is_latin(word) and is_form_of(word, written))


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}][{marks()}]*|\\d+|(?:[^\\W\\d_{UNSPACED}]|[{marks()}])+")


def _start(word: str) -> str:
    return letters_alike(word)[:START]


def _after_prefix(word: str) -> list[str]:
    return [word[size : size + START] for size in prefix_sizes(word) if size == 1]


def _starts(word: str) -> Iterator[str]:
    if word.isascii():
        return (word[size : size + START] for size in prefix_sizes(word))
    plain = letters_alike(word)
    last = PREFIXED if _PREFIXING.match(word) else 0
    return (plain[at : at + START] for at in range(min(last, len(plain) - 1) + 1))
