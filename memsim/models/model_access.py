"""How a run may come by a provider's answers, and what that came to: what travels with a case."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.models.cassette import RecordMode
    from memsim.models.live import ProviderAnswer


class CallAccount:
    """Keeps count of the calls of one case; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = NO_SPENDING

    @property
    def spent(self) -> Spending:
        """What they came to so far."""
        return self._spent

    def paid(self, answer: ProviderAnswer) -> None:
        """A provider answered."""
        with self._lock:
            before = self._spent
            self._spent = replace(
                before,
                asked=before.asked + 1,
                input=before.input + answer.input,
                output=before.output + answer.output,
                cost=before.cost + (answer.cost or 0.0),
            )

    def found(self) -> None:
        """A recording answered."""
        with self._lock:
            self._spent = replace(self._spent, replayed=self._spent.replayed + 1)

    def fail(self, said: str) -> None:
        """Nobody answered."""
        with self._lock:
            self._spent = replace(self._spent, failed=(*self._spent.failed, said))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """How a run may come by a provider's answers; no record depends on it.

    Attributes:
        mode: whether they are replayed, recorded, or both.
        folder: of the recordings; None where there are none.
        shown: the same folder, as messages show it.
        cap: dollars that may be spent; None for no cap.
        ledger: the file that tells what was spent; needed with a cap.
        dry: nobody is asked: the offline model answers, and calls are counted and priced.
    """

    mode: RecordMode = "none"
    folder: Path | None = None
    shown: str = ""
    cap: float | None = None
    ledger: Path | None = None
    dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the calls of one case came to.

    Attributes:
        asked: calls that a provider answered.
        replayed: calls that a recording answered.
        input: tokens of the calls that were asked.
        output: tokens of their answers.
        cost: dollars that they cost, as far as prices are known.
        failed: what was said of each call that a provider never answered.
    """

    asked: int = 0
    replayed: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0
    failed: tuple[str, ...] = ()


NO_SPENDING = Spending()


def add_spending(one: Spending, other: Spending, before: Spending | None = None) -> Spending:
    """Two amounts together, without what the second one already was before."""
    less = before or Spending()
    return Spending(
        asked=one.asked + other.asked - less.asked,
        replayed=one.replayed + other.replayed - less.replayed,
        input=one.input + other.input - less.input,
        output=one.output + other.output - less.output,
        cost=one.cost + other.cost - less.cost,
        failed=(*one.failed, *other.failed[len(less.failed) :]),
    )


NO_ACCESS = ModelAccess()
