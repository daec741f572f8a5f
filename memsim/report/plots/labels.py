"""Puts names beside points so that none lies upon a point, a line or another name.

Everything is measured in shares of the axes, from 0 to 1, and decided in a fixed order: the same
points get the same places on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LETTER, LINE = 0.0132, 0.046
"""What a letter and a line of a name take up."""
AROUND = (0.012, 0.022)
"""Half the width and half the height of a point's mark."""
BESIDE = 0.017
"""From the middle of a point to its name."""
ROUNDS = 4
"""How often each name may move once the others stand."""

_UP = (0.0, 0.03, -0.03, 0.05, -0.05, 0.075, -0.075, 0.1, -0.1, 0.14, -0.14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A part of the axes."""

    left: float
    right: float
    low: float
    high: float

    def shared(self, other: Box) -> float:
        """What both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.high, other.high) - max(self.low, other.low)
        return max(0.0, wide) * max(0.0, tall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A point with its name.

    Attributes:
        x, y: of the point.
        low, high: ends of its interval; the same as `y` where it has none.
    """

    name: str
    x: float
    y: float
    low: float
    high: float

    @property
    def mark(self) -> Box:
        """What the point itself covers."""
        wide, tall = AROUND
        return Box(left=self.x - wide, right=self.x + wide, low=self.y - tall, high=self.y + tall)

    @property
    def line(self) -> Box:
        """What its interval covers."""
        return Box(left=self.x - 0.003, right=self.x + 0.003, low=self.low, high=self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a name stands.

    Attributes:
        box: that it covers.
        cost: of the place alone: how far it is from where one would look first.
        far: whether a line has to lead to it.
    """

    box: Box
    cost: float
    far: bool

    @property
    def middle(self) -> float:
        """Of its height."""
        return (self.box.low + self.box.high) / 2


def placed(spots: Sequence[Spot]) -> list[Place]:
    """A place for the name of each point, in their order."""
    choices = [list(_choices(spot)) for spot in spots]
    found = [options[0] for options in choices]
    done: list[int] = []
    for turn in range(ROUNDS):
        for n, options in enumerate(choices):
            others = [found[k].box for k in (done if turn == 0 else range(len(spots))) if k != n]
            found[n] = min(options, key=lambda place: _cost(place, spots, others))
            if turn == 0:
                done.append(n)
    return found


def _choices(spot: Spot) -> Iterator[Place]:
    wide, half = LETTER * len(spot.name), LINE / 2
    for up in _UP:
        for side, left in ((0.0, spot.x + BESIDE), (0.4, spot.x - BESIDE - wide)):
            at = spot.y + up
            box = Box(left=left, right=left + wide, low=at - half, high=at + half)
            yield Place(box=box, cost=side + 12 * abs(up), far=abs(up) > 0.06)
    for up in (0.052, -0.052):
        at, left = spot.y + up, spot.x - wide / 2
        box = Box(left=left, right=left + wide, low=at - half, high=at + half)
        yield Place(box=box, cost=0.8, far=False)


def _cost(place: Place, spots: Sequence[Spot], others: Iterable[Box]) -> float:
    box = place.box
    size = (box.right - box.left) * (box.high - box.low)
    upon = sum(bool(box.shared(spot.mark)) for spot in spots)
    lines = sum(bool(box.shared(spot.line)) for spot in spots)
    names = sum(box.shared(other) / size for other in others)
    outside = box.left < 0 or box.right > 1 or box.low < 0 or box.high > 1
    return place.cost + 6 * upon + 2 * lines + 40 * names + 50 * outside
