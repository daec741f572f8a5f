"""AgenticX as a strategy: workspaces, compacted sessions, and what a prompt holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memsim.context import Context, Section
from memsim.context_checks import credit_once, repair_context
from memsim.memory.codec import reading
from memsim.memory.compaction.summary import originals
from memsim.memory.forget_request import requested_message
from memsim.memory.scope import MemoryScopes
from memsim.message import Message, composed, said
from memsim.models import ToolSpec
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)
from memsim.systems.agenticx.compactor import CompactionResult, invoker
from memsim.systems.agenticx.content import sanitised
from memsim.systems.agenticx.fact_cues import CueWords, cues_of
from memsim.systems.agenticx.mem0 import Mem0Facts
from memsim.systems.agenticx.studio import AgenticxProfile, Studio
from memsim.systems.agenticx.tools import call_tool, tool_specs

SIZES = ("threshold_messages", "threshold_chars", "retain_recent_messages")

Statements = Sequence[tuple[str, tuple[str, ...]]]
"""What the long-term backend knows, each with the ids of the messages that it came from."""


def core_messages(roots: Mapping[str, str]) -> tuple[Message, ...]:
    """The identity files, by name, as far as they say anything."""
    texts = [text for text in roots.values() if text]
    return (composed("system", "\n\n".join(texts), id="workspace:core"),) if texts else ()


def recalled_messages(
    studio: Studio, session: str, text: str, principal: str, turn: int
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """What was found in the workspace for a question, and the ids of where it came from."""
    found = studio.recall(session, said("user", text, id="asked", principal=principal))
    credit = studio.credit(found)
    if not found.text:
        return (), credit.sources
    return (credit.message(found.text, f"recalled:{turn}"),), credit.sources


def mem0_messages(known: Statements, turn: int) -> tuple[Message, ...]:
    """What the long-term backend found."""
    if not known:
        return ()
    text = "\n".join(f"- {line}" for line, _ in known)
    sources = tuple(dict.fromkeys(i for _, ids in known for i in ids))
    return (composed("system", text, id=f"mem0:{turn}", derived_from=sources),)


def scratchpad_messages(studio: Studio, session: str) -> tuple[Message, ...]:
    """The notes of a session."""
    notes = studio.seen(session).scratchpad
    if not notes:
        return ()
    credit = studio.lines(notes.shown_facts())
    return (credit.message(notes.rendered(), f"scratchpad:{session}"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgenticxOptions:
    """Options of AgenticX; `strategies/agenticx.py` says what each parameter means.

    `words` adds to the cue words of `cues`, and `roots` holds texts by file name.

    Raises:
        ValueError: a number is out of its range, or a word means nothing here.
    """

    version: Literal["0.3", "0.6"]
    behaviour: Literal["document", "source"]
    fixed: bool
    threshold_messages: int | None
    threshold_chars: int | None
    retain_recent_messages: int | None
    model_window: int | None
    cues: str
    words: CueWords
    index: Literal["turn", "never"] | None
    longterm: Literal["none", "mem0"]
    tools: bool
    roots: Mapping[str, str]
    scope: Literal["shared", "principal"]

    def __post_init__(self) -> None:
        _check("version", self.version, "0.3", "0.6")
        _check("behaviour", self.behaviour, "document", "source")
        _check("index", self.index, None, "turn", "never")
        _check("longterm", self.longterm, "none", "mem0")
        for name in (*SIZES, "model_window"):
            size = getattr(self, name)
            if size is not None and size < 1:
                raise ValueError(f"{name} is {size}: at least 1")


class AgenticxSystem(Strategy):
    """AgenticX's memory as a strategy."""

    departs: ClassVar[Mapping[str, str]] = {
        "pair_closure": "the messages that stay may begin with a result",
        "provider_validity": "the messages that stay may begin with a result",
        "progress": "whatever the model says is taken",
        "bad_summaries_are_refused": "whatever the model says is taken",
        "authority_non_elevation": "what is compacted or recalled is a system message",
        "within_budget": "it compacts above so many messages and characters, and knows no budget",
    }
    departs_with: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "version=0.3,behaviour=source": {
            "usage_reset": "the source compacts the whole history again in every round"
        }
    }

    def __init__(self, env: Environment, options: AgenticxOptions) -> None:
        super().__init__(env)
        words = cues_of(options.cues).plus(options.words)
        source = options.behaviour == "source" or options.version == "0.6"
        self._options = options
        self._profile = AgenticxProfile(version=options.version, source=source, fixed=options.fixed)
        self._indexing = self._profile.indexing if options.index is None else options.index
        given = {name: f"{text}\n" for name, text in options.roots.items() if text}
        self._studios = MemoryScopes(options.scope, lambda: Studio(self._profile, words, given))
        self._facts = MemoryScopes(options.scope, lambda: Mem0Facts(env.model, env.embed))
        self._mem0 = options.longterm == "mem0"
        self._revision = 0
        self._latest = ("", "")
        self._turn: list[Message] = []

    def observe(self, message: Message) -> None:
        if not self._studios.of(message.principal).session(message.session).add(message):
            return
        self._revision += 1
        self._latest = (message.principal, message.session)
        self._turn.append(message)

    def context(self, query: Query) -> Context:
        studio = self._studios.seen_by(query.principal)
        compacted = self._compacted(query.principal, query.session)
        first = compacted.messages[:1]
        summary = first if first and first[0].composed and first[0].role == "system" else ()
        window = compacted.messages[len(summary) :]
        recalled, ranking = self._recalled(studio, query)
        build = self.env.build
        latest = build.section("window", window)
        recalled = credit_once(recalled, latest)
        working = build.section("working", scratchpad_messages(studio, query.session))
        context = build.context(
            build.section("core", core_messages(self._options.roots)),
            recalled,
            credit_once(credit_once(working, latest), recalled),
            build.section("summary", summary),
            latest,
            ranking=ranking,
        )
        return repair_context(build, context, query.budget) if self._profile.fixed else context

    def delivered(self, context: Context) -> None:
        principal, session = self._latest
        if not session:
            return
        done = self._compacted(principal, session)
        live = self._studios.of(principal).session(session)
        live.gauge = done.gauge
        if not done.did:
            return
        before, after = (self.env.build.tokens(m) for m in (live.agent, done.messages))
        event = Event(kind="compaction", sources=done.sources, before=before, after=after)
        self.env.log(event)
        if self._profile.replaces:
            self._revision += 1
            live.agent = done.messages

    def end_turn(self) -> None:
        self._revision += 1
        turn, self._turn = self._turn, []
        principal, session = self._latest
        if not session:
            return
        now = self.env.clock.now()
        studio = self._studios.of(principal)
        found = studio.end_turn(session, now)
        if found:
            self.env.log(Event(kind="stored", sources=found, detail="facts"))
        if self._indexing == "turn":
            studio.reindex(now)
        if self._mem0:
            self._facts.of(principal).add(turn, now)

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return tool_specs() if self._options.tools else ()

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        if name not in {spec.name for spec in self.tools(principal)}:
            return super().call_tool(name, arguments, principal)
        if not next(spec.reads for spec in tool_specs() if spec.name == name):
            self._revision += 1
        studio = self._studios.of(principal)
        return call_tool(name, arguments, studio, self._latest[1], self.env.clock.now())

    def forget(self, request: Forget) -> ForgetOutcome:
        if not self._profile.fixed:
            return ForgetOutcome()
        studio = self._studios.of(request.principal)
        own = studio.own(request.principal)
        gone = requested_message(request.text, request.sources, own)
        self._revision += 1
        studio.forget(frozenset(gone), self.env.clock.now())
        self._facts.of(request.principal).forget(frozenset(gone))
        return ForgetOutcome(supported=True, removed=gone)

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for studio in self._studios.visible(viewer):
            for tier, sources, text in studio.everything():
                yield Surface(tier=tier, sources=sources, text=text)
        for facts in self._facts.visible(viewer):
            for line, sources in facts.statements():
                yield Surface(tier="mem0", sources=sources, text=line)

    def locate(self, source: str, query: Query) -> Location | None:
        studio = self._studios.seen_by(query.principal)
        compacted = self._compacted(query.principal, query.session)
        for message in compacted.messages:
            if source in originals(message):
                place = "summary" if message.composed and message.role == "system" else "window"
                return Location(tier=place)
        if studio.written(source):
            return Location(tier="store", detail="in the workspace, not among what was recalled")
        if any(m.id == source for session in studio.sessions.values() for m in session.chat):
            return Location(tier="log", detail="in the chat history, which no prompt shows")
        return None

    def save(self) -> State:
        return {
            "studios": self._studios.save(),
            "facts": self._facts.save(),
            "latest": list(self._latest),
        }

    def load(self, state: State) -> None:
        with reading("it is not AgenticX's memory"):
            saved: dict[str, Any] = dict(state)
            before = self._studios.save()
            principal, session = saved["latest"]
            latest = ("" + principal, "" + session)
            self._studios.load(saved["studios"])
        with ExitStack() as undone:
            undone.callback(self._studios.load, before)
            self._facts.load(saved.get("facts"))
            undone.pop_all()
        self._revision += 1
        self._latest = latest
        self._turn = []

    def close(self) -> None:
        for studio in self._studios:
            studio.index.close()
        for facts in self._facts:
            facts.close()

    def _compacted(self, principal: str, name: str) -> CompactionResult:
        session = self._studios.seen_by(principal).seen(name)
        compactor = self._profile.compactor(
            invoker(self.env.model),
            session.naming,
            self._options.model_window,
            **{name: getattr(self._options, name) for name in SIZES},
        )

        def compute() -> CompactionResult:
            history = sanitised(session.agent, drop_empty=self._profile.new)
            done = compactor.maybe_compact(history, self.env.clock.now(), session.gauge)
            tokens = self.env.build.tokens
            smaller = done.did and tokens(done.messages) < tokens(history)
            if self._profile.fixed and done.did and not smaller:
                return CompactionResult(messages=history, gauge=done.gauge)
            return done

        # What another model made of it is no compaction of this one's.
        return self.memo.get((self._revision, self.env.model.name), (principal, name), compute)

    def _recalled(self, studio: Studio, query: Query) -> tuple[Section, tuple[str, ...]]:
        asked = (query.session, query.text, query.principal, query.turn)
        found, ranking = recalled_messages(studio, *asked)
        known = self._facts.seen_by(query.principal).search(query.text) if self._mem0 else []
        messages = (*found, *mem0_messages(known, query.turn))
        return self.env.build.section("recalled", messages), ranking


def _check(name: str, value: object, *allowed: object) -> None:
    if value not in allowed:
        words = " or ".join(repr(a) for a in allowed if a is not None)
        raise ValueError(f"{name} is {value!r}: it is {words}")
