"""When there is so much history that it is time to compact it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.compaction.sizes import Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much history there may be; each limit stands for itself, and None is no limit.

    Exactly as much as a limit is within it; one more is beyond.

    Attributes:
        messages: messages.
        characters: characters (code points).
        tokens: tokens.

    Raises:
        ValueError: a limit is below 0, or no whole number.
    """

    messages: int | None = None
    characters: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and (
                isinstance(limit, bool) or not isinstance(limit, int) or limit < 0
            ):
                raise ValueError(f"{field.name} is {limit!r}: a whole number, at least 0")

    @classmethod
    def share(cls, ratio: float, budget: int) -> Limits:
        """A share of a budget, in whole tokens.

        Raises:
            ValueError: the share is not between 0 and 1.
        """
        if not 0 <= ratio <= 1:
            raise ValueError(f"ratio is {ratio}: between 0 and 1")
        return cls(tokens=int(budget * ratio))

    def beyond(self, size: Size) -> tuple[str, ...]:
        """The measures in which a size is beyond its limit; empty when it is within all."""
        over: list[str] = []
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and getattr(size, field.name) > limit:
                over.append(field.name)
        return tuple(over)

    def missed(self, size: Size) -> str:
        """By what a size is beyond its limits, in words; empty when it is within all."""
        return "; ".join(
            f"it still has {getattr(size, name)} {name}, and may have {getattr(self, name)}"
            for name in self.beyond(size)
        )


Trigger = Limits
"""Limits that start a compaction when a history is beyond any of them."""
Target = Limits
"""Limits that a compaction is to get a history within."""
