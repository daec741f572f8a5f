"""What is known of the entries on a shelf: the same as a dictionary would tell, in few bytes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.entry import entry_id, instant
from memsim.memory.stores.sqlite import shelf_entries
from memsim.memory.stores.sqlite.rows import EntryRow, ShelfList, moments
from memsim.memory.stores.sqlite.shelf_entries import ShelfEntries
from memsim.message import EPOCH


def row(number: int) -> EntryRow:
    """An entry that was created the earlier the greater its number is."""
    created = instant(EPOCH - timedelta(seconds=number))
    return EntryRow(number, 1, 0, number % 7, Counter(), created, name(number))


def name(number: int) -> str:
    """The id of an entry."""
    return entry_id("ann", "episodic", str(number))


def listed(numbers: list[int]) -> ShelfList:
    """Entries as a file lists them: by creation."""
    rows = sorted(map(row, numbers), key=lambda one: one.created)
    return ShelfList(
        [r.created for r in rows],
        [r.id for r in rows],
        [r.number for r in rows],
        [r.length for r in rows],
    )


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.integers(1, 40), max_size=20),
    st.lists(st.integers(41, 60), max_size=9, unique=True).map(sorted),
    st.sets(st.integers(1, 60)),
)
def test_columns_tell_what_was_put_into_them(
    first: set[int], come: list[int], go: set[int]
) -> None:
    """Each entry that is there is known by its number, and no other is."""
    known = ShelfEntries(listed([*first]))
    for number in come:
        known.append(row(number))
    there = {*first, *come}
    for number in there & go:
        known.remove(number)
    there -= go
    asked = np.arange(62)
    ids = [name(number) for number in range(62)]

    expected = {n: (int(moments([row(n).created])[0]), name(n)) for n in there}
    assert expected == known.called(asked)
    assert sorted(there) == known.holds(asked).nonzero()[0].tolist()
    created = np.zeros(len(asked), np.int64)
    known.date(asked, created)
    assert [expected.get(n, (0, ""))[0] for n in asked.tolist()] == created.tolist()
    assert {name(number) for number in there} == known.among(ids)
    assert known.lengths(asked) is None
    lengths = known.lengths(np.array(sorted(there), np.int64))
    assert lengths is not None
    assert [number % 7 for number in sorted(there)] == lengths.tolist()


def test_the_number_of_the_last_that_is_gone_is_given_again() -> None:
    """The new entry is there under it, and the old ones are not."""
    known = ShelfEntries(listed([*range(1, 41)]))
    known.remove(40)
    known.remove(39)
    known.append(row(39)._replace(id=name(77)))

    assert name(77) == known.called(np.arange(60))[39][1]
    assert [*range(1, 40)] == [*known.called(np.arange(60))]
    assert {name(77)} == known.among([name(77), name(39), name(40)])


@pytest.mark.parametrize(("fewest", "latest"), [(1, 3), (1, 100), (10_000, 0)])
@given(
    first=st.sampled_from([-1, 0, 1]),
    changes=st.lists(st.one_of(st.integers(-40, 20), st.just(600)), min_size=20, max_size=40),
)
def test_entries_that_come_and_go_are_told_of_a_long_shelf_as_of_a_short_one(
    fewest: int, latest: int, first: int, changes: list[int]
) -> None:
    """A shelf is looked up after each change; its numbers are dense, or leap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelf_entries, "_RANKED", fewest)
        patch.setattr(shelf_entries, "_SCANNED", fewest)
        patch.setattr(shelf_entries, "_LATEST", latest)
        there = {*range(first, 30)}
        known = ShelfEntries(listed([*there]))
        for change in changes:
            number = max(there, default=0) + max(change, 1)
            if change > 0:
                known.append(row(number))
                there.add(number)
            elif there:
                gone = sorted(there)[change % len(there)]
                known.remove(gone)
                there.discard(gone)
            asked = np.arange(-70, max(there, default=0) + 70)
            assert sorted(there) == asked[known.holds(asked)].tolist()
            assert {n: name(n) for n in there} == {
                n: i for n, (_, i) in known.called(asked).items()
            }
            ids = [*map(name, asked[-140:].tolist())]
            assert {name(n) for n in there}.intersection(ids) == known.among(ids)


def test_an_entry_is_found_under_the_number_that_it_has_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An entry that is written anew has another number; a number that is free has another entry."""
    monkeypatch.setattr(shelf_entries, "_SCANNED", 1)
    known = ShelfEntries(listed([*range(1, 41)]))
    asked = [name(7), name(40), name(77)]
    assert {name(7), name(40)} == known.among(asked)
    known.remove(7)
    known.remove(40)
    known.append(row(40)._replace(id=name(7)))
    assert {name(7)} == known.among(asked)
    known.remove(40)
    known.append(row(40)._replace(id=name(77)))
    assert {name(77)} == known.among(asked)
    known.remove(40)
    known.remove(39)
    known.remove(38)
    known.append(row(38)._replace(id=name(7)))

    assert {name(7)} == known.among([*asked, name(39)])


def test_ids_whose_halves_are_the_same_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them are there."""
    monkeypatch.setattr(shelf_entries, "_SCANNED", 1)
    alike = [f"{number:016x}{'ab' * 8}" for number in range(4)]
    rows = [row(number)._replace(id=source) for number, source in enumerate(alike[:3])]
    known = ShelfEntries(listed([5, 6]))
    known.among([name(5)])
    for one in rows:
        known.append(one._replace(number=one.number + 10))

    assert {*alike[:3]} == known.among(alike)
    again = ShelfEntries(listed([5, 6]))
    for one in rows:
        again.append(one._replace(number=one.number + 10))
    assert {*alike[:3]} == again.among(alike)


def test_a_leap_takes_no_memory_for_the_numbers_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shelf is not dense any more, and is searched by halving."""
    monkeypatch.setattr(shelf_entries, "_RANKED", 1)
    known = ShelfEntries(listed([*range(1, 30)]))
    asked = np.array([5, 30, 1 << 40, 1 << 50])
    assert [True, False, False, False] == known.holds(asked).tolist()
    known.append(row(30)._replace(number=1 << 40))

    assert [True, False, True, False] == known.holds(asked).tolist()


def test_moments_have_the_order_of_instants() -> None:
    """Microseconds of the first and the last year, and of those before and after 1970."""
    years = (datetime(year, 1, 1, 0, 0, 0, year, EPOCH.tzinfo) for year in (1, 1969, 1970, 9999))
    texts = [instant(moment) for moment in years]
    found = moments(texts).tolist()

    assert sorted(texts) == texts
    assert sorted(found) == found
    assert 1970 == found[2]


@pytest.mark.parametrize(
    "harm",
    [
        {"created": ["x" * 32]},
        {"created": ["2026-13-01T00:00:00.000000+00:00"]},
        {"ids": ["ab"]},
        {"ids": ["x" * 32]},
    ],
)
def test_a_damaged_list_is_refused(harm: dict[str, list[str]]) -> None:
    """What is no instant and no id is an error, and no entry."""
    with pytest.raises(ValueError, match=r"an id|an instant|hexadecimal|out of range"):
        ShelfEntries(listed([3])._replace(**harm))  # type: ignore[arg-type]
