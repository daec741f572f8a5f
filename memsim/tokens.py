"""Count the tokens of a text with a named tokenizer, offline.

`o200k_base`, `cl100k_base` and `p50k_base` are exact: tiktoken reads the encodings that litellm
ships, so nothing is downloaded. `chars/4` is the estimate of AgentScope and others: the number of
characters divided by four, rounded up.
"""

from __future__ import annotations

import importlib.util
import os
from binascii import a2b_base64
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memsim.errors import RefError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.message import Message

DEFAULT_TOKENIZER = "o200k_base"
ENCODINGS = ("cl100k_base", "o200k_base", "p50k_base")
MESSAGE_OVERHEAD = 4
"""Tokens for the role (1) and the separators (3) of a message, as OpenAI documents them."""

_PIECE = 1 << 15
"""Number of characters that are counted at a time in a long text."""

_REMEMBERED = 1 << 23
"""Number of characters whose counts are cached: enough for any window, constant for any history."""


@runtime_checkable
class Tokenizer(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """The name by which `load_tokenizer` finds it."""
        ...

    def count(self, text: str) -> int:
        """Tokens in the text."""
        ...


class CharsOverFour:
    """Characters divided by four, rounded up: no vocabulary, no dependency."""

    name = "chars/4"

    def count(self, text: str) -> int:
        """Tokens in the text."""
        return (len(text) + 3) // 4


class Encoding:
    """An exact byte-pair encoding.

    Args:
        name: one of `ENCODINGS`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._encode = _bundled(name)

    def count(self, text: str) -> int:
        """Tokens in the text; text that looks like a control token counts as plain text."""
        try:
            return len(self._encode(text, disallowed_special=()))
        except ValueError:
            # A megabyte of blanks would overflow the stack of the pattern.
            pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
            return sum(len(self._encode(piece, disallowed_special=())) for piece in pieces)


class _Encode(Protocol):
    def __call__(self, text: str, *, disallowed_special: tuple[str, ...]) -> list[int]: ...


@lru_cache(maxsize=len(ENCODINGS))
def _bundled(name: str) -> _Encode:
    # litellm is located but not imported: an import takes seconds.
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        message = (
            f"tokenizer {name} needs the encodings that litellm ships, and litellm is not installed"
        )
        raise RefError(message)
    root = Path(spec.submodule_search_locations[0])
    for folder in ("litellm_core_utils/tokenizers", "llms/tokenizers"):
        if (root / folder).is_dir():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(root / folder))
            break
    import tiktoken
    from tiktoken_ext import openai_public  # type: ignore[import-untyped]

    # tiktoken's own loader takes longer than the rest of the start of a small run.
    own = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = _ranks
    try:
        return tiktoken.get_encoding(name).encode
    finally:
        openai_public.load_tiktoken_bpe = own


def _ranks(file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Parse a vocabulary: a base 64 token and a rank per line."""
    from tiktoken.load import read_file_cached

    words = read_file_cached(file, expected_hash).split()
    return dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))


@lru_cache(maxsize=8)
def load_tokenizer(name: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """The tokenizer of that name.

    Raises:
        RefError: there is no such tokenizer.
    """
    if name == CharsOverFour.name:
        return CharsOverFour()
    if name in ENCODINGS:
        return Encoding(name)
    known = (*ENCODINGS, CharsOverFour.name)
    message = f"unknown tokenizer {name!r}; known tokenizers are {', '.join(known)}"
    raise RefError(message, hint=nearest(name, known))


class TokenCounter:
    """Counts texts and messages, and caches the counts.

    Args:
        tokenizer: counts the tokens.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, int] = {}
        self._room = _REMEMBERED

    @property
    def name(self) -> str:
        """The tokenizer's name."""
        return self.tokenizer.name

    def text(self, text: str) -> int:
        """Tokens in a text."""
        known = self._known.get(text)
        if known is None:
            self._room -= len(text)
            if self._room < 0:
                self._known.clear()
                self._room = _REMEMBERED
            known = self._known[text] = self.tokenizer.count(text)
        return known

    def message(self, message: Message) -> int:
        """Tokens of a message.

        Its text, its tool calls' names and arguments, and `MESSAGE_OVERHEAD`.
        """
        return self.text(message.text) + MESSAGE_OVERHEAD

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of several messages."""
        text = self.text
        return sum(text(m.text) + MESSAGE_OVERHEAD for m in messages)
