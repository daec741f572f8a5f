"""What tells that somebody said the same on the same day before, without the words themselves."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

LEAST = 24
"""Characters below which the same words may mean something else: two times `yes` may be two
answers."""


def words_of(principal: str, time: datetime, text: str) -> bytes | None:
    """What two messages have in common that say the same, byte for byte; 8 bytes.

    Returns:
        None for what is too short to be the same.
    """
    if len(text) < LEAST:
        return None
    whole = "\0".join((time.date().isoformat(), str(len(principal)), principal, text))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=8).digest()
