"""`-k`: pytest's expression language over case ids.

::

    expression  = or_
    or_         = and_ ("or" and_)*
    and_        = not_ ("and" not_)*
    not_        = "not" not_ | "(" or_ ")" | name

A name is anything without blanks or parentheses and matches ids that contain it, whatever the case
of its letters. A channel of leakage, such as L1, matches as a whole word: L10 is another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memsim.errors import ConfigError

Selector = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:(?P<paren>[()])|(?P<name>[^\s()]+))")
_WORDS = {"and", "or", "not"}
_CHANNEL = re.compile(r"l\d\d?")


def parse_expression(text: str) -> Selector:
    """What tells whether a case id is meant.

    Args:
        text: an expression; an empty one means every case.

    Raises:
        ConfigError: it is not an expression; the column is named.
    """
    if not text.strip():
        return lambda _: True
    parser = _Parser(text)
    selector = parser.either()
    parser.finish()
    return selector


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), _Token("end", "the end", len(text) + 1)]
        self._depth = 0

    def either(self) -> Selector:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda case: any(part(case) for part in parts)

    def _both(self) -> Selector:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda case: all(part(case) for part in parts)

    def _one(self) -> Selector:
        if self._take("not"):
            inner = self._nested(self._one)
            return lambda case: not inner(case)
        if self._take("("):
            inner = self._nested(self.either)
            if not self._take(")"):
                raise self._error("a closing parenthesis")
            return inner
        token = self._tokens[0]
        if token.kind != "name":
            raise self._error("a name, not, or an opening parenthesis")
        del self._tokens[0]
        wanted = token.text.casefold()
        if _CHANNEL.fullmatch(wanted):
            whole = re.compile(rf"(?<![a-z0-9]){wanted}(?![a-z0-9])")
            return lambda case: bool(whole.search(case.casefold()))
        return lambda case: wanted in case.casefold()

    def _nested(self, parse: Callable[[], Selector]) -> Selector:
        self._depth += 1
        if self._depth > 100:
            raise ConfigError("-k: the expression is nested too deeply")
        inner = parse()
        self._depth -= 1
        return inner

    def finish(self) -> None:
        if self._tokens[0].kind != "end":
            raise self._error("and, or, or the end")

    def _take(self, kind: str) -> bool:
        if self._tokens[0].kind != kind:
            return False
        del self._tokens[0]
        return True

    def _error(self, wanted: str) -> ConfigError:
        token = self._tokens[0]
        said = f"-k {self._text!r}: at column {token.column} stands {token.text}, expected {wanted}"
        return ConfigError(said)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        word = found[0].strip()
        column = found.end() - len(word) + 1
        kind = word if found["paren"] or word in _WORDS else "name"
        tokens.append(_Token(kind, word, column))
    return tokens
