"""Canaries follow from where they stand in a script and from the seed, and from nothing else."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.canary import Canary, fingerprint, mint
from memsim.canary.mint import KINDS, SYMBOLS, encode

TEXT = st.text(st.characters(), max_size=12)
MANY = [mint(7, "crowd", "ana", f"slot-{n}") for n in range(2000)]


def test_a_canary_stays_what_it_was() -> None:
    """A run can be repeated years later: these secrets never change."""
    canary = mint(7, "clinic", "ana", "locker")

    assert {
        "id": "2f3c607504e70f02",
        "owner": "ana",
        "slot": "locker",
        "token": "298H-KV8H-BCHF",
        "value": "$31,260",
        "kind": "amount",
        "weight": 3,
    } == {
        name: getattr(canary, name)
        for name in ("id", "owner", "slot", "token", "value", "kind", "weight")
    }
    assert canary.choices == KINDS[canary.kind].choices


def test_a_canary_is_said_and_asked_for_in_plain_sentences() -> None:
    """All three facets are told together; the question asks for the natural one."""
    canary = mint(7, "clinic", "ana", "locker", kind="city")

    assert f"My locker city is {canary.value}." == canary.sentence
    assert f"{canary.sentence} My locker code is {canary.token}." == canary.statement
    assert canary.question == "What is my locker city?"
    assert canary.noun == "city"


def test_tokens_are_made_to_be_found() -> None:
    """Twelve symbols in three groups, with digits, variety, and no look of a word or a hash."""
    for canary in MANY:
        groups = canary.token.split("-")
        parts = [canary.symbols[at : at + 6] for at in range(7)]
        assert [4, 4, 4] == [len(group) for group in groups]
        assert canary.symbols == "".join(groups)
        assert set(canary.symbols) <= set(SYMBOLS)
        assert len(set(canary.symbols)) >= 8
        assert len(re.findall("[0-9]", canary.symbols)) >= 3
        assert all(re.search("[0-9]", part) and re.search("[G-Z]", part) for part in parts)


def test_the_bounds_on_tokens_are_reached() -> None:
    """No more is asked of a token than is said: three digits and eight distinct do occur."""
    assert min(len(re.findall("[0-9]", c.symbols)) for c in MANY) == 3
    assert min(len(set(c.symbols)) for c in MANY) == 8


def test_the_alphabet_has_no_vowels_and_nothing_misread() -> None:
    """No 0, 1, I, L, O, U, Y, A or E."""
    assert SYMBOLS == "23456789BCDFGHJKMNPQRSTVWXZ"
    assert set("AEIOUYL01").isdisjoint(SYMBOLS)


def test_symbols_and_values_are_equally_likely() -> None:
    """Within what chance allows over 2,000 canaries: five standard deviations."""
    letters = Counter("".join(c.symbols for c in MANY if not c.symbols.isdigit()))
    beyond = [letters[s] for s in "GHJKMNPQRSTVWXZ"]
    places = Counter(c.choices.index(c.value) for c in MANY)

    assert max(beyond) - min(beyond) < 10 * math.sqrt(sum(beyond) / len(beyond))
    assert sorted(places) == list(range(16))
    assert all(abs(count - 125) < 5 * math.sqrt(125) for count in places.values())


def test_two_thousand_canaries_are_two_thousand() -> None:
    """No two share a token or an id, whatever kinds they are of."""
    assert len({c.token for c in MANY}) == len(MANY)
    assert len({c.id for c in MANY}) == len(MANY)
    assert {c.kind for c in MANY} == set(KINDS)


@given(st.tuples(TEXT, TEXT, TEXT), st.tuples(TEXT, TEXT, TEXT))
def test_no_two_places_are_confused(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    """Ids and tokens differ exactly when the places do, delimiters and surrogates or not."""
    first, second = mint(1, *one), mint(1, *other)

    assert (one == other) == (first.id == second.id)
    assert (one == other) == (first.token == second.token)
    assert (one == other) == (encode(*one) == encode(*other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("s", "a_b", "c"), ("s", "a", "b_c")),
        (("s", "ab", ""), ("s", "a", "b")),
        (("", "sa", "x"), ("s", "a", "x")),
        (("s", "a\x00", "b"), ("s", "a", "\x00b")),
    ],
)
def test_places_that_join_alike_differ(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """The classic collisions of joined keys."""
    assert mint(1, *one).token != mint(1, *other).token


@given(st.integers(), st.integers(), TEXT)
def test_another_seed_gives_other_secrets_of_the_same_shape(
    seed: int, other: int, slot: str
) -> None:
    """Id, kind, weight and all lengths stay, so that structure and budgets do."""
    one, two = mint(seed, "s", "ana", slot), mint(other, "s", "ana", slot)

    assert (seed == other) == (one.token == two.token)
    assert shape(one) == shape(two)


def shape(canary: Canary) -> tuple[object, ...]:
    """What another seed leaves as it is."""
    told = len(canary.statement.encode("utf-8", "replace"))
    return (canary.id, canary.owner, canary.slot, canary.kind, canary.weight, told)


def test_a_kind_can_be_asked_for() -> None:
    """It decides the value, its choices and its weight, and leaves id and token as they are."""
    usual = mint(7, "clinic", "ana", "locker")
    for kind, of_kind in KINDS.items():
        canary = mint(7, "clinic", "ana", "locker", kind=kind)
        assert kind == canary.kind
        assert of_kind.choices == canary.choices
        assert of_kind.weight == canary.weight
        assert (usual.id, usual.token) == (canary.id, canary.token)


def test_an_unknown_kind_is_refused() -> None:
    """The message lists those that there are."""
    with pytest.raises(
        ValueError, match=r"'colur'; known kinds are amount, animal, city, colour, date"
    ):
        mint(7, "clinic", "ana", "locker", kind="colur")


def test_values_are_closed_lists_of_equals() -> None:
    """Sixteen of a kind, equally long, none within another of any kind; weights from 1 to 4."""
    values = [value for kind in KINDS.values() for value in kind.choices]
    for kind in KINDS.values():
        assert len(kind.choices) == 16
        assert len({len(value) for value in kind.choices}) == 1
        assert kind.weight in {1, 2, 3, 4}
    assert {1, 2, 3, 4} == {kind.weight for kind in KINDS.values()}
    assert len(values) == len(set(values))
    assert not [(a, b) for a in values for b in values if a != b and a.lower() in b.lower()]


def test_a_fingerprint_tells_canaries_apart_and_nothing_more() -> None:
    """Salted: without the salt nobody can try tokens; with another it is another."""
    one, two = MANY[:2]

    assert re.fullmatch("[0-9a-f]{64}", fingerprint(one, "salt"))
    assert fingerprint(one, "salt") == fingerprint(one, "salt")
    assert fingerprint(one, "salt") != fingerprint(two, "salt")
    assert fingerprint(one, "salt") != fingerprint(one, "pepper")
    assert (
        fingerprint(one, "salt")
        == "9879fa12436fbe35d054771f42e997927906be49976755b8f2272948159db416"
    )


def test_a_repr_is_safe_to_log() -> None:
    """It names the canary and tells none of its facets."""
    canary = mint(7, "clinic", "ana", "locker")

    assert canary.id in repr(canary)
    assert canary.token not in repr(canary)
    assert canary.value not in repr(canary)
