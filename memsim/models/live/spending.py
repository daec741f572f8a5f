"""Money: what calls cost at most, what they did cost, and the cap that no call may pass."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.models.live.failing import Transient
from memsim.tokens import load_tokenizer

if TYPE_CHECKING:
    from memsim.models.live import Answer, Asker, Call
    from memsim.models.live.pricing import Price

_NANO = 1_000_000_000
_FRAME = 16
"""Tokens around each message and tool that a provider may count beyond their text."""

_EXACT = ("openai/", "azure/")


class OutOfMoney(BaseException):
    """The next call could pass the cap.

    No strategy may take it for a failure of the model and go on without: so it is no `Exception`.
    """


class Ledger:
    """What was spent so far, in a file that several processes share.

    Args:
        path: the file; made when the first call is paid for.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, dollars: float, cap: float | None = None) -> float:
        """Add dollars, unless that passes the cap.

        Args:
            dollars: may be negative, where less was spent than was set aside.
            cap: of the whole; None for no cap.

        Returns:
            What was spent before.

        Raises:
            OutOfMoney: it would pass the cap; nothing was added.
        """
        with self._held() as file:
            spent = int(os.read(file, 64) or b"0")
            after = spent + round(dollars * _NANO)
            if cap is not None and after > round(cap * _NANO):
                raise OutOfMoney(_said(spent / _NANO, dollars, cap))
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, b"%020d" % max(0, after))
        return spent / _NANO

    @property
    def spent(self) -> float:
        """Dollars so far."""
        return self.add(0.0)

    @contextmanager
    def _held(self) -> Iterator[int]:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(file)
            yield file
        finally:
            os.close(file)


def _lock(file: int) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _said(spent: float, more: float, cap: float) -> str:
    return (
        f"{dollars(spent)} of {dollars(cap)} are spent, and the next call may cost {dollars(more)}"
    )


def dollars(amount: float) -> str:
    """An amount as it is shown: cents, or as many digits as a fraction of one needs."""
    return f"${amount:.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


class Purse:
    """Sets aside what a call may cost before it is made, and gives back what it did not.

    Args:
        asker: is asked.
        price: of the model.
        ledger: what was spent.
        cap: dollars that may be.
    """

    def __init__(self, asker: Asker, *, price: Price, ledger: Ledger, cap: float) -> None:
        self._asker = asker
        self._price = price
        self._ledger = ledger
        self._cap = cap

    def ask(self, call: Call) -> Answer:
        """The answer to a call.

        Raises:
            OutOfMoney: it could pass the cap, and was not made.
            ModelError: there is none.
        """
        aside = self._price.cost(tokens_at_most(call), call.max_tokens)
        self._ledger.add(aside, self._cap)
        try:
            answer = self._asker.ask(call)
        except ModelError as error:
            # What broke off on the way back may have been paid for all the same.
            if not (isinstance(error, Transient) and error.billed):
                self._ledger.add(-aside)
            raise
        self._ledger.add((answer.cost or 0.0) - aside)
        return answer


def tokens_at_most(call: Call) -> int:
    """An upper bound of a call's input tokens: exact for OpenAI's own, else a byte is a token."""
    count = _openai if call.model.startswith(_EXACT) else _bytes
    tokens = sum(count(text) + _FRAME for text in parts(call))
    return tokens + _FRAME


def parts(call: Call) -> Iterator[str]:
    """Every text that a provider is sent with a call."""
    for message in call.messages:
        yield message.text
        for used in message.calls:
            yield f"{used.id} {used.name} {used.arguments}"
    for tool in call.tools:
        yield json.dumps([tool.name, tool.description, tool.parameters])


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _openai(text: str) -> int:
    return _counting()(text)


@lru_cache(maxsize=1)
def _counting() -> Callable[[str], int]:
    # The older of its encodings: the newer one never needs more.
    return load_tokenizer("cl100k_base").count
