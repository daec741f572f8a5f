"""What a memory's tools are for, by their descriptions and schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from memsim.memory.tools import TOOLS, _spec
from memsim.models import ToolSpec
from memsim.models.offline.tool_purpose import tool_usages
from memsim.models.offline.tool_schema import ArgumentValues, arguments, name_words, parameters
from memsim.replay.tool_agent import arguments_allowed
from memsim.systems.agenticx.tools import tool_specs as agenticx_tools
from memsim.systems.agentscope.tools import LONG_TERM_TOOLS, RELOAD_TOOL
from memsim.systems.prx.tools import DOCUMENTED, REAL
from memsim.systems.prx.tools import tool_specs as prx_tools
from tests.models.foreign_tools import GRAPH, MANAGED, TEXT, UNRELATED, tool

OURS = tuple(_spec(name, described) for name, described in TOOLS.items())
PRX = {
    "memory_store": ["store"],
    "memory_forget": ["forget"],
    "memory_get": ["get"],
    "memory_recall": ["search"],
    "memory_search": ["search"],
}
SETS: dict[str, tuple[Sequence[ToolSpec], dict[str, list[str]]]] = {
    "memsim.memory": (
        OURS,
        {
            **PRX,
            "record_to_memory": ["store"],
            "retrieve_from_memory": ["search"],
            "scratchpad_write": ["write notes"],
            "scratchpad_read": ["read notes"],
            "memory_reload": ["reload"],
            "memory_append": ["append"],
        },
    ),
    "agenticx": (
        agenticx_tools(),
        {
            "scratchpad_write": ["write notes"],
            "scratchpad_read": ["read notes"],
            "memory_append": ["append"],
            "memory_search": ["search"],
            "session_search": ["search sessions"],
        },
    ),
    "agentscope": (
        (*LONG_TERM_TOOLS, RELOAD_TOOL),
        {
            "record_to_memory": ["store"],
            "retrieve_from_memory": ["search"],
            "context_reload": ["reload"],
        },
    ),
    "prx": (prx_tools(DOCUMENTED, acl=False), PRX),
    "prx 0.3.0": (prx_tools(REAL, acl=False), PRX),
    "managed": (
        MANAGED,
        {"manage_memory": ["store", "update", "forget"], "search_memory": ["search"]},
    ),
    "graph": (
        GRAPH,
        {
            "create_entities": ["store"],
            "create_relations": [],
            "add_observations": ["update"],
            "delete_entities": ["forget"],
            "read_graph": ["list"],
            "search_nodes": ["search"],
            "open_nodes": ["get"],
        },
    ),
    "unrelated": (UNRELATED, {spec.name: [] for spec in UNRELATED}),
}


@pytest.mark.parametrize("name", SETS)
def test_each_tool_has_its_purpose_whatever_it_is_called(name: str) -> None:
    """The words of descriptions and parameters decide; names do not."""
    tools, expected = SETS[name]
    renamed = tuple(replace(spec, name=f"tool_{n}") for n, spec in enumerate(tools))
    usages, unnamed = tool_usages(tuple(tools)), tool_usages(renamed)

    assert expected == {t.name: [u.purpose for u in usages if u.tool == t] for t in tools}
    assert [u.purpose for u in usages] == [u.purpose for u in unnamed]


def test_a_tool_without_a_description_is_known_by_its_name() -> None:
    """There is nothing else to go by."""
    named = (tool("saveNote", "", "body", body=TEXT), tool("find_memories", "", "q", q=TEXT))

    assert ["store", "search"] == [usage.purpose for usage in tool_usages(named)]


FULL = ArgumentValues(
    content=("The locker is 7741.", "The bus is late."),
    key="locker_7741",
    query="Which locker?",
    keywords=("Which locker?",),
    reference="sha256:12ab",
    place=40,
)
MAIN = {"store": "content", "append": "content", "write notes": "content", "update": "key"}


@pytest.mark.parametrize("name", SETS)
def test_arguments_are_what_the_schema_allows(name: str) -> None:
    """For every way to use each tool, whether the values say much or nothing."""
    for usage in tool_usages(tuple(SETS[name][0])):
        for values in (FULL, ArgumentValues()):
            main = MAIN.get(usage.purpose, "query")
            chosen = replace(values, choices=dict(usage.choices))
            given = arguments(usage.tool, chosen, main)  # type: ignore[arg-type]
            assert arguments_allowed(json.dumps(given), usage.tool.parameters), usage


HARD = """{"type": "object", "required": ["when", "text", "count", "loud", "item", "kind", "deep"],
"$defs": {"Item": {"type": "object", "properties": {"memory_text": {"type": "string"}},
                   "required": ["memory_text"]}},
"properties": {"when": {"type": "string", "default": "now"},
               "text": {"type": ["string", "null"], "maxLength": 9},
               "count": {"type": "integer", "minimum": 3}, "loud": {"type": "boolean"},
               "item": {"$ref": "#/$defs/Item"}, "kind": {"const": "note"},
               "deep": {"oneOf": [{"type": "null"},
                                  {"type": "array", "items": {"type": "number"}}]}},
"additionalProperties": false}"""


def test_a_hard_schema_gets_arguments_too() -> None:
    """References, bounds, constants, alternatives and lists of numbers."""
    hard = ToolSpec(name="t", description="Save a note.", parameters=HARD)
    given = arguments(hard, FULL, "content")

    assert arguments_allowed(json.dumps(given), HARD)
    assert ("now", "The locke", 3, False, "note", [1]) == tuple(
        given[name] for name in ("when", "text", "count", "loud", "kind", "deep")
    )
    assert {"memory_text": "The locker is 7741. The bus is late."} == given["item"]


@pytest.mark.parametrize(
    ("name", "words", "role"),
    [
        ("entityNames", ("entity", "name"), "key"),
        ("memory_id", ("memory", "id"), "key"),
        ("session_id", ("session", "id"), "other"),
        ("observations", ("observation",), "content"),
        ("keywords", ("keyword",), "query"),
        ("working_context_offload_uuid", ("working", "context", "offload", "uuid"), "reference"),
    ],
)
def test_a_parameter_has_the_role_of_its_words(
    name: str, words: tuple[str, ...], role: str
) -> None:
    """Whose id it is tells an entry's key from a conversation's."""
    (found,) = parameters(tool("t", "d", **{name: TEXT}))

    assert (words, role) == (name_words(name), found.role)


LOOP = """{"type": "object", "required": ["a", "b", "c"], "properties": {
"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"type": "integer", "enum": [4, 8]}}}"""


def test_a_schema_that_refers_to_itself_is_read_to_a_depth() -> None:
    """It has no end, and a number among few is one of them."""
    looped = ToolSpec(name="t", description="Save a note.", parameters=LOOP)

    assert len(parameters(looped)) <= 200
    assert 4 == arguments(looped, FULL, "content")["c"]
