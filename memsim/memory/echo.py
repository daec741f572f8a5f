"""Which of the latest messages repeat what is to be forgotten.

Whoever asks for something to be erased usually names it: `I no longer need Dr. Vinterberg, please
forget that I went there.` The request itself must then go as well, or it keeps the secret.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memsim.message import Message

LATEST = 6
"""Messages before a request that are looked at."""

_EXACT = re.compile(r"(?<![\w])[\w][\w.,:/-]*\d[\w:/-]*|(?<![\w])\d[\w.,:/-]*")
_NAME = re.compile(r"(?:(?<=[\w,;] )|(?<=\b[A-Z][a-z]\. )|(?<=\b[A-Z][a-z]{2}\. ))[A-Z][\w'’-]{2,}")


def telling_words(text: str) -> frozenset[str]:
    """The names and exact values in a text, by which it can be known again."""
    found = [*_EXACT.findall(text), *_NAME.findall(text)]
    return frozenset(w.rstrip(".,:/-").casefold() for w in found)


def echoes(telling: Collection[str], latest: Iterable[Message], principal: str) -> tuple[str, ...]:
    """Ids of the request, and of what answers it, where they name what is to be forgotten.

    The request is the last of a principal's latest messages that does; what was said before it is
    not meant, whatever it names.

    Args:
        telling: the names and exact values of what goes.
        latest: the messages of the conversation in which that is asked for, oldest first.
        principal: who asks; messages of others stay.
    """
    own = [m for m in latest if m.principal == principal][-LATEST:]
    found = [m for m in own if names_any(m.text, telling)]
    asked = [n for n, m in enumerate(found) if m.role == "user"]
    return tuple(m.id for m in found[asked[-1] if asked else 0 :])


def names_any(text: str, telling: Collection[str]) -> bool:
    """Whether a text holds one of the words, as a word of its own and in any case."""
    return not _words(text).isdisjoint(telling)


def _words(text: str) -> frozenset[str]:
    return frozenset(w.strip(".,:;!?\"'()").casefold() for w in text.split())
