"""What a viewer gets out of a memory: contexts, answers and tiers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from memsim.context import Context
    from memsim.models import Embedder, Model, Reply, Request, Vectors
    from memsim.strategy import Environment, Event


_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every log record holds; whatever else is in one was given to it as metadata."""


class Logbook(logging.Handler):
    """Keeps what is logged while it is entered, at every level, with traceback and metadata.

    Models and embedders are the harness's. What they log as they are loaded and asked depends on
    what the process did before, and is no part of the memory: it is not kept.
    """

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[tuple[str, str]] = []
        self._told: dict[int, Event] = {}
        self._aside = 0

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._level = root.level
        root.addHandler(self)
        root.setLevel(logging.NOTSET)
        return self

    def __exit__(self, *_: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record as (level, text)."""
        if self._aside:
            return
        text = logging.Formatter("%(name)s %(message)s").format(record)
        extra = (f" {k}={v}" for k, v in sorted(vars(record).items()) if k not in _USUAL)
        self.lines.append((record.levelname, text + "".join(extra)))

    def around(self, env: Environment) -> Environment:
        """The environment for a strategy whose events and log records are to be told apart."""
        tell, open_embedder = env.log, env.embed

        def log(event: Event) -> None:
            self._told[id(event)] = event
            tell(event)

        def embed() -> Embedder:
            with self.aside():
                return _Embedder(open_embedder(), self)

        return replace(env, log=log, embed=embed, model=_Model(env.model, self))

    def is_own(self, event: Event) -> bool:
        """Whether the strategy told this event; all others are the harness's."""
        return id(event) in self._told

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Keep nothing meanwhile."""
        self._aside += 1
        try:
            yield
        finally:
            self._aside -= 1


@dataclass(frozen=True, slots=True)
class _Model:
    """A model that is not listened to."""

    model: Model
    book: Logbook

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, request: Request) -> Reply:
        with self.book.aside():
            return self.model.complete(request)


@dataclass(frozen=True, slots=True)
class _Embedder:
    """An embedder that is not listened to."""

    embedder: Embedder
    book: Logbook

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self.book.aside():
            return self.embedder.embed(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One observation: what a viewer got out of a memory at one point.

    Attributes:
        surface: context, answer, tool, error, or the tier of a surface.
        parts: the same by section, for the trail of a leak: (section, text).
        failed: the read path raised: what is not seen then proves nothing.
        made: what in it the strategy wrote itself, as far as it says when: (section, turn, text).
        voices: a context message by message: (role, text, whether the strategy wrote it itself).
        claimed: the messages whose own words are said to stand in a context, each as often as it is
            said: (id, text of where they are said to stand).
    """

    surface: str
    viewer: str
    turn: int
    text: str
    parts: tuple[tuple[str, str], ...] = ()
    failed: bool = False
    made: tuple[tuple[str, int, str], ...] = ()
    voices: tuple[tuple[str, str, bool], ...] = ()
    claimed: tuple[tuple[str, str], ...] = ()

    def bytes(self) -> bytes:
        """Everything as canonical JSON, for comparing two worlds byte by byte."""
        seen = [self.surface, self.viewer, self.turn, self.text, self.parts, self.failed]
        return json.dumps(seen, ensure_ascii=True, separators=(",", ":")).encode()


def parts_of(context: Context | None) -> tuple[tuple[str, str], ...]:
    """A context by section: (section, text)."""
    if context is None:
        return ()
    return tuple(
        (section.layer, "\n".join(f"{m.role}: {m.text}" for m in section.messages))
        for section in context.sections
    )


def voices_of(context: Context | None) -> tuple[tuple[str, str, bool], ...]:
    """A context message by message: (role, text, whether the strategy wrote it itself)."""
    sections = context.sections if context else ()
    return tuple((m.role, m.text, m.composed) for s in sections for m in s.messages)


def claimed_in(context: Context | None) -> tuple[tuple[str, str], ...]:
    """The messages whose own words are said to stand in a context: (id, text of where)."""
    sections = context.sections if context else ()
    return tuple((i, m.text) for s in sections for m in s.messages for i in m.verbatim)
