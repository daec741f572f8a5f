"""A memory to test: in this process, on a virtual clock, with doubles that can be told to fail."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.clock import Clock
from memsim.context import Context
from memsim.errors import ModelError, StoreError
from memsim.memory.entry import Entry
from memsim.memory.events import MemoryEvent
from memsim.memory.index import Hit
from memsim.memory.memory import Memory
from memsim.memory.options import MemoryOptions
from memsim.memory.parts import MemorySetup
from memsim.memory.permissions import Where
from memsim.memory.stores import PAGE
from memsim.memory.stores.in_memory import InMemory
from memsim.message import Message, Role, TokenCounter, load_tokenizer, said
from memsim.models import Embedder, Reply, Request
from memsim.models.registry import load_embedder

if TYPE_CHECKING:
    from memsim.models import Vectors

COUNTER = TokenCounter(load_tokenizer("chars/4"))


class Scribe:
    """A model that takes every line as a fact, and sums up by the first words of each message."""

    name = "scribe"

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.says = ""
        """What it writes in place of every summary, if anything."""
        self.fact = ""
        """What it extracts in place of every line, naming no sources, if anything."""
        self.poison = "\0"
        """What no request may hold."""
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        poisoned = any(self.poison in m.text for m in request.messages)
        if poisoned or request.task in self.failing:
            raise ModelError("the model is down")
        if self.says and request.task == "summarise":
            return Reply(text=self.says)
        if self.fact and request.task == "extract":
            return Reply(text=self.fact)
        lines: list[tuple[str, tuple[str, ...]]] = []
        if request.task == "extract":
            lines += [(line, (m.id,)) for m in request.messages for line in m.text.splitlines()]
        else:
            lines += [(line, ()) for line in request.previous.splitlines()]
            lines += [(m.text[:12].strip() or "-", (m.id,)) for m in request.messages]
        return Reply(
            text="\n".join(line for line, _ in lines),
            line_sources=tuple(sources for _, sources in lines),
        )


class Faulty(InMemory):
    """A store that counts what it is asked, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = False
        self.after = 0
        """Writes that still succeed while it is failing."""
        self.writes = 0
        self.reads = 0

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """As the store, unless it is failing."""
        self.writes += 1
        if self.failing:
            if self.after == 0:
                raise StoreError("the store is down")
            self.after -= 1
        super().write(entries, vectors)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = PAGE) -> list[Entry]:
        """As the store; what it gave is counted."""
        found = super().find(where, after=after, limit=limit)
        self.reads += 1 + len(found)
        return found

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """As the store; what it gave is counted."""
        found = super().get(ids)
        self.reads += 1 + len(found)
        return found

    def erase(self, ids: Collection[str]) -> int:
        """As the store, unless it is failing."""
        if self.failing and ids:
            raise StoreError("the store is down")
        return super().erase(ids)

    def lexical(self, text: str, where: Where, k: int) -> list[Hit]:
        """As the store; it is counted."""
        self.reads += 1
        return super().lexical(text, where, k)


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """One embedder for all."""
    return load_embedder("hash")


@dataclass
class Remembering:
    """A memory with all that it stands on, and a short way to talk to it."""

    options: MemoryOptions = field(default_factory=lambda: MemoryOptions(vectors=False, window=4))
    budget: int = 1024

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.model = Scribe()
        self.happened: list[MemoryEvent] = []
        self.store = Faulty()
        self.memory = Memory(
            MemorySetup(
                store=self.store,
                model=self.model,
                counter=COUNTER,
                embed=embedder,
                now=self.clock.now,
                options=self.options,
                budget=self.budget,
                tell=self.happened.append,
            )
        )
        self._count = 0

    def message(
        self,
        text: str,
        *,
        who: str = "ana",
        session: str = "",
        role: Role = "user",
        id: str = "",  # noqa: A002 - the record's own field name
    ) -> Message:
        """A message, a minute after the last one."""
        self._count += 1
        self.clock.advance(timedelta(minutes=1))
        return said(
            role,
            text,
            id=id or f"{who}-{self._count}",
            principal=who,
            session=session or f"{who}'s",
            turn=self._count,
            time=self.clock.now(),
        )

    def say(self, *texts: str, who: str = "ana", session: str = "") -> list[str]:
        """One turn for each text; the ids of the messages."""
        ids = []
        for text in texts:
            message = self.message(text, who=who, session=session)
            self.memory.observe(message)
            self.memory.end_turn(who)
            ids.append(message.id)
        return ids

    def asked(
        self, text: str, *, who: str = "ana", session: str = "", budget: int | None = None
    ) -> Context:
        """What the model is sent for a question."""
        return self.memory.context(
            text,
            principal=who,
            session=session or f"{who}'s",
            budget=budget or self.budget,
        )

    def call(self, name: str, who: str = "ana", /, **arguments: object) -> str:
        """A tool's answer."""
        return self.memory.tools(who).call(name, json.dumps(arguments))

    def saved(self) -> str:
        """The saved state as the bytes that a file would hold."""
        return json.dumps(self.memory.save(), allow_nan=False, sort_keys=True)

    def again(self) -> Remembering:
        """Another memory that has taken over the state of this one."""
        other = Remembering(options=self.options, budget=self.budget)
        other.clock.set(self.clock.now())
        other._count = self._count
        other.memory.load(json.loads(self.saved()))
        return other

    def summarised(self) -> list[list[str]]:
        """Ids of the messages of each request for a summary."""
        return [[m.id for m in r.messages] for r in self.model.asked if r.task == "summarise"]

    def texts(self) -> str:
        """Every text that the store holds, and the rest of the state."""
        return self.saved()
