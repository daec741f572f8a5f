"""What a composed message may have been made from, kept so that a further one costs no copy of it.

A history that is condensed again and again has a summary of a summary of a summary; to copy the ids
behind each into the next makes every one dearer than the one before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator


class Lineage(Collection[str]):
    """Ids of originals, each once, in order; other lineages may be among them, and are shared.

    Whatever looks at them goes through all of them; adding to them does not.

    Args:
        parts: ids, and lineages, in order.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: str | Lineage) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._every()))

    def __len__(self) -> int:
        return len(dict.fromkeys(self._every()))

    def __contains__(self, source: object) -> bool:
        return any(source == one for one in self._every())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Lineage | tuple):
            return tuple(self) == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Lineage{tuple(self)!r}"

    def __reduce__(self) -> tuple[type[Lineage], tuple[str, ...]]:
        return Lineage, tuple(self)  # parts of parts may be deeper than Python goes down

    def _every(self) -> Iterator[str]:
        waiting = [iter(self._parts)]
        seen: set[int] = set()
        while waiting:
            part = next(waiting[-1], None)
            if part is None:
                waiting.pop()
            elif isinstance(part, str):
                yield part
            elif id(part) not in seen:
                seen.add(id(part))
                waiting.append(iter(part._parts))  # noqa: SLF001 - of this class
