"""AgentScope's long-term memory: what is recorded of a conversation, and retrieved for a message.

Behind the published interface stand services. Here is what they do, offline: `mem0` keeps facts
that a model extracts, `reme` a summary of each recording, `store` the messages word for word.
Memories are a user's; whose assistant asks is all that is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memsim.errors import ModelError
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction import escaped
from memsim.memory.compaction.summary import originals
from memsim.message import Message, composed
from memsim.models import Model, Request, provenance
from memsim.systems.agentscope.prompts import EXTRACTION, RECORDING

if TYPE_CHECKING:
    from memsim.memory.index.bm25 import Bm25

LongTermKind = Literal["none", "mem0", "reme", "store"]
LONG_TERM_KINDS: tuple[LongTermKind, ...] = ("none", "mem0", "reme", "store")

NOTHING_TO_RECORD = "No content provided to record"
NOTHING_VALID = "No valid content to record"
RECORDED = "Successfully recorded to long-term memory"
NO_KEYWORDS = "No keywords provided for search"
NOTHING_FOUND = "No relevant memories found"

PREFACE = "What is remembered of earlier conversations, and may be of use here:"
NAME = "long_term_memory"
LONGEST = 2000
"""Characters of a message that a store keeps: what is injected and recorded again would double."""

LIMIT = 200
"""Tokens of the summary of one recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTermRecord:
    """One memory of a user.

    Attributes:
        quotes: ids of the messages that stand in it word for word.
        sources: ids of the messages that it was made from.
        perhaps: ids of others that it may have been made from, for forgetting.
    """

    id: str
    text: str
    user: str
    quotes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()

    @property
    def origins(self) -> tuple[str, ...]:
        """Ids of every message that may stand behind it."""
        return (*self.quotes, *self.sources, *self.perhaps)


