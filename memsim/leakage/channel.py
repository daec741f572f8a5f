"""What a channel is: a family of scripted attempts of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from memsim.leakage.families import Header, header

if TYPE_CHECKING:
    from memsim.leakage.lab import Lab
    from memsim.leakage.records import Finding

Gate = Literal["zero", "report"]
"""`zero`: one leak fails the strategy. `report`: shown, never gated."""


class Channel(Protocol):
    """One of L1 to L20; a module `memsim.leakage.channels.lNN_name` holds one as `CHANNEL`.

    Attributes:
        id: `L1` to `L20`.
        name: a word or two for tables.
        about: one sentence: who tries what.
        gate: what a leak means.
        attempts: eligible attempts that a full run plans, at least.
    """

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def gate(self) -> Gate: ...
    @property
    def attempts(self) -> int: ...

    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """Plant, attack and look, `count` attempts in all, with controls in the same states.

        Deterministic for a lab's seed. Work that many attempts can share (a long script, its
        compactions) is done once: a context is pure, so one world takes many questions.

        Args:
            lab: makes worlds and canaries, and judges.
            count: attempts to plan; what cannot be attempted is told as `no_verdict`, `error` or
                `not_inspectable`, never left out.
        """
        ...


class Described(ABC):
    """A channel that takes what it says of itself from its file under `scenarios/leakage`."""

    id: ClassVar[str]

    @property
    def header(self) -> Header:
        """The file's contents: parameters and attacks as well."""
        return header(self.id)

    @property
    def name(self) -> str:
        """A word or two for tables."""
        return self.header.name

    @property
    def about(self) -> str:
        """Who tries what."""
        return self.header.about

    @property
    def gate(self) -> Gate:
        """What a leak means."""
        return self.header.gate

    @property
    def attempts(self) -> int:
        """Eligible attempts that a full run plans, at least."""
        return self.header.attempts

    @abstractmethod
    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """Plant, attack and look; see `Channel`."""
