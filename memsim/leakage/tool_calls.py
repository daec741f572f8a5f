"""Call a memory's tools as an attacker would, from their descriptions alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsim.leakage.attack_world import AttackWorld, Observation
    from memsim.models import ToolSpec

HUGE = 10**6
SPOOFED = ("user_id", "principal", "owner", "user", "agent_id", "as", "namespace")
"""Arguments by which a tool might be told to act for somebody else."""


def arguments(tool: ToolSpec, text: str, *, number: int = HUGE) -> dict[str, Any]:
    """Make arguments for a tool: one text for all text arguments, one number for all numbers."""
    schema = json.loads(tool.parameters or "{}")
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    made: dict[str, Any] = {}
    for name, kind in properties.items():
        if "enum" in kind:
            made[name] = kind["enum"][0]
        elif kind.get("type") in {"integer", "number"}:
            made[name] = number
        elif kind.get("type") == "boolean":
            made[name] = True
        elif kind.get("type") == "array":
            made[name] = text.split() or [text]
        elif name in schema.get("required", ()) or kind.get("type") == "string":
            made[name] = text
    return made


def properties(tool: ToolSpec) -> frozenset[str]:
    """Names of the arguments that a tool takes."""
    return frozenset(json.loads(tool.parameters or "{}").get("properties", {}))


def call_reading_tools(
    world: AttackWorld,
    viewer: str,
    text: str,
    *,
    extra: Mapping[str, object] | None = None,
    number: int = HUGE,
) -> Iterator[Observation]:
    """Call every reading tool as a viewer with one text."""
    for tool in world.strategy.tools(viewer):
        if tool.reads:
            sent = {**arguments(tool, text, number=number), **(extra or {})}
            yield world.call(viewer, tool.name, sent)
