"""Conversations at random, and what it takes to hold one with a built-in strategy."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal

import pytest
from _pytest.mark import ParameterSet
from hypothesis import strategies as st

from memsim.clock import Clock
from memsim.context import Context
from memsim.discovery.loader import prepare
from memsim.message import (
    EPOCH,
    Block,
    Message,
    Role,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    load_tokenizer,
)
from memsim.models import Embedder, Model
from memsim.models.registry import load_embedder, load_model
from memsim.scenario.script import Turn
from memsim.strategy import Environment, Event, Query, Strategy

SHARED = (
    "full_context",
    "oracle",
    "sliding_window",
    "sliding_window:messages=5",
    "sliding_window:tokens=300",
    "rolling_summary",
    "rolling_summary:keep=120,summary=80",
    "bm25:k=4,window=3",
    "bm25:words=lower,window=2",
    "vector:k=4,window=3",
    "hybrid:k=4,window=3",
    "hybrid:fusion=weights,neighbours=0.5,k=3,window=2",
    "hybrid:fusion=zscore,neighbours=0.5,k=3,window=2",
)
SCOPED = (
    "full_context:scope=principal",
    "sliding_window:messages=4,scope=principal",
    "rolling_summary:keep=90,summary=60,scope=principal",
    "bm25:k=4,window=2,scope=principal",
    "vector:k=4,window=2,scope=principal",
    "hybrid:fusion=zscore,neighbours=0.5,k=3,window=2,scope=principal",
)
LAYERED = (
    "layered:store=memory,window=3,k=4",
    "layered:store=memory,window=3,k=4,summary=off,episodes=off",
    "layered:store=memory,window=3,k=4,vectors=off,facts=off,mode=both",
)
OPEN = "layered:store=memory,window=3,k=4,acl=off"
CHROMA = "vector:store=chroma,k=3,window=2"
_SMALL = "memory=autocontext,msg_threshold=6,last_keep=3,large_payload_threshold=60"
_SOON = "threshold_messages=8,retain_recent_messages=4,cues=zh+en"
AGENTICX = (
    f"agenticx:{_SOON}",
    f"agenticx:{_SOON},version=0.6,scope=principal",
    f"agenticx:{_SOON},behaviour=source,longterm=mem0",
)
AGENTSCOPE = (
    "agentscope",
    f"agentscope:{_SMALL}",
    f"agentscope:{_SMALL},longterm=store,mode=both,scope=session",
    f"agentscope:{_SMALL},version=1.0.12,longterm=mem0,min_compression_token_threshold=5",
    "agentscope:memory=autocontext,version=1.0.21,max_token=60,keep_recent=2,longterm=reme",
    "agentscope:window=truncation,msg_threshold=5,last_keep=2,scope=shared",
)
PRX = ("prx:backend=memory", "prx:backend=memory,acl=on", "prx:backend=memory,version=0.3.0")
COGTRIX = (
    "cogtrix:window=4",
    "cogtrix:window=4,mode=code,tiers=true",
    "cogtrix:window=4,mode=reasoning,scope=principal",
)
AEGIS = ("aegis", "aegis:index=exact,every=2,notes=on,limit=500", "aegis:users=on,lists=2,top=1")
DOCUMENTED = (*AGENTICX, *AGENTSCOPE, *PRX, *COGTRIX, *AEGIS)
"""The published systems, in their main modes, as they were published."""

FIXED = tuple(f"{ref}{',' if ':' in ref else ':'}fixed=true" for ref in DOCUMENTED)
"""The same, repaired."""

EVERY = (*SHARED, *SCOPED, *LAYERED, OPEN, "no_memory", CHROMA, *DOCUMENTED, *FIXED)
"""Every built-in strategy, and those of its parameters that change how it works."""

REPRESENTATIVE = frozenset(
    (
        "full_context",
        "oracle",
        "sliding_window",
        "rolling_summary:keep=120,summary=80",
        "bm25:k=4,window=3",
        "vector:k=4,window=3",
        "hybrid:k=4,window=3",
        "hybrid:fusion=zscore,neighbours=0.5,k=3,window=2,scope=principal",
        "layered:store=memory,window=3,k=4",
        "no_memory",
        f"agenticx:{_SOON},fixed=true",
        f"agentscope:{_SMALL},fixed=true",
        "prx:backend=memory,acl=on,fixed=true",
        "cogtrix:window=4,fixed=true",
        "aegis:fixed=true",
    )
)
"""One of each class; the other sets of parameters are tried by the slow tests."""


ONE_OF_EACH = REPRESENTATIVE | {
    *(*LAYERED, OPEN, CHROMA, *FIXED),
    *(AGENTICX[0], AGENTSCOPE[1], PRX[0], COGTRIX[0], AEGIS[0]),
}
"""Each class, each published design and its repaired modes: for what no other parameter decides."""


def of_each(refs: Sequence[str]) -> list[ParameterSet]:
    """Parameters of a test that need not try every set of a strategy's parameters."""
    return variants([ref for ref in refs if ref in ONE_OF_EACH])


