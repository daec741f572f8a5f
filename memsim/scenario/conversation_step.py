"""The step `conversation`: the file of a recorded conversation, and its content once read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from memsim.errors import ScenarioError
from memsim.json_input import read_bytes
from memsim.scenario.document import Node, quote
from memsim.scenario.value_kinds import NameKind, Schema, name_problem, scalar_of

StepT = TypeVar("StepT")

MOST_BYTES = 512 * 2**20
"""Bytes of the largest conversation file, which a run holds in memory."""


class FileKind(NameKind):
    """The name of a file in the same folder.

    Args:
        suffix: how the name must end.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def read(self, node: Node, name: str) -> str:
        text = scalar_of(node, name, "the name of a file").text
        stem = text.removesuffix(self._suffix)
        problem = name_problem(stem) if stem != text else f"does not end in {self._suffix}"
        if problem:
            raise ScenarioError(f"{name} {quote(text)} {problem}", line=node.line)
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": rf"^[^/\\]+\{self._suffix}$"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayConversation:
    """The turns of a conversation file that lies beside the script."""

    line: int | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConversation:
    """The same, once the file was read; `data` is its content and `digest` the SHA-256 of that."""

    line: int | None
    file: str = field(repr=False)
    digest: str
    data: bytes = field(repr=False)


def read_conversations(
    steps: Iterable[StepT], path: Path
) -> tuple[StepT | RecordedConversation, ...]:
    """The steps of a script, with each conversation's file read.

    Raises:
        ScenarioError: a file cannot be read; with the line of its step.
    """
    return tuple(_read(s, path) if isinstance(s, PlayConversation) else s for s in steps)


def _read(step: PlayConversation, path: Path) -> RecordedConversation:
    try:
        data = read_bytes(path.parent / step.value, ScenarioError, most=MOST_BYTES)
    except FileNotFoundError:
        said = f"the conversation {quote(step.value)} is not beside this file"
        raise ScenarioError(said, line=step.line) from None
    except ScenarioError as error:
        said = f"the conversation {quote(step.value)} {error.message}"
        raise ScenarioError(said, line=step.line) from None
    digest = hashlib.sha256(data).hexdigest()
    return RecordedConversation(line=step.line, file=step.value, digest=digest, data=data)
