"""Reads the recordings of AgentScope's packages: their inputs as messages, and their digests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memsim.clock import Clock
from memsim.message import EPOCH, Block, Message, Role, Text, ToolResult, ToolUse
from memsim.models import Reply, Request, Usage

Json = Any


def h16(text: str) -> str:
    """The first half of a digest, as the recordings have it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass
class Given:
    """An input list as messages, and what messages here do not carry.

    Attributes:
        messages: with the ids m0, m1, ...
        names: by message id, the tool's name that a tool row gives.
    """

    messages: list[Message] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def given(rows: Iterable[Json], time: datetime = EPOCH) -> Given:
    """The rows of an input."""
    made = Given()
    for n, row in enumerate(rows):
        blocks: list[Block] = []
        if row["role"] == "tool":
            blocks.append(ToolResult(id=row["tool_call_id"], text=row["content"]))
            made.names[f"m{n}"] = row["name"]
        elif row["content"] or row["role"] == "user":
            blocks.append(Text(row["content"]))
        for call in row.get("tool_calls", ()):
            told = call["function"]
            use = ToolUse(id=call["id"], name=told["name"], arguments=told["arguments"])
            blocks.append(use)
        role: Role = row["role"]
        made.messages.append(Message(id=f"m{n}", role=role, blocks=tuple(blocks), time=time))
    return made


@dataclass
class Stub:
    """The model of the recordings: says its count, and takes its time."""

    clock: Clock
    asked: list[Request] = field(default_factory=list)
    name = "stub"

    def complete(self, request: Request) -> Reply:
        """The count of this call."""
        self.asked.append(request)
        self.clock.advance(timedelta(seconds=0.5))
        return Reply(text=f"SUM{len(self.asked)}", usage=Usage(input=11, output=7))


class Uuids:
    """Numbers uuids in the order in which they are first seen."""

    pattern = re.compile(r"uuid=([0-9a-f-]{36})")

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def replaced(self, text: str) -> str:
        """The text with each uuid as its number."""

        def number(found: re.Match[str]) -> str:
            return f"uuid={self.known.setdefault(found[1], f'<U{len(self.known) + 1}>')}"

        return self.pattern.sub(number, text)