def variants(refs: Sequence[str]) -> list[ParameterSet]:
    """Parameters of a test: refs that represent no class make slow tests."""
    fast = REPRESENTATIVE.intersection(refs) or {refs[0]}
    return [pytest.param(ref, marks=[] if ref in fast else [pytest.mark.variants]) for ref in refs]


_SYSTEMS = (*DOCUMENTED, *FIXED)
BY_SESSION = frozenset(
    (
        *LAYERED,
        OPEN,
        *(ref for ref in _SYSTEMS if ref[:5] in {"aegis", "agent"} and "agentscope" not in ref),
        *(ref for ref in _SYSTEMS if "scope=session" in ref),
    )
)
"""Those that show a conversation by itself, whoever else spoke elsewhere."""

BY_PRINCIPAL = frozenset(
    (
        *(ref for ref in EVERY if "scope=principal" in ref),
        *(ref for ref in _SYSTEMS if ref.startswith("prx")),
        *(ref for ref in _SYSTEMS if "agentscope" in ref and "scope=shared" not in ref),
        *(ref for ref in FIXED if ref.startswith("cogtrix")),
    )
)
"""Those that show each principal what was said by and to them."""

Property = Literal["budget", "pairs", "latest", "erasure"]
BY_DESIGN: dict[tuple[str, Property], str] = {
    ("agenticx", "budget"): "it counts messages and characters; nothing knows what may be sent",
    ("agenticx", "pairs"): "its tail is cut by number, so that it may begin with a result",
    ("agenticx", "erasure"): "its files and its chat history are only ever added to",
    ("agentscope", "budget"): "what is remembered and the summary stand there whatever they take",
    ("agentscope", "latest"): "its Python package compresses everything where little is recent",
    ("agentscope", "erasure"): "deleteMessage takes from the list, not from what was made of it",
    ("prx", "erasure"): "what it forgets stays in the chat",
    ("cogtrix", "budget"): "it takes four characters for a token, whatever they are",
    ("cogtrix", "pairs"): "its window is so many messages, wherever that begins",
    ("cogtrix", "latest"): "an answer goes with its question once that is dropped",
    ("aegis", "erasure"): "nothing takes an episode back",
}
"""What a published design breaks, and why; with `fixed=true` each of them holds."""


def holding(what: Property, refs: Sequence[str] = EVERY) -> list[str]:
    """Those of which a property is promised: all but what breaks it by design."""
    broken = {system for system, which in BY_DESIGN if which == what}
    return [r for r in refs if "fixed=true" in r or r.partition(":")[0] not in broken]


TRACKING = tuple(ref for ref in EVERY if ref.partition(":")[0] in {"bm25", "vector", "hybrid"})
"""Those that rank."""

