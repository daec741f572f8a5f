"""What is too long to stand whole, as what was said last may be: each text's beginning and end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.context import ContextBuilder, Section
from memsim.language.graphemes import head, tail
from memsim.memory.compaction.summary import originals
from memsim.message import ToolUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.context import SectionName
    from memsim.message import Block, Message, Text, ToolResult
    from memsim.tokens import TokenCounter

LEAST = 40
"""Characters to which a text is shortened at most; where that is not enough, nothing is shown."""

_BEGINNING = 2 / 3
"""Share of what is left of a text that is its beginning."""

_STEP = 0.8


def clipped(
    messages: Sequence[Message], counter: TokenCounter, budget: int, layer: SectionName = "window"
) -> Section:
    """Messages that are more than a budget, each by the beginning and the end of its texts.

    What tools were asked stays as it is, and calls keep their results.

    Args:
        messages: what belongs together: a message, or a call with its results.
        counter: token counts.
        budget: in tokens.
        layer: what the section is.

    Returns:
        A section of all of them; an empty one where even short texts do not fit.
    """
    build = ContextBuilder(counter)
    share = budget / max(1, build.tokens(messages))
    longest = max((len(b.text) for m in messages for b in _texts(m)), default=0)
    while share * longest >= LEAST:
        section = build.section(layer, [shorter(m, share) for m in messages])
        if section.tokens <= budget:
            return section
        share *= _STEP
    return build.section(layer, ())


def _texts(message: Message) -> list[Text | ToolResult]:
    return [b for b in message.blocks if not isinstance(b, ToolUse)]


def shorter(message: Message, share: float) -> Message:
    """A message with a share of each of its texts, its beginning and its end, as `clipped` has it.

    Args:
        message: it stays as it is where nothing of it can be left out.
        share: of each text that is kept, 0 to 1; never less than `LEAST` characters.
    """
    blocks = tuple(_short(block, share) for block in message.blocks)
    if blocks == message.blocks:
        return message
    return replace(
        message,
        blocks=blocks,
        composed=True,
        derived_from=originals(message),
        excerpts=originals(message),
    )


def _short(block: Block, share: float) -> Block:
    if isinstance(block, ToolUse):
        return block
    kept = max(LEAST, int(len(block.text) * share))
    begun = head(block.text, int(kept * _BEGINNING))
    ended = tail(block.text[len(begun) :], kept - len(begun))
    left = len(block.text) - len(begun) - len(ended)
    text = f"{begun}\n[{left} characters are left out here]\n{ended}"
    return replace(block, text=text) if len(text) < len(block.text) else block
