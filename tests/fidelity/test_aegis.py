"""What AEGIS's document says of its memory, a test for each row of the strategy's table."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from memsim import Environment, Event, Forget, Message, Query, said
from memsim.cli import serve
from memsim.clock import Clock
from memsim.discovery.loader import prepare
from memsim.errors import ModelError, StateError, StoreError
from memsim.message import Block, Role, Text, TokenCounter, ToolResult, ToolUse, load_tokenizer
from memsim.models import Reply, Request
from memsim.models.embedders import HashEmbedder
from memsim.models.model_ref import read_embedder
from memsim.models.offline.model import OfflineModel
from memsim.strategy import Strategy
from memsim.systems.aegis import pipeline as nodes
from memsim.systems.aegis.episodes import (
    DIMENSION,
    EPISODES_HEADER,
    TOP,
    AegisEpisode,
    EpisodeHit,
    Episodes,
    InProcessEpisodes,
    episodes_text,
)
from memsim.systems.aegis.hashes import MISSING, UNLIMITED, Hashes, InProcessHashes, usage
from memsim.systems.aegis.ivfflat import LISTS, Ivfflat
from memsim.systems.aegis.postgres_episodes import INDEX, TABLE, PostgresEpisodes
from memsim.systems.aegis.redis_hashes import RedisHashes, RedisManager
from memsim.systems.aegis.working_memory import (
    DEFAULT_MARK,
    FIELDS,
    INJECTED,
    LIMIT,
    TTL_SECONDS,
    AegisLedger,
    AegisWorkingMemory,
    TooLargeError,
    ledger_key,
    skill_item,
    working_key,
)
from tests.fidelity.breaking import SHOWN, assert_broken_unless_fixed
from tests.fidelity.serving import calling
from tests.memory.stores import servers
from tests.models.asking import provider_chat

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
counter = TokenCounter(load_tokenizer("chars/4"))

Vectors = np.ndarray[Any, np.dtype[np.float32]]


class Served:
    """Hashes in this process or in Redis, with the clock by which they expire."""

    def __init__(self, hashes: Hashes, clock: Clock) -> None:
        self.hashes = hashes
        self.clock = clock
        self.working = AegisWorkingMemory(hashes)
        self.ledger = AegisLedger(hashes)


@pytest.fixture(params=["embedded", "redis"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Either kind of hashes, empty."""
    clock = Clock(START)
    if request.param == "embedded":
        yield Served(InProcessHashes(clock.now), clock)
        return
    hashes = RedisHashes(servers.redis().url, clock.now)
    yield Served(hashes, clock)
    for key in hashes.keys(""):
        hashes.delete(key)
    hashes.close()


@pytest.fixture(params=["embedded", "postgres"])
def rows(request: pytest.FixtureRequest) -> Iterator[Episodes]:
    """Either kind of episodes, empty, with three numbers in a vector and without an index."""
    if request.param == "embedded":
        yield InProcessEpisodes()
        return
    schema = f"aegis_{uuid.uuid4().hex[:12]}"
    kept = PostgresEpisodes(servers.postgres().url, schema, dimension=3, lists=None)
    yield kept
    kept.close()


def vector(*numbers: float) -> Vectors:
    """A vector of these numbers."""
    return np.array(numbers, np.float32)


def episode(
    summary: str, agent: str = "a", user: str | None = None, talk: str = "c"
) -> AegisEpisode:
    """An episode under an id that follows from its summary."""
    return AegisEpisode(
        id=str(uuid.uuid5(uuid.NAMESPACE_OID, summary)),
        agent_id=agent,
        user_id=user,
        conversation_id=talk,
        summary=summary,
        created_at=START,
    )


# -- working memory


def test_keys() -> None:
    """The hashes have the documented names."""
    assert "working_memory:conv-1" == working_key("conv-1")
    assert "skill:ledger:conv-1" == ledger_key("conv-1")


def test_a_day_from_the_last_use(served: Served) -> None:
    """What is read or written lasts a day from then, and is gone after it."""
    assert 86_400 == TTL_SECONDS
    served.working.set("c", {"scratchpad": "note"})
    served.clock.advance(DAY - SECOND)
    assert {"scratchpad": "note"} == served.working.get("c")
    served.clock.advance(DAY - SECOND)
    served.working.set("c", {"well_api": "42-1"})
    served.clock.advance(DAY - SECOND)
    assert {"scratchpad": "note", "well_api": "42-1"} == served.working.peek("c")
    served.clock.advance(SECOND)
    assert {} == served.working.get("c")
    assert MISSING == served.hashes.ttl(working_key("c"))


def test_the_limit_is_64_kb() -> None:
    """The size is what Redis says of the key, so that less text fits than the number says."""
    assert 65_536 == LIMIT
    working = AegisWorkingMemory(InProcessHashes(lambda: START))
    working.set("conv-1", {"scratchpad": "x" * 57_338})
    with pytest.raises(TooLargeError, match="may hold 65,536"):
        working.set("conv-1", {"scratchpad": "x" * 57_339})
    assert 65_736 == usage(working_key("conv-1"), {"scratchpad": "x" * 57_339})


def test_the_write_succeeds_and_raises(served: Served) -> None:
    """What is too large is there all the same, and every later write raises as well."""
    with pytest.raises(ValueError, match="may hold"):
        served.working.set("c", {"scratchpad": "x" * 70_000})
    assert 70_000 == len(str(served.working.get("c")["scratchpad"]))
    with pytest.raises(ValueError, match="may hold"):
        served.working.set("c", {"well_api": "1"})
    assert 1 == served.working.get("c")["well_api"]


