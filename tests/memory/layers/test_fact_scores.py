"""How often a statement is said to replace what it does replace: in scripts, and generated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import pytest

from benchmarks.comparison import written
from memsim.memory.entry import Entry
from memsim.memory.fact_extraction import FactExtractor
from memsim.memory.layers.episodic import Episodic
from memsim.memory.layers.fact_links import AMENDED, SIDES
from memsim.memory.layers.fact_versions import heirs
from memsim.memory.layers.semantic import VALUED, Semantic
from memsim.memory.permissions import Where
from memsim.memory.recall.timeline import Timeline
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.vault import Vault
from memsim.message import Message, ToolResult, ToolUse, said
from memsim.models import Embedder, Model, Reply, Request
from memsim.models.offline.model import OfflineModel
from memsim.models.registry import load_embedder
from memsim.scenario.script import Fact, Scenario, Turn
from tests.memory.layers.generated_updates import conversation
from tests.memory.remembering import COUNTER

SCRIPTS = {ref.name: ref for ref in written()}
LONG = "needles"
"""A long script that replaces nothing."""
SEED = 7

Replaced = tuple[Entry, Entry]
"""A fact, and the one that replaced it, or a part of it."""


class Score(NamedTuple):
    """Replacements found: the right ones, the others, and those that there are."""

    right: int
    wrong: list[Replaced]
    found: int
    there: int

    def __add__(self, other: object) -> Score:
        assert isinstance(other, Score)
        return Score(
            self.right + other.right,
            self.wrong + other.wrong,
            self.found + other.found,
            self.there + other.there,
        )

    def check(self) -> None:
        """A wrong one drops what is true; a missed one leaves both to be recalled."""
        assert self.right >= 0.95 * (self.right + len(self.wrong)), self.wrong
        assert self.found >= 0.70 * self.there


class Reader:
    """A semantic layer that reads messages by themselves, without the rest of a memory."""

    def __init__(self, embedder: str = "wordllama", model: Model | None = None) -> None:
        self.vault = Vault(
            InMemory(), embed=lambda: embedder_of(embedder), permissions=None, embedded=()
        )
        model = model or OfflineModel(COUNTER)
        episodic = Episodic(self.vault, None, COUNTER.text)
        self.extractor = FactExtractor(
            model, Semantic(self.vault, Timeline()), episodic, COUNTER.text, lambda _event: None
        )

    def read(self, messages: Sequence[Message]) -> None:
        """The messages of a turn."""
        for who in dict.fromkeys(m.principal for m in messages):
            own = [m for m in messages if m.principal == who]
            self.extractor.facts(who, own[0].session, own, own[-1].time)

    def model_reads(self, *texts: str) -> None:
        """Each text as a turn of its own."""
        for number, text in enumerate(texts):
            self.read([said("user", text, id=f"m{number}", turn=number)])

    def texts(self) -> set[str]:
        """The facts that are in force."""
        where = Where(reader=None, layers=frozenset({"semantic"}), superseded=False)
        return {entry.text for entry in self.vault.each(where)}

    def replaced(self) -> Iterator[Replaced]:
        """Every fact that has been replaced, with its successor."""
        where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
        about: dict[tuple[str, str], list[Entry]] = {}
        sides: dict[tuple[str, str], dict[str, Entry]] = {}
        for entry in self.vault.each(where):
            about.setdefault((entry.owner, entry.subject or entry.id), []).append(entry)
            for side, number in entry.attributes:
                if side not in SIDES:
                    continue
                sides.setdefault((entry.owner, number), {})[side] = entry
        for versions in about.values():
            yield from ((old, new) for old, new in heirs(versions) if new is not None)
        for both in sides.values():
            old = both.pop(AMENDED)
            yield from ((old, new) for new in both.values())


@lru_cache
def embedder_of(name: str) -> Embedder:
    """An embedder that is loaded once."""
    return load_embedder(name)


def chains(turns: Iterable[Turn]) -> list[list[str]]:
    """The messages that state a fact and what replaces it, for each fact that is replaced."""
    found: dict[str, list[str]] = {}
    for turn in turns:
        for fact in turn.facts:
            before = _before(fact, found)
            found[fact.id] = [*before, fact.source]
    return [chain for chain in found.values() if len(chain) > 1]


def _before(fact: Fact, found: dict[str, list[str]]) -> list[str]:
    if fact.replaces is not None and fact.replaces != fact.id:
        return found.get(fact.replaces, [])
    return found.get(fact.id, [])


def scored(replaced: Iterable[Replaced], truth: Sequence[Sequence[str]]) -> Score:
    """What was found against what is there, by messages."""
    right, wrong = 0, []
    found = set()
    for old, new in replaced:
        places = [
            (number, chain.index(old.sources[0]))
            for number, chain in enumerate(truth)
            if old.sources[0] in chain and new.sources[-1] in chain
            if chain.index(old.sources[0]) < chain.index(new.sources[-1])
        ]
        found.update(places)
        right += bool(places)
        wrong += [] if places else [(old, new)]
    return Score(right, wrong, len(found), sum(len(chain) - 1 for chain in truth))


def script_score(script: Scenario) -> Score:
    """Of the built-in scripts, `replaces` says what is there."""
    turns = [event for event in script.events(SEED) if isinstance(event, Turn)]
    reader = Reader()
    for turn in turns:
        reader.read([*turn.heard, *turn.reply])
    return scored(reader.replaced(), chains(turns))


def generated_score(seed: int, embedder: str = "wordllama") -> Score:
    """Of a generated conversation."""
    reader = Reader(embedder)
    truth: dict[str, list[str]] = {}
    for number, message in enumerate(conversation(seed)):
        name = f"m{number}"
        reader.read([said("user", message.text, id=name, turn=number)])
        if message.fact:
            truth.setdefault(message.fact, []).append(name)
    return scored(reader.replaced(), [*truth.values()])


def test_what_replaces_what_in_the_scripts() -> None:
    """Planted updates are found, and talk in between replaces nothing."""
    scores = [script_score(ref.load()) for name, ref in SCRIPTS.items() if name != LONG]
    sum(scores, Score(0, [], 0, 0)).check()


def test_what_replaces_what_in_a_long_script() -> None:
    """Nothing, however much is said in it."""
    assert (0, []) == script_score(SCRIPTS[LONG].load())[:2]


@pytest.mark.parametrize("embedder", ["wordllama", "hash"])
def test_what_replaces_what_in_other_forms(embedder: str) -> None:
    """No rule was made for these forms, and no embedder was chosen for them."""
    scores = [generated_score(seed, embedder) for seed in range(3)]
    sum(scores, Score(0, [], 0, 0)).check()


def test_what_ended_does_not_replace_what_else_ended() -> None:
    """Two things are sold in the same words: both sales are remembered."""
    reader = Reader()
    reader.model_reads(
        "Vera has sold the Larken thing and plays it no more.",
        "Vera has sold the Steosel thing and plays it no more.",
    )

    assert [*reader.replaced()] == []


@pytest.mark.parametrize(
    ("old", "new", "sure"),
    [
        (
            "Vera plays the Larken horn in a band.",
            "Vera has sold the Larken horn and plays it no more.",
            True,
        ),
        (
            "Vera plays the Larken horn in a band.",
            "Vera has sold the horn and plays it no more.",
            False,
        ),
        (
            "Vera plays the Larken horn in a band.",
            "Vera has sold and rebuilt the Larken horn and plays it now.",
            False,
        ),
    ],
)
def test_what_ended_gives_way_surely_where_its_name_is_said(old: str, new: str, sure: bool) -> None:
    """The message that stated it is then no longer quoted for what holds."""
    reader = Reader()
    reader.model_reads("The garden looks lovely in May.", old, new)

    assert sure == any(VALUED in after.attributes for _, after in reader.replaced())


class Live:
    """A model that writes facts in words of its own, and names no sources."""

    name = "live"

    def __init__(self, *lines: str) -> None:
        self.lines = [*lines]

    def complete(self, request: Request) -> Reply:
        assert request.task == "extract"
        return Reply(text=self.lines.pop(0))


def test_what_a_live_model_extracts_is_matched_as_it_is_worded() -> None:
    """Nothing is added by rules to words that name no sources."""
    reader = Reader("hash", Live("Ana takes the number 14 bus to work.", "The bus is 38 now."))
    reader.model_reads("I take bus 14, always.", "Take bus 38 now.")

    assert {"Ana takes the number 14 bus to work.", "The bus is 38 now."} == reader.texts()


def test_what_a_tool_gives_replaces_what_the_same_call_gave() -> None:
    """Without a word of a user, and for the one key that changed."""
    reader = Reader("hash")
    for number, port in enumerate((80, 81)):
        call = ToolUse(id="c1", name="status", arguments="{}")
        result = ToolResult(id="c1", text=f"host: alpha\nport: {port}")
        reader.read(
            [
                Message(id=f"a{number}", role="assistant", blocks=(call,)),
                Message(id=f"t{number}", role="tool", blocks=(result,), turn=number),
            ]
        )

    assert {"tool: status host: alpha", "tool: status port: 81"} == reader.texts()
