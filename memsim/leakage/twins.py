"""Compare two worlds that differ in one principal's data, byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from memsim.leakage.attack_steps import leaked

if TYPE_CHECKING:
    from memsim.leakage.attack_world import AttackWorld, Observation
    from memsim.leakage.attempt import Attempt
    from memsim.leakage.lab import Lab

AROUND = 40
"""Bytes of each world that a difference shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first difference between two worlds."""

    surface: str
    at: int
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.surface} differs from byte {self.at} on: {self.left!r} and {self.right!r}"

    def redacted(self, redact: Callable[[str], str]) -> Difference:
        """The difference with each part redacted by itself, so that its place is always shown."""
        return replace(
            self,
            surface=redact(self.surface),
            left=redact(self.left),
            right=redact(self.right),
        )


@contextmanager
def twins(lab: Lab) -> Iterator[tuple[AttackWorld, AttackWorld]]:
    """Two worlds of the same making."""
    with ExitStack() as stack:
        yield stack.enter_context(lab.world()), stack.enter_context(lab.world())


def judge_twins(
    lab: Lab, attempt: Attempt, left: Sequence[Observation], right: Sequence[Observation]
) -> Attempt:
    """The attempt, a leak as well where the viewer sees different bytes in the two worlds."""
    found = difference(left, right)
    if found is None or attempt.state in {"leak", "error"}:
        return attempt
    return leaked(attempt, str(found.redacted(lab.redacted)))


def difference(left: Sequence[Observation], right: Sequence[Observation]) -> Difference | None:
    """Find the first differing byte of two lists of observations; None when they are equal.

    What there is to be seen in one world only, such as a log that nobody keeps in the other,
    differs from its first byte on.
    """
    for one, other in zip_longest(left, right):
        mine, theirs = one.bytes() if one else b"", other.bytes() if other else b""
        if mine == theirs:
            continue
        pairs = zip(mine, theirs, strict=False)
        shortest = min(len(mine), len(theirs))
        at = next((n for n, (a, b) in enumerate(pairs) if a != b), shortest)
        return Difference(
            surface=(one or other).surface,
            at=at,
            left=mine[at : at + AROUND].decode(errors="replace"),
            right=theirs[at : at + AROUND].decode(errors="replace"),
        )
    return None
