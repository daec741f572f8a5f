"""Long-term memory: entries under keys that their owners choose, by category (PRX).

A key belongs to its owner: storing under a key that somebody else uses makes an entry of one's own.
An entry is found by the words of its key as well, unless the memory made the key itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memsim.memory.entry import FOUND_BY_KEY, Entry, Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from memsim.memory.vault import Vault

DEFAULT_CATEGORY = "core"

_SAYS_NOTHING = re.compile(r"(note|record)-[0-9a-f]{16,32}")
"""Keys that the memory makes of what is noted without one."""


class LongTerm:
    """The long-term layer."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def store(
        self,
        owner: str,
        key: str,
        text: str,
        *,
        now: datetime,
        category: str = DEFAULT_CATEGORY,
        session: str = "",
        sources: tuple[str, ...] = (),
        visibility: Visibility = "private",
        readers: Iterable[str] = (),
    ) -> Entry:
        """Keep a text under a key, in place of what the owner kept there before.

        Returns the entry as it is kept; when it was first written stays what it was.
        """
        before = self._vault.own(owner, "long_term", key)
        entry = Entry(
            key=key,
            text=text,
            owner=owner,
            category=category,
            session=session,
            created=before.created if before else now,
            updated=now,
            sources=sources,
            visibility=visibility,
            readers=tuple(readers),
            attributes=() if _SAYS_NOTHING.fullmatch(key) else (FOUND_BY_KEY,),
        )
        self._vault.put([entry])
        return entry

    def get(self, principal: str, key: str) -> Entry | None:
        """An entry by its key, the principal's own or one that they may see; else None."""
        return self._vault.get(principal, key)

    def list(self, principal: str, *, category: str | None = None) -> Iterator[Entry]:
        """The entries that a principal may see, oldest first."""
        categories = () if category is None else (category,)
        where = self._vault.where(principal, layers=("long_term",), categories=categories)
        return self._vault.each(where)

    def forget(self, owner: str, key: str) -> Entry | None:
        """Take out an entry of the owner's own; None where they have none under that key."""
        entry = self._vault.own(owner, "long_term", key)
        if entry is not None:
            self._vault.erase([entry.id])
        return entry
