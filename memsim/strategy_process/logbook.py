"""Keep what a strategy logs, warns of, prints and raises while it is in play."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TextIO

from memsim.errors import error_text

if TYPE_CHECKING:
    from memsim.models import Embedder, Model, Reply, Request, Vectors
    from memsim.strategy import Environment, Event


_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every log record holds; whatever else is in one was given to it as metadata."""
WARNED = "WARNING"
Heard = tuple[list[tuple[str, str]], list[tuple[str, str]], dict[str, str]]
"""Log records that reach the root, others with warnings, and what was printed."""


class Logbook:
    """Keeps what is logged, warned of and printed while it is entered, at every level.

    It hears every logger: also one that does not propagate, and one with handlers of its own.
    Models and embedders are the harness's. What they log as they are loaded and asked depends on
    what the process did before, and is no part of the memory: it is not kept.

    Attributes:
        lines: log records that reach the root logger, as (level, text), with traceback and
            metadata.
        others: records that do not reach it, and warnings.
        errors: texts of what calls of the strategy raised, with causes and notes.
    """

    entered: ClassVar[list[Logbook]] = []
    """Those that hear what is logged now; of worlds that are played together, all."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.others: list[tuple[str, str]] = []
        self.errors: list[str] = []
        self._printed: dict[str, list[str]] = {"STDOUT": [], "STDERR": []}
        self._told: dict[int, Event] = {}
        self._aside = 0

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(self._loggers())
            opened.enter_context(self._warnings())
            opened.enter_context(self._streams())
            self._opened = opened.pop_all()
        self.entered.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.entered.remove(self)
        self._opened.close()

    def drain(self) -> Heard:
        """Everything but errors that was kept since the last call of this."""
        printed = {name: "".join(texts) for name, texts in self._printed.items() if texts}
        heard = [*self.lines], [*self.others], printed
        self.lines.clear()
        self.others.clear()
        for texts in self._printed.values():
            texts.clear()
        return heard

    @classmethod
    def hear(cls, heard: Heard) -> None:
        """Add what a logbook in another process drained to every book that is entered."""
        lines, others, printed = heard
        for book in cls.entered:
            book.lines += lines
            book.others += others
            for name, text in printed.items():
                book._printed[name].append(text)  # noqa: SLF001 - its own

    def all(self) -> tuple[tuple[str, str], ...]:
        """Everything as (level, text), what was printed last."""
        printed = ((name, "".join(texts)) for name, texts in self._printed.items() if texts)
        return (*self.lines, *dict.fromkeys(self.others), *printed)

    def raised(self, error: BaseException) -> None:
        """Keep the text of an error of the strategy."""
        self.errors.append(error_text(error))

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

    @contextmanager
    def _loggers(self) -> Iterator[None]:
        root, disabled = logging.getLogger(), logging.root.manager.disable
        level, silent = root.level, logging.NullHandler()
        call = logging.Logger.callHandlers

        def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
            self._record(logger, record)
            call(logger, record)

        # A handler of the root would miss every logger that does not propagate.
        logging.Logger.callHandlers = heard  # type: ignore[method-assign,assignment]
        root.addHandler(silent)
        logging.disable(logging.NOTSET)
        root.setLevel(logging.NOTSET)
        try:
            yield
        finally:
            logging.Logger.callHandlers = call  # type: ignore[method-assign]
            root.removeHandler(silent)
            logging.disable(disabled)
            root.setLevel(level)

    def _record(self, logger: logging.Logger, record: logging.LogRecord) -> None:
        if self._aside:
            return
        kept = self.lines if _reaches_root(logger) else self.others
        kept.append((record.levelname, _record_text(record)))

    @contextmanager
    def _warnings(self) -> Iterator[None]:
        def heard(message: Warning | str, category: type[Warning], *_: object) -> None:
            if not self._aside:
                self.others.append((WARNED, f"{category.__name__}: {message}"))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # When a file is collected that nobody closed is no matter of the memory's.
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.showwarning = heard  # type: ignore[assignment]
            yield

    @contextmanager
    def _streams(self) -> Iterator[None]:
        before = sys.stdout, sys.stderr

        def hear(name: str) -> Callable[[str], None]:
            def heard(text: str) -> None:
                if not self._aside:
                    self._printed[name].append(text)

            return heard

        sys.stdout = _Tee(sys.stdout, hear("STDOUT"))
        sys.stderr = _Tee(sys.stderr, hear("STDERR"))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def _record_text(record: logging.LogRecord) -> str:
    try:
        text = logging.Formatter("%(name)s %(message)s").format(record)
        extra = (f" {k}={v}" for k, v in sorted(vars(record).items()) if k not in _USUAL)
        return text + "".join(extra)
    except Exception:  # noqa: BLE001 - as in handlers: what cannot be formatted is no error
        return record.name


def _reaches_root(logger: logging.Logger) -> bool:
    at: logging.Logger | None = logger
    while at is not None and at.propagate:
        at = at.parent
    return at is None or at.parent is None


class _Tee(io.TextIOBase):
    """A stream that is listened to."""

    def __init__(self, stream: TextIO, hear: Callable[[str], None]) -> None:
        self._stream = stream
        self._hear = hear

    def write(self, text: str) -> int:
        self._hear(text)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream."""
        return self._stream.encoding

    @property
    def buffer(self) -> _Bytes:
        """The same for bytes."""
        return _Bytes(self)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of whatever the stream is
        return getattr(self._stream, name)


class _Bytes(io.RawIOBase):
    def __init__(self, stream: _Tee) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        raw = bytes(data)
        self._stream.write(raw.decode(errors="replace"))
        return len(raw)


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
