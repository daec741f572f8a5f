"""Entries are read back exactly as they were written, or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import StoreError
from memsim.memory.entry import (
    LAYERS,
    DamagedRecord,
    Entry,
    Shelf,
    Visibility,
    decode,
    decode_shelf,
    encode,
    encode_shelf,
    instant,
)
from memsim.memory.stores.markdown.entry_files import parse, render
from tests.memory.stores.made import entry

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = words.filter(bool)
moments = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - Hypothesis adds the zone
    max_value=datetime(9998, 12, 30),  # noqa: DTZ001 - as above
    timezones=st.sampled_from((UTC, timezone(timedelta(hours=5, minutes=45)))),
)


@st.composite
def any_entry(draw: st.DrawFn) -> Entry:
    """An entry with anything in it."""
    visibility = draw(st.sampled_from(get_args(Visibility)))
    return Entry(
        key=draw(names),
        text=draw(words | st.text(st.sampled_from("-\n\r: #\x00a"), max_size=30)),
        owner=draw(names),
        layer=draw(st.sampled_from(LAYERS)),
        category=draw(names),
        subject=draw(words),
        session=draw(words),
        created=draw(moments),
        updated=draw(moments),
        superseded=draw(st.none() | moments),
        visibility=visibility,
        readers=tuple(draw(st.lists(words, max_size=3))) if visibility == "shared" else (),
        pinned=draw(st.booleans()),
        archived=draw(st.booleans()),
        sources=tuple(draw(st.lists(words, max_size=3))),
        attributes=tuple(draw(st.lists(st.tuples(words, words), max_size=3))),
    )


@given(any_entry())
def test_an_entry_survives_being_written(entry: Entry) -> None:
    """As JSON and as a markdown file, byte for byte."""
    assert entry == decode(encode(entry), "here")
    assert encode(entry) == encode(decode(encode(entry), "here"))
    assert entry == parse(render(entry), entry.id)


@given(any_entry())
def test_a_shelf_survives_being_written(entry: Entry) -> None:
    """Equal shelves have one text."""
    assert entry.shelf == decode_shelf(encode_shelf(entry.shelf), "here")
    other = Shelf(owner=entry.owner + "x")
    assert encode_shelf(other) != encode_shelf(entry.shelf)


@given(moments, moments)
def test_instants_sort_as_their_texts(one: datetime, other: datetime) -> None:
    """Whatever zone they were given in."""
    assert (one < other) == (instant(one) < instant(other))


def test_the_json_is_canonical() -> None:
    """Sorted, without blanks, times in UTC with microseconds, text readable."""
    record = encode(entry("ö", "a\nb"))

    assert list(json.loads(record)) == sorted(json.loads(record))
    assert '"key":"ö"' in record
    assert ": " not in record
    assert "+00:00" in record
    assert ".000000" in record


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"key":', '"kez":'),
        ('"layer":"long_term"', '"layer":"attic"'),
        ('"visibility":"private"', '"visibility":"secret"'),
        ('"visibility":"private"', '"visibility":null'),
        ('"pinned":false', '"pinned":0'),
        ('"archived":false', '"archived":"no"'),
        ('"readers":[]', '"readers":["bob"]'),
        ('"readers":[]', '"readers":{}'),
        ('"sources":[]', '"sources":[1]'),
        ('"attributes":[]', '"attributes":[["a"]]'),
        ('"attributes":[]', '"attributes":[["a","b","c"]]'),
        ("+00:00", ""),
        ('"owner":"ann"', '"owner":""'),
        ("{", "["),
        ("{", '{"more":1,'),
        ("}", ""),
    ],
)
def test_a_damaged_record_is_told(old: str, new: str) -> None:
    """Each is a StoreError that names the place."""
    record = encode(entry("a"))
    assert old in record

    with pytest.raises(DamagedRecord, match="row 7 is damaged"):
        decode(record.replace(old, new, 1), "row 7")


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_garbage_is_told(garbage: bytes | str) -> None:
    """Whatever else stands there."""
    with pytest.raises(DamagedRecord):
        decode(garbage, "here")
    with pytest.raises(DamagedRecord):
        decode_shelf(garbage, "here")
    with pytest.raises(DamagedRecord):
        parse(garbage if isinstance(garbage, bytes) else garbage.encode("utf-8", "replace"), "x")


def test_what_cannot_be_encoded_is_refused() -> None:
    """A lone surrogate would come back as something else."""
    with pytest.raises(StoreError):
        encode(entry("a", sources=("\ud83d", "\ude00")))
