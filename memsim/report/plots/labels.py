"""Place names in plots so that no line crosses a name and no two names overlap.

All lengths are points. A name stands beside its point or, where it has no room there, in a column
to the right of the axes. A thin line leads to a name that is not next to its point.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import hypot
from typing import TYPE_CHECKING

from memsim.report.layout import cells_wide

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Segment = tuple[float, float, float, float]
"""A line from (x, y) to (x, y)."""

SIZE = 8.0
"""The size of letters."""
LINE_HEIGHT = 1.32 * SIZE
GAP = 7.0
"""From the middle of a point to its name."""
AROUND = 5.0
"""Half the width of a point's mark."""
COLUMN_GAP = 9.0
"""From the axes to the column of names."""
LETTERS = 30
"""Most letters of a name; a longer one loses its middle."""
TOUCH = 1e-6
"""How far boxes beside each other may overlap, because numbers are rounded."""

_NEXT_TO, _FAR = 1.0, 14.0
_STEPS = (0.0, 6.0, -6.0, 11.0, -11.0, 17.0, -17.0, 24.0, -24.0, 33.0, -33.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBox:
    """A rectangle."""

    left: float
    right: float
    low: float
    high: float

    def overlaps(self, other: LabelBox) -> bool:
        """Whether two boxes share a part."""
        return (
            min(self.right, other.right) > max(self.left, other.left) + TOUCH
            and min(self.high, other.high) > max(self.low, other.low) + TOUCH
        )  # fmt: skip

    def meets(self, segment: Segment) -> bool:
        """Whether a line crosses the box, by Liang and Barsky's rule."""
        x, y, x2, y2 = segment
        start, end = 0.0, 1.0
        for step, room_before, room_after in (
            (x2 - x, x - self.left, self.right - x),
            (y2 - y, y - self.low, self.high - y),
        ):
            if step == 0:
                if room_before < 0 or room_after < 0:
                    return False
                continue
            first, last = sorted((-room_before / step, room_after / step))
            start, end = max(start, first), min(end, last)
        return start <= end


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPoint:
    """A point with its name.

    Attributes:
        low, high: ends of its interval; the same as `y` where it has none.
    """

    name: str
    x: float
    y: float
    low: float
    high: float

    @property
    def mark(self) -> LabelBox:
        """What the point itself covers."""
        left, right, low, high = self.x, self.x, self.y, self.y
        return LabelBox(
            left=left - AROUND, right=right + AROUND, low=low - AROUND, high=high + AROUND
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlace:
    """Where a name stands.

    Attributes:
        leader: the line that leads to it; None where it stands next to its point.
        cost: how far it is from where one would look first.
    """

    box: LabelBox
    leader: Segment | None = None
    cost: float = 0.0

    @property
    def middle(self) -> float:
        """Of its height."""
        return (self.box.low + self.box.high) / 2


@lru_cache(maxsize=4096)
def name_width(name: str) -> float:
    """The width of a name in the plots' letters, or in wider ones of the reader's."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    # matplotlib's own letters lack many scripts; a browser draws those in letters of two cells.
    properties = FontProperties(family=["DejaVu Sans"], size=SIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        measured, _, _ = text_to_path.get_text_width_height_descent(name, properties, ismath=False)
    return max(float(measured), 0.55 * SIZE * cells_wide(name)) + 2.0


@dataclass(slots=True)
class _Plan:
    """Names beside points that are placed so far, and what they have to avoid."""

    marks: Sequence[LabelBox]
    lines: Sequence[Segment]
    whole: LabelBox
    places: dict[int, LabelPlace] = field(default_factory=dict)

    def fits(self, place: LabelPlace) -> bool:
        """Whether a name and its leader touch nothing in this place."""
        box, leader, whole = place.box, place.leader, self.whole
        if box.left < whole.left or box.right > whole.right:
            return False
        if box.low < whole.low or box.high > whole.high or any(map(box.overlaps, self.marks)):
            return False
        for known in self.places.values():
            if box.overlaps(known.box) or (known.leader and box.meets(known.leader)):
                return False
            if leader and known.box.meets(leader):
                return False
        return not any(map(box.meets, self.lines))


def _choices(point: LabelPoint) -> Iterator[LabelPlace]:
    wide = name_width(point.name)
    for out in (GAP, 3 * GAP):
        for up in _STEPS:
            for side, left in ((0.0, point.x + out), (2.0, point.x - out - wide)):
                yield _place(point, left, point.y + up, side + abs(up) + out - GAP)
    for up in (13.0, -13.0, 22.0, -22.0):
        yield _place(point, point.x - wide / 2, point.y + up, 4.0 + abs(up))


def _place(point: LabelPoint, left: float, middle: float, cost: float) -> LabelPlace:
    wide, half = name_width(point.name), LINE_HEIGHT / 2
    box = LabelBox(left=left, right=left + wide, low=middle - half, high=middle + half)
    near_x = min(max(point.x, box.left), box.right)
    far = hypot(near_x - point.x, middle - point.y) > _FAR
    end = box.left - _NEXT_TO if box.left > point.x else box.right + _NEXT_TO
    if box.left <= point.x <= box.right:
        return LabelPlace(box=box, cost=cost)
    leader = (point.x, point.y, end, middle) if far else None
    return LabelPlace(box=box, leader=leader, cost=cost + 8 * far)


def beside(
    points: Sequence[LabelPoint], lines: Sequence[Segment], width: float, height: float
) -> dict[int, LabelPlace]:
    """Place names beside their points; names without room there are left out.

    The first points choose first. The points' intervals are added to the lines that are drawn.
    """
    intervals = [(p.x, p.low, p.x, p.high) for p in points if p.low < p.high]
    whole = LabelBox(left=0.0, right=width, low=0.0, high=height)
    plan = _Plan([point.mark for point in points], [*lines, *intervals], whole)
    for number, point in enumerate(points):
        choices = sorted(_choices(point), key=lambda place: place.cost)
        if (found := next(filter(plan.fits, choices), None)) is not None:
            plan.places[number] = found
    return plan.places


def column(points: Sequence[LabelPoint], width: float, height: float) -> dict[int, LabelPlace]:
    """Place names in a column to the right of the axes, by the height of their points."""
    order = sorted(range(len(points)), key=lambda n: (points[n].y, -points[n].x, n))
    middles = _spread([points[n].y for n in order], height)
    left = width + COLUMN_GAP
    found = {}
    for number, middle in zip(order, middles, strict=True):
        point, half = points[number], LINE_HEIGHT / 2
        right = left + name_width(point.name)
        box = LabelBox(left=left, right=right, low=middle - half, high=middle + half)
        found[number] = LabelPlace(box=box, leader=(point.x, point.y, left - _NEXT_TO, middle))
    return found


def with_column(
    points: Sequence[LabelPoint], lines: Sequence[Segment], width: float, height: float
) -> dict[int, LabelPlace]:
    """Place names beside their points, and those without room there in a column."""
    places = beside(points, lines, width, height)
    while True:
        rest = [n for n in range(len(points)) if n not in places]
        found = column([points[n] for n in rest], width, height)
        outside = {rest[n]: place for n, place in found.items()}
        leaders = [place.leader for place in outside.values() if place.leader is not None]
        hit = [n for n, p in places.items() if any(p.box.meets(line) for line in leaders)]
        if not hit:
            return places | outside
        for number in hit:
            del places[number]


def _spread(wanted: Sequence[float], height: float) -> list[float]:
    """Move ascending heights apart, as little as possible, and keep them between 0 and `height`."""
    # Names that would overlap form a block around the mean of where they want to be.
    blocks: list[list[float]] = []  # sum of wanted places, less their rank; number of names
    half = LINE_HEIGHT / 2
    for want in wanted:
        blocks.append([want, 1.0])
        while len(blocks) > 1 and _start(blocks[-1], height) < _end(blocks[-2], height):
            last = blocks.pop()
            before = blocks[-1]
            before[0] += last[0] - last[1] * before[1] * LINE_HEIGHT
            before[1] += last[1]
    middles = []
    for block in blocks:
        start = _start(block, height)
        middles += [start + half + n * LINE_HEIGHT for n in range(round(block[1]))]
    return middles


def _start(block: Sequence[float], height: float) -> float:
    total, count = block
    size = count * LINE_HEIGHT
    # The first name of the block wants to stand at the mean of all, less their ranks.
    return max(0.0, min(total / count - LINE_HEIGHT / 2, height - size))


def _end(block: Sequence[float], height: float) -> float:
    return _start(block, height) + block[1] * LINE_HEIGHT


def column_width(names: Iterable[str]) -> float:
    """The room that a column of names takes."""
    return COLUMN_GAP + max(map(name_width, names), default=0.0)


def write_names(
    axes: Axes,
    places: Iterable[tuple[LabelPlace, str, str]],
    *,
    scale: tuple[float, float],
) -> None:
    """Write names with their leaders into axes whose place is fixed.

    Args:
        axes: where.
        places: (place, name, colour) of each name.
        scale: width and height of the axes.
    """
    wide, tall = scale
    for place, name, ink in places:
        if place.leader is not None:
            x, y, x2, y2 = place.leader
            axes.plot(
                [x / wide, x2 / wide],
                [y / tall, y2 / tall],
                transform=axes.transAxes,
                color=ink,
                linewidth=0.6,
                alpha=0.75,
                zorder=1.5,
                clip_on=False,
                gid="leader",
            )
        axes.text(
            place.box.left / wide,
            place.middle / tall,
            name,
            transform=axes.transAxes,
            va="center_baseline",
            fontsize=SIZE,
            color=ink,
            gid="name",
            zorder=4,
        )


def short_names(names: Iterable[str], letters: int = LETTERS) -> dict[str, str]:
    """Shorten long names, and number those that would then be the same."""
    found: dict[str, str] = {}
    for name in names:
        short, number = _shortened(name, letters), 1
        while name not in found and short in found.values():
            number += 1
            short = f"{_shortened(name, letters - 3)} {number}"
        found.setdefault(name, short)
    return found


def _shortened(name: str, letters: int) -> str:
    # Of `strategies/mine.py@Mine:n=3`, the folder tells least and the class with its options most.
    place, at, end = name.partition("@")
    tries = (name, f"{place.rpartition('/')[2]}{at}{end}", end if at else name)
    fitting = (text for text in tries if cells_wide(text) <= letters)
    return next(fitting, middle_cut(tries[-1], letters))


def middle_cut(name: str, letters: int) -> str:
    """Cut the middle of a name that takes more than so many letters; wide letters count twice."""
    if cells_wide(name) <= letters:
        return name
    left, right = letters // 2, letters - letters // 2 - 1
    head = next(name[:n] for n in range(left, -1, -1) if cells_wide(name[:n]) <= left)
    tail = next(name[-n:] for n in range(right, 0, -1) if cells_wide(name[-n:]) <= right)
    return f"{head}…{tail}"
