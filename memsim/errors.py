"""Everything memsim raises on purpose, and the exit code that each means.

The tree::

    MemsimError
    ├── UsageError                 exit 4: the input is wrong; one line, no traceback
    │   ├── ScenarioError          a scenario or dataset file, with path and line
    │   ├── ConfigError            [tool.memsim], an environment variable or a flag
    │   ├── RefError               a strategy, scenario, model or tokenizer name
    │   ├── RunFolderError         a run folder that is absent, foreign, locked or damaged
    │   └── BaselineError          a baseline that is absent, damaged, or not to be saved
    ├── NothingCollected           exit 5: no case is left to run
    ├── Unmeasurable               exit 7: a case could not be scored
    │   ├── StrategyError          the strategy under test raised
    │   ├── ModelError             a model or embedder failed
    │   │   └── ContextOverflow    what it was sent does not fit into its window
    │   └── BudgetUnsatisfiable    what must stay does not fit into the budget
    ├── CapReached                 exit 2: what was played is kept, and the run can be continued
    ├── StateError                 a saved state that cannot be read back
    └── StoreError                 a memory store failed, or cannot be used
        ├── SchemaError            it was written by a newer memsim
        └── AccessError            nobody who may ask is asking
"""

from __future__ import annotations

import difflib
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class ExitCode(IntEnum):
    """What a command's exit code says; pytest's own codes where pytest has one."""

    PASSED = 0
    FAILED = 1
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING = 5
    UNMEASURABLE = 7


class MemsimError(Exception):
    """Root of everything that memsim raises on purpose."""

    exit_code: ExitCode = ExitCode.INTERNAL


class UsageError(MemsimError):
    """The user's input is wrong; printed as one line."""

    exit_code = ExitCode.USAGE


class LocatedError(UsageError):
    """A usage error at a place in a file.

    Args:
        message: what is wrong, in one line, without the place.
        path: the file, or None when the input came from elsewhere.
        line: line number counted from 1; None when the whole file is meant.
        column: column counted from 1.
        hint: a name that the user may have meant.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.path, self.line, self.column) if p is not None)
        said = f"{place}: {self.message}" if place else self.message
        return f"{said} (did you mean {self.hint!r}?)" if self.hint else said

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.path, self.line, self.column, self.hint))


def _rebuild(
    kind: type[LocatedError],
    message: str,
    path: Path | str | None,
    line: int | None,
    column: int | None,
    hint: str | None,
) -> LocatedError:
    return kind(message, path=path, line=line, column=column, hint=hint)


class ScenarioError(LocatedError):
    """A scenario or dataset file is wrong."""


class ConfigError(LocatedError):
    """A configuration value, environment variable or flag is wrong."""


class RefError(LocatedError):
    """A strategy, scenario, model, embedder or tokenizer name means nothing here."""


class RunFolderError(LocatedError):
    """A run folder is absent, foreign, locked or damaged."""


class BaselineError(LocatedError):
    """A baseline is absent or damaged, or a run may not become one."""


class NothingCollected(MemsimError):  # noqa: N818 - named as pytest names it
    """No case is left to run."""

    exit_code = ExitCode.NOTHING


class Unmeasurable(MemsimError):  # noqa: N818 - a state of the measurement, not a fault of ours
    """A case could not be scored."""

    exit_code = ExitCode.UNMEASURABLE


class StrategyError(Unmeasurable):
    """The strategy under test raised, or returned what its contract forbids."""


class ModelError(Unmeasurable):
    """A model or embedder failed, or gave nothing usable."""


class ContextOverflow(ModelError):  # noqa: N818 - as providers call it
    """What a model was sent does not fit into its window."""


class BudgetUnsatisfiable(Unmeasurable):
    """What must stay in the context does not fit into the budget.

    Args:
        part: the part that is too large: system, pins, tail or input.
        tokens: tokens that the part needs.
        budget: tokens that there are.
    """

    def __init__(self, part: str, tokens: int, budget: int) -> None:
        self.part = part
        self.tokens = tokens
        self.budget = budget
        super().__init__(part, tokens, budget)

    def __str__(self) -> str:
        return f"{self.part} needs {self.tokens:,} tokens and the budget is {self.budget:,}"


class CapReached(MemsimError):  # noqa: N818 - the run stopped where it was told to
    """The next call of a model could cost more than may be spent."""

    exit_code = ExitCode.INTERRUPTED


class StateError(MemsimError):
    """A saved state cannot be read back: truncated, altered, or of another version."""

    exit_code = ExitCode.USAGE


class StoreError(MemsimError):
    """A memory store failed, is not there, or was given what it cannot keep."""

    exit_code = ExitCode.UNMEASURABLE


class SchemaError(StoreError):
    """A store was written by a newer memsim, or by something else.

    Args:
        store: what was opened.
        found: the version that it has.
        known: the newest version that can be read.
        advice: what to do.
    """

    def __init__(
        self,
        store: str,
        found: object,
        known: int,
        advice: str = "upgrade memsim, or use another store",
    ) -> None:
        self.store = store
        self.found = found
        self.known = known
        self.advice = advice
        super().__init__(store, found, known, advice)

    def __str__(self) -> str:
        found = str(self.found)[:40]  # whatever stood in a file, which may be anything
        return (
            f"{self.store} has schema version {found if found.isprintable() else ascii(found)},"
            f" and this memsim knows up to {self.known}: {self.advice}"
        )


class AccessError(StoreError):
    """A memory was used without a principal, or its policy cannot be read: access fails closed."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip for, or None."""
    candidates = sorted(known)
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if found:
        return found[0]
    folded = {c.casefold(): c for c in candidates}
    return folded.get(name.strip().casefold())


# Work of several parts, of which one's failure keeps no other from being done.


EXPECTED_ERRORS = (ModelError, StateError, StoreError)
"""The errors of a model, a saved part, a store: anything else is a defect, and stops everything."""


class Attempts:
    """What was tried one after another, and how it failed."""

    def __init__(self) -> None:
        self._failed: list[ModelError | StateError | StoreError] = []

    def attempt(self, work: Callable[[], object]) -> None:
        """Do a part; how it fails is kept for the end."""
        try:
            work()
        except EXPECTED_ERRORS as error:
            self._failed.append(error)

    def end(self) -> None:
        """Raise what failed first, if anything did."""
        if self._failed:
            raise self._failed[0]
