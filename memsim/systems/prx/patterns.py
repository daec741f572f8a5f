"""Patterns of a policy, searched for in time that grows with the text and with nothing else.

PRX's own engine never backtracks. Python's does, and a pattern such as `(a+)+$` would hold up
everybody; so what a policy says is compiled into states that are all followed at once. As there, a
pattern that looks around or back is none.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

MOST = 2_000
"""States of a pattern, beyond which it is none."""

Test = Callable[[str], bool]
Look = Callable[[str, str], bool]
"""Whether a place between two characters is meant; an empty text is the end."""

_PARSER: Any = importlib.import_module("re._parser")
_KINDS: Any = importlib.import_module("re._constants")


class NotLinear(ValueError):  # noqa: N818 - it says what the pattern is
    """A pattern that cannot be followed without going back, or is too large."""


class Pattern:
    """One regular expression, followed without going back.

    Raises:
        NotLinear: it looks around or back, or is too large.
        re.error: it is no expression.
    """

    def __init__(self, written: str) -> None:
        parsed = _PARSER.parse(written)
        self._flags = int(parsed.state.flags)
        self._steps: list[tuple[Test | None, tuple[int, ...], Look | None]] = []
        end = self._add(None, ())
        self._end, self._start = end, self._sequence(parsed, end)

    def search(self, text: str) -> bool:
        """Whether it is anywhere in a text."""
        there: set[int] = set()
        for place in range(len(text) + 1):
            before, after = text[place - 1 : place], text[place : place + 1]
            there = self._reached({*there, self._start}, before, after)
            if self._end in there:
                return True
            there = {n for s in there if self._takes(s, after) for n in self._steps[s][1]}
        return False

    def _takes(self, state: int, character: str) -> bool:
        test = self._steps[state][0]
        return bool(character) and test is not None and test(character)

    def _reached(self, states: set[int], before: str, after: str) -> set[int]:
        """The states, and those that are reached without a character."""
        found, new = set(states), list(states)
        while new:
            test, following, look = self._steps[new.pop()]
            if test is None and (look is None or look(before, after)):
                more = [s for s in following if s not in found]
                found.update(more)
                new += more
        return found

    def _add(self, test: Test | None, following: Iterable[int], look: Look | None = None) -> int:
        if len(self._steps) >= MOST:
            raise NotLinear("it is too large")
        self._steps.append((test, tuple(following), look))
        return len(self._steps) - 1

    def _sequence(self, parsed: Any, then: int) -> int:  # noqa: ANN401 - the parser's own
        for kind, value in reversed(list(parsed)):
            then = self._one(str(kind), value, then)
        return then

    def _one(self, kind: str, value: Any, then: int) -> int:  # noqa: ANN401 - the parser's own
        if kind in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, inner = value
            return self._repeat(least, most, inner, then)
        if kind == "BRANCH":
            return self._add(None, [self._sequence(way, then) for way in value[1]])
        if kind == "SUBPATTERN":
            _, added, taken, inner = value
            outside, self._flags = self._flags, (self._flags | added) & ~taken
            start = self._sequence(inner, then)
            self._flags = outside
            return start
        if kind == "AT":
            return self._add(None, [then], self._place(str(value)))
        return self._add(self._character(kind, value), [then])

    def _repeat(self, least: int, most: Any, inner: Any, then: int) -> int:  # noqa: ANN401
        if most is _KINDS.MAXREPEAT:
            again = self._add(None, ())
            first = self._sequence(inner, again)
            self._steps[again] = (None, (first, then), None)
            then = again
        else:
            for _ in range(most - least):
                then = self._add(None, [self._sequence(inner, then), then])
        for _ in range(least):
            then = self._sequence(inner, then)
        return then

    def _character(self, kind: str, value: Any) -> Test:  # noqa: ANN401 - the parser's own
        if kind == "ANY":
            return (lambda _: True) if self._flags & re.DOTALL else (lambda c: c != "\n")
        if kind in {"LITERAL", "NOT_LITERAL"}:
            forms, other = self._forms, kind == "NOT_LITERAL"
            wanted = forms(chr(value))
            return lambda c: bool(forms(c) & wanted) != other
        if kind == "IN":
            return self._any_of(value)
        raise NotLinear(f"it has {kind.lower()}")

    def _any_of(self, parts: Sequence[Any]) -> Test:
        negated, forms = str(parts[0][0]) == "NEGATE", self._forms
        tests = [self._part(str(kind), value) for kind, value in parts[negated:]]
        return lambda c: any(t(form) for form in forms(c) for t in tests) != negated

    def _part(self, kind: str, value: Any) -> Test:  # noqa: ANN401 - the parser's own
        if kind == "LITERAL":
            return lambda c: ord(c) == value
        if kind == "RANGE":
            return lambda c: value[0] <= ord(c) <= value[1]
        name = str(value).removeprefix("CATEGORY_")
        word = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.removeprefix("NOT_")]
        meant, other = re.compile(word), name.startswith("NOT_")
        return lambda c: bool(meant.match(c)) != other

    def _place(self, name: str) -> Look:
        if name in {"AT_BOUNDARY", "AT_NON_BOUNDARY"}:
            other = name == "AT_NON_BOUNDARY"
            return lambda before, after: (_is_word(before) != _is_word(after)) != other
        lines = self._flags & re.MULTILINE
        if name == "AT_BEGINNING" and lines:
            return lambda before, _: before in {"", "\n"}
        if name == "AT_END" and lines:
            return lambda _, after: after in {"", "\n"}
        if name in {"AT_BEGINNING", "AT_BEGINNING_STRING"}:
            return lambda before, _: not before
        return lambda _, after: not after

    @property
    def _forms(self) -> Callable[[str], frozenset[str]]:
        return _folded if self._flags & re.IGNORECASE else frozenset


@lru_cache(maxsize=4096)
def _folded(character: str) -> frozenset[str]:
    forms = {character, character.lower(), character.upper()}
    return frozenset(form for form in forms if len(form) == 1)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def patterns(written: Iterable[object]) -> Iterator[Pattern]:
    """Those of several that are patterns."""
    for one in written:
        try:
            yield Pattern(str(one))
        except (re.error, NotLinear, RecursionError, OverflowError):
            continue
