"""What a memory wrote: recall, precision, duplicates, invented and stale entries of its store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from memsim.message import TokenCounter, load_tokenizer
from memsim.models.embedders import WordLlamaEmbedder
from memsim.models.offline.model import OfflineModel
from memsim.replay import replay
from memsim.scenario import ScenarioBuilder
from memsim.scenario.script import Scenario
from memsim.scoring.metric import CaseRecords, Measure
from memsim.scoring.metrics import store_contents
from memsim.scoring.stored_entries import StoreScore, score_store
from memsim.scoring.trace_records import store_record
from memsim.strategy import Strategy, Surface
from memsim.trace import StoreTrace
from tests.doubles.store_faults import FactNotes

NEW = 80
CHANGED = 5


@pytest.fixture(scope="module")
def told() -> Scenario:
    """Eighty facts, five of which change."""
    script = ScenarioBuilder("told")
    for number in range(NEW):
        name, value = f"thing{number}", f"V-{number}1"
        script.user(f"My {name} is {value}.", facts={name: value}).assistant("Noted.")
    for number in range(NEW - CHANGED, NEW):
        name, value = f"thing{number}", f"W-{number}2"
        changed = {name: {"value": value, "replaces": name}}
        script.user(f"My {name} is now {value}.", facts=changed).assistant("Noted.")
    return script.build()


def store_of(scenario: Scenario, make: Callable[..., Strategy], **faults: object) -> StoreTrace:
    """The store at the end of a replay."""
    trace = replay(
        scenario,
        partial(make, **faults),
        model=OfflineModel(load_tokenizer("chars/4")),
        embed=WordLlamaEmbedder,
        counter=TokenCounter(load_tokenizer("chars/4")),
        budget=4096,
        seed=7,
        folder=lambda: Path("unused"),
    )
    assert not trace.error
    assert trace.store is not None
    return trace.store


def measured(store: StoreTrace) -> Mapping[str, Measure]:
    """The metrics of a store."""
    line = {"store": store_record(store, score_store(store, WordLlamaEmbedder))}
    return store_contents.measure(CaseRecords([], [line]))


FAULTY = {"copies": 10, "invented": 5, "outdated": 5}


@pytest.mark.parametrize("copy", ["exact", "near"])
def test_known_shares_of_mistakes_are_measured(told: Scenario, copy: str) -> None:
    """10 % duplicates, 5 % invented and 5 % stale entries are found, and nothing else."""
    found = measured(store_of(told, FactNotes, copy=copy, **FAULTY))
    values = {name: measure.value for name, measure in found.items()}
    assert values["store_duplicates"] == pytest.approx(0.10, abs=0.01)
    assert values["store_near_duplicates"] == pytest.approx(0.10 * (copy == "near"), abs=0.01)
    assert values["store_invented"] == pytest.approx(0.05, abs=0.01)
    assert values["store_stale"] == pytest.approx(0.05, abs=0.01)
    assert values["store_precision"] == pytest.approx(0.90, abs=0.01)
    assert values["store_recall"] == 1


def test_an_honest_store_has_no_mistakes(told: Scenario) -> None:
    """A store without mistakes is not blamed for any."""
    found = measured(store_of(told, FactNotes))
    names = ("store_recall", "store_precision", "store_duplicates", "store_invented", "store_stale")
    assert [found[name].value for name in names] == [1, 1, 0, 0, 0]


def score_of(store: StoreTrace, *surfaces: Surface) -> StoreScore:
    """The score of other surfaces beside the same conversation."""
    return score_store(replace(store, surfaces=surfaces), WordLlamaEmbedder)


def kinds(store: StoreTrace, *texts: str, sources: tuple[str, ...] = ("m1",)) -> list[str]:
    """The kind of each text, as an entry of the store."""
    shown = (Surface(tier="notes", text=text, sources=sources) for text in texts)
    return [entry.kind for entry in score_of(store, *shown).entries]


@pytest.fixture(scope="module")
def talk() -> StoreTrace:
    """The end of a short talk with one change."""
    script = (
        ScenarioBuilder("talk")
        .user("I live in Bergen and my cat is called Mia.", facts={"city": "Bergen"})
        .assistant("How lovely!")
        .user("We hiked along the fjord on Sunday.")
        .assistant("That sounds nice.")
        .user("I moved to Oslo.", facts={"city": {"value": "Oslo", "replaces": "city"}})
        .assistant("Noted.")
    )
    return store_of(script.build(), FactNotes)


def test_an_entry_that_nobody_said_is_invented(talk: StoreTrace) -> None:
    """Unsaid names, numbers and words are invented; what was said in other words is not."""
    said = ("The user hiked on Sunday along the fjord", "The user's cat is Mia.")
    sources = ("m1", "m3")
    assert kinds(talk, *said, sources=sources) == ["unplanted", "unplanted"]
    unsaid = ("The user's cat is called Rex.", "The user has 4 cats.", "colour: teal")
    assert kinds(talk, *unsaid) == ["invented"] * 3
    assert kinds(talk, *unsaid, sources=()) == ["invented"] * 3


def test_a_replaced_value_is_stale_unless_it_is_history(talk: StoreTrace) -> None:
    """Words of the past, the present value beside it, and `live=False` make it history."""
    texts = ("Lives in Bergen.", "Used to live in Bergen.", "Moved from Bergen to Oslo.")
    assert kinds(talk, *texts, sources=("m1", "m5")) == ["stale", "right", "right"]
    past = Surface(tier="notes", text="Lives in Bergen.", sources=("m1",), live=False)
    assert [entry.kind for entry in score_of(talk, past).entries] == ["right"]
    assert score_of(talk, past).facts == (("city", "updated", False),)


def test_messages_in_their_own_words_are_never_invented(talk: StoreTrace) -> None:
    """A message that says nothing planted is neither right nor wrong, and counts as said."""
    raw = [Surface(tier="index", text=m.text, sources=(i,)) for i, m in talk.said.items()]
    found = score_of(talk, *raw)
    assert [entry.kind for entry in found.entries] == [
        *("stale", "unplanted", "unplanted", "unplanted", "right", "unplanted")
    ]
    assert all(entry.verbatim for entry in found.entries)
    assert score_of(talk, *raw, raw[0]).exact == 1


def test_an_entry_cannot_state_what_was_said_after_its_sources(talk: StoreTrace) -> None:
    """A fact is stored only where an entry may come from the message that states it."""
    early = Surface(tier="notes", text="City: Oslo", sources=("m1",))
    assert score_of(talk, early).facts == (("city", "updated", False),)


def test_what_is_not_shown_is_not_measured(talk: StoreTrace) -> None:
    """No store, a window alone or an error give no value, and never zero."""
    none = store_contents.measure(CaseRecords([], [{"turn": 1}]))
    assert {m.value for m in none.values()} == {None}
    assert none["store_recall"].reason.startswith("not inspectable")
    window = measured(replace(talk, surfaces=(Surface(tier="window", text="Oslo"),)))
    assert window["store_recall"].reason == store_contents.ONLY_WINDOW
    failed = measured(replace(talk, error="it broke"))
    assert failed["store_recall"].reason == "the store could not be read: it broke"


def test_an_empty_store_holds_no_fact(talk: StoreTrace) -> None:
    """A strategy that shows an empty store has lost its facts; shares of entries are unknown."""
    found = measured(replace(talk, surfaces=()))
    assert found["store_recall"].value == 0
    assert found["store_invented"].value is None
    assert found["store_growth"].value == 0


def test_lost_facts_lower_the_recall(told: Scenario) -> None:
    """Recall counts the facts in force that an entry states."""
    assert measured(store_of(told, FactNotes, lost=20))["store_recall"].value == 60 / 80
