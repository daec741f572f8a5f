"""Where a fact was from turn to turn, from what contexts and questions showed."""

from __future__ import annotations

from typing import Any

import pytest

from memsim.report.viewer.fact_location import FactPath, fact_paths, lost_at, place_of

Line = dict[str, Any]


def piece(presence: str = "absent", tier: str | None = None, fact: str | None = "f") -> Line:
    location = tier and {"tier": tier, "rank": None, "detail": ""}
    return {
        "source": "m1",
        "turn": 1,
        "fact": fact,
        "presence": presence,
        "trimmed": False,
        "location": location,
    }


def probe(turn: int, *pieces: Line) -> Line:
    return {"turn": turn, "inspectable": True, "evidence": list(pieces)}


def turn(number: int, moved: str = "", event: str = "") -> Line:
    line: Line = {"turn": number}
    if moved:
        line["moved"] = {"f": moved}
    if event:
        line["events"] = [{"kind": event, "sources": ["m1"]}]
    return line


def told(turns: list[Line], *probes: Line) -> list[tuple[int, str]]:
    (way,) = fact_paths(turns, list(probes), [])
    return list(way.stops)


LEFT = [turn(1, "window"), turn(5, "absent")]


@pytest.mark.parametrize(
    ("tier", "state"),
    [(None, "lost"), ("store", "missed"), ("denied", "denied"), ("archive", "archived")],
)
def test_a_question_tells_where_a_fact_has_been_since_it_left(tier: str, state: str) -> None:
    """Nobody looked before; it is taken to have been there since."""
    assert [(1, "window"), (5, state)] == told(LEFT, probe(9, piece(tier=tier)))


def test_a_fact_that_a_question_brought_up_was_stored() -> None:
    """It stands in the question's context and in no turn's."""
    assert [(1, "window"), (5, "found")] == told(LEFT, probe(9, piece("recalled")))


def test_nobody_knows_where_a_fact_is_that_is_never_asked_for() -> None:
    """It is not said to be lost."""
    assert [(1, "window"), (5, "unseen")] == told(LEFT, probe(3, piece("window")))


def test_a_fact_is_lost_from_the_turn_in_which_it_was_purged() -> None:
    """Until then it was somewhere."""
    turns = [*LEFT, turn(7, event="purged")]

    assert [(1, "window"), (5, "unseen"), (7, "lost")] == told(turns, probe(9, piece()))


def test_the_turn_of_the_loss_is_the_last_time_it_left() -> None:
    """A fact that came back is not lost where it first went."""
    turns = [*LEFT, turn(8, "recalled"), turn(9, "absent")]
    asked = probe(20, piece(tier="store"))
    found = {way.name: way for way in fact_paths(turns, [asked], [])}

    assert 9 == lost_at(asked, found)


def test_it_left_when_it_left_and_not_when_a_question_missed_it() -> None:
    """One question found it in the store, and a later one did not."""
    asked = [probe(9, piece("recalled")), probe(20, piece(tier="store"))]
    found = {way.name: way for way in fact_paths(LEFT, asked, [])}

    assert [(1, "window"), (5, "found"), (10, "missed")] == found["f"].stops
    assert 5 == lost_at(asked[1], found)


def test_what_stood_in_the_context_was_not_lost() -> None:
    """The reader missed it."""
    asked = probe(9, piece("window"))
    found = {way.name: way for way in fact_paths(LEFT[:1], [asked], [])}

    assert lost_at(asked, found) is None


def test_evidence_that_no_turn_showed_is_told_by_its_questions() -> None:
    """A dataset's turns may send nothing."""
    asked = probe(9, piece(fact=None))
    (way,) = fact_paths([turn(1)], [asked], [])

    assert FactPath(name="m1", source="m1", stops=[(1, "lost")]) == way
    assert 1 == lost_at(asked, {"m1": way})


def test_of_several_questions_the_one_that_missed_it_tells() -> None:
    """What one question finds, another may miss; that is what has to be seen."""
    asked = [probe(9, piece("recalled")), probe(9, piece(tier="store")), probe(9, piece("window"))]

    assert [(1, "window"), (5, "missed")] == told(LEFT, *asked)


def test_a_black_box_is_not_said_to_have_lost_anything() -> None:
    """Nobody can look into it."""
    assert "closed" == place_of(piece(), "black-box")
    assert "unknown" == place_of(piece(), "context")
