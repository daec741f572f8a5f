"""Messages as JSON values, for memories that are saved and loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from memsim.clock import utc
from memsim.errors import StateError
from memsim.message import Block, Message, Text, ToolResult, ToolUse

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]


def pack(messages: Iterable[Message]) -> list[JSON]:
    """Messages as JSON values, every field of them."""
    return [_packed(message) for message in messages]


def unpack(packed: Any) -> list[Message]:  # noqa: ANN401 - what was read from a file may be anything
    """The messages that `pack` wrote.

    Raises:
        StateError: it wrote no such thing.
    """
    with reading("its messages are damaged"):
        return [_unpacked(item) for item in packed]


@contextmanager
def reading(otherwise: str) -> Iterator[None]:
    """Turns whatever a damaged state makes go wrong into a `StateError`.

    Args:
        otherwise: what to say of the state then.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StateError(f"the saved state cannot be read back: {otherwise}") from error


def part(state: Any, name: str) -> Any:  # noqa: ANN401 - what was read from a file may be anything
    """A part of a saved state by its name; None where it has no such part.

    Raises:
        StateError: the state is no table of parts.
    """
    with reading("it is no state of a memory"):
        return state.get(name)


def _packed(message: Message) -> JSON:
    return {
        "id": message.id,
        "role": message.role,
        "blocks": [_packed_block(b) for b in message.blocks],
        "principal": message.principal,
        "session": message.session,
        "turn": message.turn,
        "time": message.time.isoformat(),
        "quotes": list(message.quotes),
        "derived_from": list(message.derived_from),
        "excerpts": list(message.excerpts),
        "composed": message.composed,
    }


def _packed_block(block: Block) -> JSON:
    if isinstance(block, Text):
        return {"text": block.text}
    if isinstance(block, ToolUse):
        return {"call": block.id, "name": block.name, "arguments": block.arguments}
    return {"result": block.id, "text": block.text, "error": block.is_error}


def _unpacked(item: dict[str, Any]) -> Message:
    return Message(
        id=item["id"],
        role=item["role"],
        blocks=tuple(_unpacked_block(b) for b in item["blocks"]),
        principal=item["principal"],
        session=item["session"],
        turn=item["turn"],
        time=utc(datetime.fromisoformat(item["time"])),
        quotes=tuple(item["quotes"]),
        derived_from=tuple(item["derived_from"]),
        excerpts=tuple(item.get("excerpts", ())),
        composed=item["composed"],
    )


def _unpacked_block(item: dict[str, Any]) -> Block:
    if "call" in item:
        return ToolUse(id=item["call"], name=item["name"], arguments=item["arguments"])
    if "result" in item:
        return ToolResult(id=item["result"], text=item["text"], is_error=item["error"])
    return Text(item["text"])
