"""Repairs the message ids that LoCoMo's questions cite: a few are written unlike the turns' own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_ID = re.compile(r"D:?(\d+):(\d+)")


def repair_evidence(cited: Iterable[str], known: Container[str]) -> tuple[str, ...]:
    """The cited messages that exist, each once, in the order cited.

    One string may cite several (`D8:6; D9:17`), have a colon too many (`D:11:26`) or a zero
    (`D30:05`); what then names no message of the conversation is dropped.

    Args:
        cited: as the file has them.
        known: the ids of the conversation's messages.
    """
    found: dict[str, None] = {}
    for text in cited:
        if text in known:
            found[text] = None
            continue
        for session, turn in _ID.findall(text):
            message = f"D{int(session)}:{int(turn)}"
            if message in known:
                found[message] = None
    return tuple(found)
