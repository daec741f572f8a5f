"""Draws cases one by one: each from a seed of its own, so that none is a variation of another."""

from __future__ import annotations

import random
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

# Of two examples the first is always the simplest there is, and the second is drawn at random.
_TWO = settings(
    max_examples=2,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


def drawn(cases: SearchStrategy[T], base: int, number: int) -> T:
    """The case of that number; the same for the same seed, whatever was drawn before.

    Args:
        cases: what to draw from.
        base: the seed of the whole check.
        number: from 0.
    """
    found: list[T] = []

    @seed(_seed(base, number))
    @_TWO
    @given(cases)
    def keep(case: T) -> None:
        found.append(case)

    keep()
    return found[-1]


def _seed(base: int, number: int) -> int:
    return random.Random(f"{base}/{number}").getrandbits(62)
