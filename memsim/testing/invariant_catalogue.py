"""The catalogue of invariants: named functions that measure, or raise a violation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memsim.errors import MemsimError, UsageError

PARTS = "memory"
"""What the parts of `memsim.memory` are called where strategies stand beside them."""

Tag = Literal[
    "structure",
    "pins",
    "budget",
    "coverage",
    "text",
    "offload",
    "ledger",
    "hygiene",
    "acl",
    "persistence",
    "run",
]
On = Literal["strategy", "compaction", "ledger", "shelf", "file", "run"]
"""What an invariant is measured on: any strategy by its contract, or a part of `memsim.memory`,
or whole runs."""

Need = Literal["surfaces", "save", "isolation", "grants", "tail", "system"]
"""What a strategy has to offer to be measured: see `memsim.testing.claims`."""

FAMILIES: Mapping[Tag, range] = {
    "structure": range(1, 11),
    "pins": range(11, 15),
    "budget": range(15, 21),
    "coverage": range(21, 29),
    "text": range(29, 33),
    "offload": range(33, 35),
    "ledger": range(35, 39),
    "hygiene": range(39, 45),
    "acl": range(45, 52),
    "persistence": range(52, 56),
    "run": range(56, 61),
}
"""Numbers of the invariants of each family."""

COUNT = FAMILIES["run"][-1]
"""How many invariants there are."""

Measure = Callable[[Any], int]


class Violation(AssertionError):  # noqa: N818 - a finding, not a fault of ours
    """An invariant does not hold; the message says where, in one line."""


class NotApplicable(MemsimError):  # noqa: N818 - a state of the measurement
    """There is nothing to measure here, and the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """An invariant, and how it is measured on one kind of case.

    Attributes:
        number: 1 to 60, as the catalogue counts; several may have one, for different things.
        formal: the same in symbols: H a history, H' what is left of it, C a compaction.
        measure: takes a trial or a case; gives how much was looked at, 0 for nothing.
        remedy: what to change in a strategy that breaks it, in one sentence.
    """

    number: int
    name: str
    tag: Tag
    on: On
    statement: str
    formal: str
    example: str
    needs: tuple[Need, ...]
    measure: Measure
    remedy: str = ""

    @property
    def label(self) -> str:
        """The number and the name, as tables show them."""
        return f"I{self.number} {self.name}"

    @property
    def words(self) -> str:
        """What `-k` looks into."""
        return f"i{self.number:02}. {self.name} {self.tag} {self.on}"


_KNOWN: dict[str, Invariant] = {}


def holds(
    number: int, formal: str, *needs: Need, on: On = "strategy"
) -> Callable[[Measure], Measure]:
    """Register a function as an invariant; its docstring is the statement and the example.

    A last paragraph that begins with `To mend it,` is the remedy. The number gives the family.
    `formal` is the statement in symbols.
    """

    def register(measure: Measure) -> Measure:
        name = measure.__name__
        statement, example, remedy = _docstring_parts(measure)
        _KNOWN[name] = Invariant(
            number=number,
            name=name,
            tag=next(tag for tag, numbers in FAMILIES.items() if number in numbers),
            on=on,
            statement=statement,
            formal=formal,
            example=example,
            needs=needs,
            measure=measure,
            remedy=remedy,
        )
        return measure

    return register


def known() -> tuple[Invariant, ...]:
    """Every invariant that was registered, by number and then by what it is measured on."""
    return tuple(sorted(_KNOWN.values(), key=lambda i: (i.number, i.on != "strategy", i.name)))


def invariant(name: str) -> Invariant:
    """The invariant of that name.

    Raises:
        UsageError: none is called that.
    """
    if name not in _KNOWN:
        raise UsageError(f"no invariant is called {name!r}")
    return _KNOWN[name]


def _docstring_parts(measure: Measure) -> tuple[str, str, str]:
    told, _, remedy = (measure.__doc__ or "").strip().partition("To mend it, ")
    example = re.search(r"\bFails\b.*", told, re.DOTALL)
    if example is None:
        raise ValueError(f"{measure.__name__} tells no failing example")
    statement = re.split(r"\n\s*\n", told)[0]
    mended = " ".join(remedy.split())
    return " ".join(statement.split()), " ".join(example[0].split()), _sentence(mended)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
