"""Where messages are seen in a context: whole, in part, or in other words."""

from __future__ import annotations

from dataclasses import replace

from memsim.context import Context, Section
from memsim.message import EPOCH, composed
from memsim.replay.fact_book import FactBook, MessageSearch
from memsim.scenario.script import Fact

QUOTED = composed("user", "Order A-17 comes on Tuesday.", id="r1", quotes=("m1",))


def context(text: str, *, derived: tuple[str, ...] = (), excerpts: tuple[str, ...] = ()) -> Context:
    message = composed("user", text, id="r1", derived_from=derived, excerpts=excerpts)
    return Context(sections=(Section(layer="recalled", messages=(message,), tokens=9),))


MOVED = Fact(
    id="move",
    value="Ana moved to Oslo.",
    source="m1",
    principal="ana",
    turn=1,
    time=EPOCH,
    session="s",
    statement=True,
)


def test_a_part_in_its_own_words_is_verbatim_where_it_holds_the_value() -> None:
    """A passage that states the fact counts as the message; another passage counts for nothing."""
    wanted = MessageSearch({"m1": ("A-17",)})
    there = wanted.sightings(context("… the order A-17 was sent …", excerpts=("m1",)))
    elsewhere = wanted.sightings(context("… the weather was fine …", excerpts=("m1",)))
    assert (True, {}) == (there["m1", None].verbatim, elsewhere)


def test_a_part_of_a_message_without_known_values_is_only_derived() -> None:
    """Where nobody knows what matters in a message, a part of it proves nothing."""
    seen = MessageSearch({"m1": ()}).sightings(context("… something …", excerpts=("m1",)))
    assert not seen["m1", None].verbatim


def test_other_words_are_never_verbatim() -> None:
    """A summary that states the value is derived, as before."""
    seen = MessageSearch({"m1": ("A-17",)}).sightings(context("Order: A-17.", derived=("m1",)))
    assert not seen["m1", None].verbatim


def test_a_part_holds_the_fact_that_it_states_and_no_other() -> None:
    """A message with two facts of which a text kept one has lost the other."""
    search = MessageSearch({"m1": ("A-17", "Tuesday")})
    part = search.sightings(context("… the order A-17 was sent …", excerpts=("m1",)))
    whole = search.sightings(
        Context(sections=(Section(layer="recalled", messages=(QUOTED,), tokens=9),))
    )
    assert {("m1", None), ("m1", "A-17")} == set(part)
    assert {("m1", None), ("m1", "A-17"), ("m1", "Tuesday")} == set(whole)


def test_a_statement_is_seen_by_provenance_alone() -> None:
    """A text that was made from its message holds it in other words."""
    book = FactBook()
    book.plant(MOVED)
    book.plant(replace(MOVED, id="cat", value="Mia", source="m2", statement=False))
    made = context("She lives in Norway now.", derived=("m1", "m2"))

    assert {"move": "recalled", "cat": "absent"} == book.track(made, 1, ())
    assert ("m2",) == book.stated()


def test_a_false_version_is_never_in_force() -> None:
    """Nor does it supersede the fact."""
    book = FactBook()
    book.plant(MOVED)
    book.plant(replace(MOVED, id="false", value="Ana moved to Rome.", contradicts="move"))

    assert ["current", "untrue"] == [planted.state for planted in book.inventory()]
