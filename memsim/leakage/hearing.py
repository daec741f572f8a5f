"""Hears what a memory logs and tells of itself, and not what the harness does for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from memsim.models import Embedder, Model, Reply, Request, Vectors
    from memsim.strategy import Environment, Event

_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every log record holds; whatever else is in one was given to it as metadata."""


class Logbook(logging.Handler):
    """Keeps what is logged while it is entered, at every level, with traceback and metadata.

    Models and embedders are the harness's. What they log as they are loaded and asked depends on
    what the process did before, and is no part of the memory: it is not kept.

    Attributes:
        lines: (level, text) of each record.
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

    def told(self, event: Event) -> bool:
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
