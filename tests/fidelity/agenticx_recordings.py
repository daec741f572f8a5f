"""Reads the recordings of AgenticX: their inputs as messages, and its model as a stub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memsim.errors import ModelError
from memsim.message import Block, Message, Text, ToolResult, ToolUse
from memsim.models import Reply
from memsim.systems.agenticx.compactor import SummaryCall
from tests.fidelity.recordings import h16

Row = dict[str, Any]
HEAD = 900


class Inputs:
    """The messages of recorded inputs, and the rows that they were made of.

    Attributes:
        rows: by message id.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def messages(self, rows: Iterable[Row]) -> tuple[Message, ...]:
        """Rows as messages with ids of their own."""
        return tuple(map(self._message, rows))

    def row(self, message: Message) -> Row:
        """The row that a message is, or was composed as."""
        given = self.rows.get(message.id)
        if given is None:
            return {"role": message.role, "content": message.text}
        calls = {b.id for b in message.blocks if isinstance(b, ToolUse)}
        row = dict(given)
        if "tool_calls" in row:
            row["tool_calls"] = [c for c in row["tool_calls"] if c["id"] in calls]
            if not calls:
                del row["tool_calls"]
        return row

    def name(self, message: Message) -> str:
        """The tool that a message is the result of."""
        return str(self.rows.get(message.id, {}).get("name", ""))

    def _message(self, row: Row) -> Message:
        number = f"r{len(self.rows)}"
        self.rows[number] = row
        return Message(id=number, role=row["role"], blocks=_blocks(row))


def _blocks(row: Row) -> tuple[Block, ...]:
    if row["role"] == "tool":
        return (ToolResult(id=row.get("tool_call_id", ""), text=row["content"]),)
    uses = (_use(call) for call in row.get("tool_calls", ()))
    return (Text(row["content"]), *uses)


def _use(call: Mapping[str, Any]) -> ToolUse:
    function = call.get("function", {})
    arguments = function.get("arguments", "{}")
    return ToolUse(id=call["id"], name=function.get("name", ""), arguments=arguments)


class Stub:
    """Answers as the recorded model did, and notes what it was asked.

    Args:
        mode: echo, empty, error, keep, or fixed:<text>.
    """

    def __init__(self, mode: str) -> None:
        self.calls: list[Row] = []
        self._mode = mode

    def __call__(self, prompt: SummaryCall) -> Reply:
        text = prompt.text
        self.calls.append(
            {
                "n_messages": 1,
                "role": "user",
                "kwargs": {"max_tokens": prompt.max_tokens, "temperature": 0.0},
                "prompt_len": len(text),
                "prompt_sha": h16(text),
                "prompt_head": text[:HEAD],
            }
        )
        match self._mode.partition(":"):
            case ("echo", _, _):
                lines = text.count("\n") + 1
                return Reply(text=f"SUM[{len(self.calls)}] lines={lines} sha={h16(text)}")
            case ("empty", _, _):
                return Reply(text="   ")
            case ("error", _, _):
                raise ModelError("boom")
            case ("keep", _, _):
                return Reply(text=f"KEEP\n{text}")
            case (_, _, fixed):
                return Reply(text=fixed)


def on_day(value: Any, day: str) -> Any:  # noqa: ANN401 - JSON
    """A value with the day of the recording in the place of another."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.replace(day, "<TODAY>"))


def shas(rows: Sequence[Row]) -> list[str]:
    """The digests of rows."""
    return [h16(json.dumps(row, ensure_ascii=False, sort_keys=True)) for row in rows]
