"""How a provider fails: what may be tried again, what never helps, and what a recording keeps."""

from __future__ import annotations

from typing import Literal

from memsim.errors import ContextOverflow, ModelError

Kind = Literal["overflow", "filtered"]
"""Failures that are the call's own, and happen again whenever it is made: they are recorded."""


class Transient(ModelError):  # noqa: N818 - what happened to a call
    """The provider could not answer now, and may be able to in a while.

    Args:
        said: what happened, in one line.
        after: seconds that the provider asks to be left alone; None where it does not say.
        billed: whether the call may have been paid for although nothing came of it.
    """

    def __init__(self, said: str, *, after: float | None = None, billed: bool = False) -> None:
        super().__init__(said)
        self.after = after
        self.billed = billed


class Refused(ModelError):  # noqa: N818 - what happened to a call
    """The provider will not answer, however often it is asked: a wrong key, name or parameter."""


class Outage(ModelError):  # noqa: N818 - what happened to a call
    """The provider was asked as often as is decent, and never answered."""


class Filtered(ModelError):  # noqa: N818 - what happened to a call
    """The provider holds the call, or its own answer, for improper."""


def failure(kind: Kind, said: str) -> ModelError:
    """The error that a recorded failure is raised as."""
    return ContextOverflow(said) if kind == "overflow" else Filtered(said)


def kind_of(error: ModelError) -> Kind | None:
    """The failure as it is recorded; None for one that may not happen again."""
    if isinstance(error, ContextOverflow):
        return "overflow"
    return "filtered" if isinstance(error, Filtered) else None
