"""Colours: none is shared, by however many strategies and sections a report has."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.report.html.pictures import brightened
from memsim.report.plots.palette import (
    PLACE_COLOURS,
    SECTION_COLOURS,
    STRATEGY_COLOURS,
    section_colours,
    strategy_looks,
)

OWN = [f"mine.py@Memory{n}" for n in range(20)]
VARIANTS = [f"bm25:k={n}" for n in range(20)]
KNOWN = ["layered", "rolling_summary", "bm25", "vector", "hybrid", "sliding_window", "aegis"]
CONTROLS = ["full_context", "oracle", "no_memory"]
NAMES = st.one_of(
    st.sampled_from([*OWN, *VARIANTS, *KNOWN]), st.text("ab:=@é記", min_size=1, max_size=5)
)


@settings(max_examples=15)
@given(st.lists(NAMES, min_size=1, max_size=40, unique=True), st.integers(0, 20))
def test_no_colour_is_shared_in_a_report(names: list[str], sections: int) -> None:
    """By two strategies, or by a strategy and a section; in light and in dark pages."""
    looks = strategy_looks([*names, *CONTROLS])
    own = section_colours([*SECTION_COLOURS, *(f"own {n}" for n in range(sections))])
    inks = [look.colour for look in looks.values()]

    assert len({*names, *CONTROLS}) == len(set(inks))
    assert len(own) == len(set(own.values()))
    assert not {*inks} & {*own.values(), *PLACE_COLOURS.values()}
    bright = [brightened(ink) for ink in inks]
    assert len(bright) == len(set(bright))
    assert not {*bright} & {*own.values(), *PLACE_COLOURS.values()}
    assert looks == strategy_looks([*CONTROLS, *reversed(names)])


def test_forty_strategies_of_any_kind_have_forty_colours() -> None:
    """Also all of one family, and more than there are chosen colours."""
    for names in (OWN + VARIANTS, [f"layered:n={n}" for n in range(60)]):
        for count in range(1, len(names) + 1):
            assert count == len({look.colour for look in strategy_looks(names[:count]).values()})


def test_without_colours_marks_and_lines_tell_strategies_apart() -> None:
    """On grey paper: the first 36 colours have 36 pairs of a mark and a line."""
    names = {look.colour: look for look in strategy_looks([*OWN, *VARIANTS, *KNOWN]).values()}
    pairs = [
        (names[ink].mark, str(names[ink].dash)) for ink in STRATEGY_COLOURS[:36] if ink in names
    ]

    assert 30 < len(pairs) == len(set(pairs))


def test_the_usual_strategies_look_alike_in_every_report() -> None:
    """And keep away from each other and from sections, in the eyes of the colour-blind too."""
    assert strategy_looks(["bm25"])["bm25"] == strategy_looks([*KNOWN, *VARIANTS])["bm25"]
    alone = strategy_looks(["bm25:k=3"])["bm25:k=3"]
    assert alone == strategy_looks(["bm25"])["bm25"]

    for eyes in EYES:
        first = [_seen(ink, eyes) for ink in STRATEGY_COLOURS[:11]]
        assert all(math.dist(a, b) > 0.055 for a, b in combinations(first, 2))
    plain = [_seen(ink, EYES[0]) for ink in STRATEGY_COLOURS]
    pale = [_seen(ink, EYES[0]) for ink in SECTION_COLOURS.values()]
    assert all(math.dist(a, b) > 0.08 for a in plain for b in pale)


Matrix = tuple[tuple[float, float, float], ...]
EYES: tuple[Matrix, ...] = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
)
"""What ordinary eyes see, and those blind to red and to green, after Machado and others."""
_CONES: Matrix = ((0.4122, 0.5363, 0.0515), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
_LAB: Matrix = ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087))


def _seen(ink: str, eyes: Matrix) -> list[float]:
    """A colour in the Oklab space, in which distances are those that eyes see."""
    parts = [int(ink[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    light = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    cones = _times(_CONES, _times(eyes, light))
    return _times(_LAB, [math.copysign(abs(c) ** (1 / 3), c) for c in cones])


def _times(matrix: Matrix, column: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, column, strict=True)) for row in matrix]
