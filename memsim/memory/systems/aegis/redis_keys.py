"""The one class through which AEGIS's services reach Redis: texts by key, and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.memory.systems.aegis.working import DEFAULT_MARK, AegisLedger, ledger_key

if TYPE_CHECKING:
    from memsim.memory.systems.aegis.hashes import Hashes


class RedisManager:
    """What AEGIS's document lists of it. Every method raises `StoreError` where the server fails.

    Args:
        hashes: the server, or what stands in for it.
    """

    def __init__(self, hashes: Hashes) -> None:
        self._hashes = hashes
        self._ledger = AegisLedger(hashes)

    def get(self, key: str) -> str | None:
        """The text under a key; None where there is none."""
        return self._hashes.text(key)

    def set(self, key: str, value: str, ex: int | None = None) -> None:
        """Write a text under a key, in place of whatever is there.

        Args:
            key: where.
            value: the text.
            ex: seconds that it lasts; None for good.
        """
        self._hashes.put_text(key, value, ex)

    def delete(self, key: str) -> None:
        """Take out what is under a key, whatever it is."""
        self._hashes.delete(key)

    def ledger_key(self, conversation_id: str) -> str:
        """The key of a conversation's injection ledger."""
        return ledger_key(conversation_id)

    def ledger_has(self, conversation_id: str, item_key: str) -> bool:
        """Whether an item is marked."""
        return self._ledger.has(conversation_id, item_key)

    def ledger_mark(self, conversation_id: str, item_key: str, value: str = DEFAULT_MARK) -> None:
        """Mark an item."""
        self._ledger.mark(conversation_id, item_key, value)

    def ledger_get_all(self, conversation_id: str) -> dict[str, str]:
        """Every marked item, with its mark."""
        return self._ledger.get_all(conversation_id)
