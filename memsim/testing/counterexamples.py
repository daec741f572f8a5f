"""Save counterexamples as programs, and as data that the next check tries first."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeGuard, cast

from memsim.errors import RunFolderError, StateError
from memsim.memory.codec import parse, reading
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.testing.check_cases import (
    AnyCase,
    Case,
    CaseElapse,
    CaseEvent,
    CaseForget,
    CaseGrant,
    CaseTurn,
    FileCase,
    LedgerCase,
    LedgerOp,
    RunCase,
    ShelfCase,
    ShelfEntry,
)
from memsim.testing.invariant_catalogue import PARTS, Invariant, invariant

# Cases as Python source, for programs, and as JSON, to be tried again; none is executed.


KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(
            Case,
            CaseTurn,
            CaseElapse,
            CaseForget,
            CaseGrant,
            LedgerCase,
            LedgerOp,
            ShelfCase,
            ShelfEntry,
            FileCase,
            RunCase,
        ),
        *(Message, Text, ToolUse, ToolResult),
    )
}
"""Every record that a case is made of, by its name."""


def literal(value: object) -> str:
    """A value as Python source; fields that have their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        given = ", ".join(f"{name}={literal(held)}" for name, held in _given(value).items())
        return f"{type(value).__name__}({given})"
    if isinstance(value, tuple):
        inside = ", ".join(literal(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, datetime):
        return f"datetime.fromisoformat({value.astimezone(UTC).isoformat()!r})"
    if isinstance(value, timedelta):
        return f"timedelta(seconds={value.total_seconds()!r})"
    return ascii(value)


def encode(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """A case as a JSON value."""
    if is_dataclass(value) and not isinstance(value, type):
        held = {name: encode(inside) for name, inside in _given(value).items()}
        return {"is": type(value).__name__, **held}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, datetime):
        return {"is": "datetime", "at": value.astimezone(UTC).isoformat()}
    if isinstance(value, timedelta):
        return {"is": "timedelta", "seconds": value.total_seconds()}
    return value


def decode(text: str) -> AnyCase:
    """The case that `encode` made a JSON value of.

    Raises:
        StateError: it is no case.
    """
    with reading("it is not a counterexample"):
        value = _decoded(parse(text))
    if not isinstance(value, Case | LedgerCase | ShelfCase | FileCase | RunCase):
        raise StateError("the saved state cannot be read back: it is not a counterexample")
    return value


def _decoded(value: Any) -> object:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        return tuple(_decoded(item) for item in value)
    if not isinstance(value, dict):
        return cast("object", value)
    given = dict(value)
    kind = given.pop("is")
    if kind == "datetime":
        return datetime.fromisoformat(given["at"])
    if kind == "timedelta":
        return timedelta(seconds=given["seconds"])
    made: object = KINDS[kind](**{name: _decoded(inside) for name, inside in given.items()})
    return made


def _given(value: Any) -> dict[str, object]:  # noqa: ANN401 - any dataclass
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.init and (field.default is MISSING or getattr(value, field.name) != field.default)
    }


# A counterexample as a program that runs by itself, in plain calls of memsim.


_BLOCKS = ("Message", "Text", "ToolResult", "ToolUse")


def program(invariant: Invariant, subject: str, case: AnyCase, why: str) -> str:
    """Python source that plays a case, prints the result, and measures the invariant."""
    played = "\n".join(_played(subject, case)) if _is_played(case, subject) else ""
    body = "\n\n".join(
        part for part in (_setting(case), played, _measuring(invariant, subject)) if part
    )
    return f"{_head(invariant, subject, case, why)}\n\n{body}\n"


def _head(invariant: Invariant, subject: str, case: AnyCase, why: str) -> str:
    told = f"{subject} breaks {invariant.label}: {why}"
    about = "\n".join(textwrap.wrap(_plain(told), 98))
    promise = "\n".join(textwrap.wrap(_plain(invariant.statement), 98))
    if invariant.remedy:
        promise += "\n\nWhat to do: " + "\n".join(textwrap.wrap(_plain(invariant.remedy), 98))
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


def _event(event: CaseEvent, case: Case) -> Iterator[str]:
    if isinstance(event, CaseTurn):
        yield from _turn(event, case)
    elif isinstance(event, CaseElapse):
        yield f"world.clock.set({literal(event.now)})"
        yield f"memory.elapse({literal(event.now)})"
    elif isinstance(event, CaseForget):
        sources = f"sources={event.sources!r}"
        yield f"memory.forget(Forget(principal={event.who!r}, text={event.text!a}, {sources}))"
    elif isinstance(event, CaseGrant):
        given = f"owner={event.owner!r}, viewer={event.viewer!r}, sources={event.sources!r}"
        yield f"memory.grant(Grant({given}, revoked={event.revoked!r}))"


def _turn(turn: CaseTurn, case: Case) -> Iterator[str]:
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


_UNSAFE = re.compile(r"[^A-Za-z0-9_.=,@-]+")


class FailedResult(Protocol):
    """The part of a result that is kept as a counterexample."""

    @property
    def invariant(self) -> str:
        """Its name."""

    @property
    def subject(self) -> str:
        """The strategy's ref, or `memory`."""

    @property
    def why(self) -> str:
        """What is broken."""

    @property
    def case(self) -> AnyCase | None:
        """The simplest case in which it does not hold."""


@dataclass(frozen=True, slots=True)
class Counterexamples:
    """The counterexamples of every check."""

    folder: Path

    def of(self, subject: str, names: Iterable[str]) -> dict[str, AnyCase]:
        """The counterexamples of a subject by invariant, without unreadable ones."""
        kept: dict[str, AnyCase] = {}
        for name in names:
            path = self._path(subject, name, ".json")
            try:
                kept[name] = decode(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, StateError):
                # A file of an older memsim, or of somebody else, is no counterexample any more.
                continue
        return kept

    def keep(self, result: FailedResult) -> Path | None:
        """Write a counterexample; the program's path, or None where there is none.

        Raises:
            RunFolderError: it cannot be written.
        """
        if result.case is None:
            return None
        wanted = invariant(result.invariant)
        source = program(wanted, result.subject, result.case, result.why)
        path = self._path(result.subject, result.invariant, ".py")
        data = json.dumps(encode(result.case), indent=1, sort_keys=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(data + "\n", encoding="utf-8")
            path.write_text(source, encoding="utf-8")
        except OSError as error:
            raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
        return path

    def _path(self, subject: str, name: str, suffix: str) -> Path:
        folder = _UNSAFE.sub("_", subject).strip("._") or "strategy"
        return self.folder / folder / f"{name}{suffix}"
