"""Numbers a script's turns, messages, times and sessions, for checking and for playing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from memsim.clock import stamp
from memsim.errors import ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.message import Block, Message, Role, Text, ToolResult, ToolUse
from memsim.scenario.document import ListNode, MappingNode, Node, ScalarNode, nearest_name, quote
from memsim.scenario.script import ElapseEvent, Fact, Turn
from memsim.scenario.script_plan import (
    MAX_TURNS,
    STEP,
    Facts,
    Filler,
    Gap,
    OpenSession,
    PlainStep,
    Plan,
    Repeat,
    Say,
    ScriptStep,
    ToolCall,
    UseTools,
)
from memsim.scenario.value_kinds import DistinctNames
from memsim.scenario.words import ValueSearch

MAX_STEPS = 250_000
"""Steps of a script with its repetitions written out; a filler is one, however long."""

_COUNT = re.compile(r"\$i(?![A-Za-z])")


@fast_init
@dataclass(frozen=True, slots=True)
class ScriptExchange:
    """One turn as written: who speaks first, and what the assistant says and does."""

    heard: Say | None
    reply: tuple[Say | UseTools, ...]

    @property
    def line(self) -> int | None:
        """Where it begins."""
        return self.heard.line if self.heard else self.reply[0].line


Beat = ScriptExchange | PlainStep


def script_beats(steps: Iterable[ScriptStep]) -> Iterator[Beat]:
    """Group steps into exchanges; other steps come as they are."""
    heard: Say | None = None
    reply: list[Say | UseTools] = []
    for step in expand_repeats(steps):
        opens = isinstance(step, Say) and (step.role == "user" or _spoken(reply))
        if opens or not isinstance(step, Say | UseTools):
            if heard or reply:
                yield ScriptExchange(heard, tuple(reply))
            heard, reply = None, []
        if isinstance(step, Say) and step.role == "user":
            heard = step
        elif isinstance(step, Say | UseTools):
            reply.append(step)
        else:
            yield step
    if heard or reply:
        yield ScriptExchange(heard, tuple(reply))


def _spoken(reply: list[Say | UseTools]) -> bool:
    return bool(reply) and isinstance(reply[-1], Say)


def expand_repeats(steps: Iterable[ScriptStep]) -> Iterator[PlainStep]:
    """The steps with every repetition written out.

    Raises:
        ScenarioError: a repetition makes a step that is wrong, or too many of them.
    """
    count = 0
    for step in steps:
        count += step.times * len(step.turns) if isinstance(step, Repeat) else 1
        if count > MAX_STEPS:
            raise ScenarioError(
                f"makes more than {MAX_STEPS:,} turns without filler", line=step.line
            )
        if isinstance(step, Repeat):
            yield from _expand_repeat(step)
        else:
            yield step


def _expand_repeat(repeat: Repeat) -> Iterator[PlainStep]:
    fixed = not any(map(_counts, repeat.turns))
    once = repetition(repeat, 1)
    for number in range(1, repeat.times + 1):
        yield from once if fixed or number == 1 else repetition(repeat, number)


def repetition(repeat: Repeat, number: int) -> list[PlainStep]:
    """The steps of one repetition.

    Raises:
        ScenarioError: one of them is wrong.
    """
    steps = [STEP.read(_with_count(node, str(number)), "a turn") for node in repeat.turns]
    for step in steps:
        if isinstance(step, Repeat):
            raise ScenarioError("a repeat must not contain another repeat", line=step.line)
    return steps  # type: ignore[return-value]


def _counts(node: Node) -> bool:
    if isinstance(node, ScalarNode):
        return bool(_COUNT.search(node.text))
    if isinstance(node, ListNode):
        return any(map(_counts, node.items))
    return any(map(_counts, node.entries.values())) or any(map(_COUNT.search, node.entries))


def _with_count(node: Node, number: str) -> Node:
    if isinstance(node, ScalarNode):
        return ScalarNode(_COUNT.sub(number, node.text), node.line, node.plain)
    if isinstance(node, ListNode):
        return ListNode(tuple(_with_count(item, number) for item in node.items), node.line)
    return MappingNode(
        {_COUNT.sub(number, k): _with_count(v, number) for k, v in node.entries.items()},
        {_COUNT.sub(number, k): line for k, line in node.lines.items()},
        node.line,
    )


class Voice(Protocol):
    """Says what the script leaves open."""

    def reply(self) -> str:
        """A short answer of the assistant's."""
        ...

    def result(self, call: ToolCall, number: int) -> str:
        """A tool's result with its generated lines; `number` counts the calls."""
        ...

    def talk(self, filler: Filler, number: int) -> Iterator[tuple[str, str]]:
        """What user and assistant say in a filler's turns; `number` counts the fillers."""
        ...


