"""PRX as its document has it, statement by statement, and what 0.3.0 really does."""

from __future__ import annotations

import json
import random
import sqlite3
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.clock import Clock
from memsim.discovery.loader import prepare
from memsim.errors import ModelError, RefError, StateError, StoreError
from memsim.memory.options import MemoryOptions
from memsim.memory.persistence.open_memory import open_memory
from memsim.memory.places import addresses
from memsim.memory.stores import name_of
from memsim.memory.stores.postgres.store import PostgresStore
from memsim.message import TokenCounter, load_tokenizer, said
from memsim.models import Embedder, Model, Reply, Request
from memsim.models.registry import load_embedder, load_model
from memsim.strategy import Environment, Event, Forget, Grant, Query, Strategy
from memsim.systems.prx import row_index, upkeep
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.markdown_files import DENIED
from memsim.systems.prx.recall import Recall
from memsim.systems.prx.row_index import merge, rank_by_words
from memsim.systems.prx.schema import AccessStamp, Clause
from memsim.systems.prx.settings import PrxSettings, defaults, read_settings
from memsim.systems.prx.storage import StoreMirror, export_snapshot, hydrate, should_hydrate
from memsim.systems.prx.tools import DOCUMENTED, NAMES, tool_specs
from memsim.systems.prx.workspace_view import entries_of
from memsim.testing import Case
from memsim.testing.subjects import subject_of
from memsim.testing.worlds import World
from tests.fidelity.breaking import SHOWN, assert_broken_unless_fixed
from tests.memory.stores import servers
from tests.models.asking import provider_chat

if TYPE_CHECKING:
    from memsim.models import Vectors

Make = Callable[..., "Held"]

SECTION = """
[memory]
backend = "sqlite" # any of five
auto_save = true
acl_enabled = false
max_recall_items = 20
recall_relevance_threshold = 0.3
embedding_provider = "openai"
embedding_model = "text-embedding-3-small"
embedding_dimensions = 1536
vector_weight = 0.7
keyword_weight = 0.3
min_relevance_score = 0.4
hygiene_enabled = true
archive_after_days = 7
purge_after_days = 30
conversation_retention_days = 3
daily_retention_days = 7
"""
BACKENDS = ("markdown", "sqlite", "postgres", "embeddings", "memory")
LEAST = "min_relevance_score=0,recall_relevance_threshold=0"


class Asked:
    """A model that always says the same, or fails, and keeps what it was asked."""

    name = "asked"

    def __init__(self, text: str) -> None:
        self._text = text
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        """That text, where there is one."""
        self.requests.append(request)
        if not self._text:
            raise ModelError("the model is not there")
        return Reply(text=self._text)


class Counted:
    """An embedder that keeps what it was given."""

    def __init__(self) -> None:
        self._embedder = load_embedder("hash")
        self.name, self.dimension = self._embedder.name, self._embedder.dimension
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text."""
        self.texts.extend(texts)
        return self._embedder.embed(texts)


class Held:
    """A strategy, and what it takes to talk to it."""

    def __init__(
        self,
        ref: str,
        folder: Path,
        events: list[Event],
        model: Model | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        counter = TokenCounter(load_tokenizer("chars/4"))
        self.clock = Clock()
        self.env = Environment(
            clock=self.clock,
            model=model or load_model("offline", counter),
            counter=counter,
            embed=lambda: embedder or load_embedder("hash"),
            folder=lambda: folder,
            budget=4096,
            log=events.append,
            services={"postgres": servers.postgres().url} if "postgres" in ref else {},
        )
        self.folder = folder
        self.memory: Strategy = prepare(ref)(self.env)
        self.count = 0

    @property
    def service(self) -> Any:  # noqa: ANN401 - the strategy is loaded from its file
        """What the strategy is made of."""
        return self.memory.service  # type: ignore[attr-defined]

    def say(self, text: str, who: str = "ana", session: str = "s1") -> str:
        """Somebody says something; the id of the message."""
        self.count += 1
        self.clock.advance(timedelta(minutes=1))
        name = f"m{self.count}"
        self.memory.observe(
            said("user", text, id=name, principal=who, session=session, time=self.clock.now())
        )
        self.memory.end_turn()
        return name

    def tool(self, name: str, who: str = "ana", **arguments: object) -> str:
        """What a tool answers."""
        self.clock.advance(timedelta(seconds=1))
        return self.memory.call_tool(f"memory_{name}", json.dumps(arguments), who)

    def asked(self, text: str, who: str = "ana") -> str:
        """All that the model would be sent."""
        return self.memory.context(self.query(text, who)).text()

    def query(self, text: str, who: str = "ana") -> Query:
        """A question."""
        now = self.clock.now()
        return Query(text=text, principal=who, session="s1", time=now, turn=1, budget=4096)

    def keys(self) -> set[str]:
        """The keys of all rows that can be found."""
        return {row.key for row in self.service.brain.rows() if not row.archived}

    def later(self, **by: float) -> None:
        """Time passes."""
        self.clock.advance(timedelta(**by))
        self.memory.elapse(self.clock.now())


@pytest.fixture
def events() -> list[Event]:
    """What strategies tell of."""
    return []


@pytest.fixture
def make(tmp_path: Path, events: list[Event]) -> Iterator[Make]:
    """Makes strategies by their parameters."""
    with ExitStack() as closing:

        def made(ref: str = "") -> Held:
            held = Held(f"prx:{ref}".rstrip(":"), tmp_path, events)
            closing.callback(held.memory.close)
            return held

        yield made


# -- the document's tools, settings and retention


def test_the_five_tools(make: Make) -> None:
    """They are there whatever was said."""
    specs = make("backend=memory").memory.tools("ana")

    assert NAMES == tuple(spec.name for spec in specs)
    assert [False, False, True, True, True] == [spec.reads for spec in specs]


@pytest.mark.parametrize("category", ["core", "daily", "conversation", "geology"])
def test_categories(make: Make, category: str) -> None:
    """Three are built in; any other word is one too."""
    held = make("backend=memory")

    held.tool("store", key="k", value="spacing of the north field", category=category)

    assert category == held.service.brain.get("k").category


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_takes_every_tool(make: Make, backend: str) -> None:
    """What was stored is got, recalled, searched and forgotten."""
    held = make(f"backend={backend},{LEAST}")
    held.tool("store", key="zone", value="The user lives in the Shanghai zone")

    assert "The user lives in the Shanghai zone" == held.tool("get", key="zone")
    assert "zone: The user lives" in held.tool("recall", query="Shanghai zone")
    assert "zone: The user lives" in held.tool("search", query="Shanghai zone")
    assert "Forgot memory: zone" == held.tool("forget", key="zone")
    assert "No memories found" in held.tool("search", query="Shanghai zone")
    if backend == "markdown":
        assert "Shanghai" not in (held.folder / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("backend", "version"),
    [*((b, "document") for b in BACKENDS), *((b, "0.3.0") for b in BACKENDS if b != "embeddings")],
)
def test_every_backend_behaves_alike(make: Make, backend: str, version: str) -> None:
    """What is said is brought up, forgotten on request, and a state goes from one to another."""
    ref = f"backend={backend},version={version},history=1,{LEAST}"
    held = make(ref)
    name = held.say("I keep the rockets in the yard behind the house")
    held.tool("store", key="zone", value="Shanghai", content="Shanghai")
    held.say("Lovely weather.")

    shown = held.asked("Where are the rockets in the yard?")
    assert "rockets in the yard" in shown
    state = json.loads(json.dumps(held.memory.save()))
    held.memory.forget(Forget(principal="ana", text="", sources=(name,)))
    kept = backend == "markdown" and version == "0.3.0"  # whose files forget nothing
    assert ("rockets in the yard" in held.asked("Where are the rockets in the yard?")) == kept
    held.memory.load(state)
    assert shown == held.asked("Where are the rockets in the yard?")
    assert state == json.loads(json.dumps(held.memory.save()))


def test_rows_are_on_the_server(make: Make) -> None:
    """Whoever connects to PostgreSQL finds them there, and nothing once the memory is closed."""
    held = make("backend=postgres")
    held.tool("store", key="zone", value="Shanghai")
    held.say("My order is A-17.")
    held.tool("store", key="zone", value="Lisbon")
    held.tool("store", key="gone", value="Oslo")
    held.tool("forget", key="gone")
    schema = name_of(held.folder)
    url = servers.postgres().url

    with ExitStack() as closing:
        store = PostgresStore(url, schema)
        closing.callback(store.close)
        there = StoreMirror(store).rows()
        assert held.service.brain.rows(order="m.rowid") == there
        assert {"Lisbon", "My order is A-17."} == {row.content for row in there}
    held.memory.close()
    import psycopg

    query = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = %s"
    with psycopg.connect(url) as connection:
        assert (0,) == connection.execute(query, (schema,)).fetchone()


def test_postgres_keeps_every_row(make: Make) -> None:
    """Rows go through to the server's store, and come back as they were."""
    from memsim.memory.stores.in_memory import InMemory

    mirror, held = StoreMirror(InMemory()), make("backend=memory")
    brain = Brain(mirror=mirror)
    now = held.clock.now()
    brain.store("a", "one", "core", now=now, stamp=AccessStamp(sender_id="ana"), sources=("m1",))
    brain.store("b", "two", "daily", now=now)
    brain.store("a", "three", "core", now=now, stamp=AccessStamp(sender_id="ben"))
    brain.forget("b")
    brain.used([1], now)
    again = Brain()

    again.restore(mirror.rows())

    assert brain.rows() == again.rows()
    assert [("a", "three", "ben", 1)] == [
        (row.key, row.content, row.sender, row.useful) for row in again.rows()
    ]


