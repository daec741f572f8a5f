"""Two principals in lockstep: what one sees, to the byte, with and without the other's data.

    python benchmarks/lockstep.py [cases]

Every case is a script of what `ana` does, played once alone and once for each way in which `ben`
can fill the same memory; whatever ana sees on the way is compared: contexts, tool answers, searches
with their scores, what is told of forgetting, and errors. Prints cases, observations, differences.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from memsim.clock import Clock
from memsim.errors import MemsimError
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions
from memsim.memory.parts import MemorySetup
from memsim.memory.permissions import ReadGrant
from memsim.memory.stores.in_memory import InMemory
from memsim.message import TokenCounter, load_tokenizer, said
from memsim.models import Embedder, Reply, Request
from memsim.models.registry import load_embedder

Filling = Literal["some", "same", "keys", "many"]
FILLINGS: tuple[Filling, ...] = ("some", "same", "keys", "many")
"""Other words; the same words; the same keys as well, stored before each step; and 1,000 rows."""

WORDS = ("desk", "falcon", "lunch", "Bergen", "order", "A-17", "7741", "kettle", "Oslo", "dentist")
OTHERS = ("violin", "harbour", "B-99", "mango", "Turin", "cello", "8812", "anchor")
SUBJECTS = ("My desk is {}.", "My dentist's name is {}.", "The order ships to {}.")
KEYS = ("desk", "order", "a key\n", "ключ")
SESSIONS = ("one", "two", "three")
MANY = 1_000

COUNTER = TokenCounter(load_tokenizer("chars/4"))


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that somebody does.

    Attributes:
        kind: say, turn, ask, search, call, forget, grant or wait.
        text: of a message, a question, or a tool's arguments.
        name: of a session, a tool, or a message.
    """

    kind: str
    text: str = ""
    name: str = ""


@dataclass
class Lines:
    """A model that takes each message as a fact, and sums up by its beginnings."""

    name: str = "lines"

    def complete(self, request: Request) -> Reply:
        """The texts, shortened where they are to be summed up."""
        most = 80 if request.task == "extract" else 12
        texts = [(m.text[:most].replace("\n", " ").strip() or "-", m.id) for m in request.messages]
        before = request.previous.splitlines()
        return Reply(
            text="\n".join((*before, *(text for text, _ in texts))),
            line_sources=(*(() for _ in before), *((source,) for _, source in texts)),
        )


@dataclass
class World:
    """A memory that both use, each with a clock reading of the script's own."""

    vectors: bool
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.memory = Memory(
            MemorySetup(
                store=InMemory(),
                model=Lines(),
                counter=COUNTER,
                embed=embedder,
                now=self.clock.now,
                options=MemoryOptions(vectors=self.vectors, window=3, summary=True, mode="both"),
                budget=320,
            )
        )
        self._said = {"ana": 0, "ben": 0, "cleo": 0}

    def do(self, who: str, act: Act, *, shown: bool) -> None:
        """Have somebody do something, and note what they see of it."""
        try:
            told = self._done(who, act)
        except MemsimError as error:
            told = f"{type(error).__name__}: {error}"
        if shown:
            self.seen.append(f"{act.kind}: {told}")

    def _done(self, who: str, act: Act) -> str:
        memory, told = self.memory, ""
        match act.kind:
            case "say":
                self._said[who] += 1
                memory.observe(
                    said(
                        "user",
                        act.text,
                        id=f"m{self._said[who]}",
                        principal=who,
                        session=f"{who}/{act.name}",
                        turn=self._said[who],
                        time=self.clock.now(),
                    )
                )
            case "turn":
                memory.end_turn(who)
            case "ask":
                context = memory.context(
                    act.text, principal=who, session=f"{who}/{act.name}", budget=320
                )
                memory.delivered(context, principal=who)
                told = repr(context)
            case "search":
                found = memory.search(act.text, principal=who)
                facts = memory.semantic.in_force(who)
                told = repr(([(f.entry, f.score) for f in found], facts))
            case "call":
                tools = memory.tools(who)
                told = repr((tools.specs(), tools.call(act.name, act.text)))
            case "forget":
                meant = (act.name,) if act.name else memory.closest_message(who, act.text)
                told = repr((meant, memory.forget(who, meant)))
            case "grant":
                memory.grant(ReadGrant(owner=who, reader="cleo"))
                memory.share(who, "cleo", [act.name])
                told = repr([e.text for e in memory.entries(who)])
            case "wait":
                self.clock.advance(timedelta(minutes=7))
        return told


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """One embedder for all."""
    return load_embedder("hash")