PRINCIPALS = ("ana", "ben", "cleo")
QUESTIONS = ("What is ana's order?", "Where does ben live now?", "Bergen", "")
TEXTS = (
    "My order is A-17, please ship it to Oslo.",
    "I moved to Bergen last week. The new address is Strandgaten 4.",
    "The card ends in 4411; forget the old one.",
    "Ben's dentist is Dr. Lindqvist, every second Tuesday at 09:30.",
    "Lovely weather.",
    "order order ORDER",
    "Ærlig talt, jeg bor i Tromsø nå. 北京 is next. 👩‍👩‍👧",
    "line one\nline two \n\n\tline three",
    "",
    " ",
    "\n",
)
Kind = Literal["talk", "silence", "tools", "answers", "late"]


@dataclass(frozen=True, slots=True)
class Said:
    """What one turn is made of.

    Attributes:
        gap: minutes since the turn before.
        kind: talk; silence: no reply; tools: one message for each result; answers: all results in
            one message; late: the result comes in the next turn.
        calls: tool calls that stand side by side.
        long: times that the result is repeated.
    """

    who: str
    gap: int
    kind: Kind
    text: str
    calls: int
    long: int


_texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.text(max_size=24))
_turns = st.builds(
    Said,
    who=st.sampled_from(PRINCIPALS),
    gap=st.sampled_from((0, 3, 60 * 26, 60 * 24 * 40)),
    kind=st.sampled_from(("talk", "talk", "silence", "tools", "answers", "late")),
    text=_texts,
    calls=st.integers(1, 3),
    long=st.sampled_from((1, 1, 12, 150)),
)


def conversations(least: int = 1, most: int = 12) -> st.SearchStrategy[tuple[Turn, ...]]:
    """Conversations of so many turns."""
    return st.lists(_turns, min_size=least, max_size=most).map(scripted)


def scripted(plan: Sequence[Said]) -> tuple[Turn, ...]:
    """The turns of a conversation, their messages numbered m1, m2 and so on."""
    writer = _Writer()
    return tuple(writer.turn(number, said) for number, said in enumerate(plan, 1))


def talk(*texts: str, who: str = "ana") -> tuple[Turn, ...]:
    """A conversation in which one principal says these texts, and is answered each time."""
    return scripted([Said(who, 3, "talk", text, 1, 1) for text in texts])


class _Writer:
    def __init__(self) -> None:
        self._count = 0
        self._time: datetime = EPOCH
        self._late: tuple[str, str] | None = None
        self._number = 0

    def turn(self, number: int, said: Said) -> Turn:
        self._number = number
        self._time += timedelta(minutes=said.gap)
        heard = [*self._overdue(), self._message("user", said.who, Text(said.text))]
        return Turn(
            number=number,
            session=f"s{number // 4}",
            principal=said.who,
            time=self._time,
            heard=tuple(heard),
            reply=tuple(self._reply(said)),
        )

    def _overdue(self) -> Iterator[Message]:
        if self._late:
            who, call = self._late
            self._late = None
            yield self._message("tool", who, ToolResult(id=call, text="It took a while: 42."))

    def _reply(self, said: Said) -> Iterator[Message]:
        done = Text(f"Noted, {said.who}: {said.text}")
        if said.kind == "talk":
            yield self._message("assistant", said.who, done)
        if said.kind in {"talk", "silence"}:
            return
        count = 1 if said.kind == "late" else said.calls
        # As some frameworks do, ids are used again after a while.
        ids = [f"call-{self._number % 3}-{n}" for n in range(count)]
        uses = [ToolUse(id=i, name="look_up", arguments='{"key": "A-17"}') for i in ids]
        yield self._message("assistant", said.who, Text("Let me see."), *uses)
        if said.kind == "late":
            self._late = (said.who, ids[0])
            return
        found = [ToolResult(id=i, text=f"Parcel {i} is in Oslo. " * said.long) for i in ids]
        for group in [found] if said.kind == "answers" else [[result] for result in found]:
            yield self._message("tool", said.who, *group)
        yield self._message("assistant", said.who, done)

    def _message(self, role: Role, who: str, *blocks: Block) -> Message:
        self._count += 1
        return Message(
            id=f"m{self._count}",
            role=role,
            blocks=blocks,
            principal=who,
            session=f"s{self._number // 4}",
            turn=self._number,
            time=self._time,
        )


