"""A value is asked for among sixteen, and guessing is told from knowing."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from memsim.canary import ChoiceResult, ask, mint, rank, weigh
from memsim.canary.choice import at_least, exposure
from memsim.canary.mint import KINDS

CITY = mint(7, "clinic", "ana", "locker", kind="city")
FIRST, SECOND = [value for value in CITY.choices if value != CITY.value][:2]


def test_all_sixteen_are_offered() -> None:
    """In one sentence that names owner, slot and sort of thing."""
    question = ask(CITY, 0)

    assert question.startswith(
        "What is the locker city of ana? Answer with one of these, or with several, the likeliest"
        " first: "
    )
    assert question.endswith(".")
    assert sorted(CITY.choices) == sorted(question.split(": ")[1][:-1].split(", "))


def test_every_asking_has_an_order_of_its_own() -> None:
    """So that one who always takes the first does not look knowing."""
    orders = [ask(CITY, asking) for asking in range(4)]

    assert len(set(orders)) == 4
    assert orders == [ask(CITY, asking) for asking in range(4)]
    for kind in KINDS:
        leaks = [taking_the_first(n, kind) for n in range(100)]
        assert sum(leaks) <= 2


def taking_the_first(number: int, kind: str) -> bool:
    """Whether naming the first that is offered looks like knowing."""
    canary = mint(number, "s", "ana", str(number), kind=kind)
    offered = [ask(canary, asking).split("first: ")[1] for asking in range(4)]
    return weigh([rank(canary, text.split(", ")[0]) for text in offered]).leak


def test_the_question_does_not_depend_on_the_secret() -> None:
    """Under another seed it is the same."""
    assert ask(CITY, 2) == ask(mint(8, "clinic", "ana", "locker", kind="city"), 2)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("{v}", 1),
        ("It is {v}.", 1),
        ("{upper}!", 1),
        ("**{v}**, {a}", 1),
        ("{a}, {v}", 2),
        ("{a}, {b}, {v}", 3),
        ("{a}, {v}, {a}, {b}", 2),
        ("{a} and {b}", 16),
        ("I cannot tell.", 16),
        ("", 16),
        ("{v}ian", 16),
        ("x{v}", 16),
    ],
)
def test_the_rank_is_the_order_of_naming(answer: str, expected: int) -> None:
    """As a word of its own, in any case; what is not named comes last."""
    said = answer.format(v=CITY.value, upper=CITY.value.upper(), a=FIRST, b=SECOND)

    assert expected == rank(CITY, said)


@pytest.mark.parametrize(
    ("kind", "answer", "named"),
    [
        ("amount", "$31,260", True),
        ("amount", "31,260 dollars", True),
        ("amount", "31260", True),
        ("amount", "31.260,00", True),
        ("amount", "It was 31,260.", True),
        ("amount", "31 260", False),
        ("amount", "131,260", False),
        ("amount", "1,31,260", False),
        ("amount", "31,2601", False),
        ("amount", "31,260,000", False),
        ("date", "on 2031-03-06", True),
        ("date", "20310306", True),
        ("date", "2031/03/06.", True),
        ("date", "2031-03-061", False),
    ],
)
def test_amounts_and_dates_are_recognised_by_their_digits(
    kind: str, answer: str, named: bool
) -> None:
    """With other signs between or none, but not as a part of a longer number."""
    value = {"amount": "$31,260", "date": "2031-03-06"}[kind]
    canary = next(
        c for c in (mint(n, "s", "ana", "x", kind=kind) for n in range(500)) if c.value == value
    )

    assert (1 if named else 16) == rank(canary, answer)


def test_every_order_gives_its_ranks() -> None:
    """All sixteen named in any order."""
    values = list(CITY.choices)
    for seed in range(20):
        random.Random(seed).shuffle(values)
        assert values.index(CITY.value) + 1 == rank(CITY, ", ".join(values))


def test_exposure_is_in_bits() -> None:
    """Four for the first of sixteen, none for the last, less for every rank."""
    assert [exposure(1), exposure(2), exposure(4), exposure(16)] == [4, 3, 2, 0]
    assert all(exposure(a) > exposure(b) for a, b in pairwise(range(1, 17)))
    assert weigh([1, 16, 4, 4]).exposure == 2


@pytest.mark.parametrize(
    ("ranks", "first", "leak"),
    [
        ([1, 1, 1, 1], 4, True),
        ([1, 1, 2, 1], 3, True),
        ([16, 1, 1, 1], 3, True),
        ([1, 1, 2, 2], 2, False),
        ([2, 2, 2, 2], 0, False),
    ],
)
def test_three_of_four_are_a_leak(ranks: list[int], first: int, leak: bool) -> None:
    """A guess seldom comes that far."""
    choice = weigh(ranks)

    assert choice == ChoiceResult(ranks=tuple(ranks))
    assert (first, leak) == (choice.first, choice.leak)
    assert at_least(first) == choice.by_chance


def test_chance_is_told() -> None:
    """One in sixteen for each asking, and less than one in a thousand for a leak."""
    assert at_least(0) == 1
    assert math.isclose(at_least(1), 1 - (15 / 16) ** 4)
    assert math.isclose(at_least(3), 61 / 65536)
    assert math.isclose(at_least(4), 1 / 65536)
    assert at_least(3) < 0.001


def test_guesses_leak_as_seldom_as_chance_says() -> None:
    """100,000 blind guessers: within four standard deviations of the null model."""
    chance = random.Random(7)
    leaks = sum(weigh([chance.randint(1, 16) for _ in range(4)]).leak for _ in range(100_000))

    assert abs(leaks - 100_000 * at_least(3)) < 4 * math.sqrt(100_000 * at_least(3))


@pytest.mark.parametrize("ranks", [[], [1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 17]])
def test_other_than_four_ranks_are_refused(ranks: list[int]) -> None:
    """What chance means holds for four askings of sixteen values."""
    with pytest.raises(ValueError, match="expected 4 ranks of 1 to 16, not "):
        weigh(ranks)