def test_a_fixed_one_refuses_first(served: Served) -> None:
    """Repaired, what is too large changes nothing; nor does a measure of five fields hide it."""
    fixed = AegisWorkingMemory(served.hashes, fixed=True)
    fixed.set("c", {"entity_id": "7"})
    with pytest.raises(TooLargeError):
        fixed.set("c", {"scratchpad": "x" * 70_000})
    assert {"entity_id": "7"} == fixed.get("c")
    many = {f"k{n:03}": "y" * 66 for n in range(40)} | {"big": "z" * 70_000}
    AegisWorkingMemory(InProcessHashes(lambda: START)).set("c", many)
    with pytest.raises(TooLargeError):
        fixed.set("c", many)


VALUES: dict[str, Any] = {
    "text": "plain words",
    "list": [{"type": "well", "id": "1", "name": "Mitchell Ranch 2H"}],
    "number": 7,
    "flag": True,
    "nothing": None,
    "dict": {"æ": [1.5, "x"]},
}


def test_values(served: Served) -> None:
    """Texts stand as they are, everything else as JSON; a text that looks like JSON is read so."""
    served.working.set("c", VALUES)
    assert served.working.get("c") == VALUES
    raw = served.hashes.all(working_key("c"))
    assert "plain words" == raw["text"]
    assert '[{"type": "well", "id": "1", "name": "Mitchell Ranch 2H"}]' == raw["list"]
    looks = {"a": "123", "b": "true", "c": "[]", "d": "NaN", "e": "1e999", "f": '"\\ud800"'}
    served.working.set("looks", looks)
    assert {**looks, "a": 123, "b": True, "c": []} == served.working.get("looks")
    fixed = AegisWorkingMemory(served.hashes, fixed=True)
    fixed.set("fixed", looks)
    assert looks == fixed.get("fixed")


@pytest.mark.parametrize("bad", [float("nan"), {1, 2}, "\ud800", {"x": "\ud800"}, object()])
def test_what_is_no_json_is_refused(served: Served, bad: object) -> None:
    """A value that could not be read back changes nothing."""
    with pytest.raises(ValueError, match=r"JSON|finite|UTF-8"):
        served.working.set("c", {"fine": 1, "bad": bad})
    assert {} == served.working.get("c")


def test_fields(served: Served) -> None:
    """The documented fields, and any other, come back by name."""
    assert ("scratchpad", "entities", "well_api", "entity_id", "entity_type_key") == FIELDS
    data = {**dict.fromkeys(FIELDS, "x"), "pending_mutation": {"op": "update"}}
    served.working.set("c", data)
    assert data == served.working.get("c")


def test_set_merges(served: Served) -> None:
    """A write leaves the other fields as they are."""
    served.working.set("c", {"scratchpad": "one", "well_api": "w"})
    served.working.set("c", {"scratchpad": "two"})
    served.working.set("c", {})
    assert {"scratchpad": "two", "well_api": "w"} == served.working.get("c")


def test_delete(served: Served) -> None:
    """Named fields go, or all; with the last one the key and its time to live are gone."""
    served.working.set("c", {"a": "x", "b": "y", "d": "z"})
    assert 1 == served.working.delete("c", ["a", "no such"])
    assert 0 == served.working.delete("c", [])
    assert {"b": "y", "d": "z"} == served.working.get("c")
    assert 2 == served.working.delete("c", ["b", "d"])
    assert MISSING == served.hashes.ttl(working_key("c"))
    served.working.set("c", {"a": "x", "b": "y"})
    assert 2 == served.working.delete("c")
    assert 0 == served.working.delete("c")
    assert {} == served.working.get("c")


def test_scratchpad_and_entities(served: Served) -> None:
    """Missing ones are None and an empty list."""
    assert served.working.get_scratchpad("c") is None
    assert [] == served.working.get_entities("c")
    served.working.set_scratchpad("c", "123")
    served.working.set_entities("c", [{"type": "well", "id": "1", "name": "2H"}])
    assert "123" == served.working.get_scratchpad("c")
    assert [{"type": "well", "id": "1", "name": "2H"}] == served.working.get_entities("c")


def test_ttl_seconds(served: Served) -> None:
    """A write may say how long the whole key lasts; the next read makes it a day again."""
    served.working.set("c", {"a": "x"})
    served.working.set("c", {"pending_mutation": {}}, ttl=3 * TTL_SECONDS)
    assert 3 * TTL_SECONDS == served.hashes.ttl(working_key("c"))
    served.clock.advance(2 * DAY)
    assert {"a": "x", "pending_mutation": {}} == served.working.get("c")
    served.clock.advance(DAY)
    assert {} == served.working.get("c")


# -- episodes


def test_the_table() -> None:
    """The definition says what the document's says, word by word but for the layout."""
    assert (1536, 100) == (DIMENSION, LISTS)
    made = TABLE.format(name=100, dimension=DIMENSION).split()
    columns = (
        "id UUID PRIMARY KEY, agent_id VARCHAR(100) NOT NULL, user_id VARCHAR(100),"
        " conversation_id VARCHAR(100) NOT NULL, summary TEXT NOT NULL, key_decisions JSONB,"
        " entities_mentioned JSONB, tools_called JSONB, embedding vector(1536),"
        " created_at TIMESTAMPTZ DEFAULT NOW()"
    )
    assert f"CREATE TABLE IF NOT EXISTS episodic_memories ( {columns} )".split() == made
    index = (
        "CREATE INDEX IF NOT EXISTS idx_episodic_embedding ON episodic_memories"
        " USING ivfflat (embedding vector_cosine_ops) WITH (lists = 100)"
    )
    assert index.split() == INDEX.format(lists=LISTS).split()


def test_the_embedder() -> None:
    """AEGIS's own embedder is one of those that may be named; offline, another stands in."""
    read_embedder("litellm/text-embedding-3-small")