def test_postgres_needs_an_address(make: Make) -> None:
    """The address comes from the environment, and what is missing is said in one line."""
    assert {} == addresses({})
    with pytest.raises(RefError, match="MEMSIM_POSTGRES_URL"):
        prepare("prx:backend=postgres")(make("backend=memory").env)


def test_the_documented_section_is_the_default(make: Make, tmp_path: Path) -> None:
    """The section as the document prints it changes nothing, word for word."""
    path = tmp_path / "config.toml"
    path.write_text(SECTION, "utf-8")

    assert PrxSettings() == read_settings(SECTION)
    assert PrxSettings() == make(f"config={path}").memory.settings  # type: ignore[attr-defined]
    assert 1536 == PrxSettings().embedding_dimensions


def test_every_setting_is_taken() -> None:
    """What is written there holds, whatever the defaults are."""
    told: dict[str, object] = {
        "backend": "memory",
        "auto_save": False,
        "acl_enabled": True,
        "max_recall_items": 7,
        "recall_relevance_threshold": 0.11,
        "embedding_provider": "local",
        "embedding_model": "small",
        "embedding_dimensions": 12,
        "vector_weight": 0.5,
        "keyword_weight": 0.6,
        "min_relevance_score": 0.2,
        "hygiene_enabled": False,
        "archive_after_days": 1,
        "purge_after_days": 2,
        "conversation_retention_days": 4,
        "daily_retention_days": 5,
    }
    text = "\n".join(f"{name} = {json.dumps(value)}" for name, value in told.items())
    taken = asdict(read_settings(f"[memory]\n{text}"))

    assert told == {name: taken[name] for name in told}
    assert set(told) == set(tomllib.loads(SECTION)["memory"])
    assert all(value != asdict(PrxSettings())[name] for name, value in told.items())


@pytest.mark.parametrize(
    ("text", "said_of_it"),
    [
        ("[memory]\nauto_sve = true", r"takes no 'auto_sve' \(did you mean 'auto_save'\?\)"),
        ("[memory]\nauto_save = 1", "auto_save is 1: it is true or false"),
        ("[memory]\nvector_weight = 2", "vector_weight is 2: it is from 0 to 1"),
        ("[memory]\npurge_after_days = -1", "purge_after_days is -1: at least 0"),
        ("[memory]\nbackend = 'tape'", "backend is 'tape'"),
        (
            "[memory]\nbackend = 'embeddings'\nembedding_provider = 'none'",
            "backend is 'embeddings': it takes an embedding_provider",
        ),
        ("memory = 1", "memory is no section of the settings"),
        ("[security]\naudit = true", "audit is no section of the settings"),
        ("[security.audit]\nenabled = 1", r"\[security.audit\] enabled is 1: it is true or false"),
        ("[memory", "the settings are not TOML"),
    ],
)
def test_a_wrong_section_is_refused_in_one_line(text: str, said_of_it: str) -> None:
    """Whoever wrote it is told what to change."""
    with pytest.raises(ValueError, match=said_of_it):
        read_settings(text)


def test_the_default_backend_is_a_file(make: Make) -> None:
    """Where nothing is said, entries are in brain.db."""
    held = make()
    held.tool("store", key="k", value="v")

    assert "sqlite" == PrxSettings().backend
    assert (held.folder / "memory" / "brain.db").is_file()


def test_what_users_say_is_stored(make: Make) -> None:
    """As conversation entries, whoever says it, unless that is switched off."""
    held, off = make("backend=memory"), make("backend=memory,auto_save=off")
    held.say("My order is A-17.")
    off.say("My order is A-17.")

    (row,) = held.service.brain.rows()
    assert ("conversation", "My order is A-17.", ("m1",)) == (
        row.category,
        row.content,
        row.sources,
    )
    assert row.key.startswith("user_msg_")
    assert set() == off.keys()


def test_without_access_control_everybody_finds_everything(make: Make) -> None:
    """Which is what it leaks by design."""
    held = make(f"backend=memory,{LEAST}")
    held.say("My order is A-17 from the harbour shop.", "ana")

    assert "A-17" in held.asked("Which order from the harbour shop?", "ben")


def test_at_most_twenty_are_found(make: Make) -> None:
    """Whatever more is asked for."""
    held = make(f"backend=memory,embedding_provider=none,{LEAST}")
    for number in range(30):
        held.tool("store", key=f"k{number}", value=f"rocket number {number}")

    assert held.tool("search", query="rocket").startswith("Found 20 memories")
    assert held.tool("recall", query="rocket", max_results=50).startswith("Found 20 memories")
    assert held.tool("search", query="rocket", max_results=3).startswith("Found 3 memories")


def test_recall_has_a_threshold_of_its_own(make: Make) -> None:
    """What scores from 0.3 up to 0.4 is recalled, and not found by a search."""
    held = make("backend=memory,vector_weight=0,keyword_weight=0.35")
    held.tool("store", key="k", value="rockets fly far")
    held.tool("store", key="other", value="bread is baked")

    assert "rockets" in held.tool("recall", query="rockets")
    assert "No memories found" in held.tool("search", query="rockets")


