"""Which answers flipped once, in a file, and whether more of them flip now.

::

    {"memsim_flips": 1, "flips": {"layered typo": {"locomo::conv-26::q1": 0, …}, …}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from memsim.atomic_files import write_whole
from memsim.errors import BaselineError
from memsim.json_input import read_json
from memsim.stats.interval import CONFIDENCE
from memsim.stats.paired_test import PairedChange, paired_change
from memsim.suite.twist_play import TwistedQuestion

FORMAT: Final = 1
MARGIN: Final = 0.02
"""Share of the answers that has to flip more, or less, before that is told."""

FlipSheet = Mapping[str, Mapping[str, int]]
"""By strategy and relation, which questions flipped: 1, or 0 for one that did not."""


FlipVerdict = Literal["worse", "better", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipChange:
    """The flips of one strategy and relation, before and now.

    Attributes:
        n: questions that both have.
        low, high: the interval of the change; None where it does not spread.
        verdict: `worse` or `better` if the change is significant and at least 0.02.
    """

    name: str
    n: int
    before: float
    now: float
    low: float | None
    high: float | None
    verdict: FlipVerdict


def flip_sheet(pairs: Iterable[TwistedQuestion]) -> dict[str, dict[str, int]]:
    """What a file holds of pairs."""
    found: dict[str, dict[str, int]] = {}
    for pair in pairs:
        held = found.setdefault(f"{pair.strategy} {pair.relation}", {})
        held[f"{pair.scenario}::{pair.plain['probe']}"] = int(pair.flipped)
    return found


def save_flips(path: Path, pairs: Iterable[TwistedQuestion]) -> None:
    """Write the file, one question a line.

    Raises:
        BaselineError: it could not be written.
    """
    held = {"memsim_flips": FORMAT, "flips": flip_sheet(pairs)}
    text = json.dumps(held, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    try:
        write_whole(path, text.encode(), private=False)
    except OSError as error:
        raise BaselineError(f"cannot be written: {error.strerror or error}", path=path) from error


def read_flips(path: Path) -> FlipSheet:
    """Read the file.

    Raises:
        BaselineError: there is none, or it is not one.
    """
    try:
        found = read_json(path, BaselineError, prefix="is damaged: ")
    except FileNotFoundError as error:
        raise BaselineError("there is no such file of flips", path=path) from error
    sheet = found.get("flips") if isinstance(found, dict) else None
    if not isinstance(sheet, dict) or found.get("memsim_flips") != FORMAT:
        raise BaselineError("was not written by memsim twist --save", path=path)
    for held in sheet.values():
        if not isinstance(held, dict) or not all(v in (0, 1) for v in held.values()):
            raise BaselineError("is damaged: a question has neither 0 nor 1", path=path)
    return sheet


def flip_changes(before: FlipSheet, pairs: Iterable[TwistedQuestion]) -> Iterator[FlipChange]:
    """What changed, by strategy and relation; those without a question in common are left out."""
    for name, now in flip_sheet(pairs).items():
        shared = [question for question in now if question in before.get(name, {})]
        if not shared:
            continue
        old = [before[name][question] for question in shared]
        new = [now[question] for question in shared]
        differences = [float(b - a) for a, b in zip(old, new, strict=True)]
        scenarios = [question.rpartition("::")[0] for question in shared]
        change = paired_change(differences, strata=scenarios)
        yield FlipChange(
            name=name,
            n=len(shared),
            before=sum(old) / len(shared),
            now=sum(new) / len(shared),
            low=change.low,
            high=change.high,
            verdict=_verdict(change),
        )


def _verdict(change: PairedChange) -> FlipVerdict:
    if change.p is None or change.p > 1 - CONFIDENCE or abs(change.mean) < MARGIN:
        return "same"
    if change.mean > 0 and (change.low is None or change.low > 0):
        return "worse"
    return "better" if change.mean < 0 and (change.high is None or change.high < 0) else "same"