def test_similarity(rows: Episodes) -> None:
    """1 for what is alike however long, 0 for what is not, -1 for the opposite; then no number."""
    given = {"e0": (1, 0, 0), "-e0": (-1, 0, 0), "e1": (0, 1, 0), "between": (2, 2, 0)}
    for name, numbers in given.items():
        rows.store(episode(name), vector(*numbers))
    rows.store(episode("null"), None)
    rows.store(episode("zero"), vector(0, 0, 0))
    found = rows.search(vector(5, 0, 0), "a", limit=10)
    assert ["e0", "between", "e1", "-e0", "zero", "null"] == [f.episode.summary for f in found]
    alike = [f.similarity for f in found]
    assert [1.0, 0.7071, 0.0, -1.0] == [round(n or 0.0, 4) for n in alike[:4]]
    assert "nan" == str(alike[4])
    assert alike[5] is None
    assert ["e0", "between"] == [
        f.episode.summary for f in rows.search(vector(1, 0, 0), "a", limit=2)
    ]


def test_filters(rows: Episodes) -> None:
    """Another agent's are never found; another user's are, unless a user is named."""
    for name, agent, user in (("one", "a", "ana"), ("two", "a", "ben"), ("three", "b", "ana")):
        rows.store(episode(name, agent, user, talk=name), vector(1, 0, 0))
    everybody = rows.search(vector(1, 0, 0), "a")
    assert {"one", "two"} == {f.episode.summary for f in everybody}
    own = rows.search(vector(1, 0, 0), "a", user_id="ana")
    assert ["one"] == [f.episode.summary for f in own]
    assert [] == rows.search(vector(1, 0, 0), "c")
    assert ["three"] == [e.summary for e in rows.of("three")]


def test_an_episode_comes_back_whole(rows: Episodes) -> None:
    """Every column is kept; what is removed is gone from everywhere."""
    whole = replace(
        episode("whole", user="ana"),
        key_decisions=["file it"],
        entities_mentioned=[{"type": "well", "id": "1", "name": "2H"}],
        tools_called=["search"],
    )
    rows.store(whole, vector(1, 2, 3))
    assert [whole] == rows.of("c")
    ((kept, numbers),) = rows.rows()
    assert whole == kept
    assert numbers is not None
    assert [1.0, 2.0, 3.0] == numbers.tolist()
    assert 1 == rows.remove([whole.id, str(uuid.uuid4())])
    assert [] == rows.of("c")
    assert [] == rows.search(vector(1, 2, 3), "a")


def test_the_index_hides_rows() -> None:
    """The index, made on an empty table, reads one list in a hundred; reading all is exact."""
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(300, 32)).astype(np.float32)
    kept = {p: InProcessEpisodes(LISTS, probes=p, seed=1) for p in (1, 10, LISTS)}
    exact = InProcessEpisodes()
    for place, numbers in enumerate(vectors):
        for each in (*kept.values(), exact):
            each.store(episode(f"s{place}"), numbers)

    def found(episodes: InProcessEpisodes) -> list[str]:
        near = [episodes.search(v + 0.1, "a") for v in vectors[:50]]
        return [f.episode.summary for hits in near for f in hits]

    whole = found(exact)
    assert whole == found(kept[LISTS])
    assert len(set(found(kept[1])) & set(whole)) < len(set(whole))
    assert len(found(kept[1])) <= len(found(kept[10])) <= len(whole)
    assert found(kept[1]) != found(InProcessEpisodes(LISTS, probes=1))


