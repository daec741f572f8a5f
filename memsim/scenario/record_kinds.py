"""Kinds of mappings and lists: read from nodes, and described as JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import Any, Generic, TypeVar, get_type_hints

from memsim.errors import ErrorCollector, ScenarioError
from memsim.fast_dataclass import fast_init
from memsim.scenario.document import (
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    describe_node,
    nearest_name,
    quote,
)
from memsim.scenario.value_kinds import DistinctNames, FieldKind, NameKind, Schema, wrong_kind

ItemT = TypeVar("ItemT")


class NamesKind(FieldKind[tuple[str, ...]]):
    """A list of names, each once.

    Args:
        noun: what they name, for messages.
        single: whether one name may stand without its list.
    """

    def __init__(self, noun: str, *, single: bool = False) -> None:
        self._noun = noun
        self._single = single

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        names = ListOf(NameKind(), single=self._single).read(node, name)
        seen = DistinctNames(self._noun)
        items = node.items if isinstance(node, ListNode) else (node,)
        for each, item in zip(names, items, strict=True):
            seen.add(each, item.line)
        return names

    def schema(self) -> Schema:
        several: Schema = {
            "type": "array",
            "items": NameKind().schema(),
            "minItems": 1,
            "uniqueItems": True,
        }
        return {"anyOf": [NameKind().schema(), several]} if self._single else several


class ListOf(FieldKind[tuple[ItemT, ...]]):
    """Several values of a kind.

    Args:
        kind: what each is.
        single: whether one value may stand without its list.
        least: how many there must be.
    """

    def __init__(self, kind: FieldKind[ItemT], *, single: bool = False, least: int = 1) -> None:
        self._kind = kind
        self._single = single
        self._least = least

    def read(self, node: Node, name: str) -> tuple[ItemT, ...]:
        if not isinstance(node, ListNode):
            if self._single:
                return (self._kind.read(node, name),)
            raise wrong_kind(name, "a list", node)
        if len(node.items) < self._least:
            raise ScenarioError(f"{name} is an empty list", line=node.line)
        errors = ErrorCollector()
        found = [errors.read(partial(self._kind.read, item, name)) for item in node.items]
        errors.end()
        return tuple(found)

    def schema(self) -> Schema:
        item = self._kind.schema()
        several: Schema = {"type": "array", "items": item, "minItems": self._least}
        return {"anyOf": [item, several]} if self._single else several


@fast_init
@dataclass(frozen=True, slots=True)
class Named(Generic[ItemT]):
    """A value under a name, with the line of the name."""

    name: str
    value: ItemT
    line: int | None


class MapOf(FieldKind[tuple[Named[ItemT], ...]]):
    """Values under names that differ in more than case, in the order written.

    Args:
        kind: what each value is.
        names: what each name is.
        noun: what a name names, for messages.
        most: how many there may be; None for as many as a file may hold.
    """

    def __init__(
        self,
        kind: FieldKind[ItemT],
        noun: str,
        names: FieldKind[str] | None = None,
        *,
        most: int | None = None,
    ) -> None:
        self._kind = kind
        self._names = names or NameKind()
        self._noun = noun
        self._most = most

    def read(self, node: Node, name: str) -> tuple[Named[ItemT], ...]:
        if not isinstance(node, MappingNode):
            raise wrong_kind(name, "a mapping", node)
        if self._most is not None and len(node.entries) > self._most:
            raise ScenarioError(f"{name} has more than {self._most:,} entries", line=node.line)
        seen = DistinctNames(self._noun)
        errors = ErrorCollector()
        found = [errors.read(partial(self._item, node, key, seen)) for key in node.entries]
        errors.end()
        return tuple(found)

    def _item(self, node: MappingNode, key: str, seen: DistinctNames) -> Named[ItemT]:
        line = node.lines[key]
        self._names.read(ScalarNode(key, line), self._noun)
        seen.spell(key, line)
        return Named(key, self._kind.read(node.entries[key], f"{self._noun} {key}"), line)

    def schema(self) -> Schema:
        most: Schema = {} if self._most is None else {"maxProperties": self._most}
        return {
            "type": "object",
            **most,
            "propertyNames": self._names.schema(),
            "additionalProperties": self._kind.schema(),
        }


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Key:
    """The key that fills a field of a record: `Annotated[str, Key(TextKind(), "the question")]`.

    Attributes:
        kind: what its value is.
        about: one phrase, shown by editors.
        key: as it is written, where that is not the field's name.
    """

    kind: FieldKind[Any]
    about: str
    key: str = ""


class RecordKind(FieldKind[T], Generic[T]):
    """A mapping with known keys, one for each field of a dataclass that is annotated with a `Key`.

    A field without a default is a key that must be there. A field `line` gets the mapping's line,
    and a field `key_lines` that of each key, by the key's field.

    Args:
        noun: what it is called in messages.
        record: the dataclass.
        short: the field that a lone value stands for, such as `turns` in `filler: 20`.
        keys: other keys for some of the fields, by field.
        required: keys that must be there although their fields have a default.
        **fixed: fields that are not written, with their values.
    """

    def __init__(
        self,
        noun: str,
        record: type[T],
        *,
        short: str | None = None,
        keys: Mapping[str, str] | None = None,
        required: tuple[str, ...] = (),
        **fixed: object,
    ) -> None:
        self.noun = noun
        self._make = record
        self._fixed = fixed
        self._lined = self._each_lined = False
        self._fields: dict[str, tuple[str, Key]] = {}
        self._required = list(required)
        hints = get_type_hints(record, include_extras=True)
        for field in fields(record):  # type: ignore[arg-type]
            self._lined = self._lined or field.name == "line"
            self._each_lined = self._each_lined or field.name == "key_lines"
            for note in getattr(hints[field.name], "__metadata__", ()):
                key = (keys or {}).get(field.name) or note.key or field.name
                self._fields[key] = field.name, note
                if field.default is MISSING and field.default_factory is MISSING:
                    self._required.append(key)
        self._short = self._fields[short] if short else None

    def read(self, node: Node, name: str) -> T:
        if isinstance(node, MappingNode):
            return self._read_mapping(node, name)
        if self._short is None:
            raise wrong_kind(name, "a mapping", node)
        into, key = self._short
        return self._made(node, {into: key.kind.read(node, name)})

    def _read_mapping(self, node: MappingNode, name: str) -> T:
        values: dict[str, object] = {}
        errors = ErrorCollector()
        for key, value in node.entries.items():
            if (field := self._fields.get(key)) is None:
                errors.add(self._unknown(key, node, name))
            else:
                values[field[0]] = errors.read(partial(field[1].kind.read, value, key))
        if self._each_lined:
            known = node.entries.keys() & self._fields.keys()
            values["key_lines"] = {self._fields[key][0]: node.line_of(key) for key in known}
        for key in self._required:
            if key not in node.entries:
                errors.add(ScenarioError(f"missing key {quote(key)} in {name}", line=node.line))
        errors.end()
        return self._made(node, values)

    def _made(self, node: Node, values: dict[str, object]) -> T:
        if self._lined:
            values["line"] = node.line
        return self._make(**values, **self._fixed)

    def _unknown(self, key: str, node: MappingNode, name: str) -> ScenarioError:
        known = ", ".join(self._fields)
        hint = nearest_name(key, self._fields)
        value = node.entries[key]
        if not hint and isinstance(value, ScalarNode) and value.null:
            rest = "; a text with a comma needs quotes in { }"
        else:
            rest = "" if hint else f"; known keys: {known}"
        return ScenarioError(
            f"unknown key {quote(key)} in {name}{rest}", line=node.line_of(key), hint=hint
        )

    def schema(self) -> Schema:
        full: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                key: {"description": note.about, **note.kind.schema()}
                for key, (_, note) in self._fields.items()
            },
        }
        if self._required:
            full["required"] = self._required
        if self._short is None or len(self._required) > 1:
            return full
        return {"anyOf": [self._short[1].kind.schema(), full]}


class ActionKind(FieldKind[T], Generic[T]):
    """A step that is one key with one value, such as `gap: 3d`, and nothing beside it.

    Args:
        key: the step's key.
        kind: what stands under it.
        about: one phrase, shown by editors.
        make: makes the step from `line` and the value; None takes the value itself.
    """

    def __init__(
        self, key: str, kind: FieldKind[Any], about: str, make: Callable[..., T] | None = None
    ) -> None:
        self.key = key
        self._kind = kind
        self._about = about
        self._make = make

    def read(self, node: Node, name: str) -> T:
        assert isinstance(node, MappingNode)  # noqa: S101 - Steps chooses an action by its key
        for key in node.entries:
            if key != self.key:
                raise ScenarioError(
                    f"unknown key {quote(key)} beside {self.key}; a turn does one thing",
                    line=node.line_of(key),
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


class StepKind(FieldKind[T], Generic[T]):
    """One item of `turns`: a mapping that does exactly one thing, or a bare word.

    Args:
        actions: what a mapping may do, by the key that says so.
        words: what a bare word does.
    """

    def __init__(
        self, actions: Mapping[str, FieldKind[T]], words: Mapping[str, Callable[..., T]]
    ) -> None:
        self._actions = actions
        self._words = words

    def read(self, node: Node, name: str) -> T:
        if isinstance(node, ScalarNode) and node.text in self._words:
            return self._words[node.text](line=node.line)
        if not isinstance(node, MappingNode):
            known = [*self._actions, *self._words]
            hint = nearest_name(node.text, known) if isinstance(node, ScalarNode) else None
            raise ScenarioError(
                f"a turn must be a mapping such as {{user: …}}, not {describe_node(node)}",
                line=node.line,
                hint=hint,
            )
        key = self._key(node)
        return self._actions[key].read(node, key)

    def _key(self, node: MappingNode) -> str:
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
        hint = nearest_name(first, self._actions)
        rest = "" if hint else f"; known turns: {', '.join([*self._actions, *self._words])}"
        raise ScenarioError(
            f"unknown turn {quote(first)}{rest}", line=node.line_of(first), hint=hint
        )

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"enum": list(self._words)},
                *(action.schema() for action in self._actions.values()),
            ]
        }


class ReferenceKind(FieldKind[T], Generic[T]):
    """A kind that is described once and referred to by name.

    Args:
        name: its name below `$defs`.
        kind: what it is.
    """

    def __init__(self, name: str, kind: Callable[[], FieldKind[T]]) -> None:
        self.name = name
        self._kind = kind

    def read(self, node: Node, name: str) -> T:
        return self._kind().read(node, name)

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.name}"}
