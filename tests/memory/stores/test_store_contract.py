"""Sentence by sentence, what every store promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from memsim.errors import StoreError
from memsim.memory.entry import FOUND_BY_KEY, Entry
from memsim.memory.permissions import Reader, ReadGrant, Where
from memsim.memory.stores import PAGE, EmbedderInfo, Store
from memsim.message import EPOCH
from tests.memory.stores import made
from tests.memory.stores.kinds import Home, Kind
from tests.memory.stores.made import ALL, array, entry, seen_by, unit

HOSTILE = (
    '"',
    '" OR 1=1 --',
    "falcon AND",
    "NEAR(falcon lunch, 2)",
    "fal*",
    "^falcon",
    "terms: falcon",
    "-falcon +lunch",
    "falcon~1",
    "'; DROP TABLE entries; --",
    "%_\\",
    "$1 {0} {name} :x ?",
    "a\x00b",
    "line\r\nline\rline\n",
    "---\nkey: value\n---\n",
    "\u202eright to left\u202c \u200d\U0001f468\u200d\U0001f469\u200d\U0001f467 \ufeff",
    "e\u0301 \u00e9 \u1e9b\u0323",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "@{key} | - [tag] (escape)",
    " ",
    "",
)


def ids(entries: list[Entry]) -> list[str]:
    """Their keys, which tests read more easily than ids."""
    return [e.key for e in entries]


def test_says_what_kind_it_is(kind: Kind, store: Store) -> None:
    """The name is the kind's, and the protocol is complete."""
    assert kind.name == store.name
    assert isinstance(store, Store)
    assert store.exact in {True, False}


def test_what_was_written_is_there(store: Store) -> None:
    """Every field comes back as it was."""
    then = EPOCH + timedelta(days=3, microseconds=7)
    full = Entry(
        key="k",
        text="t",
        owner="ann",
        layer="semantic",
        category="anything: at all",
        subject="s",
        session="conversation/1",
        created=then,
        updated=then + timedelta(microseconds=1),
        superseded=then + timedelta(days=1),
        visibility="shared",
        readers=("cem", "bob"),
        pinned=True,
        archived=True,
        sources=("m2", "m1", "m2"),
        attributes=(("b", "2"), ("a", "1")),
    )
    store.write([full, entry("other")])

    assert [full] == store.get([full.id])
    assert store.get([full.id])[0].sources == ("m2", "m1", "m2")


def test_an_entry_takes_the_place_of_the_one_with_its_id(store: Store) -> None:
    """The old text is found no more, and nothing is there twice."""
    store.write([entry("a", "falcon"), entry("b", "lunch")])
    store.write([entry("a", "river")])

    assert ["river"] == [e.text for e in store.get([entry("a").id])]
    assert 2 == store.count(ALL)
    assert [] == store.lexical("falcon", ALL, 5)
    assert [entry("a").id] == [h.id for h in store.lexical("river", ALL, 5)]


def test_the_later_of_two_with_one_id_is_kept(store: Store) -> None:
    """Within one call too, with its own vector."""
    twice = [entry("a", "first"), entry("b"), entry("a", "second")]
    store.write(twice, array([unit(1, 0, 0, 0), unit(0, 0, 1, 0), unit(0, 1, 0, 0)]))

    assert ["second"] == [e.text for e in store.get([twice[0].id])]
    assert 2 == store.count(ALL)
    best = store.nearest(array([unit(0, 1, 0, 0)])[0], ALL, 1)
    assert [twice[0].id] == [h.id for h in best]
    assert 1.0 == pytest.approx(best[0].score)


def test_no_other_owner_or_layer_is_written_over(store: Store) -> None:
    """A key is its owner's and its layer's alone, whatever delimiters it holds."""
    names = ("a", "a_b", "b", "a/b", "a:b", "a|b", "a\x00b", "a&b=c", "../a", "a%2Fb", "A", " a")
    entries = [
        entry(key, f"{owner!r} {key!r} {layer}", owner, layer=layer)
        for owner in names
        for key in names
        for layer in ("long_term", "semantic")
    ]
    store.write(entries)

    assert len(entries) == store.count(ALL)
    assert entries == store.get([e.id for e in entries])


