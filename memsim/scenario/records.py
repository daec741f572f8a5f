"""Mappings with known keys: one table of fields that both the reader and the JSON Schema follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memsim.errors import ScenarioError
from memsim.scenario import nodes
from memsim.scenario.nodes import Node, Scalar, kind_of, near, shown
from memsim.scenario.values import Kind, Schema, expected

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key of a record.

    Attributes:
        key: as it is written.
        kind: what its value is.
        about: one phrase, shown by editors.
        into: the argument of the record's maker, where that is not the key.
    """

    key: str
    kind: Kind[Any]
    about: str
    required: bool = False
    into: str = ""


class Record(Kind[T], Generic[T]):
    """A mapping with known keys.

    Args:
        noun: what it is called in messages.
        make: makes its value from `line` and the fields by name; what is absent is left out.
        fields: its keys.
        short: the field that a lone value stands for, such as `turns` in `filler: 20`.
    """

    def __init__(
        self,
        noun: str,
        make: Callable[..., T],
        fields: Sequence[Field],
        *,
        short: str | None = None,
    ) -> None:
        self.noun = noun
        self._make = make
        self._fields: Mapping[str, Field] = {field.key: field for field in fields}
        self._required = tuple(field.key for field in fields if field.required)
        self._short = self._fields[short] if short else None

    def read(self, node: Node, name: str) -> T:
        if isinstance(node, nodes.Mapping):
            return self._read_mapping(node, name)
        if self._short is None:
            raise expected(name, "a mapping", node)
        value = self._short.kind.read(node, name)
        return self._make(line=node.line, **{self._short.into or self._short.key: value})

    def _read_mapping(self, node: nodes.Mapping, name: str) -> T:
        values: dict[str, object] = {}
        for key, value in node.entries.items():
            field = self._fields.get(key)
            if field is None:
                raise self._unknown(key, node, name)
            values[field.into or key] = field.kind.read(value, key)
        for key in self._required:
            if key not in node.entries:
                raise ScenarioError(f"{name} has no {key}", line=node.line)
        return self._make(line=node.line, **values)

    def _unknown(self, key: str, node: nodes.Mapping, name: str) -> ScenarioError:
        known = ", ".join(self._fields)
        hint = near(key, self._fields)
        value = node.entries[key]
        if not hint and isinstance(value, Scalar) and value.null:
            rest = "; a text with a comma needs quotes in { }"
        else:
            rest = "" if hint else f"; there are {known}"
        return ScenarioError(
            f"{name} has no key {shown(key)}{rest}", line=node.line_of(key), hint=hint
        )

    def schema(self) -> Schema:
        full: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {f.key: _described(f) for f in self._fields.values()},
        }
        if self._required:
            full["required"] = list(self._required)
        if self._short is None or len(self._required) > 1:
            return full
        return {"anyOf": [self._short.kind.schema(), full]}


def _described(field: Field) -> Schema:
    return {"description": field.about, **field.kind.schema()}


class Action(Kind[T], Generic[T]):
    """A step that is one key with one value, such as `gap: 3d`, and nothing beside it.

    Args:
        key: the step's key.
        kind: what stands under it.
        about: one phrase, shown by editors.
        make: makes the step from `line` and the value; None takes the value itself.
    """

    def __init__(
        self, key: str, kind: Kind[Any], about: str, make: Callable[..., T] | None = None
    ) -> None:
        self.key = key
        self._kind = kind
        self._about = about
        self._make = make

    def read(self, node: Node, name: str) -> T:
        assert isinstance(node, nodes.Mapping)  # noqa: S101 - Steps chooses an action by its key
        for key in node.entries:
            if key != self.key:
                raise ScenarioError(
                    f"{self.key} has no key {shown(key)} beside it", line=node.line_of(key)
                )
        line = node.line_of(self.key)
        value = self._kind.read(node.entries[self.key], name)
        if self._make is None:
            return value  # type: ignore[no-any-return]
        return self._make(line=line, value=value)

    def schema(self) -> Schema:
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [self.key],
            "properties": {self.key: {"description": self._about, **self._kind.schema()}},
        }


class Step(Kind[T], Generic[T]):
    """One item of `turns`: a mapping that does exactly one thing, or a bare word.

    Args:
        actions: what a mapping may do, by the key that says so.
        words: what a bare word does.
    """

    def __init__(
        self, actions: Mapping[str, Kind[T]], words: Mapping[str, Callable[..., T]]
    ) -> None:
        self._actions = actions
        self._words = words

    def read(self, node: Node, name: str) -> T:
        if isinstance(node, Scalar) and node.text in self._words:
            return self._words[node.text](line=node.line)
        if not isinstance(node, nodes.Mapping):
            known = [*self._actions, *self._words]
            hint = near(node.text, known) if isinstance(node, Scalar) else None
            raise ScenarioError(
                f"a turn must be a mapping such as {{user: …}}, not {kind_of(node)}",
                line=node.line,
                hint=hint,
            )
        key = self._key(node)
        return self._actions[key].read(node, key)

    def _key(self, node: nodes.Mapping) -> str:
        keys = [key for key in node.entries if key in self._actions]
        if len(keys) == 1:
            return keys[0]
        if keys:
            raise ScenarioError(
                f"a turn does one thing, and this has both {keys[0]} and {keys[1]}",
                line=node.line_of(keys[1]),
            )
        first = next(iter(node.entries), "")
        if first in self._words:
            raise ScenarioError(f"write - {first} alone, without a colon", line=node.line)
        hint = near(first, self._actions)
        rest = "" if hint else f"; there are {', '.join([*self._actions, *self._words])}"
        raise ScenarioError(
            f"no turn is written {shown(first)}{rest}", line=node.line_of(first), hint=hint
        )

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"enum": list(self._words)},
                *(action.schema() for action in self._actions.values()),
            ]
        }


class Reference(Kind[T], Generic[T]):
    """A kind that is described once and referred to by name.

    Args:
        name: its name below `$defs`.
        kind: what it is.
    """

    def __init__(self, name: str, kind: Callable[[], Kind[T]]) -> None:
        self.name = name
        self._kind = kind

    def read(self, node: Node, name: str) -> T:
        return self._kind().read(node, name)

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.name}"}
