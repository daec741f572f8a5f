"""Who may see what: readers, grants, and the filter that every read goes through.

Permission is a property of shelves, decided before anything is ranked or counted. An unknown or
empty principal sees nothing at all, not even what is public: access fails closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from memsim.memory.entry import Layer, Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One principal lets another read.

    Attributes:
        owner: whose entries.
        reader: who may read them.
        category: only those of this category; None for all.
    """

    owner: str
    reader: str
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads, as the session says: arguments, metadata and texts never decide this.

    Attributes:
        principal: the name; empty for nobody, who may see nothing.
        grants: what others let them read; only grants to this reader count.
    """

    principal: str
    grants: frozenset[Grant] = frozenset()

    def may_see(self, shelf: Shelf) -> bool:
        """Whether this reader may see what stands on a shelf."""
        if not self.principal:
            return False
        if shelf.owner == self.principal or shelf.visibility == "public":
            return True
        if self.principal in shelf.readers:
            return True
        return any(
            g.owner == shelf.owner
            and g.reader == self.principal
            and g.category in {None, shelf.category}
            for g in self.grants
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which entries an operation is about.

    Attributes:
        reader: who may see them; None for the keeper of the store, who sees all (hygiene, export).
        owner: only what is theirs; None for anybody's.
        layers: only these; empty for all.
        categories: only these; empty for all.
        archived: only what is put away, or only what is not; None for both.
        superseded: only what was superseded, or only what was not; None for both.
    """

    reader: Reader | None
    owner: str | None = None
    layers: frozenset[Layer] = frozenset()
    categories: frozenset[str] = frozenset()
    archived: bool | None = False
    superseded: bool | None = None

    def admits(self, shelf: Shelf) -> bool:
        """Whether what stands on a shelf is meant, and may be seen."""
        return (
            (self.reader is None or self.reader.may_see(shelf))
            and self.owner in {None, shelf.owner}
            and (not self.layers or shelf.layer in self.layers)
            and (not self.categories or shelf.category in self.categories)
            and self.archived in {None, shelf.archived}
            and self.superseded in {None, shelf.superseded}
        )
