"""What a store shows: held in blocks, and read back as it was shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memsim.replay import packed_surfaces
from memsim.replay.packed_surfaces import PackedSurfaces, pack_surfaces
from memsim.strategy import Surface


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few surfaces are compressed already."""
    monkeypatch.setattr(packed_surfaces, "BLOCK", 3)
    monkeypatch.setattr(packed_surfaces, "PLAIN", 2)


def surfaces(count: int) -> list[Surface]:
    """Surfaces that differ in their text."""
    return [Surface(tier="index", sources=(f"m{n}",), text=f"text {n}") for n in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 7, 20])
def test_surfaces_are_read_back_in_their_order(count: int) -> None:
    """However many there are, and as often as they are read."""
    found = pack_surfaces(surfaces(count))

    assert len(found) == count
    assert [*found] == surfaces(count)
    assert [*found] == surfaces(count)
    assert all(each in found for each in surfaces(count))
    assert Surface(tier="index", text="another") not in found


def test_a_short_store_is_a_tuple() -> None:
    """Only a long store is worth the packing."""
    assert pack_surfaces(surfaces(2)) == tuple(surfaces(2))
    assert isinstance(pack_surfaces(surfaces(3)), PackedSurfaces)


def test_no_more_than_a_block_is_held_at_once() -> None:
    """A store of millions of surfaces is never in memory as a whole."""
    alive, most = set[int](), 0

    class Counted(str):
        """A text that is counted while it lives."""

        __slots__ = ()

        def __del__(self) -> None:
            alive.discard(id(self))

        def __reduce__(self) -> tuple[type[str], tuple[str]]:
            return str, (str(self),)

    def shown() -> Iterator[Surface]:
        nonlocal most
        for number in range(60):
            text = Counted(f"text {number}")
            alive.add(id(text))
            most = max(most, len(alive))
            yield Surface(tier="index", text=text)

    assert len(pack_surfaces(shown())) == 60
    assert most <= packed_surfaces.PLAIN + 1 + 2 * packed_surfaces.BLOCK + 2
