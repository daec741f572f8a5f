"""What Redis and pgvector were recorded doing under AEGIS's layouts, done again without them.

What pgvector does by chance is compared with the range in which it was observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memsim.systems.aegis.episodes import AegisEpisode, InProcessEpisodes
from memsim.systems.aegis.hashes import Hashes, InProcessHashes, encoding, usage
from memsim.systems.aegis.ivfflat import PROBES, Ivfflat, notices, planned
from memsim.systems.aegis.postgres_episodes import PostgresEpisodes
from memsim.systems.aegis.redis_hashes import RedisHashes
from memsim.systems.aegis.working_memory import AegisLedger, ledger_key
from tests.fidelity.recordings import Comparison, Recordings
from tests.memory.stores import servers

Json = Any
Vectors = np.ndarray[Any, np.dtype[np.float32]]

REDIS, PGVECTOR = "aegis-redis7", "aegis-pgvector"
NOW = datetime(2026, 1, 5, tzinfo=UTC)
MARGIN = {"mean_recall@3": 0.1, "queries_with_fewer_than_k_rows": 3}
"""How far beyond the observed range one more run may lie."""


# -- Redis


def test_sizes(recordings: Recordings, compare: Comparison) -> None:
    """Every size and form of a hash, from the fields alone."""
    given, recorded = recordings.literals("aegis-redis"), recordings.output(REDIS)
    key = given["key"]
    made = []
    for count in given["table"]["fields"]:
        for length in given["table"]["value_len"]:
            if count * length > given["max_product"]:
                continue
            fields = {f"f{n:04d}": "x" * length for n in range(count)}
            made.append(
                {
                    "fields": count,
                    "value_len": length,
                    "encoding": encoding(fields),
                    "memory_usage_default_samples": usage(key, fields),
                    "memory_usage_samples0": usage(key, fields, 0),
                }
            )
    compare(REDIS, "table", recorded["table"], made)
    only = [[n, _alone(given, n)] for n in given["scratchpad_only"]["sizes"]]
    for place, (one, other) in enumerate(zip(recorded["scratchpad_only"], only, strict=True)):
        compare(REDIS, f"scratchpad_only/{place}", one, other)


def test_limits(recordings: Recordings, compare: Comparison) -> None:
    """Where a scratchpad passes the limit, and by how much a sample of a hash can mislead."""
    given, recorded = recordings.literals("aegis-redis"), recordings.output(REDIS)
    search = given["scratchpad_min_len_over_65536"]
    limit = search["limit"]
    first = next(n for n in given["scratchpad_only"]["sizes"] if _alone(given, n) > limit)
    compare(REDIS, "scratchpad_first_over_64KiB", recorded["scratchpad_first_over_64KiB"], first)
    low, high = search["search"]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _alone(given, middle) > limit else (middle + 1, high)
    name = "scratchpad_min_len_over_65536"
    compare(REDIS, name, recorded[name], low)
    skewed = given["sampling_skew"]
    fields = dict(skewed["small_fields"]) | {skewed["then_big_field"][0]: "z" * 60_000}
    sizes = {"default": usage(given["key"], fields), "all": usage(given["key"], fields, 0)}
    # The table may have finished growing before it was measured: some of the starts had.
    observed = [{k: seen[k] for k in sizes} for seen in skewed["observed_over_25_server_starts"]]
    same = recorded["sampling_skew"] if sizes in observed else sizes
    compare(REDIS, "sampling_skew", recorded["sampling_skew"], same)


def _alone(given: Json, length: int) -> int:
    size = usage(given["key"], {given["scratchpad_only"]["field"]: "x" * length})
    assert size is not None
    return size


@pytest.fixture(params=["embedded", "redis"])
def hashes(request: pytest.FixtureRequest) -> Iterator[Hashes]:
    """Hashes in this process, and in a server of another version."""
    if request.param == "embedded":
        yield InProcessHashes(lambda: NOW)
        return
    kept = RedisHashes(servers.redis().url)
    yield kept
    for key in kept.keys(""):
        kept.delete(key)
    kept.close()


def test_commands(recordings: Recordings, compare: Comparison, hashes: Hashes) -> None:
    """What the commands answer, in the recorded order."""
    given, recorded = recordings.literals("aegis-redis"), recordings.output(REDIS)
    key = given["key"]
    hashes.put(key, {"a": "1"})
    compare(REDIS, "ttl_after_hset", recorded["ttl_after_hset"], hashes.ttl(key))
    hashes.expire(key, 86_400)
    hashes.put(key, {"b": "2"})
    compare(REDIS, "ttl_kept_by_hset", recorded["ttl_kept_by_hset"], hashes.ttl(key) > 0)
    hashes.remove(key, ["a", "b"])
    gone = int(hashes.has(key, "a") or bool(hashes.keys(key)))
    compare(REDIS, "exists_after_last_hdel", recorded["exists_after_last_hdel"], gone)
    compare(REDIS, "memory_usage_missing", recorded["memory_usage_missing"], hashes.usage(key))
    conversation = given["ledger"]["key"].removeprefix(ledger_key(""))
    compare(REDIS, "ledger", recorded["ledger"], _ledger(hashes, conversation, given["ledger"]))


def _ledger(hashes: Hashes, conversation: str, given: Json) -> Json:
    ledger, key = AegisLedger(hashes), ledger_key(conversation)
    calls: dict[str, Callable[..., Json]] = {
        "HEXISTS": lambda item: ledger.has(conversation, item),
        "HSET": lambda item, value: int(ledger.mark(conversation, item, value)),
        "HDEL": lambda item: int(ledger.evict(conversation, item)),
        "HGETALL": lambda: ledger.get_all(conversation),
        "TTL": lambda: hashes.ttl(key),
    }
    return {name: calls[command](*arguments) for command, *arguments, name in given["calls"]}


# -- pgvector


@pytest.mark.parametrize("server", [False, True], ids=["embedded", "postgres"])
def test_similarity(recordings: Recordings, compare: Comparison, server: bool) -> None:
    """What is alike, opposed, zero and missing, in the recorded order but for what ties."""
    literals = recordings.literals("aegis-pgvector")
    given, dimension = literals["similarity_semantics"], literals["dim"]
    episodes: Any = InProcessEpisodes()
    if server:
        url = servers.postgres().url
        episodes = PostgresEpisodes(url, "aegis_recorded", dimension=dimension, lists=None)
    for place, name in enumerate(given["insert_order"]):
        vector = _told(given["vectors"][name], dimension)
        episodes.store(_episode(place, given["agent"], name), vector)
    query = _told(given["query"], dimension)
    assert query is not None
    found = [
        [f.episode.summary, None if f.similarity is None else str(round(f.similarity, 6))]
        for f in episodes.search(query, given["agent"], limit=given["limit"])
    ]
    episodes.remove([e.id for e, _ in episodes.rows()])
    episodes.close()
    recorded = recordings.output(PGVECTOR)["similarity_semantics"]
    same = [*_without_ties(recorded)], [*_without_ties(found)]
    compare(PGVECTOR, "similarity_semantics", *same)
    compare(PGVECTOR, "default_probes", recordings.output(PGVECTOR)["default_probes"], str(PROBES))


def _told(words: Json, dimension: int) -> Vectors | None:
    if words is None:
        return None
    made = np.zeros(dimension, np.float32)
    if words != "all zero":
        sign = -1.0 if words.startswith("-") else 1.0
        times, _, axis = words.removeprefix("-").rpartition("*")
        made[int(axis.removeprefix("e"))] = sign * float(times or 1)
    return made


def _without_ties(rows: Json) -> Iterator[tuple[Json, list[str]]]:
    for similarity in dict.fromkeys(r[1] for r in rows):
        yield similarity, sorted(r[0] for r in rows if r[1] == similarity)


def test_the_index(recordings: Recordings, compare: Comparison) -> None:
    """What an index hides, on the recorded rows and queries, with centres of its own."""
    given, recorded = recordings.literals("aegis-pgvector"), recordings.output(PGVECTOR)
    for name, case in recorded["cases"].items():
        count, agents, order, correlated = given["cases"][name]
        told = {
            "n": count,
            "agents": agents,
            "order": order,
            "notices": notices(count if order == "index_last" else 0, given["index"]["lists"]),
        }
        compare(PGVECTOR, name, {key: case[key] for key in told}, told)
        table = _Table(given, count, agents, order, correlated=correlated)
        for probes in given["probes"]:
            measured = table.measured(probes)
            for mode in given["modes"]:
                where = f"probes={probes}/{mode}"
                made = {**measured, "plan": _plan(mode, probes, given["index"]["lists"])}
                observed = given["observed_min_max"]["cases"][name][where]
                like = _as_recorded(case[where], made, observed)
                compare(PGVECTOR, f"{name}/{where}", case[where], like)


def _plan(mode: str, probes: int, lists: int) -> str:
    return "index" if mode == "forced_index" else planned(probes, lists)


def _as_recorded(recorded: Json, made: Json, observed: Json) -> Json:
    """What was made, with what lies in the observed range as it was recorded."""
    found = dict(made)
    for name, margin in MARGIN.items():
        low, high = observed[name]
        certain = low == high and name == "mean_recall@3" and low == 1.0
        slack = 0 if certain else margin
        if low - slack <= made[name] <= high + slack:
            found[name] = recorded[name]
    return found


class _Table:
    """The recorded rows and queries, and an index over them."""

    def __init__(
        self, given: Json, count: int, agents: int, order: str, *, correlated: bool
    ) -> None:
        chance = np.random.default_rng(given["seed"])
        dimension, topics, spread = given["dim"], given["topics"], given["spread"]
        centres = chance.normal(size=(topics, dimension))
        rows, owners = np.empty((count, dimension), np.float32), []
        for n in range(count):
            row = centres[n % topics] + spread * chance.normal(size=dimension)
            owners.append(n % agents if correlated else int(chance.integers(agents)))
            rows[n] = row / np.linalg.norm(row)
        queries = [
            centres[n % topics] + spread * chance.normal(size=dimension)
            for n in range(given["queries"])
        ]
        self.k = given["k"]
        self.rows = rows
        self.queries = [(q / np.linalg.norm(q)).astype(np.float32) for q in queries]
        self.scores = [self.rows @ query for query in self.queries]
        agent = int(given["filter_agent"].removeprefix("agent"))
        self.own = [n for n, owner in enumerate(owners) if owner == agent]
        lists = given["index"]["lists"]
        self.index = Ivfflat(dimension, lists=lists, rows=rows if order == "index_last" else None)
        self.index.add_all(rows)

    def measured(self, probes: int) -> Json:
        """Recall, and how many queries find too few."""
        own, recalls, short = set(self.own), [], 0
        for query, scores in zip(self.queries, self.scores, strict=True):
            exact = self._best(scores, self.own)
            found = self._best(scores, [n for n in self.index.near(query, probes) if n in own])
            recalls.append(len(set(exact) & set(found)) / len(exact))
            short += len(found) < min(self.k, len(self.own))
        return {
            "mean_recall@3": round(float(np.mean(recalls)), 3),
            "queries_with_fewer_than_k_rows": short,
            "of": len(self.queries),
        }

    def _best(self, scores: Vectors, among: list[int]) -> list[int]:
        return [among[n] for n in np.argsort(-scores[among], kind="stable")[: self.k]]


def _episode(place: int, agent: str, name: str) -> AegisEpisode:
    return AegisEpisode(
        id=f"00000000-0000-4000-8000-{place:012}",
        agent_id=agent,
        conversation_id="c",
        summary=name,
        created_at=NOW,
    )
