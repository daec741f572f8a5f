"""Whose memory it is: one for everybody, or one for each principal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from memsim.memory.codec import JSON, check_part, reading

EVERYBODY = ""


class ScopedPart(Protocol):
    """A memory that can be saved and loaded."""

    def save(self) -> JSON:
        """The whole state as JSON values."""
        ...

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state; called on an empty part.

        Raises `StateError` if it is no such state.
        """
        ...


P = TypeVar("P", bound=ScopedPart)


class MemoryScopes(Generic[P]):
    """The parts of a memory by principal; where it is shared, everybody has the same part.

    Raises `ValueError` if the scope is neither.
    """

    def __init__(self, scope: str, make: Callable[[], P]) -> None:
        if scope not in {"shared", "principal"}:
            raise ValueError(f"scope is {scope!r}: it is 'shared' or 'principal'")
        self._shared = scope == "shared"
        self._make = make
        self._parts: dict[str, P] = {}

    def __iter__(self) -> Iterator[P]:
        return iter(self._parts.values())

    def of(self, principal: str) -> P:
        """A principal's part, to write to."""
        key = EVERYBODY if self._shared else principal
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = self._make()
        return part

    def seen_by(self, principal: str) -> P:
        """A principal's part, to read; reading leaves no trace, so what is missing is not kept."""
        part = self._parts.get(EVERYBODY if self._shared else principal)
        return self._make() if part is None else part

    def visible(self, viewer: str | None) -> Iterator[P]:
        """The parts that a viewer may see; None sees all."""
        if viewer is None or self._shared:
            yield from self._parts.values()
        elif viewer in self._parts:
            yield self._parts[viewer]

    def save(self) -> JSON:
        """Every part by its principal, in the order of their names."""
        return {who: self._parts[who].save() for who in sorted(self._parts)}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved parts in place of the present ones.

        Raises `StateError` if they are no such parts.
        """
        loaded: dict[str, P] = {}
        with reading("it is not a memory by principal"):
            for who, part in saved.items():
                if self._shared != (who == EVERYBODY):
                    raise ValueError(who)
                loaded[who] = self._make()
                loaded[who].load(part)
                check_part(loaded[who], part, "it is not a memory by principal")
        self._parts = loaded
