"""AgentScope's session files: the components of a session as one JSON document.

The printing is the documented one: two blanks an indent, each content block on one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memsim.clock import read_stamp, stamp
from memsim.memory.codec import reading
from memsim.message import Block, Message, Role, Text, ToolResult, ToolUse
from memsim.systems.agentscope.thresholds import ROLE_NAMES, told_input

INDENT = "  "
_ROLES: dict[str, Role] = {name: role for role, name in ROLE_NAMES.items()}

SessionRow = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """A session as its file has it: the state of each component by name."""

    id: str
    components: Mapping[str, SessionRow]
    time: datetime

    def messages(self, memory: str = "InMemoryMemory") -> tuple[Message, ...]:
        """Read a memory's messages, numbered from m1. Raises StateError where there is none."""
        with reading(f"the session has no messages of {memory}"):
            return load_state(self.components[memory])


def session_of(
    id_: str, messages: Iterable[Message], time: datetime, memory: str = "InMemoryMemory"
) -> SessionFile:
    """The session of an agent and its memory."""
    agent = {"memory": memory, "interrupted": False}
    return SessionFile(
        id=id_, components={memory: save_state(messages), "ReActAgent": agent}, time=time
    )


def save_state(messages: Iterable[Message]) -> SessionRow:
    """The state of a memory as a component has it."""
    return {"messages": [_row(m) for m in messages]}


def load_state(state: Any) -> tuple[Message, ...]:  # noqa: ANN401 - what was read from a file
    """Read a component's messages, numbered from m1. Raises StateError where it is damaged."""
    with reading("its messages are damaged"):
        return tuple(
            Message(
                id=f"m{place}",
                role=_ROLES[row["role"]],
                blocks=tuple(_block(b) for b in row["content"]),
            )
            for place, row in enumerate(state["messages"], start=1)
        )


def session_text(session: SessionFile) -> str:
    """The text of a session file."""
    document = {
        "sessionId": session.id,
        "components": session.components,
        "timestamp": stamp(session.time),
    }
    return _printed(document, 0) + "\n"


def write_session(folder: Path, session: SessionFile) -> Path:
    """Write a session's file into a folder; the file."""
    path = folder / f"{quote(session.id, safe='') or 'default'}.json"
    path.write_text(session_text(session), "utf-8")
    return path


def read_session(text: str) -> SessionFile:
    """Read a session file. Raises StateError where it is none."""
    with reading("it is no session of AgentScope"):
        document = json.loads(text)
        return SessionFile(
            id="" + document["sessionId"],
            components=dict(document["components"]),
            time=read_stamp(document["timestamp"]),
        )


def key_of(user: str, session: str, *, fixed: bool) -> str:
    """Make the key that a user's session is kept under.

    `fixed` tells `a_b` with `c` from `a` with `b_c`, which the original's key does not.
    """
    return json.dumps([user, session], ensure_ascii=False) if fixed else f"{user}_{session}"


def _row(message: Message) -> SessionRow:
    content = [_told(b) for b in message.blocks]
    return {"role": ROLE_NAMES[message.role], "content": content}


def _told(block: Block) -> SessionRow:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolUse):
        given = told_input(block.arguments)
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
    output = [{"type": "text", "text": block.text}]
    return {"type": "tool_result", "toolUseId": block.id, "output": output}


def _block(row: SessionRow) -> Block:
    if row["type"] == "text":
        return Text("" + row["text"])
    if row["type"] == "tool_use":
        arguments = json.dumps(row["input"], ensure_ascii=False)
        return ToolUse(id=row["id"], name=row["name"], arguments=arguments)
    if row["type"] != "tool_result":
        raise ValueError(row["type"])
    text = "\n".join(part["text"] for part in row["output"])
    return ToolResult(id=row["toolUseId"], text=text)


def _printed(value: Any, depth: int) -> str:  # noqa: ANN401 - any JSON value
    inner, outer = INDENT * (depth + 1), INDENT * depth
    if isinstance(value, Mapping) and value:
        rows = (f"{inner}{_flat(k)}: {_member(k, v, depth + 1)}" for k, v in value.items())
        return "{\n" + ",\n".join(rows) + f"\n{outer}}}"
    if isinstance(value, list) and value:
        rows = (f"{inner}{_printed(item, depth + 1)}" for item in value)
        return "[\n" + ",\n".join(rows) + f"\n{outer}]"
    return _flat(value)


def _member(key: str, value: Any, depth: int) -> str:  # noqa: ANN401 - any JSON value
    if key != "content" or not isinstance(value, list) or not value:
        return _printed(value, depth)
    blocks: Sequence[str] = [_flat(block) for block in value]
    if len(blocks) == 1:
        return f"[{blocks[0]}]"
    inner, outer = INDENT * (depth + 1), INDENT * depth
    return "[\n" + ",\n".join(f"{inner}{block}" for block in blocks) + f"\n{outer}]"


def _flat(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=False)
