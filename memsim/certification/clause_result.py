"""What comes of a clause, and how a clause says that it does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Result = Literal["holds", "broken", "unmeasured", "n/a"]


class BrokenPromise(Exception):  # noqa: N818 - a finding about a server, not a failure of the kit
    """A clause does not hold; the text says what was seen."""


class UnmeasuredClause(Exception):  # noqa: N818 - a state of the measurement
    """A clause could not be tried; the text says why."""


class NothingToTry(Exception):  # noqa: N818 - as above
    """A clause does not apply to the server; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseResult:
    """What came of one clause.

    Attributes:
        detail: what was seen, or why the clause was not tried; empty where it holds.
    """

    name: str
    rule: str
    result: Result
    detail: str = ""