def test_an_entry_written_without_its_vector_has_none(store: Store) -> None:
    """Whatever it had before; a row of zeros is no vector."""
    north, east = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
    store.write([entry("a"), entry("b"), entry("c")], array([north, north, east]))
    store.write([entry("a")])
    store.write([entry("b")], array([(0.0, 0.0, 0.0, 0.0)]))

    found = store.nearest(array([north])[0], ALL, 5)

    assert [entry("c").id] == [h.id for h in found]


def test_vectors_of_another_dimension_are_refused_whole(store: Store) -> None:
    """Nothing of the call is taken in."""
    store.write([entry("a")], array([unit(1, 0, 0, 0)]))

    with pytest.raises(StoreError):
        store.write([entry("a", "changed"), entry("b")], array([unit(1, 0), unit(0, 1)]))
    with pytest.raises(StoreError):
        store.write([entry("b"), entry("c")], array([unit(1, 0, 0, 0)]))
    with pytest.raises(StoreError):
        store.write([entry("b")], np.array([[np.nan, 0, 0, 0]], np.float32))

    assert [entry("a")] == store.find(ALL)
    assert 1 == len(store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 5))


def test_a_query_that_is_not_finite_is_refused(store: Store) -> None:
    """No store makes scores of it."""
    store.write([entry("a")], array([unit(1, 0, 0, 0)]))

    for odd in (np.nan, np.inf):
        with pytest.raises(StoreError, match="not finite"):
            store.nearest(np.array([odd, 0, 0, 0], np.float32), ALL, 1)


def test_what_cannot_be_encoded_is_refused_whole(store: Store) -> None:
    """A lone surrogate in a list, which an entry does not look into."""
    with pytest.raises(StoreError):
        store.write([entry("a"), entry("b", sources=("\ud800",))])

    assert [] == store.find(ALL)


def test_nothing_is_a_fine_thing_to_write(store: Store) -> None:
    """No entries, no ids."""
    store.write([])
    store.write([], np.empty((0, 4), np.float32))

    assert 0 == store.erase([])
    assert [] == store.get([])
    assert [] == store.find(ALL)
    assert store.embedded is None


def test_tells_what_its_vectors_were_made_with(store: Store) -> None:
    """None before any, and what was said afterwards; another embedder's vectors are dropped."""
    hashed, other = EmbedderInfo("hash", 4), EmbedderInfo("other", 4)
    assert store.embedded is None
    store.embedded_by(hashed)
    store.write([entry("a")], array([unit(1, 0, 0, 0)]))
    assert hashed == store.embedded

    store.embedded_by(hashed)
    assert 1 == len(store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 5))

    store.embedded_by(other)
    assert other == store.embedded
    assert [] == store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 5)
    assert [entry("a")] == store.find(ALL)
    store.write([entry("b")], array([unit(1, 0, 0, 0)]))
    assert [entry("b").id] == [h.id for h in store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 5)]


def test_another_dimension_may_follow_another_embedder(store: Store) -> None:
    """Once it is said that vectors are made otherwise, they may be longer."""
    store.write([entry("a")], array([unit(1, 0, 0, 0)]))
    store.embedded_by(EmbedderInfo("long", 6))
    store.write([entry("a")], array([unit(1, 0, 0, 0, 0, 0)]))

    assert 1 == len(store.nearest(array([unit(1, 0, 0, 0, 0, 0)])[0], ALL, 5))
    with pytest.raises(StoreError):
        store.nearest(array([unit(1, 0, 0, 0)])[0], ALL, 5)


