"""Where messages are seen in a context: whole, in part, or in other words."""

from __future__ import annotations

import random
from dataclasses import replace

from memsim.context import Context, Section
from memsim.message import EPOCH, composed
from memsim.replay.fact_book import FactBook, MessageSearch, sought
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


def test_the_path_of_a_fact_is_what_every_turn_shows_of_it() -> None:
    """Only facts that a turn may move are looked at; a look at all of them gives the same."""
    for seed in range(20):
        chance = random.Random(seed)
        book, latest, last = FactBook(), dict[str, Fact](), dict[str, str]()
        for turn in range(1, 60):
            for _ in range(chance.randrange(3)):
                name, source = f"f{chance.randrange(6)}", f"m{chance.randrange(9)}"
                value = f"Trikoland {chance.randrange(4)}"
                fact = replace(MOVED, id=name, value=value, source=source, statement=False)
                book.plant(fact)
                latest[name] = fact
            sources = tuple({f"m{chance.randrange(9)}" for _ in range(chance.randrange(3))})
            text = f"It was Trikoland {chance.randrange(4)}."
            shown = context(text, derived=sources if chance.random() < 0.8 else ())
            told = {planted.fact.source: None for planted in book.inventory()}
            seen = book.wanted(told).sightings(shown)
            where = {
                name: seen[sought(fact)].presence if sought(fact) in seen else "absent"
                for name, fact in latest.items()
            }
            moved = {name: place for name, place in where.items() if last.get(name) != place}
            assert [*moved.items()] == [*book.track(shown, turn, ()).items()]
            last = {**last, **where}


def test_hidden_facts_come_in_the_order_in_which_they_were_first_stated() -> None:
    """Private ones and those to be forgotten, with every version; others are not among them."""
    book = FactBook()
    for name, source, private in (("b", "m1", False), ("a", "m2", True), ("c", "m3", False)):
        book.plant(replace(MOVED, id=name, source=source, private=private))
    book.plant(replace(MOVED, id="b", source="m4"))
    book.forget(["b", "z"])

    assert ["m1", "m4", "m2"] == [fact.source for fact in book.hidden("ben")]
    assert ["m1", "m4"] == [fact.source for fact in book.hidden("ana")]