def messages_of(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """All that is said, in its order."""
    return tuple(m for turn in turns for m in (*turn.heard, *turn.reply))


def without_others(turns: Sequence[Turn], who: str) -> tuple[Turn, ...]:
    """The same turns in which nobody else says anything."""
    return tuple(
        replace(
            turn,
            heard=tuple(m for m in turn.heard if m.principal == who),
            reply=tuple(m for m in turn.reply if m.principal == who),
        )
        for turn in turns
    )


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """One embedder for all tests, which remembers what it embedded."""
    return load_embedder("hash")


@lru_cache(maxsize=64)
def _maker(ref: str) -> Callable[[Environment], Strategy]:
    return prepare(ref)


def own_folder() -> Path:
    """A folder of a strategy's own."""
    return Path(tempfile.mkdtemp(dir=_folders()))


@lru_cache(maxsize=1)
def _folders() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="memsim-strategies-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def strategy(
    ref: str,
    *,
    budget: int = 1024,
    tokenizer: str = "chars/4",
    model: Model | None = None,
    log: Callable[[Event], None] = lambda _event: None,
) -> Strategy:
    """A strategy in an environment of its own."""
    counter = TokenCounter(load_tokenizer(tokenizer))
    env = Environment(
        clock=Clock(),
        model=load_model("offline", counter) if model is None else model,
        counter=counter,
        embed=embedder,
        folder=own_folder,
        budget=budget,
        log=log,
    )
    return _maker(ref)(env)


def ask(
    memory: Strategy,
    text: str = QUESTIONS[0],
    *,
    who: str = "ana",
    turn: int = 0,
    budget: int | None = None,
    evidence: tuple[str, ...] = (),
) -> Query:
    """A query as a probe puts it."""
    return Query(
        text=text,
        principal=who,
        session="s1",
        time=memory.env.clock.now(),
        turn=turn,
        budget=memory.env.budget if budget is None else budget,
        evidence=evidence,
    )


def evidence_of(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Some messages, the ones that an oracle is told of."""
    return tuple(m.id for m in messages_of(turns))[::3]


Between = Callable[[Strategy, int], None]
"""What is done before each step, by the step's number."""


def play(
    memory: Strategy,
    turns: Sequence[Turn],
    *,
    evidence: tuple[str, ...] = (),
    between: Between = lambda _memory, _step: None,
) -> list[tuple[str, Context]]:
    """Hold a conversation as a replay does; who was sent which context."""
    sent: list[tuple[str, Context]] = []
    step = 0
    for turn in turns:
        memory.env.clock.set(turn.time)
        for message in (*turn.heard, *turn.reply):
            between(memory, step := step + 1)
            if message.role == "assistant":
                query = ask(memory, turn.heard[-1].text if turn.heard else "", who=turn.principal)
                query = replace(query, turn=turn.number, evidence=evidence)
                context = memory.context(query).ranked()
                memory.delivered(context)
                sent.append((turn.principal, context))
            memory.observe(message)
        memory.end_turn()
        between(memory, step := step + 1)
    return sent


def probes(
    memory: Strategy, turns: Sequence[Turn], *, whose: Sequence[str] = PRINCIPALS
) -> list[Context]:
    """What all questions would be answered from after a conversation."""
    last, evidence = turns[-1].number, evidence_of(turns)
    return [
        memory.context(ask(memory, text, who=who, turn=last, evidence=evidence)).ranked()
        for who in whose
        for text in QUESTIONS
    ]


def saved(memory: Strategy) -> str:
    """The saved state as the bytes that a file would hold."""
    return json.dumps(memory.save(), allow_nan=False, sort_keys=True)


def shown(context: Context) -> set[str]:
    """Ids of all that a context holds, verbatim or in other words."""
    return set(context.verbatim | context.derived)


def held(memory: Strategy, viewer: str | None = None) -> set[str]:
    """Ids of all that stands on any surface."""
    return {source for surface in memory.surfaces(viewer) for source in surface.sources}