class LongTermMemory:
    """Memories by user, of which at most `limit` are retrieved.

    Raises ValueError for an unknown kind, and for a limit below 1.
    """

    def __init__(self, kind: LongTermKind, limit: int = 5) -> None:
        if kind not in LONG_TERM_KINDS:
            raise ValueError(f"longterm is {kind!r}: it is one of {', '.join(LONG_TERM_KINDS)}")
        if limit < 1:
            raise ValueError(f"retrieve is {limit}: at least 1")
        self._kind = kind
        self._limit = limit
        self._made = 0
        self._clear()

    def _clear(self) -> None:
        self._memories: dict[str, LongTermRecord] = {}
        self._indexes: dict[str, Bm25] = {}
        self._known: dict[tuple[str, str], str] = {}

    def __iter__(self) -> Iterator[LongTermRecord]:
        return iter(self._memories.values())

    def record(self, messages: Sequence[Message], user: str, model: Model, now: datetime) -> int:
        """Record messages; how many memories are new. What tools said is not recorded.

        A model that fails records nothing, and nobody is told, as in the original.
        """
        taken = tuple(m for m in messages if m.role in {"user", "assistant"} and m.spoken.strip())
        if not taken or self._kind == "none":
            return 0
        before = len(self._memories)
        if self._kind == "store":
            for message in taken:
                made = originals(message) if message.composed else ()
                words = message.spoken.strip()[:LONGEST]
                # What was cut, or said in other words, is no quotation.
                quotes = message.verbatim if message.text in words else ()
                self.keep(words, user, quotes=quotes, sources=made or message.verbatim)
        else:
            self._ask(taken, user, model, now)
        return len(self._memories) - before

    def keep(
        self,
        text: str,
        user: str,
        *,
        quotes: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        perhaps: tuple[str, ...] = (),
    ) -> None:
        """Keep a text, unless the user's memory holds the very same."""
        if (user, text) in self._known:
            return
        self._made += 1
        id_ = f"memory:{self._made}"
        self._put(
            LongTermRecord(
                id=id_, text=text, user=user, quotes=quotes, sources=sources, perhaps=perhaps
            )
        )

    def retrieve(self, text: str, user: str) -> tuple[LongTermRecord, ...]:
        """The user's memories that speak to a text, best first."""
        index = self._indexes.get(user)
        if index is None or not text.strip():
            return ()
        return tuple(self._memories[hit.id] for hit in index.search(text, self._limit))

    def rank_of(self, source: str, text: str, user: str) -> int | None:
        """The best place, from 1, of a memory that was made from a message."""
        index = self._indexes.get(user)
        if index is None:
            return None
        mine = (m.id for m in self if m.user == user and source in (*m.quotes, *m.sources))
        ranks = (rank for i in mine if (rank := index.rank_of(i, text)) is not None)
        return min(ranks, default=None)

    def remove(self, ids: Collection[str]) -> tuple[str, ...]:
        """Take out the memories that may have been made from messages; ids of the messages."""
        wanted = frozenset(ids)
        gone = [m for m in self if not wanted.isdisjoint(m.origins)]
        for memory in gone:
            del self._memories[memory.id]
            del self._known[memory.user, memory.text]
            self._indexes[memory.user].remove(memory.id)
        return tuple(dict.fromkeys(i for m in gone for i in m.origins if i in wanted))

    def save(self) -> JSON:
        """The whole state as JSON values."""
        rows = [asdict(m) for m in self]
        return {"made": self._made, "memories": [_listed(row) for row in rows]}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file
        """Replace all memories by saved ones. Raises StateError where they are damaged."""
        loaded: list[LongTermRecord] = []
        with reading("a long-term memory is damaged"):
            made = 0 + saved["made"]
            for row in saved["memories"]:
                lists = {key: tuple(row[key]) for key in ("quotes", "sources", "perhaps")}
                loaded.append(
                    LongTermRecord(id=row["id"], text=row["text"], user=row["user"], **lists)
                )
        self._clear()
        self._made = made
        for memory in loaded:
            self._put(memory)

    def _put(self, memory: LongTermRecord) -> None:
        from memsim.memory.index.bm25 import Bm25

        self._memories[memory.id] = memory
        self._known[memory.user, memory.text] = memory.id
        self._indexes.setdefault(memory.user, Bm25()).add(memory.id, memory.text)

    def _ask(self, taken: tuple[Message, ...], user: str, model: Model, now: datetime) -> None:
        extracts = self._kind == "mem0"
        request = Request(
            task="extract" if extracts else "summarise",
            messages=taken,
            max_tokens=None if extracts else LIMIT,
            now=now,
            prompt=EXTRACTION if extracts else RECORDING,
        )
        try:
            reply = model.complete(request)
        except ModelError:
            return
        behind = {m.id: originals(m) for m in taken}
        everything = tuple(i for ids in behind.values() for i in ids)

        def traced(sources: Sequence[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(i for s in sources for i in behind.get(s, ())))

        if not extracts:
            if reply.text.strip():
                sources = traced(reply.sources or ())
                self.keep(reply.text.strip(), user, sources=sources, perhaps=everything)
            return
        origins = provenance(reply, {})
        for line in filter(None, map(str.strip, reply.text.splitlines())):
            if origins is None:
                self.keep(line, user, perhaps=everything)
            else:
                self.keep(line, user, sources=traced(origins.get(line, ())))


def injection(
    memories: Sequence[LongTermRecord], number: str, now: datetime, *, fixed: bool
) -> Message:
    """Make the message of memories; `fixed` keeps a user's words from closing their block."""
    text = "\n".join(m.text for m in memories)
    return composed(
        "user",
        f"{PREFACE}\n<{NAME}>\n{escaped(text) if fixed else text}\n</{NAME}>",
        id=f"{NAME}:{number}",
        quotes=tuple(dict.fromkeys(i for m in memories for i in m.quotes)),
        derived_from=tuple(dict.fromkeys(i for m in memories for i in m.sources)),
        time=now,
    )


def _listed(row: dict[str, Any]) -> dict[str, JSON]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}
