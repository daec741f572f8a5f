"""Token counters of generated cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.message import CharsOverFour, TokenCounter

if TYPE_CHECKING:
    from memsim.testing.check_cases import TokenizerName


class BytesOverThree:
    """Bytes of UTF-8 divided by three, rounded up: wide characters cost more than narrow ones."""

    name = "bytes/3"

    def count(self, text: str) -> int:
        """Tokens in the text."""
        return (len(text.encode("utf-8", "surrogatepass")) + 2) // 3


COUNTER = TokenCounter(CharsOverFour())
"""What the tokens of most cases are counted with: characters divided by four."""


def counter_of(tokenizer: TokenizerName) -> TokenCounter:
    """A new counter of the tokenizer that a case names."""
    return TokenCounter(CharsOverFour() if tokenizer == "chars/4" else BytesOverThree())