def test_get_keeps_the_order_asked_for(store: Store) -> None:
    """What is not there is left out, whatever its id looks like."""
    a, b, c = entry("a"), entry("b"), entry("c")
    store.write([a, b, c])

    assert [c, a, b] == store.get([c.id, "no such", a.id, "", b.id, "'\x00\ud800", a.id[:-1]])


def test_get_filters_nothing(store: Store) -> None:
    """Who may see what is asked elsewhere."""
    foreign = entry("a", owner="bob", archived=True)
    store.write([foreign])

    assert [foreign] == store.get([foreign.id])


def test_find_lists_by_creation_and_id(store: Store) -> None:
    """Not by when things were written, nor by update."""
    entries = [entry(f"{n}", minute=m) for n, m in enumerate((3, 1, 2, 1, 3, 0))]
    entries[2] = replace(entries[2], updated=EPOCH + timedelta(days=9))
    store.write(entries[:3])
    store.write(entries[3:])

    assert sorted(entries, key=lambda e: (e.created, e.id)) == store.find(ALL)


def test_find_goes_on_after_an_entry_that_is_gone(store: Store) -> None:
    """Pages neither repeat nor leave out, while entries come and go."""
    entries = sorted((entry(f"{n}", minute=n // 3) for n in range(12)), key=lambda e: e.id)
    entries.sort(key=lambda e: e.created)
    store.write(entries)
    first = store.find(ALL, limit=5)
    store.erase([first[-1].id])
    store.write([entry("early", minute=-1)])

    assert entries[:5] == first
    assert entries[5:10] == store.find(ALL, after=first[-1], limit=5)
    assert entries[10:] == store.find(ALL, after=entries[9], limit=5)
    assert [] == store.find(ALL, after=entries[-1])


def test_a_page_has_its_size(store: Store) -> None:
    """`PAGE` entries, unless it is told otherwise."""
    store.write([entry(f"{n}", minute=n) for n in range(PAGE + 3)])

    assert PAGE == len(store.find(ALL))
    assert PAGE + 3 == len(store.find(ALL, limit=2 * PAGE)) == store.count(ALL)


def test_times_keep_their_microseconds(store: Store) -> None:
    """And order by them, over any span of years."""
    moments = [EPOCH.replace(year=1), EPOCH, EPOCH + timedelta(microseconds=1)]
    moments.append(EPOCH.replace(year=9999, month=12, day=31))
    entries = [replace(entry(f"{m}"), created=m) for m in reversed(moments)]
    store.write(entries)

    assert moments == [e.created for e in store.find(ALL)]


def test_every_filter_admits_what_it_says(store: Store) -> None:
    """Owner, layer, category, archived, superseded, and all of them at once."""
    entries = [
        entry(
            f"{layer}{category}{archived}{late}",
            "falcon",
            owner,
            layer=layer,
            category=category,
            archived=archived,
            superseded=EPOCH if late else None,
        )
        for owner in ("ann", "bob")
        for layer in ("long_term", "semantic")
        for category in ("daily", "custom")
        for archived in (False, True)
        for late in (False, True)
    ]
    store.write(entries, array([unit(1, 1, 0, 0)] * len(entries)))
    filters = (
        Where(reader=None),
        Where(reader=None, archived=True),
        Where(reader=None, archived=None, superseded=False),
        Where(reader=None, owner="bob", layers=frozenset({"semantic"})),
        Where(reader=Reader(principal="ann"), categories=frozenset({"daily", "none"})),
        Where(reader=Reader(principal="ann"), owner="bob", archived=None),
        Where(reader=None, owner="", archived=None),
    )
    for where in filters:
        expected = sorted(e.id for e in entries if where.admits(e.shelf))
        assert expected == sorted(e.id for e in store.find(where))
        assert len(expected) == store.count(where)
        assert expected == sorted(h.id for h in store.lexical("falcon", where, 99))
        near = store.nearest(array([unit(1, 1, 0, 0)])[0], where, 99)
        assert expected == sorted(h.id for h in near)


def test_moving_to_another_shelf_leaves_nothing_behind(store: Store) -> None:
    """What is shared, archived or superseded is found there, and there alone."""
    vector = array([unit(1, 0, 0, 0)])
    bob = Where(reader=Reader(principal="bob"))
    one = entry("a", "falcon")
    store.write([one, entry("b", "lunch")], array([unit(1, 0, 0, 0)] * 2))
    assert [] == store.lexical("falcon", bob, 5)

    shared = one.shared_with("bob")
    store.write([shared], vector)
    assert [shared.id] == [h.id for h in store.lexical("falcon", bob, 5)]
    assert [shared.id] == [h.id for h in store.nearest(vector[0], bob, 5)]
    assert [shared] == store.find(bob)

    archived = replace(one, archived=True)
    store.write([archived], vector)
    assert [] == store.lexical("falcon", bob, 5) == store.nearest(vector[0], bob, 5)
    assert 0 == store.count(bob)
    assert ["b"] == ids(store.find(Where(reader=None)))
    assert ["a"] == ids(store.find(Where(reader=None, archived=True)))


def test_grants_open_what_they_name(store: Store) -> None:
    """One category of one owner, for one reader, until it is revoked."""
    daily = entry("a", "falcon", category="daily")
    store.write([daily, entry("b", "falcon", category="custom"), entry("c", "falcon", "cem")])
    grant = ReadGrant(owner="ann", reader="bob", category="daily")

    assert [daily] == store.find(seen_by("bob", grant))
    assert [daily.id] == [h.id for h in store.lexical("falcon", seen_by("bob", grant), 5)]
    assert [] == store.find(seen_by("cem2", grant))
    assert [] == store.find(seen_by("bob"))


def test_ties_go_to_what_is_listed_first(store: Store) -> None:
    """Even if an entry of an earlier day is written later, and more tie than are wanted."""
    north = unit(1, 0, 0, 0)
    late = [entry(f"late{n}", "falcon", minute=5 + n // 2) for n in range(6)]
    early = [entry(f"early{n}", "falcon", minute=1 + n // 2) for n in range(6)]
    store.write(late, array([north] * 6))
    assert 1 == len(store.lexical("falcon", ALL, 1))
    store.write(early, array([north] * 6))
    expected = [e.id for e in store.find(ALL)]

    for k in (1, 2, 3, 7, 12, 40):
        assert expected[:k] == [h.id for h in store.lexical("falcon", ALL, k)]
        assert expected[:k] == [h.id for h in store.nearest(array([north])[0], ALL, k)]


def test_ties_across_owners_go_to_what_is_listed_first(store: Store) -> None:
    """Behind what is better, however much ties with the last, and whoever wrote it."""
    for n in range(12):
        words = "falcon falcon tea" if n % 4 == 0 else "falcon tea tea"
        store.write([entry(f"e{n}", words, owner=("ana", "ben", "cem")[n % 3], minute=-(n // 2))])
    everything = [h.id for h in store.lexical("falcon", ALL, 40)]
    assert 12 == len(everything)

    for k in range(1, 13):
        assert everything[:k] == [h.id for h in store.lexical("falcon", ALL, k)]


def test_sums_in_another_order_tie(store: Store) -> None:
    """Which of three words of one weight stands twice makes no difference to a score."""
    twice = ("tea river blue", "river blue tea", "blue tea river")
    texts = [f"{words} {words.split()[n % 3]}" for n, words in enumerate(twice * 4)]
    store.write([entry(f"{n}", text, minute=-n) for n, text in enumerate(texts)])
    store.write([entry(f"other{n}", "falcon lunch on the moon", minute=9) for n in range(40)])

    found = store.lexical("tea river blue", ALL, 50)

    assert 1 == len({hit.score for hit in found})
    assert [e.id for e in store.find(ALL)][:12] == [h.id for h in found]


def test_only_entries_with_a_word_are_found_by_words(store: Store) -> None:
    """Words are stems without stop words; a query without any finds nothing."""
    store.write([entry("a", "She moved to Oslo"), entry("b", "the tea"), entry("c", " ")])

    assert [entry("a").id] == [h.id for h in store.lexical("who is moving?", ALL, 5)]
    for query in ("the", "", " ", "zebra", "...", "a\x00"):
        assert [] == store.lexical(query, ALL, 5)
    assert [] == store.lexical("tea", ALL, 0)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_are_values(store: Store, text: str) -> None:
    """As key, text, owner, category, subject, session and query: nothing is syntax or is lost."""
    known = entry("known", "falcon lunch")
    owner = text if text.strip() else "o"  # a blank name is nobody's
    odd = Entry(
        key=text or "k",
        text=text,
        owner=owner,
        category=text or "c",
        subject=text,
        session=text,
        attributes=((text, text),),
        sources=(text,),
    )
    store.write([known, odd])
    mine = Where(reader=Reader(principal=owner), owner=owner)

    assert [odd] == store.get([odd.id])
    assert [odd] == store.find(mine)
    assert [] == store.lexical("river", ALL, 5)
    found = {h.id for h in store.lexical(text, ALL, 5)}
    assert found <= {known.id, odd.id}
    assert (known.id in found) == ("falcon" in text)
    assert 1 == store.erase([odd.id])
    assert [known] == store.find(ALL)


def test_a_key_that_says_something_is_found_by_its_words(store: Store) -> None:
    """Until the entry is another one, or gone; no other key is, and texts stay as they are."""
    a, b = entry("tea-room", "falcon", attributes=(FOUND_BY_KEY,)), entry("tea", "lunch")
    store.write([a, b])

    assert [a.id] == [h.id for h in store.lexical("tea", ALL, 5)]
    assert [a.id] == [h.id for h in store.lexical("falcon", ALL, 5)]
    assert ["falcon", "lunch"] == [e.text for e in store.get([a.id, b.id])]
    store.write([replace(a, attributes=())])
    assert [] == store.lexical("tea", ALL, 5)
    store.write([a])
    assert 1 == store.erase([a.id])
    assert [] == store.lexical("tea room falcon", ALL, 5)


def test_a_text_may_be_long(store: Store) -> None:
    """A megabyte of words, and a megabyte that is one word."""
    words = " ".join(f"word{n}" for n in range(120_000))
    one = "x" * 1_000_000
    store.write([entry("a", words), entry("b", one), entry("c", one[:-1] + "y")])

    assert [words, one] == [e.text for e in store.get([entry("a").id, entry("b").id])]
    assert [entry("a").id] == [h.id for h in store.lexical("word77777", ALL, 5)]
    assert [entry("b").id] == [h.id for h in store.lexical(one, ALL, 5)]


def test_what_was_erased_is_gone(store: Store) -> None:
    """From every way to it; how many there were is told; others stay."""
    north = array([unit(1, 0, 0, 0)])
    a, b = entry("a", "falcon"), entry("b", "falcon river")
    store.write([a, b], array([unit(1, 0, 0, 0)] * 2))

    assert 1 == store.erase([a.id, a.id, "no such"])
    assert 0 == store.erase([a.id])
    assert [] == store.get([a.id])
    assert [b] == store.find(ALL)
    assert 1 == store.count(ALL)
    assert [b.id] == [h.id for h in store.lexical("falcon", ALL, 5)]
    assert [b.id] == [h.id for h in store.nearest(north[0], ALL, 5)]
    store.write([a])
    assert [b.id] == [h.id for h in store.nearest(north[0], ALL, 5)]


def test_survives_being_closed(kind: Kind, home: Home) -> None:
    """Where there is a file or a server, everything is there when it is opened again."""
    if not kind.lasting:
        return
    store = home.open()
    store.embedded_by(EmbedderInfo("hash", 4))
    entries = [entry(f"{n}", f"falcon {n}", minute=n) for n in range(20)]
    store.write(entries, array([unit(1, n, 0, 0) for n in range(20)]))
    store.erase([entries[3].id])
    vector = array([unit(1, 2, 0, 0)])[0]
    before = (store.find(ALL), store.lexical("falcon 7", ALL, 9), store.nearest(vector, ALL, 9))
    store.close()

    again = home.open()

    assert EmbedderInfo("hash", 4) == again.embedded
    assert before == (
        again.find(ALL),
        again.lexical("falcon 7", ALL, 9),
        again.nearest(vector, ALL, 9),
    )


def test_two_writers_lose_nothing(kind: Kind, home: Home) -> None:
    """Two handles on one memory see each other's writes and erasures, by words and vectors too."""
    if not kind.shared:
        return
    one, two = home.open(), home.open()
    vector = array([unit(1, 0, 0, 0)])
    for n in range(10):
        one.write([entry(f"one{n}", "falcon", minute=n)], vector)
        assert n * 2 + 1 == len(two.lexical("falcon", ALL, 99)) == two.count(ALL)
        two.write([entry(f"two{n}", "falcon", "bob", n)], vector)
        assert n * 2 + 2 == len(one.nearest(vector[0], ALL, 99)) == len(one.find(ALL))
    two.write([entry("one0", "river")])
    assert one.lexical("river", ALL, 5)
    one.erase([entry("one1").id])

    assert [] == two.get([entry("one1").id])
    for store in (one, two):
        assert 19 == store.count(ALL)
        assert 18 == len(store.lexical("falcon", ALL, 99)) == len(store.nearest(vector[0], ALL, 99))
    two.embedded_by(EmbedderInfo("other", 4))
    assert EmbedderInfo("other", 4) == one.embedded
    assert [] == one.nearest(vector[0], ALL, 99)


def test_two_writers_agree_on_who_has_anything(kind: Kind, home: Home) -> None:
    """Somebody's only entry is erased by one handle, and another comes: the other one knows."""
    if not kind.shared:
        return
    one, two = home.open(), home.open()
    vector = array([unit(1, 0, 0, 0)])
    one.write([entry("a", "falcon")], vector)
    for n in range(3):
        one.write([entry("b", "falcon", f"owner{n}")], vector)
        assert 2 == two.count(ALL) == len(two.lexical("falcon", ALL, 9))
        one.erase([entry("b", owner=f"owner{n}").id])
        assert 1 == two.count(ALL) == len(two.lexical("falcon", ALL, 9))
        assert 1 == len(two.nearest(vector[0], ALL, 9)) == len(two.find(ALL))
        two.write([entry("c", "falcon", "cem")], vector)
        assert 2 == one.count(ALL) == len(one.lexical("falcon", ALL, 9))
        two.erase([entry("c", owner="cem").id])
        assert 1 == one.count(ALL) == len(one.nearest(vector[0], ALL, 9))


def test_a_closed_store_says_so(store: Store) -> None:
    """Every method raises StoreError; closing again does nothing."""
    store.write([entry("a")], array([unit(1, 0, 0, 0)]))
    store.close()
    store.close()
    vector = array([unit(1, 0, 0, 0)])[0]

    for ask in (
        lambda: store.write([entry("b")]),
        lambda: store.embedded_by(None),
        lambda: store.embedded_by(EmbedderInfo("x", 1)),
        lambda: store.erase([entry("a").id]),
        lambda: store.get([entry("a").id]),
        lambda: store.find(ALL),
        lambda: store.count(ALL),
        lambda: store.lexical("a", ALL, 1),
        lambda: store.nearest(vector, ALL, 1),
    ):
        with pytest.raises(StoreError):
            ask()


def test_entries_are_the_stores_own(store: Store) -> None:
    """Vectors that the caller changes afterwards change nothing."""
    vectors = array([unit(1, 0, 0, 0)])
    store.write([entry("a")], vectors)
    vectors[:] = 0

    assert 1.0 == pytest.approx(store.nearest(made.array([unit(1, 0, 0, 0)])[0], ALL, 1)[0].score)
