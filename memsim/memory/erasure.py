"""Which messages a request to erase means."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def meant(text: str, sources: Collection[str], own: Mapping[str, str]) -> tuple[str, ...]:
    """The ids that a request means: those it names, else the one that speaks of it most.

    Args:
        text: the request in words; a message that says just that is not what it means.
        sources: ids that it names, which may be somebody else's or long gone.
        own: the texts that the one who asks may erase, by id, oldest first.
    """
    if sources:
        return tuple(source for source in own if source in set(sources))
    # Not with the module, which every strategy that can forget imports: numpy takes its time.
    from memsim.memory.retrieval.bm25 import Bm25

    index = Bm25()
    for source, words in own.items():
        if words.strip() != text.strip():
            index.add(source, words)
    return tuple(hit.id for hit in index.search(text, 1))
