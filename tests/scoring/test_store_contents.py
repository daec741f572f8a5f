"""What a memory wrote: recall, precision, duplicates, invented and stale entries of its store."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from memsim.message import EPOCH, Message, TokenCounter, load_tokenizer, said
from memsim.models.embedders import WordLlamaEmbedder
from memsim.models.offline.model import OfflineModel
from memsim.replay import replay
from memsim.replay.original_messages import OriginalMessages
from memsim.scenario import ScenarioBuilder
from memsim.scenario.script import Fact, Scenario
from memsim.scoring import stored_entries
from memsim.scoring.metric import CaseRecords, Measure
from memsim.scoring.metrics import store_contents
from memsim.scoring.stored_entries import StoreScore, score_store
from memsim.scoring.trace_records import store_record
from memsim.strategy import Strategy, Surface
from memsim.trace import PlantedValue, StoreTrace
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


POINTS = 80


def point(number: int, year: str, **more: object) -> tuple[Message, PlantedValue]:
    """A sentence that a message told, and whether it is in force."""
    source = f"m{number}-{year}"
    learned = f"fiddle{number}{year}"
    text = f"So I went to the school Brook{number} and Teacher{number} taught me the {learned}!"
    fact = Fact(
        id=source,
        value=f"Ana learned the {learned} from Teacher{number} at the school Brook{number}.",
        source=source,
        principal="ana",
        turn=number,
        time=EPOCH,
        session="s",
        statement=True,
    )
    state = more.pop("state", "current")
    message = said("user", text, id=source, principal="ana", session="s", turn=number, time=EPOCH)
    return message, PlantedValue(replace(fact, **more), state)  # type: ignore[arg-type]


def note(planted: PlantedValue, start: str = "Her skill") -> Surface:
    """A point in other words."""
    *_, learned, _, who, _, _, _, where = planted.fact.value.rstrip(".").split()
    text = f"{start}: {learned}, by {who} of the school {where}."
    return Surface(tier="notes", text=text, sources=(planted.fact.source,))


def said_of(messages: Iterable[Message]) -> OriginalMessages:
    """Messages that were said."""
    said = OriginalMessages()
    for message in messages:
        said.add(message)
    return said


def test_known_shares_of_mistakes_are_measured_of_sentences() -> None:
    """10 % duplicates, 5 % invented and 5 % stale entries, where points are sentences."""
    told = [point(n, "a") for n in range(POINTS)]
    old = [point(n, "b", state="replaced") for n in range(CHANGED)]
    new = [point(n, "c", replaces=f"m{n}-b") for n in range(CHANGED)]
    points = [*told, *old, *new]
    kept = [note(planted) for _, planted in (*told, *new)]
    wrong = [
        Surface(tier="notes", text=f"Her yacht: Zephyr{n}, in Lisbon.", sources=("m1-a",))
        for n in range(5)
    ]
    store = StoreTrace(
        surfaces=(*kept, *kept[:10], *wrong, *(note(planted) for _, planted in old)),
        planted=tuple(planted for _, planted in points),
        said=said_of(message for message, _ in points),
        turns=POINTS,
    )
    found = {name: measure.value for name, measure in measured(store).items()}

    assert found["store_duplicates"] == pytest.approx(10 / 105, abs=0.01)
    assert found["store_invented"] == pytest.approx(5 / 105, abs=0.01)
    assert found["store_stale"] == pytest.approx(5 / 105, abs=0.01)
    assert found["store_precision"] == pytest.approx(95 / 105, abs=0.01)
    assert found["store_recall"] == 1


def test_a_false_version_is_invented_and_no_fact_to_be_stored() -> None:
    """A message that told it as not so is no entry that states it."""
    message, true = point(1, "a")
    _, false = point(1, "b", state="untrue", contradicts="m1-a", source="m1-a")
    planted = (true, replace(false, fact=replace(false.fact, source="m1-a")))
    store = StoreTrace(planted=planted, said=said_of([message]), turns=1)
    whole = Surface(tier="notes", text=message.text, sources=("m1-a",))

    assert ["invented"] == [e.kind for e in score_of(store, note(planted[1])).entries]
    assert ["right"] == [e.kind for e in score_of(store, whole).entries]
    assert (("m1-a", "plain", True), ("m1-b", "untrue", False)) == score_of(store, whole).facts
    found = measured(replace(store, surfaces=(note(planted[1]),)))
    assert (0, 1) == (found["store_recall"].value, found["store_recall"].n)


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
    messages = [m for turn in talk.said.turns() for m in talk.said.in_turn(turn)]
    raw = [Surface(tier="index", text=m.text, sources=(m.id,)) for m in messages]
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


def test_the_words_of_few_turns_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a million turns would fill gigabytes; what is found does not depend on it."""
    points = [point(n, "a") for n in range(POINTS)]
    surfaces = [note(planted) for _, planted in points] * 2
    store = StoreTrace(
        surfaces=surfaces,
        planted=tuple(planted for _, planted in points),
        said=said_of(replace(message, turn=n) for n, (message, _) in enumerate(points)),
    )
    expected = score_store(store, WordLlamaEmbedder)
    monkeypatch.setattr(stored_entries, "_TURNS_KEPT", 3)

    judge = stored_entries._StoreJudge(store)
    for surface in surfaces:
        judge._said_so(surface, stored_entries._origin(surface, store.said))

    assert len(judge._words) == 3
    assert score_store(store, WordLlamaEmbedder) == expected


def test_an_entry_of_many_messages_takes_little_room() -> None:
    """A summary of a long case names all of its messages."""
    names = [f"m{n}" for n in range(1, 20_001)]
    messages = said_of(
        said("user", f"Some words that are no entry, {name}.", id=name, turn=n)
        for n, name in enumerate(names, 1)
    )
    summary = Surface(tier="summary", sources=tuple(names), text="They talked.")

    tracemalloc.start()
    origin = stored_entries._origin(summary, messages)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert origin == ((), frozenset(range(1, 20_001)), ("user",))
    assert most < 200 * len(names)


def test_lost_facts_lower_the_recall(told: Scenario) -> None:
    """Recall counts the facts in force that an entry states."""
    assert measured(store_of(told, FactNotes, lost=20))["store_recall"].value == 60 / 80
