"""What does a saved memory of many messages and many people cost to open and to ask?

Generated messages go to the principals in turn. They are added through `observe`, and `end_turn`
records each group in one transaction. With `--said`, only so many are added in this way. The
others are copies of the last 20,000 with other numbers and times, and of what was made of them:
they are written to the store in one transaction for each 20,000, without reading any text again.

Then the memory is closed and opened again, and one principal after another asks for a context, ten
times over. The first time, what the file holds of that principal is read. Claimed: it opens in
under 2 seconds, and of all contexts, the first ones among them, the median takes at most 10 ms, and
the 99th percentile 50 ms. Every figure is processor time. Embedder and tokenizer are loaded before
any time is taken.

A new process opens it: in the process that filled it, opening would pay for the collection of what
the filling left behind.

    python -m benchmarks.memory_scale --messages 1000000 --principals 1000 --said 300000
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from benchmarks._growing import BUDGET, SEED, conversation
from memsim.memory import open_memory
from memsim.memory.deletion import original_of
from memsim.memory.entry import Entry
from memsim.memory.permissions import Where
from memsim.memory.persistence.memory_file import FILE
from memsim.memory.state import MADE
from memsim.memory.stores import Store
from memsim.message import EPOCH, Message, load_tokenizer
from memsim.message import said as spoken
from memsim.models.registry import load_embedder
from memsim.scenario.script import Turn

OPEN_SECONDS, MEDIAN_MS, LATE_MS = 2.0, 10.0, 50.0
"""What is claimed."""

COPIED = 20_000
"""Messages that are copied at a time."""

DISTINCT = 20_000
"""Generated messages; beyond them, each text comes again with its number before it."""


def texts() -> list[str]:
    """Generated talk of users."""
    turns = (e for e in conversation(DISTINCT).events(SEED) if isinstance(e, Turn))
    return [m.text for turn in turns for m in turn.heard]


def messages(count: int, principals: int) -> Iterator[Message]:
    """Yield messages, the principals in turn."""
    said = texts()
    for number in range(count):
        who = f"user-{number % principals}"
        yield spoken(
            "user",
            f"{number}: {said[number % len(said)]}",
            id=f"m{number}",
            principal=who,
            session=f"own:{who}",
            time=EPOCH + timedelta(seconds=number),
        )


def filled(folder: Path, count: int, principals: int, group: int) -> float:
    """Add all messages; milliseconds of processor time for each."""
    began = time.process_time()
    with open_memory(folder, now=lambda: EPOCH + timedelta(seconds=count)) as memory:
        for number, message in enumerate(messages(count, principals), start=1):
            memory.observe(message)
            if number % group == 0 or number == count:
                memory.end_turn()
    return (time.process_time() - began) / count * 1e3


def copied(folder: Path, said: int, count: int) -> float:
    """Copy the last messages until there are `count`; milliseconds of processor time for each."""
    from memsim.memory.stores.sqlite.store import SQLite

    began = time.process_time()
    memory = open_memory(folder, now=lambda: EPOCH + timedelta(seconds=count))
    file, store = memory._file, SQLite(folder / FILE)  # noqa: SLF001 - no user writes entries
    try:
        latest = EPOCH + timedelta(seconds=said - COPIED)
        everything = Where(reader=None, layers=MADE, archived=None)
        last = [*since(store, everything, latest)]
        heard = sorted((e for e in last if original_of(e)), key=lambda e: (e.created, e.id))
        facts = [e for e in last if e.layer == "semantic"]
        vectors = load_embedder("wordllama").embed([e.words for e in (*heard, *facts)])
        for later in range(COPIED, count - said + 1, COPIED):
            made = [moved(e, later) for e in (*heard, *facts)]
            with file.transaction():
                file.sqlite.write(made, vectors)
                file.write({}, [e.id for e in made[: len(heard)]])
    finally:
        store.close()
        memory.close()
    return (time.process_time() - began) / (count - said) * 1e3


def since(store: Store, where: Where, begun: datetime) -> Iterator[Entry]:
    """Admitted entries that were created then or later; a page of all that there is costs much."""
    before = begun - timedelta(microseconds=1)
    after = Entry(key="before", text="", owner="nobody", created=before, updated=before)
    while page := store.find(where, after=after, limit=COPIED):
        yield from (entry for entry in page if entry.created >= begun)
        after = page[-1]


def moved(entry: Entry, later: int) -> Entry:
    """An entry as if its messages had been said later, with numbers that are so much greater."""
    delay = timedelta(seconds=later)
    sources = tuple(f"m{int(source[1:]) + later}" for source in entry.sources)
    key, text = entry.key, entry.text
    for old, new in zip(entry.sources, sources, strict=True):
        text = text.replace(f"{old[1:]}: ", f"{new[1:]}: ")
        key = key.replace(old if original_of(entry) else f"{old[1:]}: ", new)
    return replace(
        entry,
        key=key if original_of(entry) else f"{key}\n{later}",
        text=text,
        sources=sources,
        created=entry.created + delay,
        updated=entry.updated + delay,
        superseded=None if entry.superseded is None else entry.superseded + delay,
    )


def asked(folder: Path, given: argparse.Namespace) -> tuple[float, list[list[float]]]:
    """Open the memory and ask it: seconds to open, and milliseconds for each context of a round."""
    said = texts()
    load_tokenizer("o200k_base")
    load_embedder("wordllama").embed(["any"])
    began = time.process_time()
    memory = open_memory(folder, now=lambda: EPOCH + timedelta(seconds=given.messages))
    opened = time.process_time() - began
    found: list[list[float]] = [[] for _ in range(given.rounds)]
    with memory:
        for number in range(given.rounds * given.questions):
            times, place = divmod(number, given.questions)
            who = f"user-{place * 37 % given.principals}"
            question = said[number * 101 % len(said)]
            start = time.process_time()
            memory.context(question, principal=who, session=f"own:{who}", budget=BUDGET)
            found[times].append((time.process_time() - start) * 1e3)
    return opened, found


def fill(folder: Path, given: argparse.Namespace) -> None:
    """Fill a new memory, and print what it costs."""
    said = given.said or given.messages
    adding = filled(folder, said, given.principals, given.group)
    print(f"adding, in groups of {given.group:,}  {adding:8.2f} ms a message", flush=True)
    if said < given.messages:
        copying = copied(folder, said, given.messages)
        print(f"copying                   {copying:8.2f} ms a message", flush=True)


def asked_anew(folder: Path, given: argparse.Namespace) -> int:
    """Open and ask it in a new process, which prints what it finds; 1 when a claim is missed."""
    names = ("messages", "principals", "questions", "rounds")
    counts = [f"--{name}={getattr(given, name)}" for name in names]
    command = [sys.executable, "-m", "benchmarks.memory_scale", *counts, "--folder", str(folder)]
    return subprocess.run(command, check=False).returncode


def percentiles(spent: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    return statistics.median(spent), sorted(spent)[int(0.99 * (len(spent) - 1))]


def main() -> int:
    """Measure and print; 1 when a claim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--principals", type=int, default=1_000)
    parser.add_argument("--group", type=int, default=1_000, help="messages that are one turn")
    parser.add_argument("--said", type=int, help="messages that are added; copies after them")
    parser.add_argument("--questions", type=int, default=300, help="of a round")
    parser.add_argument("--rounds", type=int, default=10, help="times that each principal asks")
    parser.add_argument("--folder", type=Path, help="where it is; what is there is asked alone")
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error(f"--rounds is {given.rounds}: at least 2")
    with tempfile.TemporaryDirectory(prefix="memsim-scale-") as name:
        folder = given.folder or Path(name) / "memory"
        if not folder.exists():
            fill(folder, given)
            return asked_anew(folder, given)
        print(f"{given.messages:,} messages of {given.principals:,} principals", flush=True)
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        print(f"files                     {size / 1e6:8.1f} MB", flush=True)
        opened, found = asked(folder, given)
    print(f"open                      {opened:8.2f} s")
    whole = [*chain.from_iterable(found)]
    for which, spent in (("first", found[0]), ("later", whole[len(found[0]) :]), ("all", whole)):
        for name, value in zip(("median", "99th perc."), percentiles(spent), strict=True):
            print(f"{f'{which} contexts, {name}':<26}{value:8.2f} ms")
    middle, late = percentiles(whole)
    kept = opened < OPEN_SECONDS and middle <= MEDIAN_MS and late <= LATE_MS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"most memory of the process{peak:8.0f} MB")
    print("kept" if kept else "MISSED")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
