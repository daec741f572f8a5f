"""Messages as the history file holds them, and the names of a session's files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar
from urllib.parse import quote

from memsim.errors import LocatedError
from memsim.json_input import read_bytes
from memsim.memory.codec import JSON, pack, reading, unpack
from memsim.message import EPOCH, Block, Message, Role, Text, ToolResult, ToolUse
from memsim.systems.cogtrix.session_notes import iso_stamp, read_stamp
from memsim.systems.cogtrix.window_fit import message_content

P = TypeVar("P", bound=PurePath)

TYPES: dict[Role, str] = {"user": "human", "assistant": "ai", "tool": "tool", "system": "system"}
ROLES: dict[str, Role] = {name: role for role, name in TYPES.items()}
LONGEST_NAME = 200
SUMMARY, COVERED, UPDATED = "_summary", "_summary_msg_idx", "_summary_last_updated_at"


def message_record(message: Message, *, known: bool) -> JSON:
    """Write a message as the history file holds it; `known` where its time is known."""
    held = message.spoken if message.calls else message_content(message)
    saved: dict[str, JSON] = {"type": TYPES[message.role], "content": held}
    if known:
        saved["timestamp"] = iso_stamp(message.time)
    calls = [b for b in message.blocks if isinstance(b, ToolUse)]
    if calls:
        saved["tool_calls"] = [{"id": c.id, "name": c.name, "args": c.arguments} for c in calls]
    if message.results:
        saved["tool_call_id"] = message.results[0]
    # Who said it and in which session, and blocks as they were, are known here alone.
    saved["message"] = pack([message])[0]
    return saved


def message_of_record(saved: Any, number: int) -> tuple[Message, bool]:  # noqa: ANN401 - from a file
    """Read a message that any program wrote, and whether its time is known, or raise LocatedError.

    Without an id of its own, it is called by its place in the file.
    """
    with reading("its history is damaged"):
        if "message" in saved:
            return unpack([saved["message"]])[0], "timestamp" in saved
        text = "" + saved["content"]
        blocks: list[Block] = [Text(text)]
        if saved["type"] == "tool":
            blocks = [ToolResult(id=str(saved.get("tool_call_id", "")), text=text)]
        blocks += [_call(call) for call in saved.get("tool_calls") or ()]
        stamp = saved.get("timestamp")
        message = Message(
            id=f"h{number}",
            role=ROLES[saved["type"]],
            blocks=tuple(blocks),
            time=read_stamp(stamp) if stamp else EPOCH,
        )
        return message, bool(stamp)


def _call(call: Mapping[str, Any]) -> ToolUse:
    arguments = call.get("args", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
    return ToolUse(id=call["id"], name=call["name"], arguments=text)


def session_paths(folder: P, session: str) -> dict[str, P]:
    """Give the files of a session, by their part; its name may hold any characters."""
    name = quote(session, safe="").replace(".", "%2E")[:LONGEST_NAME] or "_"
    history = folder / "history"
    return {
        "history": history / f"{name}.json",
        "hybrid": history / f"{name}_hybrid.json",
        "mode_state": history / f"{name}_mode_state.json",
        "vectors": folder / "vectordb" / "sessions" / name / "index.json",
    }


def write_files(folder: Path, session: str, saved: Mapping[str, JSON]) -> None:
    """Write what a session's `save` gave into its files."""
    for part, path in session_paths(folder, session).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(saved[part], ensure_ascii=False, indent=1, sort_keys=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)


def load_files(folder: Path, session: str) -> dict[str, JSON]:
    """What is in a session's files; a part whose file is missing or no JSON is left out."""
    found: dict[str, JSON] = {}
    for part, path in session_paths(folder, session).items():
        try:
            found[part] = json.loads(read_bytes(path, LocatedError))
        except (OSError, ValueError, RecursionError, LocatedError):
            continue
    return found