def test_meaning_counts_seven_parts_to_three() -> None:
    """The sum of a cosine and of a share of the best keyword score."""
    merged = merge([(1, 0.9), (2, 0.5)], [(2, 10.0), (3, 5.0)], limit=10)

    assert [2, 1, 3] == [m.number for m in merged]
    assert [0.65, 0.63, 0.15] == [round(m.score, 6) for m in merged]
    assert (0.7, 0.3) == (PrxSettings().vector_weight, PrxSettings().keyword_weight)
    assert Recall().weights == (0.7, 0.3)
    assert PrxSettings().hybrid


def test_a_search_drops_what_scores_low(make: Make) -> None:
    """Below 0.4 nothing is found."""
    low, high = (make(f"backend=memory,keyword_weight={w},vector_weight=0") for w in (0.39, 0.41))
    for held in (low, high):
        held.tool("store", key="k", value="rockets fly far")

    assert "No memories found" in low.tool("search", query="rockets")
    assert "rockets fly far" in high.tool("search", query="rockets")


def test_hygiene_can_be_switched_off(make: Make) -> None:
    """Then nothing ages."""
    held = make("backend=memory,hygiene_enabled=off")
    held.say("My order is A-17.")
    held.later(days=400)

    assert 1 == len(held.keys())


def test_conversation_entries_last_three_days(make: Make, events: list[Event]) -> None:
    """From the third day on they are gone."""
    held = make("backend=memory")
    name = held.say("My order is A-17.")
    held.later(days=2, hours=23)
    assert 1 == len(held.keys())

    held.later(hours=13)

    assert set() == held.keys()
    assert ("purged", (name,)) in [(e.kind, e.sources) for e in events]


def test_daily_entries_are_put_away_after_seven_days(make: Make) -> None:
    """They are kept, and found no longer."""
    held = make(f"backend=memory,{LEAST}")
    held.tool("store", key="k", value="rockets today", category="daily")
    held.later(days=6, hours=23)
    assert "rockets" in held.tool("search", query="rockets")

    held.later(hours=13)

    assert "No memories found" in held.tool("search", query="rockets")
    assert ["archive"] == [s.tier for s in held.memory.surfaces()]
    held.tool("store", key="k", value="rockets again", category="daily")
    assert "rockets again" in held.tool("search", query="rockets")


def test_what_was_put_away_is_erased_after_thirty_days(make: Make) -> None:
    """Counted from when it was written."""
    held = make("backend=memory")
    held.tool("store", key="k", value="rockets today", category="daily")
    held.later(days=8)
    held.later(days=21)
    assert 1 == held.service.brain.count()

    held.later(days=2)

    assert 0 == held.service.brain.count()


def test_core_entries_stay(make: Make) -> None:
    """Until they are forgotten."""
    held = make("backend=memory")
    held.tool("store", key="k", value="v")
    held.later(days=4000)
    assert {"k"} == held.keys()

    held.tool("forget", key="k")

    assert set() == held.keys()


def test_custom_entries_follow_daily(make: Make) -> None:
    """As the document says of them."""
    held = make("backend=memory,archive_after_days=0")
    held.tool("store", key="k", value="v", category="geology")
    held.later(days=6)
    assert {"k"} == held.keys()

    held.later(days=2)

    assert set() == held.keys()


def test_store_takes_key_value_and_category(make: Make) -> None:
    """Core where no category is named; without key or value there is an error."""
    held = make("backend=memory")

    assert "Stored memory: k" == held.tool("store", key="k", value="v")
    assert "core" == held.service.brain.get("k").category
    assert "Error: Missing 'value' parameter" == held.tool("store", key="k")
    assert "Error: Missing 'key' parameter" == held.tool("store", value="v")
    assert "Error: the arguments are not JSON" == held.memory.call_tool("memory_store", "{", "ana")


def test_documented_parameters(make: Make) -> None:
    """Texts, but for a whole number of results; what is required is refused where it is missing."""
    held = make("backend=memory")
    told = {s.name: json.loads(s.parameters) for s in held.memory.tools("ana")}
    text, count = {"type": "string"}, {"type": "integer"}

    assert {
        "memory_store": {"key": text, "value": text, "category": text},
        "memory_forget": {"key": text},
        "memory_get": {"key": text},
        "memory_recall": {"query": text, "max_results": count},
        "memory_search": {"query": text, "category": text, "max_results": count},
    } == {name: schema["properties"] for name, schema in told.items()}
    required = {name: schema["required"] for name, schema in told.items()}
    assert [["key", "value"], ["key"], ["key"], ["query"], ["query"]] == [*required.values()]
    for name, needed in required.items():
        answer = held.memory.call_tool(name, "{}", "ana")
        assert f"Error: Missing '{needed[0]}' parameter" == answer
    assert "Error: there is no tool 'memory_drop'" == held.memory.call_tool(
        "memory_drop", "{}", "ana"
    )


def test_entries_know_their_session(make: Make) -> None:
    """The conversation in which the agent stored them."""
    held = make("backend=memory")
    stored = {"key": "k", "value": "v", "category": "daily"}
    held.service.call("memory_store", stored, "ana", "standup")

    assert "standup" == held.service.brain.get("k").session


def test_a_key_is_unique(make: Make) -> None:
    """What is stored under it later takes its place, and leaves its age and its id."""
    held = make("backend=memory")
    held.tool("store", key="k", value="old")
    before = held.service.brain.get("k")
    held.tool("store", key="k", value="new", category="daily")

    after = held.service.brain.get("k")
    assert ("new", "daily") == (after.content, after.category)
    assert (before.id, before.created) == (after.id, after.created)
    assert 1 == held.service.brain.count()


def test_forget_removes_by_key(make: Make) -> None:
    """A key that is not there is told of, and is no error."""
    held = make("backend=memory")
    held.tool("store", key="k", value="v")

    assert "Forgot memory: k" == held.tool("forget", key="k")
    assert "No memory found with key: k" == held.tool("forget", key="k")


def test_get_gives_the_value_or_an_error(make: Make) -> None:
    """By its exact key."""
    held = make("backend=memory")
    held.tool("store", key="k", value="v")

    assert "v" == held.tool("get", key="k")
    assert held.tool("get", key="K").startswith("Error: ")


def test_recall_takes_a_query_and_a_limit(make: Make) -> None:
    """The most relevant entries first."""
    held = make(f"backend=memory,{LEAST}")
    held.tool("store", key="a", value="tabs or spaces: four spaces")
    held.tool("store", key="b", value="the spaces between rockets")

    assert held.tool("recall", query="four spaces", max_results=1).endswith("four spaces\n")


def test_search_filters_by_category(make: Make) -> None:
    """Where one is named."""
    held = make(f"backend=memory,{LEAST}")
    held.tool("store", key="a", value="deadline on Friday", category="daily")
    held.tool("store", key="b", value="deadline of the project")

    found = held.tool("search", query="deadline", category="daily", max_results=10)

    assert "Found 1 memories:\n- [daily] a: deadline on Friday\n" == found


