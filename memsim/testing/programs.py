"""A counterexample as a program that runs by itself, in plain calls of memsim."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TypeGuard

from memsim.testing.cases import AnyCase, Case, Elapse, Forgotten, Granted, Happening, Turn
from memsim.testing.literals import KINDS, literal
from memsim.testing.registry import PARTS, Invariant

_BLOCKS = ("Message", "Text", "ToolResult", "ToolUse")


def program(invariant: Invariant, subject: str, case: AnyCase, why: str) -> str:
    """Python source that plays a case, shows what comes of it, and measures the invariant.

    Args:
        invariant: what does not hold.
        subject: a strategy's ref, or `memory`.
        case: in which it does not.
        why: what was found.
    """
    played = "\n".join(_played(subject, case)) if _is_played(case, subject) else ""
    body = "\n\n".join(
        part for part in (_setting(case), played, _measuring(invariant, subject)) if part
    )
    return f"{_head(invariant, subject, case, why)}\n\n{body}\n"


def _head(invariant: Invariant, subject: str, case: AnyCase, why: str) -> str:
    told = f"{subject} breaks {invariant.label}: {why}"
    about = "\n".join(textwrap.wrap(_plain(told), 98))
    promise = "\n".join(textwrap.wrap(_plain(invariant.statement), 98))
    source = literal(case)
    records = sorted(n for n in KINDS if f"{n}(" in source and n not in _BLOCKS)
    blocks = sorted(n for n in _BLOCKS if f"{n}(" in source)
    lines = [f'"""{about}\n\nWhat should hold: {promise}\n"""', ""]
    lines += ["from datetime import datetime, timedelta", ""] if "datetime." in source else []
    played = _is_played(case, subject)
    lines += ["from memsim.strategy import Forget, Grant, Query"] if played else []
    lines += [f"from memsim.message import {', '.join(blocks)}"] if blocks else []
    needed = sorted({*records, "verify", *(["world_of"] if played else [])})
    lines += [f"from memsim.testing import {', '.join(needed)}"]
    return "\n".join(lines)


def _plain(text: str) -> str:
    shown = ascii(text)[1:-1]
    return shown.replace("\\'", "'").replace('"', "'").replace("\\", "/")


def _is_played(case: AnyCase, subject: str) -> TypeGuard[Case]:
    # The parts of memsim's own memories are no strategy that could be played.
    return subject != PARTS and isinstance(case, Case) and bool(case.events)


def _setting(case: AnyCase) -> str:
    if not isinstance(case, Case):
        return f"CASE = {literal(case)}"
    lines = [f"{m.id} = {literal(m)}" for m in case.messages if m.id.isidentifier()]
    source = literal(case)
    for message in case.messages:
        if message.id.isidentifier():
            source = source.replace(literal(message), message.id, 1)
    return "\n".join([*lines, f"CASE = {source}"])


def _played(subject: str, case: Case) -> Iterator[str]:
    yield f"world = world_of({subject!r}, CASE)"
    yield "memory = world.memory"
    for event in case.events:
        yield from _event(event, case)


def _event(event: Happening, case: Case) -> Iterator[str]:
    if isinstance(event, Turn):
        yield from _turn(event, case)
    elif isinstance(event, Elapse):
        yield f"world.clock.set({literal(event.now)})"
        yield f"memory.elapse({literal(event.now)})"
    elif isinstance(event, Forgotten):
        sources = f"sources={event.sources!r}"
        yield f"memory.forget(Forget(principal={event.who!r}, text={event.text!a}, {sources}))"
    elif isinstance(event, Granted):
        given = f"owner={event.owner!r}, viewer={event.viewer!r}, sources={event.sources!r}"
        yield f"memory.grant(Grant({given}, revoked={event.revoked!r}))"


def _turn(turn: Turn, case: Case) -> Iterator[str]:
    yield f"world.clock.set({literal(turn.time)})"
    for message in turn.heard:
        yield f"memory.observe({message.id})"
    asked = turn.heard[-1].text if turn.heard else ""
    for message in turn.reply:
        if message.role == "assistant":
            yield (
                f"context = memory.context(Query(text={asked!a}, principal={turn.who!r},"
                f" session={turn.session!r}, time=world.clock.now(), turn={turn.number},"
                f" budget={case.budget}))"
            )
            yield "print([m.id for m in context.messages()], context.tokens)"
            yield "memory.delivered(context)"
        yield f"memory.observe({message.id})"
    yield "memory.end_turn()"


def _measuring(invariant: Invariant, subject: str) -> str:
    return f"verify({invariant.name!r}, {subject!r}, CASE)"
