"""Core memory: who the agent and its users are, and the rules that always hold.

What stands here is in every context, byte for byte, and is never compacted, archived or purged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memsim.memory.entry import Entry
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memsim.memory.vault import Vault
    from memsim.message import Message

CoreKind = Literal["identity", "profile", "fact", "rule"]
KINDS: tuple[CoreKind, ...] = ("identity", "rule", "profile", "fact")
"""In the order in which a context shows them."""

_KIND, _ROLE = "kind", "role"


class Core:
    """The core layer of every principal.

    Args:
        vault: where it is kept.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def pin(
        self,
        owner: str,
        key: str,
        text: str,
        *,
        now: datetime,
        kind: CoreKind = "fact",
        role: Literal["user", "system"] = "user",
        sources: tuple[str, ...] = (),
        public: bool = False,
    ) -> Entry:
        """Keep a text in every context from now on.

        Under a key that is taken it stands in the place of the text before, among the others too.

        Args:
            owner: whose it is.
            key: the name to unpin it by.
            text: kept byte for byte.
            now: when it is pinned.
            kind: what it is.
            role: who it speaks as: `system` only for what whoever runs the agent wrote, never for
                what was said in a conversation.
            sources: ids of the messages that it came from.
            public: whether it is in everybody's contexts, as an agent's identity is.

        Raises:
            ValueError: the text is blank or cannot be encoded, or the key is empty.
            StoreError: the store failed.
        """
        if not text.strip():
            raise ValueError("what is pinned is blank")
        before = self._vault.own(owner, "core", key)
        entry = Entry(
            key=key,
            text=text,
            owner=owner,
            layer="core",
            category="core",
            created=now if before is None else before.created,
            updated=now,
            pinned=True,
            visibility="public" if public else "private",
            sources=sources,
            attributes=((_KIND, kind), (_ROLE, role)),
        )
        self._vault.put([entry])
        return entry

    def unpin(self, owner: str, key: str) -> bool:
        """Take a text out of core memory; whether it was there."""
        entry = self._vault.own(owner, "core", key)
        return entry is not None and self._vault.erase([entry.id]) > 0

    def entries(self, principal: str) -> Iterator[Entry]:
        """What a principal's contexts always hold, in the order in which they show it."""
        where = self._vault.where(principal, layers=("core",))
        yield from sorted(self._vault.each(where), key=_order)

    def messages(self, principal: str) -> tuple[Message, ...]:
        """The same as messages, each entry one of its own."""
        return tuple(
            composed(
                "system" if dict(e.attributes).get(_ROLE) == "system" else "user",
                e.text,
                id=f"core:{e.id}",
                quotes=e.sources,
                time=e.updated,
                principal=e.owner,
            )
            for e in self.entries(principal)
        )


def _order(entry: Entry) -> tuple[int, datetime, str]:
    kind = dict(entry.attributes).get(_KIND)
    return KINDS.index(kind) if kind in KINDS else len(KINDS), entry.created, entry.id
