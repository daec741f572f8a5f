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
NO_ACCESS = Access()