@pytest.mark.parametrize(
    ("weights", "finds"),
    [
        ("vector_weight=0", True),
        ("keyword_weight=0", True),
        ("vector_weight=0,keyword_weight=0", False),
    ],
)
def test_recall_by_words_or_by_meaning(make: Make, weights: str, finds: bool) -> None:
    """Either is enough."""
    held = make(f"backend=memory,recall_relevance_threshold=0.2,{weights}")
    held.tool("store", key="k", value="rockets fly far")

    assert finds == ("rockets fly far" in held.tool("recall", query="rockets fly"))


def test_a_search_looks_through_every_category(make: Make) -> None:
    """Where none is named."""
    held = make(f"backend=memory,{LEAST}")
    for category in ("core", "daily", "conversation", "geology"):
        held.tool("store", key=category, value="deadline", category=category)

    assert held.tool("search", query="deadline").startswith("Found 4 memories")


def test_what_speaks_to_a_message_is_put_before_it(make: Make) -> None:
    """As lines of keys and contents; it tells the truth about where they are from."""
    held = make(f"backend=memory,history=1,{LEAST}")
    name = held.say("My order is A-17 from the harbour shop.")
    held.say("Lovely weather.")

    context = held.memory.context(held.query("Which order from the harbour shop?"))

    (recalled,) = (s for s in context.sections if s.layer == "recalled")
    assert recalled.messages[0].text.startswith("[Memory context]\n- user_msg_")
    assert name in recalled.verbatim
    assert name in context.ranking


def test_the_documented_conversation(make: Make) -> None:
    """The indentation is stored, found again, and forgotten on request."""
    held = make(f"backend=memory,{LEAST}")
    value = "User prefers 4-space indentation"
    held.tool("store", key="code_style_indent", value=value, category="core")

    assert value in held.tool("search", query="coding preferences indentation")
    assert "Forgot memory: code_style_indent" == held.tool("forget", key="code_style_indent")
    assert value not in held.tool("search", query="coding preferences indentation")


def test_a_workspace_is_opened_as_it_stands(make: Make) -> None:
    """`memsim memory` takes the folder that PRX works in, and a TOML file of its settings."""
    held = make("")
    held.tool("store", key="deadline", value="Project deadlines are on Fridays")
    held.tool("store", "ben", key="cat", value="Project cat", category="daily")
    folder = held.service.workspace
    config = folder / "settings.toml"
    config.write_text(SECTION.replace("acl_enabled = false", "acl_enabled = true"), "utf-8")

    def keys(path: Path, *words: str) -> list[str]:
        asked = ["memory", *words, "--memory", str(path), "--format", "json"]
        done = CliRunner().invoke(program, asked)
        assert 0 == done.exit_code, done.output
        return [entry["key"] for entry in json.loads(done.stdout)["entries"]]

    assert ["deadline"] == keys(folder, "list", "--category", "core")
    assert ["deadline", "cat"] == keys(folder, "search", "project deadlines")
    assert ["deadline"] == keys(config, "search", "project deadlines", "--as", "ana")
    assert ["cat"] == keys(config, "list", "--as", "ben")


def test_the_command_line_verbs(make: Make, tmp_path: Path) -> None:
    """What the document shows of `prx memory`, `memsim memory` does with the memory of a PRX."""
    held = make("backend=memory,acl=on")
    name = held.say("My order is A-17.", "ana")
    held.tool("store", key="deadline", value="Project deadlines are on Fridays")
    held.tool("store", "ben", key="cat", value="Project cat", category="daily")
    held.memory.grant(Grant(owner="ana", viewer="ben", sources=(name,)))
    folder = tmp_path / "handed"

    entries = [*entries_of(held.service.brain).values()]
    options = MemoryOptions(acl=True, vectors=False)
    with open_memory(folder, now=held.clock.now, options=options) as memory:
        memory.vault.put(entries)
    assert 3 == len(entries)

    def told(*words: str) -> Any:  # noqa: ANN401 - whatever is printed
        asked = ["memory", *words, "--memory", str(folder), "--format", "json"]
        done = CliRunner().invoke(program, asked)
        assert 0 == done.exit_code, done.output
        return json.loads(done.stdout)

    def keys(*words: str) -> list[str]:
        return [entry["key"] for entry in told(*words)["entries"]]

    assert {"conversation": 1, "core": 1, "daily": 1} == told("stats")["categories"]
    assert ["deadline"] == keys("list", "--category", "core", "--as", "ana")
    assert ["deadline"] == keys("search", "project deadlines", "--as", "ana")
    assert 3 == len(keys("export"))
    assert ["cat"] == [key for key in keys("list", "--as", "ben") if not key.startswith("user_")]
    assert 2 == len(keys("list", "--as", "ben"))


# -- access control


def test_what_is_stored_is_the_principals(make: Make) -> None:
    """Whoever's session it is, whatever the arguments say."""
    held = make("backend=memory,acl=on")
    held.tool("store", "ben", key="k", value="v", principal="ana", sender_id="ana")

    assert "ben" == held.service.brain.get("k").sender


def test_only_ones_own_is_forgotten(make: Make) -> None:
    """Somebody else's stays, and looks like nothing at all."""
    held = make("backend=memory,acl=on")
    held.tool("store", key="k", value="v")

    assert "No memory found with key: k" == held.tool("forget", "ben", key="k")
    assert "Forgot memory: k" == held.tool("forget", "ana", key="k")


def test_get_is_an_error_without_access(make: Make) -> None:
    """The same error as for what is not there; what was shared is got."""
    held = make("backend=memory,acl=on")
    name = held.say("My order is A-17.")
    held.tool("store", key="k", value="v")
    key = next(iter(held.keys() - {"k"}))

    assert held.tool("get", "ben", key="nope").replace("nope", "k") == held.tool(
        "get", "ben", key="k"
    )
    held.memory.grant(Grant(owner="ana", viewer="ben", sources=(name,)))
    assert "My order is A-17." == held.tool("get", "ben", key=key)
    assert held.tool("get", "ben", key="k").startswith("Error: ")
    held.memory.grant(Grant(owner="ana", viewer="ben", sources=(name,), revoked=True))
    assert held.tool("get", "ben", key=key).startswith("Error: ")


def test_recall_is_removed_under_access_control(make: Make) -> None:
    """It is not among the tools, and refuses whoever calls it all the same."""
    held = make("backend=memory,acl=on")

    assert "memory_recall" not in [spec.name for spec in held.memory.tools("ana")]
    assert held.tool("recall", query="x").startswith("Error: memory_recall is disabled")


def test_the_other_four_stay_under_access_control(make: Make) -> None:
    """In their order, switched on by the section or by the parameter."""
    four = [name for name in NAMES if name != "memory_recall"]

    assert four == [spec.name for spec in make("backend=memory,acl=on").memory.tools("ana")]
    settings = read_settings("[memory]\nacl_enabled = true")
    assert four == [spec.name for spec in tool_specs(DOCUMENTED, acl=settings.acl_enabled)]


def test_search_gives_what_one_has_access_to(make: Make) -> None:
    """And nothing of anybody else's, in contexts and on surfaces either."""
    held = make(f"backend=memory,acl=on,{LEAST}")
    held.say("My order is A-17 from the harbour shop.", "ana")
    held.say("My order is B-20 from the harbour shop.", "ben")

    found = held.tool("search", "ben", query="order from the harbour shop")

    assert "B-20" in found
    assert "A-17" not in found
    assert "A-17" not in held.asked("Which order from the harbour shop?", "ben")
    assert all("A-17" not in s.text for s in held.memory.surfaces("ben"))


