"""Entries, readers and vectors for tests, a few by hand and many by Hypothesis."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from memsim.memory.entry import FOUND_BY_KEY, Entry
from memsim.memory.permissions import Reader, ReadGrant, Where
from memsim.message import EPOCH
from tests.memory.stores.oracle import Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Vectors

OWNERS = ("ann", "bob", "cem")
WORDS = ("falcon", "lunch", "blue", "river", "moved", "A-17", "tea", "Straße", "東京", "the")
DIMENSION = 4

ALL = Where(reader=None, archived=None)
"""What the keeper of a store sees."""


def entry(key: str, text: str = "", owner: str = "ann", minute: int = 0, **more: object) -> Entry:
    """An entry of some minute; its text is its key unless one is given."""
    then = EPOCH + timedelta(minutes=minute)
    return Entry(key=key, text=text or key, owner=owner, created=then, updated=then, **more)  # type: ignore[arg-type]


def seen_by(principal: str, *grants: ReadGrant) -> Where:
    """Everything that a principal may see, archived too."""
    return Where(reader=Reader(principal=principal, grants=frozenset(grants)), archived=None)


def unit(*numbers: float) -> Vector:
    """A vector of length one, as float32 holds it; zeros stay zeros."""
    length = math.sqrt(sum(n * n for n in numbers)) or 1.0
    return tuple(float(np.float32(n / length)) for n in numbers)


def array(vectors: Sequence[Vector]) -> Vectors:
    """Vectors as stores take them."""
    return np.array(vectors, np.float32).reshape(len(vectors), -1)


texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
vectors = st.tuples(*[st.integers(-2, 2)] * DIMENSION).map(lambda numbers: unit(*numbers))


@st.composite
def entries(draw: st.DrawFn, owners: Sequence[str] = OWNERS, *, private: bool = False) -> Entry:
    """An entry of few keys, moments and words, so that entries collide, tie and replace."""
    visibility = draw(st.sampled_from(("private",) if private else ("private", "shared", "public")))
    readers = draw(st.sets(st.sampled_from(OWNERS), max_size=2)) if visibility == "shared" else ()
    late = draw(st.one_of(st.none(), st.integers(0, 3)))
    return entry(
        draw(st.sampled_from(("a", "b", "tea", "d"))),
        draw(texts),
        draw(st.sampled_from(owners)),
        draw(st.integers(0, 3)),
        layer=draw(st.sampled_from(("long_term", "semantic"))),
        category=draw(st.sampled_from(("daily", "custom"))),
        visibility=visibility,
        readers=tuple(readers),
        archived=draw(st.booleans()),
        superseded=None if late is None else EPOCH + timedelta(minutes=late),
        attributes=draw(st.sampled_from(((), (FOUND_BY_KEY,)))),
    )


@st.composite
def wheres(draw: st.DrawFn) -> Where:
    """A filter, with or without a reader, who may have grants of others or for others."""
    grant = st.builds(
        ReadGrant,
        owner=st.sampled_from(OWNERS),
        reader=st.sampled_from(OWNERS),
        category=st.sampled_from((None, "daily")),
    )
    reader = st.builds(
        Reader,
        principal=st.sampled_from((*OWNERS, "")),
        grants=st.frozensets(grant, max_size=2),
    )
    some = st.sampled_from((None, False, True))
    return Where(
        reader=draw(st.one_of(st.none(), reader)),
        owner=draw(st.sampled_from((None, *OWNERS))),
        layers=draw(st.frozensets(st.sampled_from(("long_term", "semantic")))),
        categories=draw(st.frozensets(st.sampled_from(("daily", "custom")))),
        archived=draw(some),
        superseded=draw(some),
    )


written = st.lists(st.tuples(entries(), vectors), min_size=1, max_size=4)
"""What one call of `write` brings."""