class Narrator:
    """The state of a script as it is told: turn, time, session and principal."""

    def __init__(self, plan: Plan, voice: Voice) -> None:
        self._people = plan.principals
        self._pace = plan.pace
        self._voice = voice
        self._owners: dict[str, str] = {}
        self._sessions = DistinctNames("session")
        self._numbered = 1
        self._calls = 0
        self._fillers = 0
        self.turn = 0
        self.messages = 0
        self.now: datetime = plan.start
        self.session = "s1"
        self.principal = plan.principals[0]

    def known(self, name: str, line: int | None) -> str:
        """The principal's name, if someone has it.

        Raises:
            ScenarioError: nobody has.
        """
        if name not in self._people:
            raise ScenarioError(
                f"unknown principal {quote(name)}; known principals: {', '.join(self._people)}",
                line=line,
                hint=nearest_name(name, self._people),
            )
        return name

    # -- time

    def gap(self, step: Gap) -> ElapseEvent:
        """Nothing is said for a while."""
        return self._wait(step.value, step.line)

    def open(self, step: OpenSession) -> ElapseEvent | None:
        """A session begins or goes on; the jump in time before it, if there is one."""
        name = self._name(step)
        owner = self._owners.get(name)
        wanted = self.known(step.principal, step.line) if step.principal else owner
        if owner and wanted != owner:
            raise ScenarioError(f"session {quote(name)} is {owner}'s", line=step.line)
        self.session, self.principal = name, wanted or self.principal
        self._owners[name] = self.principal
        elapsed = self._wait(step.after, step.line) if step.after else None
        if step.at is None:
            return elapsed
        if step.at < self.now:
            raise ScenarioError(
                f"time goes backwards: it is {stamp(self.now)} by now", line=step.line
            )
        self.now = step.at
        return ElapseEvent(now=self.now)

    def _name(self, step: OpenSession) -> str:
        if self.turn and not self._owners:
            self._owners[self.session] = self.principal
        if step.id is None:
            while f"s{self._numbered}" in self._owners:
                self._numbered += 1
            return f"s{self._numbered}"
        if step.id not in self._owners:
            self._sessions.spell(step.id, step.line)
        return step.id

    def join(self, session: str, principal: str, now: datetime, line: int | None) -> None:
        """A session of a recorded conversation begins or goes on at a moment."""
        self.open(OpenSession(line=line, id=session, principal=principal, at=now))

    def next_call(self) -> int:
        """The number of the next tool call."""
        self._calls += 1
        return self._calls

    def limit(self, turns: int, line: int | None) -> None:
        """Refuse a script of too many turns."""
        if self.turn + turns > MAX_TURNS:
            raise ScenarioError(f"has more than {MAX_TURNS:,} turns", line=line)

    def _wait(self, span: timedelta, line: int | None) -> ElapseEvent:
        self._advance(span, line)
        return ElapseEvent(now=self.now)

    def _advance(self, span: timedelta, line: int | None) -> None:
        try:
            self.now += span
        except OverflowError:
            raise ScenarioError("the script outlasts the year 9999", line=line) from None

    # -- turns

    def filler(self, step: Filler) -> Iterator[Turn]:
        """The turns of a filler."""
        self._fillers += 1
        number, count, now = self.turn, self.messages, self.now
        session, principal, pace = self.session, self.principal, self._pace
        for user, assistant in self._voice.talk(step, self._fillers):
            number += 1
            count += 2
            heard = Message(
                id=f"m{count - 1}",
                role="user",
                blocks=(Text(user),),
                principal=principal,
                session=session,
                turn=number,
                time=now,
            )
            reply = Message(
                id=f"m{count}",
                role="assistant",
                blocks=(Text(assistant),),
                principal=principal,
                session=session,
                turn=number,
                time=now,
            )
            turn = Turn(
                number=number,
                session=session,
                principal=principal,
                time=now,
                heard=(heard,),
                reply=(reply,),
            )
            now += pace
            self.turn, self.messages, self.now = number, count, now
            yield turn

    def skip(self, step: Filler) -> None:
        """Go past a filler without saying it."""
        self._fillers += 1
        self.limit(step.turns, step.line)
        self.turn += step.turns
        self.messages += 2 * step.turns
        try:
            self._advance(self._pace * step.turns, step.line)
        except OverflowError:
            raise ScenarioError("the script outlasts the year 9999", line=step.line) from None

    def exchange(self, exchange: ScriptExchange) -> Turn:
        """One turn as written."""
        self.limit(1, exchange.line)
        self.turn += 1
        speaker = exchange.heard or exchange.reply[0]
        named = speaker.speaker if isinstance(speaker, Say) else None
        principal = self.known(named, speaker.line) if named else self.principal
        sheet = _Sheet(self, principal)
        if exchange.heard:
            said = exchange.heard
            sheet.message("user", (Text(said.text),), said.facts, no_store=said.no_store)
        heard, sheet.messages = tuple(sheet.messages), []
        self._reply(exchange, sheet)
        turn = Turn(
            number=self.turn,
            session=self.session,
            principal=principal,
            time=self.now,
            heard=heard,
            reply=tuple(sheet.messages),
            facts=tuple(sheet.facts),
        )
        self._advance(self._pace, exchange.line)
        return turn

    def _reply(self, exchange: ScriptExchange, sheet: _Sheet) -> None:
        said: Say | None = None
        for part in exchange.reply:
            if isinstance(part, Say):
                said = part
            else:
                self._use_tools(part, said, sheet)
                said = None
        if said:
            sheet.message("assistant", (Text(said.text),), said.facts)
        else:
            sheet.message("assistant", (Text(self._voice.reply()),))

    def _use_tools(self, step: UseTools, said: Say | None, sheet: _Sheet) -> None:
        ids = [f"call_{self._calls + n}" for n in range(1, len(step.value) + 1)]
        blocks: list[Block] = [Text(said.text)] if said else []
        blocks += [
            ToolUse(id=i, name=call.name, arguments=call.arguments)
            for i, call in zip(ids, step.value, strict=True)
        ]
        in_call, in_result = _placed(step.value)
        sheet.message("assistant", tuple(blocks), (said.facts if said else ()) + in_call)
        for i, call, facts in zip(ids, step.value, in_result, strict=True):
            self._calls += 1
            text = self._voice.result(call, self._calls)
            sheet.message("tool", (ToolResult(id=i, text=text, is_error=call.error),), facts)