@pytest.mark.parametrize(
    "path",
    ["MEMORY.md", "memory/2026-01-05.md", "memory/brain.db", "./MEMORY/x.md", "memory.MD"],
)
def test_file_read_is_blocked_under_access_control(make: Make, path: str) -> None:
    """Not a byte of the memory's files, by whatever name."""
    shut, open_ = make("acl=on"), make("backend=markdown")
    open_.tool("store", key="k", value="v")

    assert DENIED == shut.service.file_read(path).error
    assert "v" in open_.service.file_read("MEMORY.md").output


def test_the_audit_is_switched_on_where_the_document_has_it(make: Make, tmp_path: Path) -> None:
    """By `security.audit.enabled`, which is off where nothing is said."""
    path = tmp_path / "config.toml"
    path.write_text("[security.audit]\nenabled = true\n", "utf-8")

    assert make("backend=memory").service.audit is None
    assert make(f"backend=memory,config={path}").service.audit is not None
    assert make(f"backend=memory,config={path},audit=off").service.audit is None


def test_uses_of_tools_are_noted(make: Make) -> None:
    """Which tool, the digest of its key, the category, and whether it went well."""
    held = make("backend=memory,audit=on")
    held.tool("store", key="k", value="v", category="daily")
    held.tool("get", key="nope")

    trail = held.service.audit
    assert [
        ("memory_store", trail.digest("k"), "daily", "ana", "allowed"),
        ("memory_get", trail.digest("nope"), "", "ana", "failed"),
    ] == [(r.tool, r.key, r.category, r.principal, r.outcome) for r in trail.records()]
    assert trail.verify() is None


# -- what the document implies, and `fixed` repairs


def test_ranking_before_filtering_loses_ones_own(make: Make) -> None:
    """Others' entries take the places of one's own, which were found if they were left out."""
    said_by_others = [f"rocket rocket rocket {number}" for number in range(40)]
    found = []
    for fixed in ("false", "true"):
        held = make(f"backend=memory,acl=on,embedding_provider=none,fixed={fixed},{LEAST}")
        held.tool("store", "ben", key="mine", value="I once built a rocket in the yard")
        for number, text in enumerate(said_by_others):
            held.tool("store", "ana", key=f"k{number}", value=text)
        found.append("yard" in held.tool("search", "ben", query="rocket"))

    assert [False, True] == found


def test_a_key_of_anothers_can_be_taken_over(make: Make) -> None:
    """Keys are one for everybody; repaired, everybody has their own."""
    broken, fixed = (make(f"backend=memory,acl=on,fixed={f}") for f in ("false", "true"))
    for held in (broken, fixed):
        held.tool("store", "ana", key="k", value="of ana")
        held.tool("store", "ben", key="k", value="of ben")

    assert broken.tool("get", "ana", key="k").startswith("Error: ")
    assert ("of ana", "of ben") == (
        fixed.tool("get", "ana", key="k"),
        fixed.tool("get", "ben", key="k"),
    )


def test_what_is_forgotten_stays_in_the_chat(make: Make) -> None:
    """Only the entry goes; repaired, the message goes as well."""
    left = []
    for fixed in ("false", "true"):
        held = make(f"backend=memory,fixed={fixed}")
        name = held.say("My card ends in 4411.")
        outcome = held.memory.forget(Forget(principal="ana", text="", sources=(name,)))
        assert outcome.supported
        assert (name in outcome.removed) == (fixed == "true")
        left.append(["4411" in s.text for s in held.memory.surfaces()])

    assert [[True], []] == left


@pytest.mark.parametrize("version", ["document", "0.3.0"])
@pytest.mark.parametrize("way", ["forget", "tool", "hygiene"])
def test_what_is_forgotten_stays_in_the_file(tmp_path: Path, version: str, way: str) -> None:
    """In free pages, indexes, titles and the log; repaired, in none of them."""
    left = []
    for fixed in ("false", "true"):
        folder = tmp_path / fixed
        held = Held(f"prx:version={version},fixed={fixed}", folder, [])
        held.say("The plumber of the third floor comes on Monday at ten.")
        name = held.say("My passport is QXZV-7741, and it is in the drawer.")
        held.say("The rocket has to be painted before the summer ends.")
        rows = held.service.brain.rows()
        (key,) = (row.key for row in rows if "QXZV" in row.content)
        if way == "forget":
            held.memory.forget(Forget(principal="ana", text="", sources=(name,)))
        elif way == "tool":
            held.tool("forget", key=key)
        else:
            held.later(days=400)
        files = [path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()]
        left.append(any(b"qxzv" in data for data in files))
        held.memory.close()

    assert [True, False] == left


def test_a_topic_is_called_after_what_is_left(tmp_path: Path) -> None:
    """Repaired: it goes with the last of its rows, and with those who took part in it."""
    held = Held("prx:version=0.3.0,fixed=true", tmp_path, [])
    first = held.say("Ticket 42: the safe opens with QXZV-7741 and a key.")
    second = held.say("Ticket 42: the painters come on Monday, at ten in the morning.")
    run = held.service.brain.connection.execute
    found = []
    for name in ((), (first,), (second,)):
        held.memory.forget(Forget(principal="ana", text="", sources=name))
        titles = [title for (title,) in run("SELECT title FROM topics")]
        hits = run("SELECT count(*) FROM topics_fts WHERE topics_fts MATCH 'painters'").fetchone()
        members = run("SELECT count(*) FROM topic_participants").fetchone()
        found.append((titles, *hits, *members))
    held.memory.close()

    assert [
        (["Ticket 42: the safe opens with QXZV-7741 and a key."], 0, 1),
        (["Ticket 42: the painters come on Monday, at ten in the morning."], 1, 1),
        ([], 0, 0),
    ] == found


# -- what 0.3.0 really does


def test_real_defaults() -> None:
    """Of 0.3.0, where nothing is said."""
    real = defaults("0.3.0")

    assert ("none", 5, 0.4, 10_000) == (
        real.embedding_provider,
        real.max_recall_items,
        real.min_relevance_score,
        real.embedding_cache_size,
    )
    assert "markdown" == read_settings("[memory]\nbackend = 'tape'", "0.3.0").backend
    assert not real.hybrid


def test_real_parameters(make: Make) -> None:
    """Content, not value; path, lines and from; limit; maxResults and minScore; no category."""
    held = make("backend=memory,version=0.3.0")
    told = {s.name: json.loads(s.parameters)["properties"] for s in held.memory.tools("ana")}

    assert {"key", "content", "category"} == set(told["memory_store"])
    assert {"path", "key", "from", "lines", "session_id"} == set(told["memory_get"])
    assert {"query", "limit", "session_id"} == set(told["memory_recall"])
    assert {"query", "maxResults", "max_results", "minScore"} == set(told["memory_search"])
    assert "Error: Missing 'content' parameter" == held.tool("store", key="k", value="v")
    assert "k lines 1-1:\n     1: v\n" == (
        held.tool("store", key="k", content="v") and held.tool("get", path="k")
    )


