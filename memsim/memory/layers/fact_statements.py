"""Read statements off messages by rules: what a model's extraction passes over."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from memsim.language.change_cues import LIGHT_STEMS, announces_change
from memsim.language.exact_values import EXACT, exact_values
from memsim.language.return_cues import returns_to
from memsim.language.text import content, sentences, speaker_label
from memsim.message import Message, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FEWEST_STEMS: Final = 2
"""Stems of a statement that tell what it is about, at least."""

_REQUESTS: Final = re.compile(
    r",\s(?:will|would|can|could)\syou\?$|,?\s(?:please|ok|okay|all\sright)\?$", re.IGNORECASE
)


def statements(message: Message) -> Iterator[str]:
    """Sentences of a user's message that state a value or a change, in their order.

    Where one sentence announces a change, all are given: another may state the new value.
    """
    found = [piece for line in message.spoken.splitlines() for piece in sentences(line)]
    said = [sentence for sentence in found if _states(sentence) or returns_to(sentence)]
    changes = any(announces_change(one) or returns_to(one) for one in found)
    for sentence in said:
        if changes or any(value.kind in EXACT for value in exact_values(sentence)):
            yield sentence


def statement_line(message: Message, sentence: str) -> str:
    """A statement as a line of facts, with who said it."""
    return f"{speaker_label(message.role, message.principal)}: {sentence}"


def _states(sentence: str) -> bool:
    if sentence.endswith(("?", "\uff1f", "\u061f")) and not _REQUESTS.search(sentence):
        return False
    return len(frozenset(content(sentence)) - LIGHT_STEMS) >= FEWEST_STEMS


# Results of tools: the rows of a short record, each about its key in the answer to one call.


MOST_ROWS: Final = 12
"""Lines of a result that is read as a record; a longer one is a listing."""

LONGEST: Final = 120
"""Characters of a value that are kept."""

_ROW: Final = re.compile(
    r"^\|?\s*(?P<key>[^\W\d_][\w .-]{0,39}?)\s*(?:[:=]|\|)\s*(?P<value>[^|]{1,120}?)\s*\|?$"
)


class ToolRow(NamedTuple):
    """A value that a tool gave, and the call and key that it answers."""

    message: Message
    subject: str
    line: str


def tool_rows(messages: Sequence[Message]) -> Iterator[ToolRow]:
    """The rows of short records that tools gave in answer to the calls among the messages."""
    calls = {b.id: b for m in messages for b in m.blocks if isinstance(b, ToolUse)}
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolResult) and block.id in calls and not block.is_error:
                call = calls[block.id]
                for key, value in _record(block.text).items():
                    line = statement_line(message, f"{call.name} {key}: {value}")
                    yield ToolRow(message, _about(call, key), line)


def _about(call: ToolUse, key: str) -> str:
    """What a row is about: it says nothing of the arguments, whose message may be erased."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (call.name, call.arguments, key):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"={digest.hexdigest()}"


def _record(text: str) -> dict[str, str]:
    """Keys and values of a short record; nothing of a text that is none."""
    if text.lstrip().startswith("{"):
        return _object(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = [_ROW.match(line) for line in lines] if len(lines) <= MOST_ROWS else []
    found = {row["key"]: row["value"] for row in rows if row is not None}
    # Where a key stands twice, the rows are a listing of several things.
    return found if len(found) == len(rows) else {}


def _object(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or len(found) > MOST_ROWS:
        return {}
    plain = {
        " ".join(key.split()): " ".join(str(value).split())[:LONGEST]
        for key, value in found.items()
        if isinstance(value, str | int | float)
    }
    # What JSON escapes may be text that no store can hold.
    return {k: v for k, v in plain.items() if k and k.isprintable() and v.isprintable()}