def _placed(calls: tuple[ToolCall, ...]) -> tuple[Facts, tuple[Facts, ...]]:
    in_call: list[Facts] = []
    in_result: list[Facts] = []
    for call in calls:
        found = ValueSearch(f.value.value for f in call.facts).found(call.result)
        in_result.append(tuple(f for f in call.facts if f.value.value in found))
        in_call.append(tuple(f for f in call.facts if f.value.value not in found))
    return sum(in_call, ()), tuple(in_result)


class _Sheet:
    """One turn while it is being written."""

    def __init__(self, narrator: Narrator, principal: str) -> None:
        self._narrator = narrator
        self._principal = principal
        self.messages: list[Message] = []
        self.facts: list[Fact] = []

    def message(
        self, role: Role, blocks: tuple[Block, ...], facts: Facts = (), *, no_store: bool = False
    ) -> None:
        at = self._narrator
        at.messages += 1
        message = Message(
            id=f"m{at.messages}",
            role=role,
            blocks=blocks,
            principal=self._principal,
            session=at.session,
            turn=at.turn,
            time=at.now,
        )
        self.messages.append(message)
        self.facts += [
            Fact(
                id=note.name,
                value=note.value.value,
                source=message.id,
                principal=self._principal,
                turn=at.turn,
                time=at.now,
                session=at.session,
                replaces=note.value.replaces,
                private=note.value.private,
                no_store=no_store,
            )
            for note in facts
        ]