def test_real_chats_are_summed_up(tmp_path: Path) -> None:
    """Of 51 messages the last 20 stay, behind a summary of 2,000 characters at most."""
    asked = Asked("The rockets are in the yard. " * 100)
    events: list[Event] = []
    held = Held("prx:backend=memory,version=0.3.0,auto_save=off", tmp_path, events, asked)
    names = [held.say(f"The rocket number {n} is in the yard. " * 30) for n in range(50)]
    assert ([], 50) == (asked.requests, len([*held.memory.surfaces()]))

    names.append(held.say("One more."))

    summary, *rest = held.memory.surfaces()
    assert [(name,) for name in names[-20:]] == [s.sources for s in rest]
    head, text = summary.text.split("\n", 1)
    assert ("summary", "[Compaction summary]", 2000) == (summary.tier, head, len(text))
    (request,) = asked.requests
    assert 10_000 < sum(len(m.text) for m in request.messages) <= 12_000
    assert names[30] == request.messages[-1].id
    assert ["compaction"] == [e.kind for e in events]


@pytest.mark.parametrize(
    ("ref", "calls"),
    [("version=0.3.0,compaction=off", 0), ("version=document", 0), ("version=0.3.0", 10)],
)
def test_chats_are_trimmed_otherwise(tmp_path: Path, ref: str, calls: int) -> None:
    """The oldest of 50 make room where there is no summary, or the model fails each time."""
    failing = Asked("")
    held = Held(f"prx:backend=memory,auto_save=off,{ref}", tmp_path, [], failing)
    names = [held.say(f"The rocket number {n} is in the yard.") for n in range(60)]

    assert [(name,) for name in names[-50:]] == [s.sources for s in held.memory.surfaces()]
    assert calls == len(failing.requests)


def test_a_summary_of_a_summary_covers_what_was_said(tmp_path: Path) -> None:
    """And not the summary, which nobody said."""
    events: list[Event] = []
    ref = "prx:backend=memory,version=0.3.0,history=21,auto_save=off"
    held = Held(ref, tmp_path, events, Asked("They met."))
    names = [held.say(f"The rocket number {n} is in the yard.") for n in range(26)]

    covered = [e.sources for e in events if e.kind == "compaction"]
    assert len(covered) > 1
    assert names[0] in covered[0]
    assert {i for sources in covered for i in sources} <= set(names)


def test_a_summary_goes_with_what_it_was_made_of(tmp_path: Path) -> None:
    """Repaired alone: what is forgotten leaves the summary, and a restart keeps what is left."""
    left = []
    for fixed in ("false", "true"):
        asked = Asked("Her card ends in 4411.")
        ref = f"prx:backend=memory,version=0.3.0,history=21,auto_save=off,fixed={fixed}"
        held = Held(ref, tmp_path, [], asked)
        names = [held.say(f"My card number {n} ends in 4411, or so.") for n in range(22)]
        state = json.loads(json.dumps(held.memory.save()))
        held.memory.load(state)
        assert state == json.loads(json.dumps(held.memory.save()))
        done = held.memory.forget(Forget(principal="ana", text="", sources=(names[0],)))
        left.append((names[0] in done.removed, next(s.tier for s in held.memory.surfaces())))

    assert [(False, "summary"), (True, "window")] == left


def test_real_gaps_are_repaired(make: Make) -> None:
    """Repaired, what is stored is its owner's: read back, forgotten and replaced by them alone."""
    held = make("backend=memory,version=0.3.0,acl=on,fixed=true")
    for who in ("ana", "ben"):
        held.say("hello", who)
        held.tool("store", who, key="k", content=f"of {who}")

    assert "k lines 1-1:\n     1: of ana\n" == held.tool("get", "ana", path="k")
    assert "No memory found with key: k" == held.tool("forget", "cleo", key="k")
    assert "Forgot memory: k" == held.tool("forget", "ben", key="k")
    assert ["of ana"] == [row.content for row in held.service.brain.rows()]


def test_real_auto_save(make: Make) -> None:
    """Thirty characters at least, and nothing that machinery says."""
    held = make("backend=memory,version=0.3.0")
    held.say("x" * 29)
    held.say("NO_REPLY since nothing happened in this conversation")
    held.say("x" * 30)

    assert 1 == len(held.keys())


def test_real_percentages(make: Make) -> None:
    """A hit by LIKE has the score 1, which is shown as one per cent."""
    held = make("backend=memory,version=0.3.0")
    held.tool("store", key="k", content="all deadlines")

    assert "[1%]" in held.tool("recall", query="deadl")


def test_real_gaps(make: Make) -> None:
    """Storing takes over, forgetting removes, whoever's it is; only owners read it back."""
    held = make("backend=memory,version=0.3.0,acl=on")
    held.say("anything at all, so that they are known here", "ana")
    held.tool("store", "ana", key="k", content="of ana")

    assert "No memory entry found for key: 'k'" == held.tool("get", "ana", path="k")
    held.tool("store", "ben", key="k", content="of ben")
    assert "of ben" == held.service.brain.get("k").content
    assert "Forgot memory: k" == held.tool("forget", "cleo", key="k")


def test_real_access(make: Make) -> None:
    """A chat's rows are for that chat: in a group for all, else for its one sender."""
    held = make("backend=memory,version=0.3.0,acl=on")
    held.say("I keep the rockets in the yard behind the house", "ana", "alone")
    held.say("hello", "ana", "team")
    held.say("hello", "ben", "team")
    held.say("We launch the rockets on Friday from the old pier", "ana", "team")

    def found(who: str, session: str) -> list[str]:
        asked = {"query": "rockets"}
        output = held.service.call("memory_search", asked, who, session).output
        return [word for word in ("yard", "pier") if word in output]

    assert ["yard"] == found("ana", "alone")
    assert ["pier"] == found("ana", "team") == found("ben", "team")
    assert [] == found("ben", "alone") == found("cleo", "alone")


def test_real_recall_asks_nobody(make: Make) -> None:
    """Tools keep what is another's under access control; what is put before a message does not."""
    shown = []
    for fixed in ("false", "true"):
        held = make(f"backend=memory,version=0.3.0,acl=on,fixed={fixed},min_relevance_score=0")
        held.say("I keep the rockets in the yard behind the house", "ana", "alone")
        held.say("hello", "ben", "s1")
        tool = held.service.call("memory_search", {"query": "rockets"}, "ben", "s1").output
        seen = any("yard" in s.text for s in held.memory.surfaces("ben"))
        shown.append(("yard" in tool, "yard" in held.asked("Where are the rockets?", "ben"), seen))

    assert [(False, True, True), (False, False, False)] == shown


def test_real_risks(make: Make) -> None:
    """A password or an address makes a row the owner's alone."""
    held = make("backend=memory,version=0.3.0,acl=on")
    held.say("the password of the rockets is hunter2, do not tell", "ana")
    held.say("write to me at ana@example.com about the rockets", "ana")

    assert {("owner", "sensitive")} == {
        (row.visibility, row.sensitivity) for row in held.service.brain.rows()
    }


def test_real_files(make: Make) -> None:
    """The copy keeps what was forgotten; under access control there is none."""
    held = make("version=0.3.0")
    held.tool("store", key="k", content="rockets in the yard")
    held.tool("forget", key="k")

    assert "**k**: rockets in the yard" in (held.folder / "MEMORY.md").read_text("utf-8")
    assert ["log"] == [s.tier for s in held.memory.surfaces()]


