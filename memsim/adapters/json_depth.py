"""Measure how deep JSON is nested, before it is parsed."""

from __future__ import annotations

import re

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?')
_BRACKET = re.compile(rb"[\[\]{}]")


def nested_deeper(data: bytes, most: int) -> bool:
    """Whether lists and objects stand in each other more than so many times."""
    if data.count(b"[") + data.count(b"{") <= most:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", data)):
        depth += 1 if bracket in b"[{" else -1
        if depth > most:
            return True
    return False
