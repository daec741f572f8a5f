"""The errors that memsim raises, and the exit code of each.

The tree::

    MemsimError
    ├── UsageError                 exit 4: the input is wrong; one line, no traceback
    │   ├── ScenarioError          a scenario or dataset file, with path and line
    │   ├── ConfigError            [tool.memsim], an environment variable or a flag
    │   ├── RefError               the name of a strategy, scenario, model or tokenizer
    │   ├── RunFolderError         a run folder that is missing, foreign, locked or damaged
    │   └── BaselineError          a baseline that is missing or damaged, or cannot be saved
    ├── NoCasesError               exit 5: there is no case to run
    ├── Unmeasurable               exit 7: a case could not be scored
    │   ├── StrategyError          the strategy under test raised
    │   ├── ModelError             a model or embedder failed
    │   │   └── ContextOverflow    the input does not fit into the model's window
    │   └── BudgetUnsatisfiable    required parts do not fit into the budget
    ├── CostLimitError             exit 2: finished cases are kept; the run can be continued
    ├── StateError                 a saved state that cannot be read
    └── StoreError                 a memory store failed, or cannot be used
        ├── SchemaError            a newer memsim wrote the store
        └── AccessError            access without a principal
"""

from __future__ import annotations

import difflib
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

T = TypeVar("T")


class UnrecordedCall(BaseException):
    """A call is not recorded, and the mode forbids to ask a provider.

    It is no `Exception`, so that no strategy handles it like a failure of the model.
    """


class ExitCode(IntEnum):
    """Exit codes of commands; pytest's own codes where pytest has one."""

    PASSED = 0
    FAILED = 1
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING = 5
    UNMEASURABLE = 7


class MemsimError(Exception):
    """Base class of all errors of memsim."""

    exit_code: ExitCode = ExitCode.INTERNAL


class UsageError(MemsimError):
    """The user's input is wrong; printed as one line."""

    exit_code = ExitCode.USAGE


class LocatedError(UsageError):
    """A usage error at a place in a file.

    Args:
        message: what is wrong, in one line, without the place.
        path: the file; None if the input is from elsewhere.
        line: line number, from 1; None for the whole file.
        column: column, from 1.
        hint: a name that the user may have meant.
        others: further errors that were found with this one.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
        others: Sequence[LocatedError] = (),
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint
        self.others = tuple(others)
        super().__init__(str(self))

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.path, self.line, self.column) if p is not None)
        said = f"{place}: {self.message}" if place else self.message
        return f"{said} (did you mean {self.hint!r}?)" if self.hint else said

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self._place()), (self.message,)

    @property
    def every(self) -> tuple[LocatedError, ...]:
        """The error itself and those that were found with it."""
        return (self, *self.others)

    def beside(self, others: Sequence[LocatedError]) -> Self:
        """The same error with others, instead of those that it has."""
        return type(self)(self.message, **self._place() | {"others": others})

    def shown_as(self, show: Callable[[Path | str | None], Path | str | None]) -> Self:
        """The same error, with the path of each one replaced."""
        others = tuple(other.shown_as(show) for other in self.others)
        given = {"path": show(self.path), "others": others}
        return type(self)(self.message, **self._place() | given)

    def _place(self) -> dict[str, Any]:
        names = ("path", "line", "column", "hint", "others")
        return {name: getattr(self, name) for name in names}


class ErrorCollector:
    """Reads the parts of an input one by one, and raises all their errors together."""

    def __init__(self) -> None:
        self._found: dict[str, LocatedError] = {}

    def read(self, part: Callable[[], T]) -> T:
        """The part; None if it is wrong, which `end` then raises."""
        try:
            return part()
        except LocatedError as error:
            self.add(error)
        return None  # type: ignore[return-value]

    def add(self, error: LocatedError) -> None:
        """Add an error; the same one counts once."""
        self._found |= {str(each): each for each in error.every}

    def end(self) -> None:
        """Raise the first error with all others, if there is one."""
        if self._found:
            first, *others = self._found.values()
            raise first.beside(others)


class ScenarioError(LocatedError):
    """A scenario or dataset file is wrong."""


class ConfigError(LocatedError):
    """A configuration value, environment variable or flag is wrong."""


class RefError(LocatedError):
    """The name of a strategy, scenario, model, embedder or tokenizer is unknown or malformed."""


class RunFolderError(LocatedError):
    """A run folder is missing, foreign, locked or damaged."""


class BaselineError(LocatedError):
    """A baseline is missing or damaged, or a run cannot become one."""


class NoCasesError(MemsimError):
    """There is no case to run."""

    exit_code = ExitCode.NOTHING


class Unmeasurable(MemsimError):  # noqa: N818 - a state of the measurement, not an error of memsim
    """A case could not be scored."""

    exit_code = ExitCode.UNMEASURABLE


class StrategyError(Unmeasurable):
    """The strategy under test raised, or returned something that its contract forbids."""


class ModelError(Unmeasurable):
    """A model or embedder failed, or returned nothing usable."""


class ContextOverflow(ModelError):  # noqa: N818 - the providers' term
    """The input of a model does not fit into its window."""


class BudgetUnsatisfiable(Unmeasurable):
    """Required parts of the context do not fit into the budget.

    Args:
        part: the part that is too large: system, pins, tail or input.
        tokens: tokens that the part needs.
        budget: tokens that are available.
    """

    def __init__(self, part: str, tokens: int, budget: int) -> None:
        self.part = part
        self.tokens = tokens
        self.budget = budget
        super().__init__(part, tokens, budget)

    def __str__(self) -> str:
        return f"{self.part} needs {self.tokens:,} tokens and the budget is {self.budget:,}"


class CostLimitError(MemsimError):
    """The next model call could exceed the cost limit."""

    exit_code = ExitCode.INTERRUPTED


class StateError(MemsimError):
    """A saved state cannot be read: it is truncated, altered, or of another version."""

    exit_code = ExitCode.USAGE


class StoreError(MemsimError):
    """A memory store failed, is missing, or was given data that it cannot keep."""

    exit_code = ExitCode.UNMEASURABLE


class SchemaError(StoreError):
    """A store was written by another version of memsim, or by another program."""

    def __init__(
        self,
        store: str,
        found: object,
        known: int,
        advice: str = "",
    ) -> None:
        self.store = store
        self.found = found
        self.known = known
        self.advice = advice
        super().__init__(store, found, known, advice)

    def __str__(self) -> str:
        found = str(self.found)[:40]  # a value from a file, of any type
        older = type(self.found) is int and 0 < self.found < self.known
        do = "open it with the memsim that wrote it" if older else "upgrade memsim"
        advice = self.advice or f"{do}, or use another store"
        return (
            f"{self.store} has schema version {found if found.isprintable() else ascii(found)},"
            f" and this memsim knows {self.known}: {advice}"
        )


class AccessError(StoreError):
    """A memory was used without a principal, or its policy cannot be read: access fails closed."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a typo of, or None."""
    candidates = sorted(known)
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if found:
        return found[0]
    folded = {c.casefold(): c for c in candidates}
    return folded.get(name.strip().casefold())


