r"""Blocks that a memory composes, whose content can neither close nor forge them.

What a user said stands in a block with every delimiter of ours taken apart by one backslash, so
`</summary>` reads `<\/summary>`, and one that already has a backslash gets another: `unescaped`
gives back the very words. Anything else, code and markup of other kinds, stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.message import Text, ToolResult

if TYPE_CHECKING:
    from memsim.message import Block

TAGS = (
    "summary",
    "recall",
    "recalled",
    "memory",
    "long_term_memory",
    "offloaded",
    "compressed",
    "plan_aware_hint",
)
"""Names of the blocks that memories compose."""

MARKS = ("compacted", "shortened", "summary", "truncated")
"""Words in square brackets that memories begin a block with."""

COMMENTS = ("CONTEXT_OFFLOAD",)
"""Words that a comment begins with where it is a reference."""

_TAGS = "|".join(sorted(TAGS, key=len, reverse=True))
_MARKS = "|".join(MARKS)
_COMMENTS = "|".join(COMMENTS)
_DELIMITER = re.compile(
    rf"<(?P<t>\\*)(?=\s*/?\s*(?:{_TAGS})(?![A-Za-z0-9_]))"
    rf"|<(?P<c>\\*)(?=!--\s*(?:{_COMMENTS}))"
    rf"|\[(?P<m>\\*)(?=\s*(?:{_MARKS})(?![A-Za-z0-9_]))",
    re.IGNORECASE,
)


def escaped(text: str) -> str:
    """The text with every delimiter taken apart."""
    return _DELIMITER.sub(lambda m: m[0] + "\\", text)


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return _DELIMITER.sub(lambda m: m[0].removesuffix("\\"), text)


def defused(block: Block) -> Block:
    """The block with its text escaped; a call, whose arguments nobody may change, as it is."""
    if isinstance(block, Text | ToolResult):
        return replace(block, text=escaped(block.text))
    return block


def fenced(tag: str, text: str) -> str:
    """A text in a block of that name.

    Raises:
        ValueError: no block is called that, so nothing would keep its content from closing it.
    """
    if tag not in TAGS:
        raise ValueError(f"no block is called {tag!r}; there are {', '.join(TAGS)}")
    return f"<{tag}>\n{escaped(text)}\n</{tag}>"


def content(tag: str, block: str) -> str | None:
    """What stands in a block that `fenced` made; None where it is no such block."""
    inner = block.removeprefix(f"<{tag}>\n").removesuffix(f"\n</{tag}>")
    return unescaped(inner) if fenced(tag, unescaped(inner)) == block else None