def script(random: random.Random, words: tuple[str, ...], length: int) -> list[Act]:
    """What a principal does, in turns of saying, asking, searching, storing and forgetting."""
    return [act for _ in range(length) for act in _acts(random, words)]


def _acts(random: random.Random, words: tuple[str, ...]) -> Iterator[Act]:
    some = " ".join(random.choices(words, k=random.randint(1, 5)))
    session, key = random.choice(SESSIONS), random.choice(KEYS)
    message = f"m{random.randint(1, 8)}"
    match random.randrange(12):
        case 0 | 1 | 2:
            stated = random.choice(SUBJECTS).format(random.choice(words))
            yield Act("say", random.choice((some, stated, stated)), session)
            if random.random() < 0.3:
                yield Act("ask", some, session)
            yield Act("turn")
        case 3 | 4:
            yield Act("ask", some, session)
        case 5:
            yield Act("search", some)
        case 6 | 7:
            yield Act("call", json.dumps({"key": key, "value": some}), "memory_store")
        case 8:
            name = random.choice(("memory_get", "memory_forget", "memory_recall"))
            yield Act("call", json.dumps({"key": key}), name)
        case 9:
            yield Act("call", json.dumps({"query": some}), "memory_search")
        case 10:
            yield Act("forget", some, random.choice(("", message)))
        case _:
            yield random.choice((Act("grant", name=message), Act("wait"), Act("search", "")))


def foreign(random: random.Random, filling: Filling) -> list[list[Act]]:
    """What ben does before each step of ana's: script by script."""
    words = OTHERS if filling == "some" else WORDS
    if filling == "keys":
        stores = [
            Act("call", json.dumps({"key": k, "value": random.choice(WORDS)}), "memory_store")
            for k in KEYS
        ]
        return [[*stores, *script(random, words, 2)] for _ in range(40)]
    return [[a for a in script(random, words, 2) if a.kind != "wait"] for _ in range(40)]


def observed(seed: int, filling: Filling | None, *, vectors: bool) -> list[str]:
    """All that ana sees in a case.

    Args:
        seed: makes ana's script.
        filling: what ben does meanwhile; None for nothing.
        vectors: whether entries are found by meaning, too.
    """
    world = World(vectors=vectors)
    steps = script(random.Random(f"ana {seed}"), WORDS, 14)
    others = foreign(random.Random(f"ben {seed}"), filling) if filling else []
    if filling == "many":
        _fill(world, seed)
    for place, act in enumerate(steps):
        for other in others[place % 40] if others else ():
            if other.kind != "wait":
                world.do("ben", other, shown=False)
        world.do("ana", act, shown=True)
    return world.seen


def _fill(world: World, seed: int) -> None:
    from memsim.memory.entry import Entry

    pick = random.Random(f"many {seed}")
    world.memory.vault.put(
        [
            Entry(key=f"k{n}", text=" ".join(pick.choices(WORDS, k=4)), owner="ben")
            for n in range(MANY)
        ]
    )


def differences(seed: int, filling: Filling, *, vectors: bool) -> tuple[int, list[str]]:
    """How much ana saw in a case, and where it differs by what ben did."""
    alone = observed(seed, None, vectors=vectors)
    together = observed(seed, filling, vectors=vectors)
    pairs = zip(alone, together, strict=True)
    return len(alone), [f"{one}\n{two}" for one, two in pairs if one != two]


def main(cases: int) -> int:
    """Play so many cases."""
    looked = differing = 0
    for seed in range(cases):
        # A thousand rows cost a hundred times as much to write: every fiftieth case has them.
        filling = FILLINGS[3] if seed % 50 == 49 else FILLINGS[seed % 3]
        count, found = differences(seed, filling, vectors=seed % 4 == 3)
        looked += count
        if found:
            differing += 1
            print(f"case {seed} ({filling}) differs:\n{found[0][:2000]}")
    print(f"{cases:,} cases, {looked:,} observations, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
