"""The records of a comparison, which every format shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from memsim.atomic_files import GRACE, sweep, write_whole
from memsim.errors import RunFolderError
from memsim.json_input import read_json
from memsim.json_types import WrongTypeError, convert

ChangeWord = Literal["worse", "better", "same", "unsure", "unmeasured", "stale", "new", "gone"]
CHANGE_WORDS: tuple[ChangeWord, ...] = (
    "worse",
    "unmeasured",
    "stale",
    "unsure",
    "better",
    "same",
    "new",
    "gone",
)
"""Every verdict word, in the order in which reports show them."""

Layer = Literal["", "exact", "paired"]
"""How two values were compared; empty where they were not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric of one strategy at one budget, against the baseline.

    Attributes:
        variant: `strategy@budget`, as the candidate has it.
        layer: `exact`: by a tolerance. `paired`: by a test over the same probes.
        base, now: means over what both have.
        change: of the two; of an amount, as a share of the baseline's.
        low, high: interval of the change; None where it is exact.
        p: of no change, after Holm's correction for all cells that were tested.
        pairs: probes, or scenarios of an exact comparison, that both have.
        lost, kept: pairs that became worse, and better.
        margin: the smallest change that counted, the noise floor included.
        visible: the smallest drop that would have been called worse four times in five.
        why: what has to be known of the word.
        altered: what differs of the strategy: `source`, `parameters`.
    """

    variant: str
    metric: str
    word: ChangeWord
    layer: Layer = ""
    base: float | None = None
    now: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    pairs: int = 0
    lost: int = 0
    kept: int = 0
    margin: float = 0.0
    visible: float | None = None
    why: str = ""
    altered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedProbe:
    """A probe that most repeats answered rightly in one of the two, and not in the other.

    Attributes:
        id: what `memsim explain` takes.
        lost: it was kept before and is lost now; else the other way round.
        base, now: share of the repeats that answered it rightly.
    """

    id: str
    variant: str
    probe: str
    lost: bool
    base: float
    now: float
    reason: str = ""
    said: int | None = None
    gone: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePart:
    """Something of which the two hold different versions: its scores are not compared.

    Attributes:
        kind: `scenario`, or what measured: `model`, `tokenizer` and so on.
        name: of the scenario; else empty.
        base, now: what each has; empty for scenarios, whose fingerprints tell a reader nothing.
    """

    kind: str
    name: str = ""
    base: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run against a baseline.

    Attributes:
        made: when and from which commit the baseline was made.
        stale: what differs between the two and should not.
        new, gone: scenarios that only one of them has.
        moved: probes newly lost, then newly kept.
        clustered: whole scenarios were resampled.
    """

    base: str
    now: str
    made: str = ""
    cells: tuple[MetricChange, ...] = ()
    stale: tuple[StalePart, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    moved: tuple[MovedProbe, ...] = ()
    confidence: float = 0.95
    clustered: bool = False

    @property
    def counts(self) -> Mapping[ChangeWord, int]:
        """How many cells each word was found for, in the order of `CHANGE_WORDS`."""
        counted = Counter(cell.word for cell in self.cells)
        return {word: counted[word] for word in CHANGE_WORDS if counted[word]}

    @property
    def empty(self) -> bool:
        """Whether nothing could be compared, as only one of the two has each strategy."""
        return all(cell.word in {"new", "gone"} for cell in self.cells)

    @property
    def sentence(self) -> str:
        """Such as `against main: 1 worse, 5 same`."""
        said = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        stale = sum(1 for s in self.stale if s.kind == "scenario")
        if stale:
            said += f"{', ' if said else ''}{stale} stale scenario{'s' if stale > 1 else ''}"
        return f"against {self.base}: {said or 'nothing to compare'}"


# A comparison is stored with its run, so that the run is shown again as it was judged.

COMPARISON = "comparison.json"


def write_comparison(folder: Path, comparison: Comparison | None) -> None:
    """Write a comparison into a run's folder, or remove the one there."""
    path = folder / COMPARISON
    try:
        if comparison is None:
            path.unlink(missing_ok=True)
            return
        text = json.dumps(asdict(comparison), indent=1, ensure_ascii=True, allow_nan=False)
        sweep(path, GRACE)
        write_whole(path, f"{text}\n".encode("ascii"), private=False)
    except OSError as error:
        raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error


def read_comparison(folder: Path) -> Comparison | None:
    """Read the comparison that a run was judged by; None where there was none."""
    path = folder / COMPARISON
    try:
        found: Comparison = convert(
            read_json(path, RunFolderError, prefix="is damaged: "), Comparison
        )
    except FileNotFoundError:
        return None
    except WrongTypeError as error:
        raise RunFolderError(f"is damaged: {error}", path=path) from error
    return found
