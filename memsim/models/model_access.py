"""How a run gets answers of live models, and the account of their costs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from memsim.models import Embedder, Model
    from memsim.models.cassette import RecordMode
    from memsim.models.live import ProviderAnswer


class CallAccount:
    """Counts the calls of one case; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = NO_SPENDING

    @property
    def spent(self) -> Spending:
        """The counts so far."""
        return self._spent

    def paid(self, answer: ProviderAnswer) -> None:
        """Count an answer of a provider."""
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
        """Count an answer of a recording."""
        with self._lock:
            self._spent = replace(self._spent, replayed=self._spent.replayed + 1)

    def fail(self, said: str) -> None:
        """Count a call without an answer."""
        with self._lock:
            self._spent = replace(self._spent, failed=(*self._spent.failed, said))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """How a run gets answers of live models; no record depends on it.

    Attributes:
        cap: cost limit in dollars; None for no limit.
        ledger: the file with the money spent; required with a limit.
        dry: whether the offline model answers, and calls are only counted and priced.
    """

    mode: RecordMode = "none"
    folder: Path | None = None
    folder_label: str = ""
    cap: float | None = None
    ledger: Path | None = None
    dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Costs of the calls of one case.

    Attributes:
        cost: dollars, as far as prices are known.
        failed: the error of each call that a provider did not answer.
    """

    asked: int = 0
    replayed: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0
    failed: tuple[str, ...] = ()


NO_SPENDING = Spending()


def add_spending(one: Spending, other: Spending, before: Spending | None = None) -> Spending:
    """The sum of two amounts, without the failures of the second that are already in the first."""
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


@dataclass(frozen=True, slots=True)
class CaseModel:
    """A model for one case, and the account of its calls."""

    model: Model
    account: CallAccount


@dataclass(frozen=True, slots=True)
class RunEmbedder:
    """An embedder for a whole process, and the account of its calls.

    Attributes:
        keep: writes new vectors into the recordings.
    """

    embedder: Embedder
    account: CallAccount
    keep: Callable[[], None] = lambda: None
