"""Read TOML of strangers: bounded in size, in nesting and in the parts of a key."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_CHARACTERS = 2**20
"""Of a text that is parsed; a larger one could take a minute."""

MOST_PARTS = 50
"""Of a dotted key; the time of the parser grows with their square."""

_LONG_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){"""
    f"{MOST_PARTS}}}"
)


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        ValueError: it is refused, in one line; a `tomllib.TOMLDecodeError` where the syntax is
            wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it is larger than {MOST_CHARACTERS // 2**20} MB")
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