def test_real_usefulness(make: Make) -> None:
    """What was sent is of use, and as young as if it were written."""
    held = make("backend=memory,version=0.3.0,history=1")
    for number in range(3):
        held.say(f"Something else entirely was said on day {number}")
    name = held.say("I keep the rockets in the yard behind the house")
    held.say("short")
    for _ in range(3):
        context = held.memory.context(held.query("rockets in the yard"))
        held.memory.delivered(context)
    held.later(days=5)

    (row,) = held.service.brain.rows()
    assert ((name,), 3) == (row.sources, row.useful)


def test_real_hygiene(make: Make) -> None:
    """Custom rows stay; daily ones are deleted, not put away; days without number never come."""
    held = make("backend=memory,version=0.3.0")
    held.tool("store", key="c", content="v", category="geology")
    held.tool("store", key="d", content="v", category="daily")
    held.later(days=8)

    assert {"c"} == held.keys()
    nothing = upkeep.HygieneReport()
    upkeep.prune(
        held.service.brain,
        replace(PrxSettings(), conversation_retention_days=0, daily_retention_days=0),
        held.clock.now(),
        nothing,
    )
    assert upkeep.HygieneReport() == nothing


def test_real_markdown(make: Make) -> None:
    """The file backend says that there is nothing to forget."""
    held = make("backend=markdown,version=0.3.0")
    held.tool("store", key="k", content="v")

    assert "No memory found with key: k" == held.tool("forget", key="k")


def test_real_snapshots(make: Make, tmp_path: Path) -> None:
    """The snapshot keeps what is forgotten until the next; nobody asked for one by default."""
    path = tmp_path / "config.toml"
    path.write_text("[memory]\nsnapshot_enabled = true\nsnapshot_on_hygiene = true\n", "utf-8")
    held = make(f"version=0.3.0,config={path}")
    held.tool("store", key="k", content="rockets in the yard")
    held.later(hours=13)
    held.tool("forget", key="k")
    snapshot = held.folder / "MEMORY_SNAPSHOT.md"

    assert "rockets in the yard" in snapshot.read_text("utf-8")
    assert 2 == sum("yard" in s.text for s in held.memory.surfaces())
    held.later(hours=13)
    assert "rockets in the yard" not in snapshot.read_text("utf-8")
    assert 1 == sum("yard" in s.text for s in held.memory.surfaces())
    snapshot.unlink()
    make("version=0.3.0").later(hours=26)
    assert not snapshot.exists()


def test_files_are_saved_and_scrubbed(tmp_path: Path) -> None:
    """Repaired alone: the copy, what was put away of it and the snapshot forget as well."""
    config = tmp_path / "config.toml"
    config.write_text("[memory]\nsnapshot_enabled = true\nsnapshot_on_hygiene = true\n", "utf-8")
    one, other = (
        Held(f"prx:version=0.3.0,fixed=true,config={config}", tmp_path / name, []) for name in "ab"
    )
    name = one.say("The rockets are in the yard behind the house.")
    one.tool("store", key="core", content="rockets in the yard")
    one.service.sent("", [1, 2])
    one.service.sent("", [1, 2])
    one.service.sent("", [1, 2])
    one.later(days=9)
    other.memory.load(json.loads(json.dumps(one.memory.save())))

    def texts() -> dict[str, str]:
        found = sorted(other.folder.rglob("*.md"))
        return {path.name: path.read_text("utf-8") for path in found}

    assert ["MEMORY.md", "MEMORY_SNAPSHOT.md", "2026-01-05.md"] == [*texts()]
    assert all("yard" in text for text in texts().values())
    other.tool("forget", key="core")
    assert ["2026-01-05.md"] == [name for name, text in texts().items() if "yard" in text]
    other.memory.forget(Forget(principal="ana", text="", sources=(name,)))
    assert not any("yard" in text for text in texts().values())
    assert [] == [s.text for s in other.memory.surfaces() if "yard" in s.text]


@pytest.mark.parametrize("fixed", ["false", "true"])
def test_files_outlive_rows_that_grew_old(make: Make, fixed: str) -> None:
    """The day's file is put away with what nobody can have forgotten; repaired, that is gone."""
    held = make(f"version=0.3.0,fixed={fixed}")
    held.say("The rockets are in the yard behind the house.")
    held.later(days=4)
    texts = [path.read_text("utf-8") for path in sorted((held.folder / "memory").glob("*.md"))]

    assert set() == held.keys()
    assert [fixed == "false"] == ["yard" in text for text in texts]


@pytest.mark.parametrize("fixed", ["false", "true"])
def test_a_lost_database_is_made_again_where_a_memory_opens(make: Make, fixed: str) -> None:
    """From its files, which 0.3.0 cannot open afterwards."""
    memory = make("version=0.3.0").folder / "MEMORY.md"
    memory.write_text("# Long-Term Memory\n\n- rockets in the yard\n", "utf-8")
    for name in (memory.parent / "memory").glob("brain.db*"):
        name.unlink()

    if fixed == "false":
        with pytest.raises(StoreError, match="no such column: accessed_at"):
            make("version=0.3.0")
        return
    held = make("version=0.3.0,fixed=true")
    assert ["rockets in the yard"] == [row.content for row in held.service.brain.rows()]


def test_a_lost_database_comes_back_only_repaired(tmp_path: Path, make: Make) -> None:
    """0.3.0 makes it so that it cannot be opened; `fixed` makes it so that it can."""
    for name, fixed in (("broken", False), ("fixed", True)):
        folder = tmp_path / name
        folder.mkdir()
        brain = Brain()
        brain.store("k", "v", "core", now=Clock().now())
        assert 1 == export_snapshot(brain, folder, Clock().now())
        assert should_hydrate(folder)
        assert 1 == hydrate(folder, Clock().now(), fixed=fixed)
        if fixed:
            assert "v" == Brain(folder / "memory" / "brain.db").rows()[0].content
        else:
            with pytest.raises(StoreError, match="no such column: accessed_at"):
                Brain(folder / "memory" / "brain.db")


def test_vectors_are_kept(tmp_path: Path) -> None:
    """Every text is embedded once, queries too, in this process and the next."""
    counted = Counted()
    one, other = (
        Held("prx:backend=memory,auto_save=off", tmp_path / n, [], embedder=counted) for n in "ab"
    )
    one.tool("store", key="a", value="rockets")
    one.tool("store", key="b", value="rockets")
    one.tool("search", query="yard")
    other.memory.load(json.loads(json.dumps(one.memory.save())))
    found = one.tool("search", query="rockets")

    assert found == other.tool("search", query="rockets")
    assert ["rockets", "yard"] == counted.texts


@pytest.mark.parametrize("fixed", [False, True])
def test_vectors_of_two_embedders_are_mixed_unless_repaired(tmp_path: Path, fixed: bool) -> None:
    """Those of one text have one key, whoever made them; repaired, another's are made anew."""
    ref = f"prx:backend=embeddings,auto_save=off,fixed={fixed}"
    before, after = Counted(), Counted()
    after.name = "another"
    one = Held(ref, tmp_path / "a", [], embedder=before)
    one.tool("store", key="a", value="rockets")
    other = Held(ref, tmp_path / "b", [], embedder=after)
    other.memory.load(json.loads(json.dumps(one.memory.save())))
    other.tool("search", query="rockets")
    other.tool("search", query="yard")

    assert ["rockets"] == before.texts
    assert ([] if not fixed else ["rockets"]) + ["yard"] == after.texts


