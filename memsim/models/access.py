"""How a run may come by a provider's answers, and what that came to: what travels with a case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.models.cassette import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a run may come by a provider's answers; no record depends on it.

    Attributes:
        mode: whether they are replayed, recorded, or both.
        folder: of the recordings; None where there are none.
        shown: the same folder, as messages show it.
        cap: dollars that may be spent; None for no cap.
        ledger: the file that tells what was spent; needed with a cap.
        dry: nobody is asked: the offline model answers, and calls are counted and priced.
    """

    mode: Mode = "none"
    folder: Path | None = None
    shown: str = ""
    cap: float | None = None
    ledger: Path | None = None
    dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
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


NOTHING = Spent()


def added(one: Spent, other: Spent, before: Spent | None = None) -> Spent:
    """Two amounts together, without what the second one already was before."""
    less = before or Spent()
    return Spent(
        asked=one.asked + other.asked - less.asked,
        replayed=one.replayed + other.replayed - less.replayed,
        input=one.input + other.input - less.input,
        output=one.output + other.output - less.output,
        cost=one.cost + other.cost - less.cost,
        failed=(*one.failed, *other.failed[len(less.failed) :]),
    )


NO_ACCESS = Access()