def test_the_index_of_loaded_rows() -> None:
    """Made on enough rows, centres lie among them, so that a search sees most of what is near."""
    chance = np.random.default_rng(3)
    topics = chance.normal(size=(8, 32))
    vectors = (topics[np.arange(400) % 8] + 0.2 * chance.normal(size=(400, 32))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    after, before = Ivfflat(32, lists=8, rows=vectors), Ivfflat(32, lists=8)
    for place, numbers in enumerate(vectors):
        after.add(place, numbers)
        before.add(place, numbers)
    assert set(range(0, 400, 8)) <= set(after.near(vectors[0]))
    assert 400 == len(before)
    before.remove(0)
    assert 0 not in before.near(vectors[0], probes=8)


def test_the_format() -> None:
    """The header, then a line for each with two digits."""
    found = [
        EpisodeHit(episode=episode("Filed the exception."), similarity=0.8694),
        EpisodeHit(episode=episode("Discussed\nspacing."), similarity=0.72),
        EpisodeHit(episode=episode("Nothing."), similarity=None),
    ]
    assert (
        "[Episodic Memory -- Relevant Past Conversations]\n"
        "- (similarity: 0.87) Filed the exception.\n"
        "- (similarity: 0.72) Discussed spacing.\n"
        "- (similarity: nan) Nothing."
    ) == episodes_text(found)
    assert "" == episodes_text([])


# -- the ledger


def test_the_ledger_lasts(served: Served) -> None:
    """It has no time to live."""
    served.ledger.mark("c", skill_item("x"))
    assert UNLIMITED == served.hashes.ttl(ledger_key("c"))
    served.clock.advance(400 * DAY)
    assert served.ledger.has("c", "skill:x")


def test_marks(served: Served) -> None:
    """A mark is any text, `1` unless told otherwise; the last one stands."""
    assert ("injected", "1") == (INJECTED, DEFAULT_MARK)
    assert served.ledger.mark("c", "skill:x")
    assert not served.ledger.mark("c", "skill:x", "injected")
    served.ledger.mark("c", "entity:7")
    assert {"skill:x": "injected", "entity:7": "1"} == served.ledger.get_all("c")


def test_evict(served: Served) -> None:
    """What is evicted may be injected again, once."""
    served.ledger.mark("c", "skill:x")
    assert served.ledger.evict("c", "skill:x")
    assert not served.ledger.evict("c", "skill:x")
    assert not served.ledger.has("c", "skill:x")


def test_the_ledger_takes_any_item(served: Served) -> None:
    """Skills, entities and artifacts, in each conversation apart."""
    items = ("skill:spacing", "entity:42-1", "artifact:plat.pdf")
    for item in items:
        assert not served.ledger.has("c", item)
        served.ledger.mark("c", item)
    assert dict.fromkeys(items, "1") == served.ledger.get_all("c")
    assert {} == served.ledger.get_all("d")


# -- the shared manager


def test_the_manager_has_texts(served: Served) -> None:
    """get, set with `ex` and delete, by key; a hash is no text."""
    manager = RedisManager(served.hashes)
    assert None is manager.get("k")
    manager.set("k", "v", ex=60)
    manager.set("long", "v")
    assert ("v", 60, UNLIMITED) == (manager.get("k"), *map(served.hashes.ttl, ("k", "long")))
    served.clock.advance(61 * SECOND)
    assert (None, "v") == (manager.get("k"), manager.get("long"))
    manager.set("k", "w", ex=60)
    manager.set("k", "x")
    assert ("x", UNLIMITED) == (manager.get("k"), served.hashes.ttl("k"))
    served.hashes.put("h", {"a": "b"})
    with pytest.raises(StoreError, match="WRONGTYPE"):
        manager.get("h")
    with pytest.raises(StoreError, match="WRONGTYPE"):
        served.hashes.all("k")
    manager.delete("k")
    manager.delete("h")
    assert ["long"] == served.hashes.keys("")


def test_the_manager_has_the_ledger(served: Served) -> None:
    """ledger_has, ledger_mark with `1` and ledger_get_all, under the ledger's own key."""
    manager = RedisManager(served.hashes)
    assert "skill:ledger:c" == manager.ledger_key("c")
    assert not manager.ledger_has("c", "skill:x")
    manager.ledger_mark("c", "skill:x")
    manager.ledger_mark("c", "skill:y", "injected")
    assert manager.ledger_has("c", "skill:x")
    assert {"skill:x": "1", "skill:y": "injected"} == manager.ledger_get_all("c")
    assert served.ledger.get_all("c") == manager.ledger_get_all("c")


def test_texts_are_saved() -> None:
    """As hashes are, with what is left of their time."""
    clock = Clock(START)
    one, two = InProcessHashes(clock.now), InProcessHashes(clock.now)
    one.put_text("k", "v", 60)
    one.put("h", {"a": "b"})
    two.load(json.loads(json.dumps(one.save())))
    assert ("v", 60, {"a": "b"}) == (two.text("k"), two.ttl("k"), two.all("h"))


def test_a_claim_is_one_step(served: Served) -> None:
    """Of two who both found an item unmarked, both mark it; a claim is one's alone."""
    checked = [served.ledger.has("c", "skill:x") for _ in range(2)]
    assert [False, False] == checked
    assert [True, False] == [served.ledger.claim("c", "skill:x") for _ in range(2)]


# -- the pipeline


class Played:
    """A strategy with its environment, and a script that is told line by line."""

    def __init__(
        self,
        tmp_path: Path,
        budget: int = 4096,
        ref: str = "aegis",
        services: Mapping[str, str] | None = None,
    ) -> None:
        self.clock = Clock(START)
        self.events: list[Event] = []
        self.count = 0
        self.env = Environment(
            clock=self.clock,
            model=OfflineModel(counter),
            counter=counter,
            embed=lambda: HashEmbedder(512),
            random=random.Random(5),
            folder=lambda: tmp_path,
            budget=budget,
            log=self.events.append,
            services=services or {},
        )
        self.ref = ref
        self.strategy: Strategy = prepare(ref)(self.env)

    def message(self, role: Role, *blocks: Block, session: str, who: str) -> Message:
        """The next message of the script."""
        self.count += 1
        made = said(
            role,
            "",
            id=f"m{self.count}",
            principal=who,
            session=session,
            turn=self.count,
            time=self.clock.now(),
        )
        return replace(made, blocks=blocks)

    def turn(
        self,
        text: str,
        reply: str = "Noted.",
        *,
        session: str = "s1",
        who: str = "ana",
        skill: str = "",
        content: str = "",
    ) -> str:
        """One turn, in which a skill may be asked for; what the model was sent."""
        self.strategy.observe(self.message("user", Text(text), session=session, who=who))
        context = self.strategy.context(self.query(text, session, who))
        self.strategy.delivered(context)
        if skill:
            call = ToolUse(id=f"c{self.count}", name="skill", arguments="{}")
            asked = Text(f"SKILL_SELECT:{skill}")
            self.strategy.observe(self.message("assistant", asked, call, session=session, who=who))
            result = ToolResult(id=call.id, text=content)
            self.strategy.observe(self.message("tool", result, session=session, who=who))
        self.strategy.observe(self.message("assistant", Text(reply), session=session, who=who))
        self.strategy.end_turn()
        self.clock.advance(timedelta(minutes=1))
        return context.text()

    def query(self, text: str, session: str = "s1", who: str = "ana") -> Query:
        """A question."""
        return Query(
            text=text,
            principal=who,
            session=session,
            time=self.clock.now(),
            turn=self.count,
            budget=self.env.budget,
        )

    def asked(self, text: str, session: str = "s1", who: str = "ana") -> str:
        """What the model would be sent with a question."""
        return self.strategy.context(self.query(text, session, who)).text()

    def again(self) -> None:
        """Save, begin anew and load."""
        state = self.strategy.save()
        self.strategy.close()
        self.strategy = prepare(self.ref)(self.env)
        self.strategy.load(state)
        assert state == self.strategy.save()


Play = Callable[..., Played]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Makes strategies, which are closed in the end."""
    made: list[Played] = []

    def make(
        ref: str = "aegis", budget: int = 4096, services: Mapping[str, str] | None = None
    ) -> Played:
        made.append(Played(tmp_path, budget, ref, services))
        return made[-1]

    yield make
    for each in made:
        each.strategy.close()


RULE = "Rule 37 permits an exception where the lease line lies within 467 feet of the well."


def test_a_skill_is_injected_once(play: Play) -> None:
    """Its content is a system message where it was asked for; asked for again, it is not again."""
    played = play()
    for _ in range(4):
        played.turn("Compute the spacing.", skill="spacing-calculation", content=RULE)
    context = played.strategy.context(played.query("And now?"))
    injected = [m for s in context.sections for m in s.messages if m.text == RULE]
    assert ["system"] == [m.role for m in injected]
    assert ("m3",) == injected[0].verbatim
    assert [("injected", "spacing-calculation")] == [
        (e.kind, e.detail) for e in played.events if e.kind == "injected"
    ]
    assert 3 == sum(e.kind == "skipped" for e in played.events)
    assert not any(m.role == "tool" for s in context.sections for m in s.messages)


def test_two_skills_in_one_breath(play: Play) -> None:
    """Each skill has its own content and its own item; a later turn's results are results."""
    played = play()
    first = played.message("user", Text("Both, please."), session="s1", who="ana")
    played.strategy.observe(first)
    calls = [ToolUse(id=f"c{n}", name="skill", arguments="{}") for n in range(2)]
    asked = Text("SKILL_SELECT:one SKILL_SELECT:two")
    played.strategy.observe(played.message("assistant", asked, *calls, session="s1", who="ana"))
    for n, text in enumerate(("content one", "content two")):
        result = ToolResult(id=f"c{n}", text=text)
        played.strategy.observe(played.message("tool", result, session="s1", who="ana"))
    played.strategy.end_turn()
    look = ToolUse(id="c9", name="look", arguments="{}")
    played.strategy.observe(played.message("user", Text("Look."), session="s1", who="ana"))
    played.strategy.observe(played.message("assistant", look, session="s1", who="ana"))
    result = ToolResult(id="c9", text="a look")
    played.strategy.observe(played.message("tool", result, session="s1", who="ana"))
    context = played.strategy.context(played.query("And?"))
    told = {m.text: m.role for s in context.sections for m in s.messages}
    assert ("system", "system", "tool") == (
        told["content one"],
        told["content two"],
        told["a look"],
    )
    assert ["one", "two"] == [e.detail for e in played.events if e.kind == "injected"]


def test_check_inject_mark(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is asked before the content goes in, and told after it."""
    order: list[str] = []
    for name in ("has", "mark"):
        monkeypatch.setattr(AegisLedger, name, _telling(getattr(AegisLedger, name), name, order))
    played = play()
    observe = played.strategy.observe

    def telling(message: Message) -> None:
        order.append(message.role)
        observe(message)

    monkeypatch.setattr(played.strategy, "observe", telling)
    played.turn("Compute.", skill="x", content=RULE)
    assert ["user", "assistant", "has", "tool", "mark", "assistant"] == order


def test_the_order_of_nodes(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Working memory, then episodes; the ledger only when a skill is asked for."""
    order: list[str] = []
    for kind, names in (
        (AegisWorkingMemory, ("peek",)),
        (InProcessEpisodes, ("search",)),
        (AegisLedger, ("has", "mark")),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, _telling(getattr(kind, name), name, order))
    played = play()
    played.strategy.observe(played.message("user", Text("Hello."), session="s1", who="ana"))
    order.clear()
    played.asked("Hello.")
    assert ["peek", "search"] == order
    played.turn("Compute.", skill="x", content=RULE)
    assert ["has", "mark"] == [name for name in order if name in {"has", "mark"}]


def _telling(method: Callable[..., Any], name: str, order: list[str]) -> Callable[..., Any]:
    def told(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the method takes
        order.append(name)
        return method(*args, **named)

    return told


def test_the_position(play: Play) -> None:
    """One system message after the system prompt, before the first message of the user."""
    played = play()
    prompt = played.message("system", Text("You are a clerk."), session="s1", who="ana")
    played.strategy.observe(prompt)
    played.turn("The parcel KW-3381 is for Oda Kvam.")
    context = played.strategy.context(played.query("Where is it?"))
    roles = [m.role for s in context.sections for m in s.messages]
    texts = [m.text for s in context.sections for m in s.messages]
    assert ["system", "system", "user", "assistant"] == roles
    assert "You are a clerk." == texts[0]
    assert "[Working Memory]\nentities: KW-3381 (identifier); Oda Kvam (name)" == texts[1]


def test_episodes_persist(play: Play) -> None:
    """What a conversation came to is found in the next one, of another user too, and after all."""
    played = play("aegis:index=exact")
    played.turn("The gate code of the harbour is 4471.", session="s1")
    assert "4471" not in played.asked("What is the gate code of the harbour?", "s2")
    played.turn("Good morning.", session="s2")
    assert EPISODES_HEADER in played.asked("What is the gate code of the harbour?", "s2")
    assert "4471" in played.asked("What is the gate code of the harbour?", "s2")
    assert "4471" in played.asked("What is the gate code of the harbour?", "s9", "ben")
    played.again()
    assert "4471" in played.asked("What is the gate code of the harbour?", "s2")


def test_a_conversation_ends_when_nothing_is_said_for_a_day(play: Play) -> None:
    """Its episode is stored then, once."""
    played = play("aegis:index=exact")
    played.turn("The gate code of the harbour is 4471.")
    for _ in range(2):
        played.strategy.elapse(played.clock.advance(DAY))
    assert 1 == sum(e.kind == "stored" for e in played.events)


def test_many_rows_are_listed_as_one_by_one() -> None:
    """Whichever way they come into the index, ties and rows of zeros included."""
    chance = np.random.default_rng(3)
    rows = chance.normal(size=(300, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[7] = 0.0
    one, all_ = (Ivfflat(8, lists=20, seed=1, rows=np.repeat(rows[:10], 2, axis=0)) for _ in "ab")
    for n, row in enumerate(rows):
        one.add(n, row)
    all_.add_all(rows)
    assert [one.near(q, 3) for q in rows[:40]] == [all_.near(q, 3) for q in rows[:40]]
    assert len(one) == len(all_) == 299


class Failing(OfflineModel):
    """Fails as long as it is down."""

    down = False

    def complete(self, request: Request) -> Reply:
        """What the model says.

        Raises:
            ModelError: it is down.
        """
        if self.down:
            raise ModelError("down")
        return super().complete(request)


def test_a_conversation_whose_summary_fails_is_lost(play: Play) -> None:
    """In AEGIS no episode will ever tell of it; repaired, it is summarised with the next chance."""
    for ref, expected in (("aegis:index=exact", False), ("aegis:fixed=true", True)):
        played = play(ref)
        played.env.model = model = Failing(played.env.counter)
        played.strategy = prepare(ref)(played.env)
        played.turn("The gate code of the harbour is 4471.", session="s1")
        model.down = True
        with pytest.raises(ModelError) if not expected else nullcontext():
            played.strategy.elapse(played.clock.advance(DAY))
        model.down = False
        played.strategy.elapse(played.clock.advance(DAY))
        played.again()
        assert expected == ("4471" in played.asked("What is the gate code of the harbour?", "s2"))
        assert expected == any(e.kind == "failed" for e in played.events)


def test_what_a_model_refuses_to_say_is_asked_for_once(play: Play) -> None:
    """Repaired, what is refused waits for another message, and survives a restart meanwhile."""
    played = play("aegis:fixed=true")
    model = played.env.model = Refusing(played.env.counter)
    played.strategy = prepare(played.ref)(played.env)
    played.turn("The gate code of the harbour is 4471.", session="s1")
    for _ in range(3):
        played.strategy.elapse(played.clock.advance(DAY))
        played.again()
    assert 1 == model.asked
    played.turn("Good night.", session="s1")
    played.strategy.elapse(played.clock.advance(DAY))
    assert 2 == model.asked


class Refusing(OfflineModel):
    """Writes nothing, and counts how often it was asked to."""

    asked = 0

    def complete(self, request: Request) -> Reply:
        """An empty text."""
        self.asked += 1
        return Reply(text="")


def test_a_long_conversation_may_be_stored_in_parts(play: Play) -> None:
    """With `every`, an episode is made of so many user's messages though it goes on."""
    played = play("aegis:index=exact,every=2")
    for n in range(6):
        played.turn(f"The code of gate {n} is 44{n}1.")
    assert 3 == sum(e.kind == "stored" for e in played.events)


def test_another_user_is_kept_out_where_users_are_told_apart(play: Play) -> None:
    """By the option, and by the repair; not by default."""
    for ref in ("aegis:index=exact,users=on", "aegis:fixed=true"):
        played = play(ref)
        played.turn("The gate code of the harbour is 4471.", session="s1")
        played.turn("Good morning.", session="s2")
        assert "4471" in played.asked("What is the gate code of the harbour?", "s2")
        assert "4471" not in played.asked("What is the gate code of the harbour?", "s9", "ben")


def test_an_episode_tells_what_was_decided(play: Play) -> None:
    """Beside its summary it has the sentences that settle something, and no prompt shows them."""
    played = play("aegis:index=exact")
    settled = "We decided to file a Rule 37 exception."
    first = f"Good morning. {settled}"
    played.turn(first, "Have we decided on the Mitchell Ranch lease? We chose lot 2H of it.")
    played.turn("Hello.", session="s2")
    state: Any = played.strategy.save()
    (kept,) = state["kept"]["episodes"]
    assert [settled, "We chose lot 2H of it."] == kept["key_decisions"]
    assert {"name": "Mitchell Ranch", "id": "mitchell-ranch", "type": "name"} in kept[
        "entities_mentioned"
    ]
    (_, told) = (s for s in played.strategy.surfaces() if s.tier == "store")
    assert (("m1", "m2"), True) == (told.sources, settled in told.text)
    played.again()


def test_three_are_shown(play: Play) -> None:
    """However many there are; `top` says otherwise."""
    assert 3 == TOP
    for ref, count in (("aegis:index=exact", 3), ("aegis:index=exact,top=1", 1)):
        played = play(ref)
        for n in range(6):
            played.turn(f"Gate {n} has the code 44{n}1.", session=f"s{n}")
        assert count == played.asked("Which code has the gate?", "s5").count("(similarity: ")


def test_nothing_is_too_far_unless_repaired(play: Play) -> None:
    """AEGIS has no least similarity: what fits nothing is shown as well."""
    for ref, expected in (("aegis:index=exact", True), ("aegis:fixed=true", False)):
        played = play(ref)
        played.turn("The gate code of the harbour is 4471.", session="s1")
        played.turn("Good morning.", session="s2")
        assert expected == (EPISODES_HEADER in played.asked("Xylophon?", "s2"))


def test_the_query_is_the_latest_message(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The episodes are searched for the very words of the user."""
    played = play("aegis:index=exact")
    texts: list[str] = []
    embed = HashEmbedder.embed

    def telling(self: HashEmbedder, given: Any) -> Any:  # noqa: ANN401 - as the embedder's
        texts.extend(given)
        return embed(self, given)

    monkeypatch.setattr(HashEmbedder, "embed", telling)
    played.turn("What about the harbour?")
    assert ["What about the harbour?"] == texts


def test_what_has_left_the_context(play: Play) -> None:
    """A skill that older messages took with them stays away, unless this is repaired."""
    for ref, expected in (("aegis", 0), ("aegis:fixed=true", 1)):
        played = play(ref, budget=400)
        played.turn("Compute the spacing.", skill="x", content=RULE)
        for n in range(12):
            played.turn(f"Something else altogether, number {n}. " + "It goes on and on. " * 8)
        assert RULE not in played.asked("Compute the spacing.")
        played.turn("Compute the spacing.", skill="x", content=RULE)
        assert expected == played.asked("And now?").count(RULE)


def test_an_episode_names_only_what_its_messages_mention(play: Play) -> None:
    """Repaired; as published it names whatever the conversation mentioned before it."""
    for ref, named in (("aegis:index=exact", True), ("aegis:index=exact,fixed=true", False)):
        played = play(ref)
        for text in ("My order is K-1481.", "The tea is in the blue tin."):
            played.turn(text)
            played.clock.advance(timedelta(days=2))
            played.strategy.elapse(played.clock.now())
        state: Any = played.strategy.save()
        later = [e for e in state["kept"]["episodes"] if "tea" in e["summary"]]
        assert len(later) == 1
        assert named == any("K-1481" in json.dumps(e["entities_mentioned"]) for e in later)


def test_forgetting(play: Play) -> None:
    """AEGIS has no way to forget an episode; the repaired one drops it and all that it was."""
    played = play()
    played.turn("The gate code is 4471.")
    assert not played.strategy.forget(Forget(principal="ana", text="", sources=("m1",))).supported
    fixed = play("aegis:fixed=true")
    fixed.turn("The gate code for Oda Kvam is 4471.", session="s1")
    fixed.turn("Good morning.", session="s2")
    done = fixed.strategy.forget(Forget(principal="ana", text="", sources=("m1",)))
    assert ("m1",) == done.removed
    assert [] == [s.text for s in fixed.strategy.surfaces() if re.search("4471|Kvam", s.text)]
    nobodys = Forget(principal="ben", text="", sources=("m4",))
    assert () == fixed.strategy.forget(nobodys).removed


def test_notes_grow_until_they_are_refused(play: Play) -> None:
    """Facts go to the scratchpad; past the limit they are kept all the same, unless repaired."""
    for ref, kind in (("aegis:notes=on", "oversize"), ("aegis:notes=on,fixed=true", "refused")):
        played = play(f"{ref},limit=600")
        for n in range(12):
            played.turn(f"My locker at station number {n} has the code 77{n}3 since Monday.")
        assert kind in {e.kind for e in played.events}
        held = next(s.text for s in played.strategy.surfaces() if s.tier == "working")
        assert (kind == "oversize") == ("77113" in held)


def test_asking_changes_nothing(play: Play) -> None:
    """A question leaves no trace; what is delivered makes working memory last."""
    played = play()
    played.turn("The parcel KW-3381 is for Oda Kvam.")
    before = played.strategy.save()
    context = played.strategy.context(played.query("Where is KW-3381?"))
    assert before == played.strategy.save()
    played.clock.advance(timedelta(hours=23))
    played.strategy.delivered(context)
    played.clock.advance(timedelta(hours=23))
    assert "KW-3381 (identifier)" in played.asked("Where is it?")
    played.clock.advance(timedelta(hours=2))
    assert "KW-3381 (identifier)" not in played.asked("Where is it?")


def test_whatever_it_is_told_it_stays_within_its_budget(play: Play) -> None:
    """Episodes give way one by one, then the notes, then all of it."""
    for budget in (40, 90, 200, 800):
        played = play("aegis:index=exact,notes=on", budget=budget)
        for n in range(8):
            played.turn(f"Gate {n} of the harbour has the code 44{n}1.", session=f"s{n // 2}")
        context = played.strategy.context(played.query("Which code?", "s3"))
        assert context.tokens <= budget


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("aegis:top=-1", "top is -1: at least 0"),
        ("aegis:lists=0", "lists is 0: at least 1"),
        ("aegis:ttl=0", "ttl is 0: at least 1"),
        ("aegis:users=maybe", "users must be on or off, not 'maybe'"),
        ("aegis:index=hnsw", "index must be ivfflat or exact, not 'hnsw'"),
        ("aegis:working=disk", "working must be embedded or redis, not 'disk'"),
        ("aegis:working=redis", "redis needs a server: set MEMSIM_REDIS_URL"),
        ("aegis:episodes=postgres", "postgres needs a server: set MEMSIM_POSTGRES_URL"),
    ],
)
def test_wrong_parameters_are_refused_in_one_line(play: Play, ref: str, message: str) -> None:
    """Each says what is wrong."""
    with pytest.raises(Exception, match=re.escape(message)):
        play(ref)


def test_a_damaged_state_is_refused(play: Play) -> None:
    """It is one line, and the strategy stays as it was."""
    played = play()
    for state in (
        {},
        {**played.strategy.save(), "kept": {}},
        {**played.strategy.save(), "talks": 3},
    ):
        with pytest.raises(StateError):
            played.strategy.load(state)


def test_a_real_redis(play: Play) -> None:
    """Working memory and ledger are hashes in a server, under the documented keys, and go again."""
    url = servers.redis().url
    played = play("aegis:working=redis", services={"redis": url})
    played.turn("The parcel KW-3381 is for Oda Kvam.", skill="x", content=RULE)
    played.turn("Again.", skill="x", content=RULE)
    hashes = RedisHashes(url)
    (working,) = hashes.keys("working_memory:")
    (ledger,) = hashes.keys("skill:ledger:")
    assert re.fullmatch(r"working_memory:memsim_[0-9a-f]+:s1", working)
    assert {"skill:x": "injected"} == hashes.all(ledger)
    assert UNLIMITED == hashes.ttl(ledger)
    assert TTL_SECONDS - 60 <= hashes.ttl(working) <= TTL_SECONDS
    played.again()
    assert 1 == played.asked("And now?").count(RULE)
    assert "KW-3381" in played.asked("And now?")
    played.clock.advance(DAY)
    assert "[Working Memory]" not in played.asked("And now?")
    played.strategy.close()
    assert [] == hashes.keys("")
    hashes.close()


def test_a_real_postgres(play: Play) -> None:
    """Episodes are rows of the documented table in a server, found by the document's own query."""
    url = servers.postgres().url
    played = play("aegis:episodes=postgres,index=exact", services={"postgres": url})
    played.turn("The gate code of the harbour is 4471.", session="s1")
    played.turn("Good morning.", session="s2")
    assert "4471" in played.asked("What is the gate code of the harbour?", "s2")
    played.again()
    assert "4471" in played.asked("What is the gate code of the harbour?", "s2")
    indexed = PostgresEpisodes(url, f"aegis_{uuid.uuid4().hex[:12]}", dimension=3)
    indexed.store(episode("one"), vector(1, 0, 0))
    assert ["one"] == [e.summary for e in indexed.of("c")]
    indexed.close()


# -- the service


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client of a service that keeps everything in this process."""
    with calling() as made:
        yield made


def test_the_service_working_memory(client: httpx.Client) -> None:
    """Fields are merged, read and deleted, some or all of them."""
    put = client.put("/working-memory/c", json={"data": {"scratchpad": "n", "entities": [{}]}})
    assert (200, {"conversation_id": "c", "fields": ["entities", "scratchpad"]}) == (
        put.status_code,
        put.json(),
    )
    client.put("/working-memory/c", json={"data": {"well_api": "42"}, "ttl_seconds": 60})
    fields = {"scratchpad": "n", "entities": [{}], "well_api": 42}
    assert fields == client.get("/working-memory/c").json()
    gone = client.request("DELETE", "/working-memory/c", json={"fields": ["well_api", "x"]})
    assert {"conversation_id": "c", "deleted": 1} == gone.json()
    assert 2 == client.delete("/working-memory/c").json()["deleted"]
    assert (200, {}) == (
        client.get("/working-memory/c").status_code,
        client.get("/working-memory/c").json(),
    )
    assert 422 == client.put("/working-memory/c", json={"fields": {}}).status_code


def test_the_service_says_413(client: httpx.Client) -> None:
    """Over the limit; the data is there all the same."""
    big = {"data": {"scratchpad": "x" * 57_339}}
    refused = client.put("/working-memory/conv-1", json=big)
    assert 413 == refused.status_code
    assert "65,736 bytes" in refused.json()["detail"]
    assert big["data"] == client.get("/working-memory/conv-1").json()


def test_the_service_episodes(client: httpx.Client) -> None:
    """An episode is stored, found by what it means, filtered, and read by conversation."""
    told = {"agent_id": "a", "user_id": "ana", "conversation_id": "c", "summary": "gate code 4471"}
    made = client.post("/episodic/store", json={**told, "key_decisions": ["keep it"]}).json()
    asked = {"query": "the gate code", "agent_id": "a"}
    (found,) = client.post("/episodic/search", json=asked).json()
    assert {"id", "summary", "key_decisions", "entities_mentioned", "similarity"} == set(found)
    assert (made["id"], ["keep it"]) == (found["id"], found["key_decisions"])
    assert 0 < found["similarity"] <= 1
    for other in ({"agent_id": "b"}, {"user_id": "ben"}):
        assert [] == client.post("/episodic/search", json={**asked, **other}).json()
    (kept,) = client.get("/episodic/c").json()
    assert told == {name: kept[name] for name in told}
    assert [] == client.get("/episodic/d").json()
    assert 422 == client.post("/episodic/search", json={"query": "x"}).status_code


def test_the_service_ledger(client: httpx.Client) -> None:
    """Check, mark, check, read, evict."""
    item = {"item_key": "skill:spacing-calculation"}
    assert not client.post("/ledger/c/check", json=item).json()["injected"]
    client.post("/ledger/c/mark", json={**item, "value": "injected"})
    assert client.post("/ledger/c/check", json=item).json()["injected"]
    assert {item["item_key"]: "injected"} == client.get("/ledger/c").json()
    assert client.post("/ledger/c/evict", json=item).json()["evicted"]
    assert {} == client.get("/ledger/c").json()
    assert 422 == client.post("/ledger/c/check", json={}).status_code


def test_the_service_listens() -> None:
    """On port 8002 of this machine alone, unless told otherwise; a taken port is one line."""
    assert ("127.0.0.1", 8002) == (serve.HOST, serve.PORT)
    told = CliRunner().invoke(serve.command, ["--help"]).output
    assert "127.0.0.1" in told
    assert "8002" in told


def test_the_pipeline_s_default_is_the_document() -> None:
    """Rules that nobody sets are AEGIS's."""
    rules = nodes.AegisOptions()
    assert (3, None, False, False) == (rules.top, rules.least, rules.by_user, rules.fixed)


@pytest.mark.parametrize("name", SHOWN["aegis"])
def test_what_it_breaks_holds_once_it_is_repaired(name: str) -> None:
    """A conversation shows it of the design as published, and holds with `fixed`."""
    assert_broken_unless_fixed("aegis", name)


class Listening(OfflineModel):
    """Keeps what it was asked."""

    def complete(self, request: Request) -> Reply:
        """What the model says."""
        self.asked = [*getattr(self, "asked", []), request]
        return super().complete(request)


def test_a_live_model_is_asked_for_episodes_and_notes(play: Play) -> None:
    """In memsim's words, since AEGIS's are not documented; an episode's length is named."""
    played = play("aegis:index=exact,notes=on")
    model = played.env.model = Listening(played.env.counter)
    played.strategy = prepare(played.ref)(played.env)
    played.turn("The gate code of the harbour is 4471.", session="s1")
    played.turn("Good morning.", session="s2")
    told = {request.task: provider_chat(request) for request in model.asked}

    assert "scratchpad of an agent" in told["extract"][0][1]
    assert "record of a finished conversation" in told["summarise"][0][1]
    assert "at most 120 words" in told["summarise"][0][1]
    assert "user: The gate code of the harbour is 4471." in told["summarise"][1][1]
