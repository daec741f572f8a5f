"""Which messages needed the memory: values that are said again after a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memsim.message import EPOCH, Message, Role, Text
from memsim.scenario.reuse_needs import LATEST, Need, reuse_needs
from memsim.scenario.script import Turn

SMALL_TALK = tuple(
    f"{who} {did} {what}."
    for who, did, what in zip(
        ("Birds", "Clouds", "Rivers", "Trains", "Bakers", "Sailors", "Poets", "Farmers") * 5,
        ("sing", "drift", "flow", "leave", "knead", "cheer", "write", "plough") * 5,
        (f"slowly{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(40)),
        strict=True,
    )
)
FIRST = "My broken lawn mower has the order number HG-4471."
AGAIN = "The order number of the broken mower is HG-4471."


def spoken(*texts: str | tuple[str, str], role: Role = "user") -> list[Turn]:
    """A turn for each text; a pair is who says it and what."""
    turns = []
    for number, said in enumerate(texts, start=1):
        who, text = ("ana", said) if isinstance(said, str) else said
        time = EPOCH + timedelta(minutes=number)
        message = Message(
            id=f"m{number}",
            role=role,
            blocks=(Text(text),),
            principal=who,
            session="s1",
            turn=number,
            time=time,
        )
        turns.append(Turn(number=number, session="s1", principal=who, time=time, heard=(message,)))
    return turns


def values(turns: Sequence[Turn], *, shared: bool = False) -> set[str]:
    return {need.expect for need in reuse_needs(turns, shared=shared)}


def test_a_value_that_comes_back_is_a_need() -> None:
    """It is asked just before, without the value, and the earlier message is the evidence."""
    needs = reuse_needs(spoken(FIRST, *SMALL_TALK[:20], AGAIN))

    assert needs[0] == Need(
        message="m22",
        turn=21,
        kind="identifier",
        ask="The order number of the broken mower is ….",
        expect="HG-4471",
        evidence=("m1",),
        principal="ana",
    )


@pytest.mark.parametrize(
    "texts",
    [
        (FIRST, *SMALL_TALK[: LATEST - 2], AGAIN),
        (*SMALL_TALK[:20], f"{FIRST} {AGAIN}"),
        (FIRST, *SMALL_TALK[:20], AGAIN.replace("HG-4471", "HG-44710")),
        (
            FIRST.replace("HG-4471", "on Monday"),
            *SMALL_TALK[:20],
            AGAIN.replace("HG-4471", "Monday"),
        ),
        (*(f"{FIRST} {word}" for word in SMALL_TALK[:9]), *SMALL_TALK[:20], AGAIN),
        (FIRST, *SMALL_TALK[:20], "What a lovely evening with HG-4471!"),
    ],
    ids=["just said", "same message", "longer value", "weekday", "common", "unrelated"],
)
def test_other_values_are_no_needs(texts: tuple[str, ...]) -> None:
    """What a window holds, what is new, and what everybody says all the time."""
    assert not {"HG-4471", "Monday"} & values(spoken(*texts))


def test_a_window_ends_where_it_says() -> None:
    """A value that was said twelve messages ago is one."""
    assert "HG-4471" in values(spoken(FIRST, *SMALL_TALK[: LATEST - 1], AGAIN))


def test_nobody_needs_what_another_said() -> None:
    """Unless everybody may see everything."""
    turns = spoken(("ben", FIRST), *SMALL_TALK[:20], AGAIN)

    assert "HG-4471" not in values(turns)
    assert "HG-4471" in values(turns, shared=True)


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        ("Die Heizung im Keller hat Nummer K-99.", "Die Heizung im Keller ist K-99.", "K-99"),
        ("我家的咖啡机型号是CM-200。", "咖啡机的型号是CM-200。", "CM-200"),
        ("Номер заказа на мебель: HG-9.", "Номер заказа на мебель был HG-9.", "HG-9"),
    ],
)  # fmt: skip
def test_other_languages_have_needs(first: str, again: str, expected: str) -> None:
    """Words are compared in any script."""
    assert expected in values(spoken(first, *SMALL_TALK[:20], again))


def test_a_correction_is_marked_and_needs_no_distance() -> None:
    """That a user says it again shows that it was forgotten."""
    told = "No, I said HG-4471!"
    plain, marked = (
        reuse_needs(spoken(FIRST, *SMALL_TALK[:4], text)) for text in ("HG-4471!", told)
    )

    assert () == plain
    assert [("en", "HG-4471", ("m1",))] == [(n.corrects, n.expect, n.evidence) for n in marked]
    assert () == reuse_needs(spoken(FIRST, *SMALL_TALK[:4], told, role="assistant"))


def test_of_many_needs_the_same_are_chosen() -> None:
    """Corrections before others, in the order of the conversation."""
    facts = [f"The {SMALL_TALK[n][:-1]} parcel has the number PN-{n}." for n in range(20)]
    again = [f"The number of the {SMALL_TALK[n][:-1]} parcel is PN-{n}." for n in range(20)]
    turns = spoken(*facts, *SMALL_TALK[20:34], *again, "No, I said PN-3.")

    every, few = reuse_needs(turns), reuse_needs(turns, most=5)

    assert len(every) > 20
    assert few == reuse_needs(turns, most=5)
    assert [need for need in every if need in few] == list(few)
    assert "en" == few[-1].corrects
    assert len(few) == 5
