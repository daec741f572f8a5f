"""Read a tool's JSON Schema: its parameters, the role of each, and arguments that it allows.

The role of a parameter follows from the words of its name and from its type. `entityName` and
`memory_id` are keys, `observations` are content, `keywords` are a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from memsim.models import ToolSpec

ParameterRole = Literal["reference", "query", "key", "content", "place", "choice", "other"]

_ROLES: Final[tuple[tuple[ParameterRole, frozenset[str]], ...]] = (
    ("reference", frozenset({"reference", "ref", "offload", "offloaded", "handle", "digest"})),
    ("query", frozenset({"query", "question", "q", "keyword", "search", "pattern"})),
    ("key", frozenset({"key", "id", "uuid", "name", "path", "title", "identifier", "slug"})),
    (
        "content",
        frozenset(
            {"content", "text", "value", "fact", "memory", "memorie", "note", "statement", "body"}
            | {"observation", "data", "information", "message", "entry", "input"}
        ),
    ),
)
_WHOSE: Final = frozenset({"session", "conversation", "thread", "user", "agent", "owner", "tenant"})
"""Words of an id that is not the entry's own."""

_PLACES: Final = frozenset({"start", "offset", "from", "position", "cursor"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_DEPTH: Final = 6
"""Levels of a schema that are read; deeper ones get an empty value."""

_MOST: Final = 200
"""Parameters of a tool that are read: a schema may refer to itself again and again."""

_KINDS: Final = frozenset({"type", "category", "kind", "tag", "label"})
_FILLER: Final = "fact"
"""The value of a required text that names a kind, such as a category."""


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name such as `entityNames` or `max_results`, without a final s."""
    found = (word.lower() for word in _WORD.findall(name))
    return tuple(word.removesuffix("s") if len(word) > 2 else word for word in found)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with a value of its own, at any depth of the schema."""

    name: str
    role: ParameterRole
    required: bool
    listed: bool
    is_text: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentValues:
    """What a call is about, by the role of the parameters that take it.

    Attributes:
        content: the statements to keep.
        keywords: the query as single words, for a parameter that takes a list.
        place: where to go on in a long text.
        choices: values of parameters that name a choice.
    """

    content: tuple[str, ...] = ()
    key: str = ""
    query: str = ""
    keywords: tuple[str, ...] = ()
    reference: str = ""
    place: int | None = None
    choices: Mapping[str, str] = field(default_factory=dict)

    def texts(self, role: ParameterRole) -> tuple[str, ...]:
        """The values for a role; none where the call has nothing to say there."""
        if role == "content":
            return self.content
        if role == "query":
            return self.keywords or ((self.query,) if self.query else ())
        word = {"key": self.key, "reference": self.reference}.get(role, "")
        return (word,) if word else ()


@lru_cache(maxsize=1 << 9)
def parameters(tool: ToolSpec) -> tuple[Parameter, ...]:
    """Every parameter of a tool that holds a text, a number or a choice, in order."""
    schema = _schema(tool)
    leaves = _leaves(schema, schema, "", required=True, listed=False, depth=0)
    return tuple(islice(leaves, _MOST))


def arguments(tool: ToolSpec, values: ArgumentValues, main: ParameterRole) -> dict[str, object]:
    """Arguments that the schema allows.

    Optional parameters are left out, but for those whose role the values speak to.

    Args:
        tool: the tool.
        values: what the call is about.
        main: the role of a required text whose name says nothing.
    """
    schema = _schema(tool)
    given = _filled(schema, schema, values, main, 0)
    found = given if isinstance(given, dict) else {}
    if not any(p.role == main for p in parameters(tool)) and not _says(found, values, main):
        found |= _unnamed(tool, schema, values, main)
    return found


def _schema(tool: ToolSpec) -> dict[str, Any]:
    try:
        schema = json.loads(tool.parameters or "{}")
    except (ValueError, RecursionError):
        return {}
    return schema if isinstance(schema, dict) else {}


def _says(found: Mapping[str, object], values: ArgumentValues, main: ParameterRole) -> bool:
    return any(value in values.texts(main) for value in found.values())


def _unnamed(
    tool: ToolSpec, schema: Mapping[str, Any], values: ArgumentValues, main: ParameterRole
) -> dict[str, object]:
    """The first text parameter with the main value, for a schema whose names say nothing."""
    if not values.texts(main):
        return {}
    told = [p.name for p in parameters(tool) if p.role == "other" and p.is_text and not p.listed]
    closed = schema.get("additionalProperties") is False or bool(_properties(schema))
    name = next(iter(told), "" if closed else main)
    return {name: _joined(values.texts(main))} if name else {}


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    required = schema.get("required")
    return tuple(map(str, required)) if isinstance(required, list) else ()


def _resolved(schema: object, root: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without a reference, and the first of its alternatives that is not null."""
    found = schema if isinstance(schema, dict) else {}
    where = found.get("$ref")
    if isinstance(where, str) and where.startswith("#/"):
        there: object = root
        for part in where[2:].split("/"):
            there = there.get(part) if isinstance(there, dict) else None
        found = there if isinstance(there, dict) else {}
    for several in ("anyOf", "oneOf"):
        options = found.get(several)
        if isinstance(options, list):
            real = [o for o in options if isinstance(o, dict) and o.get("type") != "null"]
            return {**found, **real[0], several: None} if real else found
    return found


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    named = next((k for k in kinds if isinstance(k, str) and k != "null"), "")
    if named:
        return named
    if _properties(schema):
        return "object"
    return "array" if isinstance(schema.get("items"), dict) else "string"


def _choices(schema: Mapping[str, Any]) -> tuple[str, ...]:
    listed = schema.get("enum")
    return tuple(c for c in listed if isinstance(c, str)) if isinstance(listed, list) else ()


def _leaves(
    schema: object, root: Mapping[str, Any], name: str, *, required: bool, listed: bool, depth: int
) -> Iterator[Parameter]:
    found = _resolved(schema, root)
    kind = _type(found) if name or "type" in found else "object"
    if depth >= _DEPTH:
        return
    if kind == "object":
        needed = _required(found)
        for inner, described in _properties(found).items():
            must = required and inner in needed
            yield from _leaves(
                described, root, inner, required=must, listed=listed, depth=depth + 1
            )
    elif kind == "array":
        items = found.get("items")
        yield from _leaves(items, root, name, required=required, listed=True, depth=depth + 1)
    else:
        choices = _choices(found)
        role: ParameterRole = "choice" if choices else _role(name, kind)
        yield Parameter(name, role, required, listed, kind == "string", choices)


def _role(name: str, kind: str) -> ParameterRole:
    spoken = frozenset(name_words(name))
    if kind in {"integer", "number"}:
        return "place" if kind == "integer" and spoken & _PLACES else "other"
    if kind != "string":
        return "other"
    for role, known in _ROLES:
        if spoken & known:
            return "other" if role == "key" and spoken & _WHOSE else role
    return "other"


def _filled(
    schema: object, root: Mapping[str, Any], values: ArgumentValues, main: ParameterRole, depth: int
) -> object:
    found = _resolved(schema, root)
    given: dict[str, object] = {}
    for name, described in _properties(found).items():
        needed = name in _required(found)
        if depth < _DEPTH and (needed or _speaks(described, root, name, values, main)):
            given[name] = _value(described, root, name, values, main, depth)
    for name in _required(found):
        given.setdefault(name, _joined(values.texts(main)) or _FILLER)
    return given


def _speaks(
    schema: object, root: Mapping[str, Any], name: str, values: ArgumentValues, main: ParameterRole
) -> bool:
    """Whether an optional parameter takes something that the values have."""
    leaves = _leaves(schema, root, name, required=True, listed=False, depth=0)
    for leaf in islice(leaves, _MOST):
        if leaf.role == "choice" and leaf.name in values.choices:
            return True
        if leaf.role == "place" and values.place:
            return True
        # An id that the store gives to a new entry is none of the agent's business.
        if leaf.role == "key" and main == "content":
            continue
        if values.texts(leaf.role):
            return True
    return False


def _value(
    schema: object,
    root: Mapping[str, Any],
    name: str,
    values: ArgumentValues,
    main: ParameterRole,
    depth: int,
) -> object:
    found = _resolved(schema, root)
    kind = _type(found)
    if kind == "object":
        return _filled(found, root, values, main, depth + 1)
    if kind == "array":
        return _items(found, root, name, values, main, depth)
    return _single(found, kind, name, values)


def _single(schema: Mapping[str, Any], kind: str, name: str, values: ArgumentValues) -> object:
    choices = _choices(schema)
    if choices:
        return values.choices.get(name, choices[0])
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if kind in {"integer", "number"}:
        return _number(schema, name, values)
    return False if kind == "boolean" else _text(schema, name, values)


def _items(
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    name: str,
    values: ArgumentValues,
    main: ParameterRole,
    depth: int,
) -> list[object]:
    inner = _resolved(schema.get("items"), root)
    if depth >= _DEPTH:
        return []
    if _type(inner) == "string" and not _choices(inner):
        role = _role(name, "string")
        texts = values.texts(main if role == "other" else role)
        return [_within(inner, text) for text in texts or (_FILLER,)]
    return [_value(inner, root, name, values, main, depth + 1)]


def _number(schema: Mapping[str, Any], name: str, values: ArgumentValues) -> object:
    if values.place is not None and _role(name, "integer") == "place":
        return values.place
    usual = schema.get("default", schema.get("minimum"))
    return usual if isinstance(usual, int | float) else 1


def _text(schema: Mapping[str, Any], name: str, values: ArgumentValues) -> str:
    role = _role(name, "string")
    told = values.query if role == "query" else _joined(values.texts(role))
    if not told:
        kind = not _KINDS.isdisjoint(name_words(name))
        usual = schema.get("default")
        told = usual if isinstance(usual, str) else ("" if kind else values.key) or _FILLER
    return _within(schema, told)


def _within(schema: Mapping[str, Any], text: str) -> str:
    most = schema.get("maxLength")
    return text[:most] if isinstance(most, int) and most >= 0 else text


def _joined(texts: Sequence[str]) -> str:
    return " ".join(texts)
