"""What is Redis's own: servers that forget, refuse or break off, and conversations kept there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest
import redis

from memsim.errors import SchemaError, StoreError
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import WorkingMemory
from memsim.memory.ledger import InjectionLedger
from memsim.memory.stores import TextStore
from memsim.memory.stores.redis.store import RedisStore
from memsim.memory.stores.redis.working_memory import RedisTexts
from memsim.message import EPOCH
from tests.memory.stores import servers
from tests.memory.stores.made import ALL, array, entry, unit

_numbers = count()
ANN, BOB = Conversation("ann", "one"), Conversation("bob", "one")


@pytest.fixture
def name() -> str:
    """A namespace that nobody else uses."""
    return f"own-{next(_numbers)}"


@pytest.fixture
def client() -> Iterator[redis.Redis]:
    """A plain connection to this process's server."""
    with redis.Redis.from_url(servers.redis().url) as connection:
        yield connection


def keys(client: redis.Redis, name: str) -> list[bytes]:
    """Every key of a namespace."""
    return sorted(client.scan_iter(f"memsim:{{{name}}}:*"))


def _fill(store: RedisStore) -> None:
    """Write until somebody says no."""
    for number in range(100):
        store.write([entry(f"{number}-{i}", "long " * 2000) for i in range(10)])


def opened(name: str) -> RedisStore:
    """One more handle on a memory."""
    return RedisStore(servers.redis().url, name)


@pytest.mark.parametrize("part", ["marker", "meta", "entries", "vectors", "changed"])
def test_what_vanished_is_no_empty_memory(name: str, client: redis.Redis, part: str) -> None:
    """A server that lost a key, all of them or one, is refused by who saw it and who did not."""
    store = opened(name)
    store.write([entry("a")], array([unit(1, 0)]))
    client.delete(f"memsim:{{{name}}}:{part}")

    with pytest.raises(StoreError, match="vanished"):
        store.count(ALL)
    with pytest.raises(StoreError, match="vanished"):
        store.write([entry("b")])
    with pytest.raises(StoreError, match="vanished"):
        opened(name)


def test_an_emptied_server_is_noticed(name: str, client: redis.Redis) -> None:
    """Another's new memory of the same name is not taken for the one that was there."""
    store = opened(name)
    store.write([entry("a")])
    client.delete(*keys(client, name))
    other = opened(name)
    other.write([entry("b")])

    with pytest.raises(StoreError, match="vanished"):
        store.find(ALL)
    assert 1 == other.count(ALL)


def test_a_memory_that_has_to_be_there_is_asked_for(name: str) -> None:
    """Who knows that a memory exists can say so, and gets no empty one."""
    with pytest.raises(StoreError, match="vanished"):
        RedisStore(servers.redis().url, name, new=False)
    opened(name)

    assert 0 == RedisStore(servers.redis().url, name, new=False).count(ALL)


def test_a_newer_schema_is_refused(name: str, client: redis.Redis) -> None:
    """What a newer memsim wrote is not touched."""
    opened(name)
    client.hset(f"memsim:{{{name}}}:meta", "schema", 99)

    with pytest.raises(SchemaError, match="99"):
        opened(name)


def test_no_key_holds_what_users_wrote(name: str, client: redis.Redis) -> None:
    """Keys and fields are ids; values alone hold texts."""
    opened(name).write([entry("falcon", "lunch * [a-z] \r\n")], array([unit(1, 0)]))
    RedisTexts(servers.redis().url, name, part="ledger").swap(ANN, "falcon", None, "lunch")

    fields = [f for k in keys(client, name) if client.type(k) == b"hash" for f in client.hkeys(k)]
    names = str([*keys(client, name), *fields])
    assert "falcon" not in names
    assert "ann" not in names


def test_a_server_out_of_memory_keeps_what_it_has() -> None:
    """A write that is refused is refused as a whole, and in our words."""
    server = servers.start_redis("--maxmemory", "3mb")
    try:
        store = RedisStore(server.url)
        store.write([entry("a")])
        with pytest.raises(StoreError, match="OOM"):
            _fill(store)
        assert 1 == store.count(ALL) % 10
    finally:
        server.stop()


def test_a_replica_is_refused() -> None:
    """A server that may not write says so, and nothing seems written."""
    server = servers.start_redis()
    try:
        store = RedisStore(server.url)
        with redis.Redis.from_url(server.url) as connection:
            connection.replicaof("127.0.0.1", "1")
        with pytest.raises(StoreError, match="READONLY"):
            store.write([entry("a")])
    finally:
        server.stop()


def test_a_server_that_is_gone_is_an_error() -> None:
    """Not an empty answer."""
    server = servers.start_redis()
    store = RedisStore(server.url)
    server.stop()

    with pytest.raises(StoreError, match="Redis failed"):
        store.count(ALL)
    with pytest.raises(StoreError, match="Redis failed"):
        RedisStore(server.url)


