"""Which part of a memory grows dearer as a conversation grows longer?

Fills each part with generated talk and times it when it holds 1,000 turns and when it holds
100,000, in the same process. Adding must cost the same (claimed: at most 1.3 times, or one
microsecond more); searching reads more of a longer history, so its growth is shown and held to a
bound that is far below the history's. Times are processor time: of adding, the median of blocks; of
asking, the best of several rounds. The summary buffer sees a tenth of the turns: its model is slow.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks._growing import SEED, conversation
from memsim import Message
from memsim.memory.history.summary_buffer import SummaryBuffer
from memsim.memory.history.window import Archive, Window
from memsim.memory.index.bm25 import Bm25
from memsim.memory.index.vector_index import VectorIndex
from memsim.memory.recall.search import Recollection
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.embedders import HashEmbedder
from memsim.models.offline.model import OfflineModel
from memsim.scenario.script import Turn

EARLY = 1_000
MEASURED = 500
"""Turns over which a cost is measured, once before and once after the history is there."""

BLOCK = 100
"""Messages that are timed together."""

SEARCHES = 200
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes messages and, perhaps, is asked.

    Attributes:
        add: takes a message.
        ask: what is done for a question; None where nothing is asked.
        allowed: how many times dearer asking may become.
        share: of the turns that it is given.
    """

    name: str
    add: Callable[[Message], object]
    ask: Callable[[str], object] | None = None
    allowed: float = 1.3
    share: float = 1.0


def parts(counter: TokenCounter) -> Iterator[Part]:
    """Each part, empty."""
    window = Window(counter, messages=20)
    yield Part("window of messages", window.add, lambda _: window.section(4096))
    whole = Window(counter)
    yield Part("all messages", whole.add, lambda _: whole.section(4096))
    words = Bm25()
    yield Part("bm25", indexing(words), lambda q: words.search(q, 50), allowed=4.0)
    embedder = HashEmbedder()
    meaning = VectorIndex(lambda: embedder)
    yield Part("vectors (hash)", indexing(meaning), lambda q: meaning.search(q, 50), allowed=20.0)
    yield recall(counter)
    buffer, model = SummaryBuffer(counter, keep=2400, limit=1000), OfflineModel(counter)

    def summarise(message: Message) -> None:
        buffer.window.add(message)
        buffer.compact(model, message.time)

    yield Part("summary buffer", summarise, lambda _: buffer.sections(4096), share=0.1)


def recall(counter: TokenCounter) -> Part:
    """A log, and the composing of a section of what was found in it."""
    archive, lines = Archive(counter), Recollection(counter)
    said: list[str] = []

    def add(message: Message) -> None:
        archive.add(message)
        said.append(message.id)

    def compose(question: str) -> None:
        step = max(1, len(said) // 10)
        lines.section(
            map(archive.log.get, said[::step]),
            question=question,
            budget=3000,
            order=archive.log.place,
            id="recalled:1",
            time=archive.log.get(said[0]).time,
        )

    return Part("log and recollection", add, compose, allowed=2.0)


def indexing(index: Bm25 | VectorIndex) -> Callable[[Message], None]:
    """How an archive feeds a ranker."""
    return lambda message: index.add(message.id, f"{message.principal}: {message.text}")


def talk(turns: int) -> list[Message]:
    """Generated messages, two for each turn."""
    turn = (e for e in conversation(turns).events(SEED) if isinstance(e, Turn))
    return [m for t in turn for m in (*t.heard, *t.reply)]


def cost(run: Callable[[], object], count: int) -> float:
    """Microseconds for each of so many."""
    began = time.process_time()
    run()
    return (time.process_time() - began) / count * 1e6


def adding(part: Part, messages: Sequence[Message]) -> Iterator[float]:
    """Microseconds to add a message, for each block of them."""
    for start in range(0, len(messages), BLOCK):
        block = messages[start : start + BLOCK]
        yield cost(lambda block=block: [part.add(m) for m in block], len(block))  # type: ignore[misc]


def asked(part: Part, questions: Sequence[str]) -> float:
    """Microseconds for a question, at best."""
    ask = part.ask
    if ask is None:
        return 0.0
    return min(cost(lambda: [ask(q) for q in questions], len(questions)) for _ in range(ROUNDS))


def measured(part: Part, messages: Sequence[Message]) -> tuple[float, float, float, float]:
    """Microseconds to add and to ask, early and at the end."""
    said = iter(messages)
    figures: list[float] = []
    for turns in (EARLY, len(messages) // 2):
        for message in islice(said, 2 * (turns - EARLY if figures else turns) - 2 * MEASURED):
            part.add(message)
        gc.collect()
        gc.freeze()
        last = list(islice(said, 2 * MEASURED))
        figures.append(statistics.median(adding(part, last)))
        figures.append(asked(part, [m.text for m in last if m.role == "user"][-SEARCHES:]))
    return figures[0], figures[1], figures[2], figures[3]


def main() -> int:
    """Measure each part; 1 when one grew by more than is claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 turns")
    parser.add_argument("--turns", type=int, default=0)
    given = parser.parse_args()
    turns = given.turns or (10_000 if given.quick else 100_000)
    messages = talk(turns)
    different = len({m.text for m in messages})
    print(f"microseconds at {EARLY:,} and {turns:,} turns, {different:,} different messages")
    print(f"{'':<22}{'add':>8}{'add':>8}{'ratio':>7}{'ask':>10}{'ask':>8}{'ratio':>7}{'claim':>7}")
    missed = 0
    for part in parts(TokenCounter(load_tokenizer())):
        add, ask, add_late, ask_late = measured(part, messages[: int(len(messages) * part.share)])
        grown, searched = add_late / add, ask_late / ask if ask else 1.0
        kept = (grown <= 1.3 or add_late <= add + 1) and searched <= part.allowed
        missed += not kept
        print(
            f"{part.name:<22}{add:>8.1f}{add_late:>8.1f}{grown:>7.2f}"
            f"{ask:>10.1f}{ask_late:>8.1f}{searched:>7.2f}{part.allowed:>7.1f}"
            f"  {'' if kept else 'MISSED'}",
            flush=True,
        )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