def test_what_is_only_looked_up_leaves_no_trace(tmp_path: Path) -> None:
    """The vector of a message is kept once its context was sent, not when one is composed."""
    held = Held("prx:backend=memory,auto_save=off", tmp_path, [])
    held.tool("store", key="a", value="rockets")
    before = held.memory.save()
    context = held.memory.context(held.query("yard"))
    assert before == held.memory.save()

    held.memory.delivered(context)

    state: Any = held.memory.save()
    assert 2 == len(state["service"]["brain"]["embedding_cache"])


def test_vectors_used_longest_ago_make_room(tmp_path: Path) -> None:
    """Ten thousand are kept, or as many as the settings say."""
    path = tmp_path / "config.toml"
    path.write_text("[memory]\nembedding_cache_size = 2\n", "utf-8")
    counted = Counted()
    held = Held(f"prx:backend=memory,config={path}", tmp_path, [], embedder=counted)
    for text in ("one", "two", "one", "three", "one", "two"):
        held.tool("store", key="k", value=text)

    assert 10_000 == PrxSettings().embedding_cache_size
    assert ["one", "two", "three", "two"] == counted.texts


@pytest.mark.parametrize("ref", ["", "backend=markdown,acl=on", "version=0.3.0", "audit=on"])
def test_a_restart_changes_nothing(tmp_path: Path, ref: str) -> None:
    """All of it is saved, and loaded in place of what is there."""
    one, other = (Held(f"prx:{ref}".rstrip(":"), tmp_path / n, []) for n in ("a", "b"))
    other.say("Something that has to go away again, all of it")
    for number in range(6):
        one.say(f"I keep rocket number {number} in the yard behind the house")
    one.tool("store", key="k", value="v", content="v")
    state = json.loads(json.dumps(one.memory.save()))
    other.clock.set(one.clock.now())

    other.memory.load(state)

    assert state == json.loads(json.dumps(other.memory.save()))
    assert one.asked("rocket number 3") == other.asked("rocket number 3")


@pytest.mark.parametrize("name", SHOWN["prx"])
def test_what_it_breaks_holds_once_it_is_repaired(name: str) -> None:
    """A conversation shows it of the design as published, and holds with `fixed`."""
    assert_broken_unless_fixed("prx", name)


def _searcher() -> Callable[[str, int], list[tuple[int, float]]]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(key, content)")
    chance = random.Random(3)
    for n in range(20):
        text = " ".join(chance.choice(LONG_WORDS) for _ in range(10 + 5 * n))
        connection.execute("INSERT INTO words VALUES (?, ?)", (f"k{n}", text))
    query = (
        "SELECT rowid, bm25(words) AS score FROM words WHERE words MATCH ?"
        " ORDER BY score, rowid LIMIT ?"
    )
    return lambda expression, most: connection.execute(query, (expression, most)).fetchall()


LONG_WORDS = ("Row", "shelf", "北京", "x-y", "A-17", "don't", "—", *(f"w{n}" for n in range(40)))


def test_a_long_query_ranks_as_one_expression_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word by word, scores are the same to the last bit: repeated words count as often."""
    chance = random.Random(5)
    queries = [" ".join(chance.choices(LONG_WORDS, k=20 * n)) for n in range(1, 8)]
    search = _searcher()
    monkeypatch.setattr(row_index, "MANY_WORDS", 1_000)
    whole = [rank_by_words(search, query, 8) for query in queries]
    monkeypatch.setattr(row_index, "MANY_WORDS", 0)

    assert whole == [rank_by_words(search, query, 8) for query in queries]


def test_an_index_of_words_is_made_once_for_each_condition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A question on the same condition makes no other."""
    made: list[object] = []

    class Counted(row_index._WordIndex):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(row_index, "_WordIndex", Counted)
    rows = sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE memories (key TEXT, content TEXT, archived INT)")
    indexes = row_index.WordIndexes(rows)
    for _ in range(3):
        indexes.keyword("Row", 5, Clause("m.key <> ?", ("",)))
    indexes.close()

    assert len(made) == 1


def test_an_index_of_words_reads_only_what_was_written_since(tmp_path: Path) -> None:
    """It finds what an index made anew finds, also where another connection has written."""
    file, meant = tmp_path / "rows.db", Clause("m.key <> ?", ("hidden",))
    rows, other = (sqlite3.connect(file, isolation_level=None) for _ in range(2))
    rows.execute("CREATE TABLE memories (key TEXT UNIQUE, content TEXT, archived INT)")
    put = "INSERT INTO memories (rowid, key, content, archived) VALUES (?, ?, ?, 0)"
    again = " ON CONFLICT (key) DO UPDATE SET content = 'attic row8'"
    rows.executemany(put, [(n, f"key{n}", f"shelf row{n}") for n in range(1, 40)])
    indexes = row_index.WordIndexes(rows)
    indexes.keyword("shelf", 50, meant)
    steps: list[tuple[sqlite3.Connection, str, int]] = [
        (rows, "SELECT 1", 0),
        (rows, "UPDATE memories SET content = 'attic shelf' WHERE rowid = 3", 1),
        (rows, "UPDATE memories SET key = 'hidden' WHERE rowid = 4", 0),
        (rows, "UPDATE memories SET archived = 1 WHERE rowid = 5", 0),
        (rows, "UPDATE memories SET archived = 0, key = 'back' || rowid WHERE rowid IN (4, 5)", 2),
        (rows, "DELETE FROM memories WHERE rowid = 39", 0),
        (rows, put.replace("?, ?, ?", "39, 'key39', 'attic'"), 1),
        (rows, put.replace("?, ?, ?", "NULL, 'key39', ''") + again, 1),
        (other, "UPDATE memories SET content = 'attic' WHERE rowid = 7", 39),
    ]
    for connection, change, read in steps:
        connection.execute(change)
        fresh = row_index.WordIndexes(sqlite3.connect(file, isolation_level=None))
        ran: list[str] = []
        rows.set_trace_callback(ran.append)
        found = [indexes.keyword(words, 50, meant) for words in ("shelf", "attic row8")]
        rows.set_trace_callback(None)

        assert found == [fresh.keyword(words, 50, meant) for words in ("shelf", "attic row8")]
        assert read == sum("content" in statement for statement in ran), change
        fresh.close()


@pytest.mark.parametrize("embedder", [None, 7, "absent"])
def test_a_state_that_names_no_embedder_is_refused(embedder: object) -> None:
    """Repaired, PRX saves the name, so that a state without one is damaged."""
    world = World(subject_of("prx:fixed=true"), Case())
    state: Any = world.memory.save()
    state["service"]["embedder"] = embedder
    if embedder == "absent":
        del state["service"]["embedder"]

    with pytest.raises(StateError):
        world.memory.load(state)
    world.close()


def test_real_chats_are_summed_up_in_words_of_their_own(tmp_path: Path) -> None:
    """A live model is told what to keep, and in how many characters."""
    asked = Asked("The rockets are in the yard.")
    held = Held("prx:backend=memory,version=0.3.0,auto_save=off", tmp_path, [], asked)
    for n in range(51):
        held.say(f"The rocket number {n} is in the yard.")
    (_, rules), (_, told) = provider_chat(asked.requests[0])

    assert "at most 2,000 characters" in rules
    assert "User: The rocket number 0 is in the yard." in told