EXPECTED_ERRORS = (ModelError, StateError, StoreError)
"""Errors of a model, a saved part or a store; every other exception is a bug and stops the run."""


class Attempts:
    """Parts of one task: a failure of one part does not stop the others."""

    def __init__(self) -> None:
        self._failed: list[ModelError | StateError | StoreError] = []

    def attempt(self, work: Callable[[], object]) -> None:
        """Do a part, and keep its failure for the end."""
        try:
            work()
        except EXPECTED_ERRORS as error:
            self._failed.append(error)

    def end(self) -> None:
        """Raise the first failure, if there is one."""
        if self._failed:
            raise self._failed[0]


# What a strategy raised, in words.

_PACKAGE = str(Path(__file__).resolve().parent)
_LIBRARIES = (*{sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")}, "<")
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_CAUSES = 16
"""Errors behind an error that are read."""


class RemoteError(Exception):
    """What a strategy raised in a process of its own; the text is complete.

    Attributes:
        beneath: what its notes and causes said.
        method: the method of the strategy that was called.
        trace: the traceback in the other process.
    """

    def __init__(self, said: str, beneath: str, *, method: str = "", trace: str = "") -> None:
        super().__init__(said)
        self.beneath = beneath
        self.method = method
        self.trace = trace


def describe_error(error: BaseException) -> str:
    """An exception in one line.

    The innermost place in a file of the user, the kind and the text.
    """
    if isinstance(error, RemoteError):
        return str(error)
    own = _own_frames(traceback.extract_tb(error.__traceback__))
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}: " if own else ""
    said = " ".join(str(error).split())
    return f"{place}{type(error).__name__}: {said}" if said else f"{place}{type(error).__name__}"


def _own_frames(frames: Sequence[traceback.FrameSummary]) -> Sequence[traceback.FrameSummary]:
    """The frames of the user's files; where there is none, those of an installed strategy."""
    strange = [f for f in frames if not f.filename.startswith(_PACKAGE)]
    written = [f for f in strange if not f.filename.startswith(_LIBRARIES)]
    own = [f for f in written if _INSTALLED.isdisjoint(Path(f.filename).parts)]
    return own or written or strange or frames


def traceback_text(error: BaseException) -> str:
    """The whole traceback of an exception, also of one that another process raised."""
    if isinstance(error, RemoteError):
        return error.trace
    return "".join(traceback.format_exception(error))


def error_text(error: BaseException) -> str:
    """What an error says, with its notes, its causes and the errors that it groups."""
    if isinstance(error, RemoteError):
        return error.beneath
    found: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    texts: list[str] = []
    while waiting and len(found) < _CAUSES:
        one = waiting.pop(0)
        if one is None or id(one) in found:
            continue
        found[id(one)] = one
        texts += [_said(one, str), _said(one, repr), *map(str, getattr(one, "__notes__", ()))]
        behind = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        waiting += [behind, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]
    return "\n".join(dict.fromkeys(texts))


def _said(error: BaseException, tell: Callable[[object], str]) -> str:
    try:
        return tell(error)
    except Exception:  # noqa: BLE001 - a stranger's code
        return type(error).__name__
