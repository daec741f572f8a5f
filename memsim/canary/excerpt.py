"""Shows where a secret was found without showing it, or any other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from memsim.canary.codecs import SPELLED
from memsim.canary.kinds import KINDS

AROUND = 20
"""Characters shown on either side."""
MARK = "[redacted]"
_WIDE = 200
_VALUES = "|".join(re.escape(value) for kind in KINDS.values() for value in kind.choices)
_TELLING = re.compile(
    rf"(?i:{_VALUES}|{SPELLED.pattern})|\w*\d\w*|\w*[A-Z]{{2}}\w*|[^\s*]{{16,}}|\b\w\b"
)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a1-\u1fff]+")

Spans = Callable[[str], Iterable[tuple[int, int]]]
"""Gives the stretches of a text that are secrets, as (start, end)."""


def excerpt(text: str, start: int, end: int, secrets: Spans) -> str:
    """What stands around a stretch of a text, with every secret masked.

    Masked are the stretch itself, what `secrets` finds, every value that a canary can have, and
    all that looks like a code: words with digits or in capitals, long runs, single letters,
    spelled letters, and words that the stretch begins or ends in.
    """
    left = re.sub(r"\w+\Z", "*", text[max(start - _WIDE, 0) : start])
    right = re.sub(r"\A\w+", "*", text[end : end + _WIDE])
    before, after = _masked(left, secrets)[-AROUND:], _masked(right, secrets)[:AROUND]
    return f"{before}{MARK}{after}".strip()


def _masked(text: str, secrets: Spans) -> str:
    pieces, end = [], 0
    for start, stop in sorted(secrets(text)):
        pieces += [text[end:start], "*"] if start >= end else []
        end = max(end, stop)
    bare = "".join([*pieces, text[end:]])
    return _UNPRINTABLE.sub(" ", _TELLING.sub("*", bare))
