"""Split a plan into shards by the hash of each case, so that machines play parts of one run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from memsim.errors import UsageError

_HASHED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a run: the cases whose hash falls to its number.

    Attributes:
        number: from 1.
        of: number of shards.
        plan: fingerprint of the whole plan.
        total: number of cases of the whole plan.
        places: the places of its cases in the whole plan.
        gate: flags that the gate obeys when the shards are merged, such as `strict`.
    """

    number: int
    of: int
    plan: str = ""
    total: int = 0
    places: tuple[int, ...] = ()
    gate: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def name(self) -> str:
        """The name of its folder, such as `1-of-4`."""
        return f"{self.number}-of-{self.of}"

    def holds(self, key: str) -> bool:
        """Whether the case of a key belongs to this shard, on every machine."""
        digest = hashlib.sha256(key.encode()).digest()
        return int.from_bytes(digest[:_HASHED]) % self.of == self.number - 1


def parse_shard(text: str) -> Shard:
    """Read a shard such as `1/4`.

    Raises:
        UsageError: it is none.
    """
    number, _, of = text.strip().partition("/")
    if not _is_number(number) or not _is_number(of):
        raise UsageError(f"--shard takes a number of how many, such as 1/4, not {text!r}")
    shard = Shard(number=int(number), of=int(of))
    if not shard.of:
        raise UsageError(f"--shard {shard}: there must be at least one shard")
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"--shard {shard}: shards are numbered from 1 to {shard.of}")
    return shard


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 8
