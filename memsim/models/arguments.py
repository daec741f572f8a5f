"""Whether a tool's arguments are such as its schema allows: what fails on others is no bug of it.

Of JSON Schema it knows what tools are described with: types, required and further properties, words
to choose from, bounds of numbers and lengths, and what lists hold. What it does not know, it does
not check.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def allowed(arguments: str, parameters: str) -> bool:
    """Whether a tool may be given these arguments.

    Args:
        arguments: as a model wrote them.
        parameters: the tool's JSON Schema as text; what is none allows whatever is an object.
    """
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return False
    try:
        schema = json.loads(parameters or "{}")
    except (ValueError, RecursionError):
        schema = {}
    return isinstance(given, dict) and _fits(given, schema)


def _fits(value: object, schema: Any) -> bool:  # noqa: ANN401 - a strategy's own JSON
    if not isinstance(schema, dict):
        return True
    kinds = schema.get("type")
    named = kinds if isinstance(kinds, list) else [kinds]
    known = [name for name in named if isinstance(name, str) and name in _TYPES]
    if known and not any(_is(value, name) for name in known):
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        return _object_fits(value, schema)
    if isinstance(value, list):
        return all(_fits(item, schema.get("items")) for item in value)
    return _within(value, schema)


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _object_fits(value: Mapping[str, object], schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    described = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    if isinstance(required, list) and any(name not in value for name in required):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= described.keys():
        return False
    return all(_fits(each, described.get(name)) for name, each in value.items())


def _within(value: object, schema: Mapping[str, Any]) -> bool:
    size, least, most = value, "minimum", "maximum"
    if isinstance(value, str):
        if any("\ud800" <= c <= "\udfff" for c in value):
            return False  # half an emoji is no text
        size, least, most = len(value), "minLength", "maxLength"
    if not isinstance(size, int | float):
        return True
    low, high = schema.get(least), schema.get(most)
    if isinstance(low, int | float) and not size >= low:
        return False
    return not isinstance(high, int | float) or size <= high
