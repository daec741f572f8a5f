"""Messages as JSON values, for memories that are saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar, get_args

from memsim.errors import StateError
from memsim.message import Block, Message, Role, Text, ToolResult, ToolUse, utc

SavedT = TypeVar("SavedT")
JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]


def pack(messages: Iterable[Message]) -> list[JSON]:
    """Messages as JSON values, every field of them."""
    return [_packed(message) for message in messages]


def unpack(packed: Any) -> list[Message]:  # noqa: ANN401 - what was read from a file may be anything
    """The messages that `pack` wrote. Raises `StateError` if it wrote no such thing."""
    with reading("its messages are damaged"):
        messages = [_unpacked(item) for item in packed]
        check_whole(packed, pack(messages), "its messages are damaged")
        return messages


@contextmanager
def reading(otherwise: str) -> Iterator[None]:
    """Turns whatever a damaged state makes go wrong into a `StateError`.

    `otherwise` is what to say of the state then.
    """
    try:
        yield
    except (
        *(LookupError, TypeError, ValueError, AttributeError),
        *(OverflowError, RecursionError),
    ) as error:
        raise StateError(f"the saved state cannot be read back: {otherwise}") from error


def check_whole(saved: object, again: object, otherwise: str) -> None:
    """Refuse a state of which a part was not read: what would be saved now is something else.

    `otherwise` is what to say of the state then. Raises `StateError`.
    """
    if saved != again:
        raise StateError(f"the saved state cannot be read back: {otherwise}")


def check_part(part: Any, saved: object, otherwise: str) -> None:  # noqa: ANN401 - any part
    """Refuse a part that was loaded and holds something else than its saved state.

    A part that made some of it anew says so by an attribute `rebuilt`. Raises `StateError`.
    """
    if not getattr(part, "rebuilt", False):
        check_whole(saved, part.save(), otherwise)


def load_whole(
    state: SavedT, *, load: Callable[[SavedT], None], save: Callable[[], SavedT], otherwise: str
) -> None:
    """Load a state of which every part is read, or go back to the present one.

    `otherwise` is what to say where a part was not read. Raises `StateError`, as `load` may.
    """
    before = save()
    load(state)
    try:
        with reading(otherwise):
            check_whole(state, save(), otherwise)
    except StateError:
        load(before)
        raise


def part(state: Any, name: str) -> Any:  # noqa: ANN401 - what was read from a file may be anything
    """A part of a saved state by its name; None where it has no such part.

    Raises `StateError` if the state is no table of parts.
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


_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}


def _unpacked(item: dict[str, Any]) -> Message:
    return Message(
        id="" + item["id"],
        role=_ROLES[item["role"]],
        blocks=tuple(_unpacked_block(b) for b in item["blocks"]),
        principal="" + item["principal"],
        session="" + item["session"],
        turn=0 + item["turn"],
        time=utc(datetime.fromisoformat(item["time"])),
        quotes=tuple("" + text for text in item["quotes"]),
        derived_from=tuple("" + source for source in item["derived_from"]),
        excerpts=tuple("" + text for text in item["excerpts"]),
        composed=_switch(item["composed"]),
    )


def _unpacked_block(item: dict[str, Any]) -> Block:
    if "call" in item:
        texts = "" + item["call"], "" + item["name"], "" + item["arguments"]
        return ToolUse(id=texts[0], name=texts[1], arguments=texts[2])
    if "result" in item:
        failed = _switch(item["error"])
        return ToolResult(id="" + item["result"], text="" + item["text"], is_error=failed)
    return Text("" + item["text"])


def _switch(value: Any) -> bool:  # noqa: ANN401 - what was read from a file may be anything
    if not isinstance(value, bool):
        raise TypeError("a switch is on or off")
    return value


# JSON values as the same bytes wherever they are written, so that states can be compared.


DEEPEST = 200
"""Nesting that is written at most, well below what would end the interpreter's stack."""


def canonical(value: JSON) -> str:
    """A JSON value as text: keys sorted, no spaces, nothing escaped that need not be.

    What comes back from `parse` is equal, and its canonical text is the same again.

    Raises:
        ValueError: the value is no JSON: another type, a key that is no text, a number that is not
            finite, a text that UTF-8 cannot encode, or nesting deeper than `DEEPEST`. What the
            value holds is not said.
    """
    _check(value, DEEPEST)
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def parse(text: str | bytes) -> Any:  # noqa: ANN401 - what was read from a file may be anything
    """The JSON value that a text holds.

    Raises `StateError` if it holds none, a key twice, or a number that is not finite.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise StateError("the saved state cannot be read back: it is not valid JSON") from None


def _check(value: object, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"a value is nested deeper than {DEEPEST}")
    if isinstance(value, str):
        _encodable(value)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError("a key is not a text")  # noqa: TRY004 - one error for bad values
            _encodable(key)
            _check(item, depth - 1)
    elif value is not None and not isinstance(value, bool | int | float):
        raise ValueError(f"a value is of type {type(value).__name__}, which JSON does not know")
    elif isinstance(value, float) and not -float("inf") < value < float("inf"):
        raise ValueError("a number is not finite")


def _encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text cannot be encoded as UTF-8") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(constant)
