"""What does a million messages of a thousand people cost in PostgreSQL with pgvector?

Messages go to the principals in turn. They are loaded in bulk: each group is one `Store.write` with
its vectors, and so one transaction. Then a new connection opens the store, and one principal after
another searches its own messages by words and by vectors. The server is one of its own, or that of
MEMSIM_POSTGRES_URL. Times are those of the wall, because the server works beside this process.

    python -m benchmarks.postgres_scale --messages 1000000 --principals 1000
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import psycopg

from benchmarks.memory_scale import messages, texts
from memsim.memory.entry import Entry
from memsim.memory.permissions import Reader, Where
from memsim.memory.recall.ranking import USUAL
from memsim.memory.stores import EmbedderInfo
from memsim.memory.stores.postgres.store import PostgresStore
from memsim.message import Message
from memsim.models import Embedder
from memsim.models.registry import load_embedder

SCHEMA = "memsim_scale"


@contextmanager
def database() -> Iterator[str]:
    """The address of a server; one of its own ends with the benchmark."""
    named = os.environ.get("MEMSIM_POSTGRES_URL")
    if named:
        yield named
        return
    from tests.memory.stores.servers import start_postgres

    server = start_postgres()
    try:
        yield server.url
    finally:
        server.stop()


def entry(message: Message) -> Entry:
    """The entry of a message."""
    return Entry(
        key=message.id,
        text=message.text,
        owner=message.principal,
        layer="episodic",
        session=message.session,
        created=message.time,
        updated=message.time,
    )


def load(url: str, embedder: Embedder, count: int, principals: int, group: int) -> None:
    """Load all messages in bulk, and print the time of each tenth."""
    store = PostgresStore(url, SCHEMA)
    store.embedded_by(EmbedderInfo(embedder.name, embedder.dimension))
    rest = messages(count, principals)
    began = last = time.perf_counter()
    done = shown = 0
    while some := list(islice(rest, group)):
        store.write([entry(m) for m in some], embedder.embed([m.text for m in some]))
        done += len(some)
        if done - shown >= count // 10:
            now = time.perf_counter()
            print(
                f"loaded {done:>10,} {(now - last) / (done - shown) * 1e3:8.2f} ms each", flush=True
            )
            last, shown = now, done
    took = time.perf_counter() - began
    print(f"loading                   {took:8.1f} s, {took / count * 1e3:.2f} ms a message")
    store.close()


def search(url: str, embedder: Embedder, principals: int, questions: int) -> None:
    """Open the store anew, search it, and print what that took."""
    said = texts()
    began = time.perf_counter()
    store = PostgresStore(url, SCHEMA)
    first = Where(reader=Reader(principal="user-0"))
    held = store.count(first)
    print(f"open, and count a person's {(time.perf_counter() - began) * 1e3:7.1f} ms ({held:,})")
    found = []
    for number in range(questions):
        where = Where(reader=Reader(principal=f"user-{number * 37 % principals}"))
        text = said[number * 101 % len(said)]
        vector = embedder.embed([text])[0]
        start = time.perf_counter()
        store.lexical(text, where, USUAL.depth)
        store.nearest(vector, where, USUAL.depth)
        found.append((time.perf_counter() - start) * 1e3)
    store.close()
    print(f"search, median            {statistics.median(found):8.2f} ms")
    print(f"search, 99th percentile   {sorted(found)[int(0.99 * (len(found) - 1))]:8.2f} ms")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--principals", type=int, default=1_000)
    parser.add_argument("--group", type=int, default=10_000, help="messages of a transaction")
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    embedder = load_embedder("wordllama")
    with database() as url:
        print(f"{given.messages:,} messages of {given.principals:,} principals", flush=True)
        load(url, embedder, given.messages, given.principals, given.group)
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            print(f"database                  {(row[0] if row else 0) / 1e6:8.1f} MB", flush=True)
        search(url, embedder, given.principals, given.questions)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    return 0


if __name__ == "__main__":
    sys.exit(main())