def test_erasing_reaches_the_servers_files() -> None:
    """The dump and the log of commands are written anew without what was erased."""
    server = servers.start_redis("--appendonly", "yes", "--save", "3600", "1")
    try:
        store = RedisStore(server.url)
        store.write([entry("a", "CANARY-7731"), entry("b", "kept")])
        with redis.Redis.from_url(server.url) as connection:
            connection.save()
        files = [p for p in server.folder.rglob("*") if p.is_file()]
        assert 2 == sum(b"CANARY-7731" in p.read_bytes() for p in files)
        store.erase([entry("a").id])
        files = [p for p in server.folder.rglob("*") if p.is_file()]
        assert store.log_erased
        assert 0 == sum(b"CANARY-7731" in p.read_bytes() for p in files)
        assert 1 <= sum(b"kept" in p.read_bytes() for p in files)
    finally:
        server.stop()


def test_a_cancelled_request_leaves_no_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks next gets an answer to what was asked, not to what was broken off."""
    working = RedisTexts(servers.redis().url, name, part="working")
    working.swap(ANN, "", None, "ann's secret")
    connection = working._session._connection
    answer = connection.read_response

    def cancelled() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(connection, "read_response", cancelled)
    with pytest.raises(KeyboardInterrupt):
        working.read(ANN)
    monkeypatch.setattr(connection, "read_response", answer)

    assert {} == working.read(BOB)
    assert {"": "ann's secret"} == working.read(ANN)


def test_conversations_are_kept_apart(name: str) -> None:
    """Texts are read back byte for byte, by whom they belong to, and listed in order."""
    working = RedisTexts(servers.redis().url, name, part="working")
    odd = Conversation("ann\0", "one:*")
    for of, text in ((odd, "\0 x"), (BOB, "b"), (ANN, "")):
        assert working.swap(of, "", None, text)

    assert isinstance(working, TextStore)
    assert [ANN, odd, BOB] == working.conversations()
    assert ["", "\0 x", "b"] == [working.read(of)[""] for of in (ANN, odd, BOB)]
    assert not working.swap(BOB, "", "a", "c")
    assert not working.swap(BOB, "", None, "c")
    assert working.swap(BOB, "", "b", None)
    assert [ANN, odd] == working.conversations()


def test_a_lost_conversation_is_an_error(name: str, client: redis.Redis) -> None:
    """A server that evicts what it was told to keep is not a conversation without a past."""
    working = RedisTexts(servers.redis().url, name, part="working")
    working.swap(ANN, "", None, "text")
    client.delete(f"memsim:{{{name}}}:working:{ANN.id}")

    with pytest.raises(StoreError, match="vanished"):
        working.read(ANN)
    with pytest.raises(StoreError, match="vanished"):
        working.swap(ANN, "", None, "text")
    with pytest.raises(StoreError, match="vanished"):
        working.conversations()


def test_the_servers_expiry_is_asked_for(name: str, client: redis.Redis) -> None:
    """The server's clock counts only for who wants it, and what it dropped is then just gone."""
    key = f"memsim:{{{name}}}:working:{ANN.id}"
    plain = RedisTexts(servers.redis().url, name, part="working")
    plain.swap(ANN, "", None, "a", timedelta(hours=1))
    assert -1 == client.pttl(key)

    backed = RedisTexts(servers.redis().url, name, part="working", expire=True)
    backed.swap(ANN, "", "a", "b", timedelta(hours=1))
    assert 3_500_000 < int(client.pttl(key)) <= 3_600_000
    client.delete(key)

    assert {} == backed.read(ANN)
    assert [] == backed.conversations()


def test_working_memory_runs_on_it(name: str) -> None:
    """Time to live goes by the memory's own present."""
    memory = WorkingMemory(RedisTexts(servers.redis().url, name, part="working"))
    memory.write_scratchpad(ANN, "note", EPOCH)

    assert "note" == memory.scratchpad(ANN, EPOCH + timedelta(hours=23))
    assert memory.scratchpad(ANN, EPOCH + timedelta(hours=48)) is None


def test_one_of_many_claims_an_item(name: str) -> None:
    """Test and set: of eight that ask at once, one is given the right."""
    stores = [RedisTexts(servers.redis().url, name, part="ledger") for _ in range(8)]
    won: list[bool] = []

    def ask(store: RedisTexts) -> None:
        won.append(InjectionLedger(store).claim(ANN, "item", EPOCH) is not None)

    threads = [threading.Thread(target=ask, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert isinstance(stores[0], TextStore)
    assert 1 == sum(won)
    assert {"", "item"} == set(stores[0].read(ANN))
