"""Tools of memories that are none of ours, as their servers describe them, in our words."""

from __future__ import annotations

import json
from typing import Any

from memsim.models import ToolSpec

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def tool(name: str, description: str, *required: str, **properties: Any) -> ToolSpec:  # noqa: ANN401 - JSON Schema
    """A tool whose parameters are those; all but some of them may be left out."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=json.dumps(schema))


def _listed(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - as `tool`
    items = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "array", "items": items}


MANAGED = (
    tool(
        "manage_memory",
        "Create, change or delete a memory that lasts beyond this conversation."
        " Give the id of one that is there for a change or a deletion.",
        content={"anyOf": [TEXT, {"type": "null"}]},
        action={"type": "string", "enum": ["create", "update", "delete"], "default": "create"},
        id={"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]},
    ),
    tool(
        "search_memory",
        "Search the memories for what matters now.",
        "query",
        query=TEXT,
        limit={"type": "integer", "default": 10},
        filter={"anyOf": [{"type": "object"}, {"type": "null"}]},
    ),
)
"""A library's two tools: one that manages memories under ids of its own, one that searches."""

GRAPH = (
    tool(
        "create_entities",
        "Create several new entities in the knowledge graph.",
        "entities",
        entities=_listed(name=TEXT, entityType=TEXT, observations=TEXTS),
    ),
    tool(
        "create_relations",
        "Create relations between entities of the knowledge graph.",
        "relations",
        relations=_listed(**{"from": TEXT, "to": TEXT, "relationType": TEXT}),
    ),
    tool(
        "add_observations",
        "Add observations to existing entities of the knowledge graph.",
        "observations",
        observations=_listed(entityName=TEXT, contents=TEXTS),
    ),
    tool(
        "delete_entities",
        "Delete entities of the knowledge graph, with their relations.",
        "entityNames",
        entityNames=TEXTS,
    ),
    tool("read_graph", "Read the whole knowledge graph."),
    tool("search_nodes", "Search the knowledge graph for nodes.", "query", query=TEXT),
    tool("open_nodes", "Open nodes of the knowledge graph by name.", "names", names=TEXTS),
)
"""A server's knowledge graph of entities with observations."""

UNRELATED = (
    tool("get_weather", "Get the weather of a city.", "city", city=TEXT),
    tool("search_web", "Search the web for pages.", "query", query=TEXT),
    tool("write_file", "Write a file to disk.", "path", path=TEXT, body=TEXT),
    tool("delete_event", "Delete an event of the calendar.", "id", id=TEXT),
    tool("remember_me", "Book a table.", "when", when=TEXT),
)
"""Tools that are about no memory, whatever they are called."""
