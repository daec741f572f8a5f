"""Which arguments a tool's schema allows."""

from __future__ import annotations

import json

import pytest

from memsim.replay.tool_agent import arguments_allowed

SCHEMA = {
    "type": "object",
    "properties": {
        "key": {"type": "string", "minLength": 1},
        "words": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "kind": {"enum": ["core", "daily"]},
        "note": {"type": ["string", "null"]},
        "inner": {"type": "object", "required": ["x"]},
    },
    "required": ["key"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ('{"key": "k"}', True),
        ('{"key": "k", "words": ["a"], "count": 9, "kind": "core", "note": null}', True),
        ('{"key": "k", "inner": {"x": [1]}}', True),
        ("", False),
        ("{", False),
        ("[" * 99_999, False),
        ('["key"]', False),
        ('{"words": []}', False),
        ('{"key": ""}', False),
        ('{"key": 5}', False),
        ('{"key": "\\ud83d"}', False),
        ('{"key": "k", "words": "a"}', False),
        ('{"key": "k", "words": [1]}', False),
        ('{"key": "k", "count": true}', False),
        ('{"key": "k", "count": 10}', False),
        ('{"key": "k", "count": 1.5}', False),
        ('{"key": "k", "count": NaN}', False),
        ('{"key": "k", "kind": "other"}', False),
        ('{"key": "k", "inner": {}}', False),
        ('{"key": "k", "owner": "ben"}', False),
    ],
)
def test_a_schema_allows_what_it_says(given: str, fits: bool) -> None:
    """Types, bounds, choices, what is required and what is further."""
    assert fits is arguments_allowed(given, json.dumps(SCHEMA))


@pytest.mark.parametrize(
    "schema",
    [
        *("", "{", "[]", "5", '{"properties": 5, "type": "strange", "items": 3}'),
        '{"type": 5, "required": 7, "properties": {"anything": {"minimum": "1", "type": {}}}}',
    ],
)
def test_where_nothing_is_described_any_object_will_do(schema: str) -> None:
    """A strategy's own schema need not be one."""
    assert arguments_allowed('{"anything": [1, {"a": null}]}', schema)
    assert arguments_allowed("", schema)
    assert not arguments_allowed("[]", schema)
