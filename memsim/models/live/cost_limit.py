"""Prices of calls, the money spent, and the cost limit that no call may exceed."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.atomic_files import wait_for_lock
from memsim.errors import ModelError
from memsim.message import load_tokenizer
from memsim.models.live import TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memsim.models.live import Call, ModelClient, ProviderAnswer
    from memsim.models.model_ref import LiveRef


# Prices come from the list in the litellm package, without network or import.


_LIST = "model_prices_and_context_window_backup.json"
_ABOVE = re.compile(r"(input|output)_cost_per_token_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per token.

    Attributes:
        above: higher prices of long calls: minimum number of input tokens, input, output.
    """

    input: float
    output: float
    above: tuple[tuple[int, float, float], ...] = ()

    def cost(self, read: int, written: int) -> float:
        """Dollars for a number of input and output tokens."""
        given, made = self.input, self.output
        for limit, dearer_input, dearer_output in self.above:
            if read > limit:
                given, made = dearer_input, dearer_output
        return round(read * given + written * made, 12)


def price_of(ref: LiveRef) -> Price | None:
    """The price in the ref, else the listed one; None if there is none."""
    if ref.price is not None:
        given, made = ref.price
        return Price(input=given / 1e6, output=made / 1e6)
    return listed_price(ref.model)


def listed_price(model: str) -> Price | None:
    """The listed price of litellm's model id; None if there is none."""
    known = _listed()
    names = (model, model.partition("/")[2])
    entry = next((known[name] for name in names if name in known), None)
    return None if entry is None else _read(entry)


def _read(entry: Mapping[str, Any]) -> Price | None:
    given = _dollars(entry.get("input_cost_per_token"))
    made = _dollars(entry.get("output_cost_per_token", 0.0))
    if given is None or made is None:
        return None
    dearer: dict[int, dict[str, float]] = {}
    for key, value in entry.items():
        if (found := _ABOVE.fullmatch(key)) and (dollars := _dollars(value)) is not None:
            dearer.setdefault(int(found[2]) * 1000, {})[found[1]] = dollars
    above = ((n, p.get("input", given), p.get("output", made)) for n, p in sorted(dearer.items()))
    return Price(input=given, output=made, above=tuple(above))


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, Mapping[str, Any]]:
    # litellm is located but not imported, because an import takes seconds.
    spec = PathFinder.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return {}
    path = Path(spec.submodule_search_locations[0]) / _LIST
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


_NANO = 1_000_000_000
_FRAME = 16
"""Tokens around each message and tool that a provider may count in addition to their text."""

_EXACT = ("openai/", "azure/")


class OutOfMoney(BaseException):
    """The next call could exceed the cost limit.

    It is no `Exception`, so that no strategy handles it like a failure of the model.
    """


class SpendingLedger:
    """The money spent so far, in a file that several processes share."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, dollars: float, cap: float | None = None) -> float:
        """Add dollars unless the sum exceeds the limit.

        Args:
            dollars: may be negative, to return reserved money.
            cap: limit of the sum; None for no limit.

        Returns:
            The sum before.

        Raises:
            OutOfMoney: the sum would exceed the limit; nothing was added.
        """
        with self._held() as file:
            spent = int(os.read(file, 64) or b"0")
            after = spent + round(dollars * _NANO)
            if cap is not None and after > round(cap * _NANO):
                raise OutOfMoney(_limit_message(spent / _NANO, dollars, cap))
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
            wait_for_lock(file)
            yield file
        finally:
            os.close(file)


def _limit_message(spent: float, more: float, cap: float) -> str:
    return (
        f"{dollars(spent)} of {dollars(cap)} are spent, and the next call may cost {dollars(more)}"
    )


def dollars(amount: float) -> str:
    """Format an amount: in cents, or with four digits below one dollar."""
    return f"${amount:.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


class CostLimitClient:
    """Reserves the maximum cost of a call before it is made, and returns the rest afterwards."""

    def __init__(
        self, asker: ModelClient, *, price: Price, ledger: SpendingLedger, cap: float
    ) -> None:
        self._asker = asker
        self._price = price
        self._ledger = ledger
        self._cap = cap

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            OutOfMoney: the call could exceed the limit and was not made.
            ModelError: the call failed.
        """
        aside = self._price.cost(tokens_at_most(call), call.max_tokens)
        self._ledger.add(aside, self._cap)
        try:
            answer = self._asker.ask(call)
        except ModelError as error:
            # A call whose connection broke may have been billed.
            if not (isinstance(error, TransientError) and error.billed):
                self._ledger.add(-aside)
            raise
        self._ledger.add((answer.cost or 0.0) - aside)
        return answer


def tokens_at_most(call: Call) -> int:
    """Upper bound of a call's input tokens: exact for OpenAI's models, else one token per byte."""
    count = _openai if call.model.startswith(_EXACT) else _bytes
    tokens = sum(count(text) + _FRAME for text in call_texts(call))
    return tokens + _FRAME


def call_texts(call: Call) -> Iterator[str]:
    """Every text of a call that a provider receives."""
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
    # The older encoding: the newer one never needs more tokens.
    return load_tokenizer("cl100k_base").count
