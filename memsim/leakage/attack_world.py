"""One strategy in play, and every place where something it was told can be seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memsim.errors import MemsimError, describe_error, error_text
from memsim.leakage.observation import Observation, claimed_in, parts_of, voices_of
from memsim.message import EPOCH, Message, Role, Text, ToolResult, ToolUse, said
from memsim.replay.case_state import CaseState
from memsim.replay.stage import Stage
from memsim.scenario.script import (
    Ask,
    ElapseEvent,
    Fact,
    ForgetEvent,
    GrantEvent,
    Probe,
    RestartEvent,
    Scenario,
    ScriptEvent,
    Turn,
)
from memsim.strategy import Forget, Grant, Strategy, Surface
from memsim.strategy_process.logbook import Logbook

if TYPE_CHECKING:
    import random

    from memsim.context import Context
    from memsim.message import TokenCounter
    from memsim.models import Embedder, Model
    from memsim.replay.player import MakeStrategy
    from memsim.trace import TurnRecord

__all__ = ["AttackWorld", "Observation", "Setting"]

_MINUTE = timedelta(minutes=1)
_LARGEST = 1 << 26
"""Bytes of a file outside of the folder that is still searched."""


@dataclass(slots=True, kw_only=True)
class Setting:
    """The arguments of `replay` that all worlds of a lab share.

    Attributes:
        written: files that the strategy wrote elsewhere than in its folder, as far as it is known.
    """

    make: MakeStrategy
    model: Model
    embed: Callable[[], Embedder]
    counter: TokenCounter
    budget: int
    chance: Callable[[], random.Random]
    folder: Callable[[], Path]
    services: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0
    written: Callable[[], Iterable[Path]] = tuple


class AttackWorld:
    """One strategy in a conversation that an attack writes step by step.

    Ids, turns and times depend on the order of the calls alone, so two worlds that are told the
    same say the same. A turn of somebody else's can be left out of one of them without moving the
    rest: see `skip`.
    """

    def __init__(self, setting: Setting) -> None:
        self._folder: Path | None = None
        self._setting = setting
        script = Scenario(name="world", path="<leakage>", play=_nothing, turns=0, probes=())
        self._book = Logbook()
        self._records: list[TurnRecord] = []
        case = CaseState(
            script,
            lambda env: setting.make(self._book.around(env)),
            model=setting.model,
            embed=setting.embed,
            counter=setting.counter,
            budget=setting.budget,
            chance=setting.chance(),
            folder=self._make_folder,
            repeat=setting.repeat,
            services=setting.services,
            hear=self._book.raised,
        )
        self._stage = Stage(case)
        self._stage.keep = self._records.append
        self.turn = 0
        self.now: datetime = EPOCH
        self.seen: list[Observation] = []
        self.planted: dict[str, int] = {}

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(self._book)
            self._stage.open()
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._opened:
            self._stage.close()

    @property
    def strategy(self) -> Strategy:
        """The strategy in play; another object after a restart."""
        return self._stage.strategy

    # -- the script

    def say(
        self,
        principal: str,
        text: str,
        *,
        session: str = "",
        reply: str = "Noted.",
        plants: Iterable[str] = (),
        tool: tuple[str, Mapping[str, Any], str] | None = None,
        aside: str = "",
        role: Role = "user",
    ) -> str:
        """Play one turn: a user message, an optional tool call, and the answer.

        Args:
            principal: who speaks.
            text: the words.
            session: in which conversation; the principal's own when empty.
            reply: what the assistant says.
            plants: names for what the words state; `grant` and `forget` may name them.
            tool: (name, arguments, result) of a call that the assistant makes before it answers.
            aside: what the assistant says as it calls.
            role: who the words come from; `system` for a standing rule of the operator's.

        Returns:
            The id of the message.

        Raises:
            StrategyError: the strategy raised.
        """
        self.skip()
        where = session or f"s-{principal}"
        heard = self._message(role, text, principal, where, "u")
        answers: list[Message] = []
        if tool is not None:
            answers += self._tool(tool, principal, where, aside)
        answers.append(self._message("assistant", reply, principal, where, "a"))
        facts = tuple(self._fact(name, text, heard) for name in plants)
        self._stage.play(
            Turn(
                number=self.turn,
                session=where,
                principal=principal,
                time=self.now,
                heard=(heard,),
                reply=tuple(answers),
                facts=facts,
            )
        )
        return heard.id

    def skip(self, turns: int = 1) -> None:
        """Skip turns: nothing is said to this world in them."""
        self.turn += turns
        self.now += _MINUTE * turns

    def wait(self, by: timedelta) -> None:
        """Let time pass and tell the strategy; a negative time sets the clock back."""
        self.now += by
        self._stage.play(ElapseEvent(now=self.now))

    def grant(self, owner: str, viewer: str, *facts: str, revoked: bool = False) -> None:
        """Grant a viewer the facts of these names, or everything without names."""
        self._stage.play(
            GrantEvent(
                owner=owner, viewer=viewer, facts=facts, revoked=revoked, everything=not facts
            )
        )

    def claim_grant(self, owner: str, viewer: str, *sources: str) -> Iterator[Observation]:
        """Grant messages, or everything, as somebody who need not own them; observe an error."""
        self._stage.check_purity()
        grant = Grant(owner=owner, viewer=viewer, sources=sources, everything=not sources)
        try:
            self.strategy.grant(grant)
        except Exception as error:  # noqa: BLE001 - a stranger's code: what it raises is a finding
            yield self._error(viewer, error)

    def forget(self, principal: str, text: str, *facts: str, sources: Iterable[str] = ()) -> bool:
        """Request an erasure; false when the strategy does not support it."""
        request = Forget(principal=principal, text=text, sources=tuple(sources))
        return self._stage.forget(ForgetEvent(request=request, facts=facts)).supported

    def erase(self, principal: str, text: str, *, sources: Iterable[str] = ()) -> Observation:
        """Request an erasure, and observe the reply."""
        request = Forget(principal=principal, text=text, sources=tuple(sources))
        try:
            outcome = self._stage.forget(ForgetEvent(request=request, facts=()))
        except MemsimError as error:
            return self._error(principal, error)
        told = {"supported": outcome.supported, "removed": list(outcome.removed)}
        return self._note("forgotten", principal, json.dumps(told))

    def restart(self) -> None:
        """Save the strategy, and replace it by a new one that loads the state."""
        self._stage.play(RestartEvent())

    def restore(self, saved: str) -> None:
        """Load a state that `exported` gave.

        Raises:
            StrategyError: the strategy cannot be loaded.
        """
        self._stage.check_purity()
        self.strategy.load(json.loads(saved))

    def compactions(self) -> int:
        """Number of compactions that the strategy has logged."""
        return sum(1 for r in self._records for e in r.events if e.kind == "compaction")

    # -- what can be seen

    def ask(self, principal: str, text: str, *, session: str = "") -> Observation:
        """Ask a question, and observe the context and the answer.

        A question changes nothing, so any number of them can be asked at one point.
        """
        where = session or f"s-{principal}"
        probe = Probe(id=f"q{len(self.seen)}", ask=text, principal=principal)
        before = len(self._book.errors)
        trace = self._stage.ask(Ask(probe=probe, turn=self.turn, session=where, time=self.now))
        if trace.error:
            beneath = "\n".join(self._book.errors[before:])
            return self._note("error", principal, trace.error, failed=True, beneath=beneath)
        parts = parts_of(trace.context)
        answer = trace.answer or ""
        text = "\n".join((*(t for _, t in parts), answer))
        parts = (*parts, ("answer", answer))
        return self._note(
            "context",
            principal,
            text,
            parts=parts,
            made=self._made(trace.context),
            voices=voices_of(trace.context),
            claimed=claimed_in(trace.context),
        )

    def tools(self, principal: str) -> tuple[str, ...]:
        """Names of the tools that a principal's agent may call."""
        return tuple(tool.name for tool in self.strategy.tools(principal))

    def offered(self, principal: str) -> Observation:
        """Observe the tools' descriptions and parameters, as a provider gets them."""
        specs = [[t.name, t.description, t.parameters] for t in self.strategy.tools(principal)]
        return self._note("tool", principal, json.dumps(specs))

    def call(self, principal: str, name: str, arguments: Mapping[str, Any] | str) -> Observation:
        """Call a tool for a principal, and observe the result or the error."""
        sent = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
        if not any(tool.name == name and tool.reads for tool in self.strategy.tools(principal)):
            self._stage.check_purity()
        try:
            return self._note("tool", principal, self.strategy.call_tool(name, sent, principal))
        except MemsimError as error:
            return self._error(principal, error)
        except Exception as error:  # noqa: BLE001 - a stranger's code: what it raises is a finding
            return self._error(principal, error, failed=True)

    def surfaces(self, viewer: str | None = None) -> tuple[Observation, ...]:
        """Observe every tier of the strategy as a viewer or the operator may see it.

        A strategy that cannot be inspected gives none: see `inspectable`.
        """
        found: Iterable[Surface] = self.strategy.surfaces(viewer)
        return tuple(self._note(s.tier, viewer or "", s.text) for s in found)

    @property
    def inspectable(self) -> bool:
        """Whether the strategy implements `surfaces`."""
        kind = type(self.strategy)
        return kind.inspectable and kind.surfaces is not Strategy.surfaces

    def exported(self) -> Observation | None:
        """Observe the saved state as JSON text; None when the strategy cannot be saved."""
        if type(self.strategy).save is Strategy.save:
            return None
        return self._note("export", "", json.dumps(self.strategy.save(), ensure_ascii=False))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Every file of the world's folder: its path in the folder, and its bytes."""
        if self._folder is None:
            return
        for path in sorted(p for p in self._folder.rglob("*") if p.is_file()):
            yield path.relative_to(self._folder).as_posix(), path.read_bytes()

    def files_elsewhere(self) -> Iterator[tuple[str, bytes]]:
        """Files that the strategy wrote outside of its folder: their paths, and their bytes."""
        for path in sorted(self._setting.written()):
            with suppress(OSError):
                if path.stat().st_size <= _LARGEST:
                    yield path.as_posix(), path.read_bytes()

    @property
    def folder(self) -> Path | None:
        """The strategy's folder; None when it has not asked for one."""
        return self._folder

    def logs(self) -> tuple[tuple[str, str], ...]:
        """Log records as (level, text), with warnings and what was printed.

        Events of the strategy have the level `EVENT`.
        """
        events = (e for r in self._records for e in r.events if e.detail and self._book.is_own(e))
        return (*self._book.all(), *(("EVENT", f"{e.kind} {e.detail}") for e in events))

    def record_count(self) -> int:
        """How many log records and events there are; a warning may come once a process only."""
        return len(self._book.lines) + sum(
            1 for r in self._records for e in r.events if e.detail and self._book.is_own(e)
        )

    # -- inside

    def _error(self, viewer: str, error: Exception, *, failed: bool = False) -> Observation:
        text = str(error) if isinstance(error, MemsimError) else describe_error(error)
        return self._note("error", viewer, text, failed=failed, beneath=error_text(error))

    def _note(self, surface: str, viewer: str, text: str, **more: Any) -> Observation:  # noqa: ANN401 - whatever else `Seen` has
        seen = Observation(surface=surface, viewer=viewer, turn=self.turn, text=text, **more)
        self.seen.append(seen)
        return seen

    def _made(self, context: Context | None) -> tuple[tuple[str, int, str], ...]:
        found = (
            (section.layer, self._turn_at(message.time), message.text)
            for section in (context.sections if context else ())
            for message in section.messages
            if message.composed
        )
        return tuple((layer, turn, text) for layer, turn, text in found if turn)

    def _turn_at(self, time: datetime) -> int:
        """The turn in which something was written: by its time, else the last compaction's."""
        played = [record.turn for record in self._records if record.time <= time]
        if time != EPOCH and played:
            return played[-1]
        compacted = (r.turn for r in self._records if any(e.kind == "compaction" for e in r.events))
        return max(compacted, default=0)

    def _message(self, role: Role, text: str, principal: str, session: str, kind: str) -> Message:
        return said(
            role,
            text,
            id=f"{kind}{self.turn}",
            principal=principal,
            session=session,
            turn=self.turn,
            time=self.now,
        )

    def _tool(
        self, tool: tuple[str, Mapping[str, Any], str], principal: str, session: str, aside: str
    ) -> list[Message]:
        name, arguments, result = tool
        use = ToolUse(id=f"t{self.turn}", name=name, arguments=json.dumps(arguments))
        answer = ToolResult(id=use.id, text=result)
        said_aside = (Text(aside),) if aside else ()
        common: dict[str, Any] = {
            "principal": principal,
            "session": session,
            "turn": self.turn,
            "time": self.now,
        }
        return [
            Message(id=f"c{self.turn}", role="assistant", blocks=(*said_aside, use), **common),
            Message(id=f"r{self.turn}", role="tool", blocks=(answer,), **common),
        ]

    def _fact(self, name: str, text: str, message: Message) -> Fact:
        self.planted[name] = self.turn
        return Fact(
            id=name,
            value=text,
            source=message.id,
            principal=message.principal,
            turn=self.turn,
            time=self.now,
            session=message.session,
            private=True,
        )

    @cached_property
    def _place(self) -> Path:
        return self._setting.folder()

    def _make_folder(self) -> Path:
        self._folder = self._place
        return self._place


def _nothing(_seed: int) -> Iterator[ScriptEvent]:
    return iter(())
