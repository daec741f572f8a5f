"""Standing instructions and preferences stand in every context that they apply to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index import Hit
from memsim.memory.options import MemoryOptions, RecallPolicy
from memsim.memory.recall.instructions import (
    APPLIES,
    ROOM,
    StandingMessages,
    instructs,
    is_standing,
    raised,
    standing_matter,
    within_room,
)
from tests.memory.remembering import Remembering

ALWAYS = "From now on, sign with my initials."
SHELVES = "Always give sizes in inches when I ask about shelves."
OPTIONS = MemoryOptions(vectors=False, window=2, policy=RecallPolicy(limit=3))
CHATTER = [f"The shelves of shop {n} are made of oak, and they cost {n} crowns." for n in range(30)]


def shown(talk: Remembering, question: str, who: str = "ana") -> str:
    """What the model is sent for a question, as one text."""
    return "\n".join(m.text for m in talk.asked(question, who=who).messages())


@pytest.mark.parametrize(
    ("text", "matter"),
    [
        (SHELVES, {"shelv"}),
        (ALWAYS, set()),
        ("Hello. Please always answer in Danish.", set()),
        ("I prefer trains to flights.", {"train", "flight"}),
        ("We meet at nine, so from now on remind me at eight.", set()),
        ("I want you to answer in Danish from now on.", set()),
        ("They lost my bag, so I fly with Norair from now on.", None),
        ("My doctor is Lee from now on.", None),
        ("I must take the bus from now on.", None),
        ("My answers should be in Danish from now on.", set()),
        ("Always good to hear from you!", None),
        ("Never heard of it.", None),
        ("The train always leaves at nine.", None),
    ],
)
def test_what_an_instruction_is_about(text: str, matter: set[str] | None) -> None:
    """The terms of its condition; none where it always holds."""
    assert matter == standing_matter(text)
    assert is_standing(text) == (matter is not None)
    assert instructs(f"ana: {text}") == (matter is not None and "prefer" not in text)


def test_the_most_specific_apply_first_and_of_these_the_latest() -> None:
    """One that shares too little of its matter does not apply."""
    told = StandingMessages()
    for name, matter in (
        ("always", ()),
        ("shelf", ("shelv",)),
        ("oak", ("shelv", "oak")),
        ("other", ("oak", "roof", "rain")),
        ("later", ("shelv",)),
    ):
        told.add(name, matter)

    specific = [("oak", True), ("later", True), ("shelf", True), ("always", False)]
    assert specific == [*told.applying("Which oak shelves fit?").items()]
    assert {"always": False} == told.applying("Who is on duty?")


WORDS = ("oak", "roof", "rain", "lamp")


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.none() | st.frozensets(st.sampled_from(WORDS))), max_size=20
    ),
    st.frozensets(st.sampled_from(WORDS)),
)
def test_standing_messages_come_and_go(
    steps: list[tuple[int, frozenset[str] | None]], asked: frozenset[str]
) -> None:
    """Those that are there apply as if all of them were looked at."""
    told, there = StandingMessages(), dict[str, frozenset[str]]()
    for number, matter in steps:
        name = f"m{number}"
        if matter is None:
            told.remove(name)
            there.pop(name, None)
        elif name not in there:
            told.add(name, matter)
            there[name] = matter

    shared = {i: len(m & asked) for i, m in there.items()}
    apply = [i for i in reversed(there) if shared[i] >= APPLIES * len(there[i])]
    expected = [(i, bool(there[i])) for i in sorted(apply, key=lambda i: -shared[i])]
    assert expected == [*told.applying(" ".join(sorted(asked))).items()]


def test_standing_messages_take_only_their_part_of_the_room() -> None:
    """One that is too long is passed over, and four are the most."""
    tokens = {"long": 60, "a": 10, "b": 10, "c": 10, "d": 10, "e": 10}

    assert ["a", "b", "c", "d"] == within_room(tokens, tokens.__getitem__, 50 * ROOM, read=list)
    assert ["a"] == within_room(tokens, tokens.__getitem__, 10 * ROOM, read=list)


def test_no_more_standing_messages_are_read_than_may_stand() -> None:
    """Of a thousand that apply, four are read, and others where one of them is gone."""
    found = [f"m{number}" for number in range(1000)]
    asked: list[str] = []

    def read(some: Sequence[str]) -> list[str]:
        asked.extend(some)
        return [name for name in some if name != "m1"]

    assert ["m0", "m2", "m3", "m4"] == within_room(found, lambda _: 5, 50 * ROOM, read=read)
    assert found[:5] == asked


def test_where_none_is_there_they_are_read_in_few_steps() -> None:
    """Thousands that were put away take no thousand reads."""
    found = [f"m{number}" for number in range(8000)]
    reads: list[int] = []

    def read(some: Sequence[str]) -> list[str]:
        reads.append(len(some))
        return [name for name in some if name == "m7999"]

    assert ["m7999"] == within_room(found, lambda _: 5, 50 * ROOM, read=read)
    assert len(reads) < 15
    assert len(found) == sum(reads)
    gone = found[:4]
    late = within_room(
        found, lambda _: 5, 50 * ROOM, read=lambda some: [name for name in some if name not in gone]
    )
    assert found[4:8] == late


@given(
    st.lists(st.tuples(st.integers(1, 30), st.booleans()), max_size=20),
    st.integers(0, 60),
)
def test_standing_messages_are_chosen_as_if_all_were_read(
    messages: list[tuple[int, bool]], room: int
) -> None:
    """One by one, each that is there and fits into what is left."""
    expected: list[str] = []
    left = room
    for place, (size, is_there) in enumerate(messages):
        if is_there and size <= left and len(expected) < 4:
            expected.append(str(place))
            left -= size

    chosen = within_room(
        map(str, range(len(messages))),
        lambda source: messages[int(source)][0],
        room * ROOM,
        read=lambda some: [source for source in some if messages[int(source)][1]],
    )

    assert expected == chosen


def test_standing_messages_come_after_the_best_few() -> None:
    """One that is among these stays; the scores still fall."""
    hits = [Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0), Hit("d", 0.5)]

    found = raised(hits, ["d", "a", "new"], after=2)

    assert ["a", "b", "d", "new", "c"] == [hit.id for hit in found]
    assert [3.0, 2.0, 2.0, 2.0, 1.0] == [hit.score for hit in found]
    assert [Hit("new", 0.0)] == raised([], ["new"], after=2)


def test_an_instruction_stands_where_it_applies() -> None:
    """However little its rank; and it is not another person's."""
    talk = Remembering(options=OPTIONS)
    talk.say(SHELVES, ALWAYS, *CHATTER, "My roof leaks.", *CHATTER)

    shelves = shown(talk, "Which shelves of oak cost 12 crowns?")
    roof = shown(talk, "What about my roof?")

    assert SHELVES in shelves
    assert ALWAYS in shelves
    assert ALWAYS in roof
    assert SHELVES not in roof
    assert ALWAYS not in shown(talk, "What about my roof?", who="ben")


def test_an_instruction_stands_where_nothing_else_is_sure() -> None:
    """It is no answer, so doubt about answers is none about it; and `standing=1` leaves it out."""
    doubtful = replace(OPTIONS, policy=RecallPolicy(sure=1.0))
    switched_off = replace(OPTIONS, policy=RecallPolicy(sure=1.0, standing=1.0))
    texts = []
    for options in (doubtful, switched_off):
        talk = Remembering(options=options)
        talk.say(ALWAYS, *CHATTER, "My roof leaks.", *CHATTER)
        texts.append(shown(talk, "Is my garden dry?"))

    assert [True, False] == [ALWAYS in text for text in texts]
    assert [False, False] == ["roof leaks" in text for text in texts]


def test_a_forgotten_instruction_stands_no_longer() -> None:
    """Nor does it in a memory that was saved and opened again."""
    talk = Remembering(options=OPTIONS)
    (told, *_) = talk.say(ALWAYS, *CHATTER)

    assert ALWAYS in shown(talk.again(), "What about my roof?")
    talk.memory.forget("ana", [told])
    assert ALWAYS not in shown(talk, "What about my roof?")
