"""Check JSON values against annotated types, with an error that says where the wrong one is.

Known are `str`, `int`, `float`, `bool`, `None`, `Any`, `object`, unions, `Literal`, lists, tuples,
mappings with texts as keys, `TypedDict` and dataclasses. A `TypedDict` may have further keys; a
dataclass may not.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from memsim.errors import nearest

Reader = Callable[[Any], Any]
"""Returns what a JSON value stands for; raises `WrongTypeError`."""

_WORDS: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
    list: "a list",
    dict: "an object",
}
_LONGEST = 40
_LARGEST = 2**63 - 1
"""Of whole numbers and others: sums of them do not overflow."""


class WrongTypeError(ValueError):
    """A JSON value is not of its type; `path` leads to it from the outermost value."""

    def __init__(self, said: str) -> None:
        self.path: list[str | int] = []
        self.said = said
        super().__init__(said)

    def __str__(self) -> str:
        where = "".join(_step(step) for step in self.path).lstrip(".")
        return f"{where}: {self.said}" if where else self.said


def convert(value: object, kind: Any) -> Any:  # noqa: ANN401 - any annotation, and a value of it
    """Return what a JSON value stands for, as a value of an annotated type.

    Raises:
        WrongTypeError: the value, or one inside it, is not of its type.
    """
    return _reader(kind)(value)


@cache
def _reader(kind: Any) -> Reader:  # noqa: ANN401 - any annotation
    if make := _GENERIC.get(get_origin(kind)):
        return make(get_args(kind))
    if kind is Any or kind is object:
        return _anything
    if is_typeddict(kind):
        return partial(_keys, _fields_of(kind), _required(kind))
    if dataclasses.is_dataclass(kind):
        return partial(_record, kind, _fields_of(kind))
    if kind in (int, float):
        return partial(_amount, kind)
    return partial(_scalar, kind if kind is not None else type(None))


def _fields_of(kind: Any) -> dict[str, Reader]:  # noqa: ANN401 - a class
    hints = get_type_hints(kind, include_extras=True)
    return {name: _reader(hint) for name, hint in hints.items()}


def _required(kind: Any) -> frozenset[str]:  # noqa: ANN401 - a TypedDict
    # `__required_keys__` takes annotations that are texts for required ones.
    if not kind.__total__:
        return frozenset()
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if get_origin(hint) is not NotRequired)


def _anything(value: object) -> object:
    return value


def _scalar(kind: type, value: object) -> object:
    if type(value) is kind:
        return value
    raise WrongTypeError(f"is {_word(value)}, not {_WORDS.get(kind, kind.__name__)}")


def _amount(kind: type, value: object) -> object:
    if type(value) is int or (type(value) is float and kind is float):
        if -_LARGEST <= value <= _LARGEST:
            return value
        raise WrongTypeError("is too large a number")
    raise WrongTypeError(f"is {_word(value)}, not {_WORDS[kind]}")


def _choice(known: tuple[object, ...], value: object) -> object:
    if isinstance(value, str | int) and value in known:
        return value
    hint = (
        nearest(value, [k for k in known if isinstance(k, str)]) if isinstance(value, str) else None
    )
    did = f" (did you mean {hint!r}?)" if hint else ""
    raise WrongTypeError(f"is {_shown(value)}, which is not known{did}")


def _union(args: tuple[Any, ...]) -> Reader:
    if len(args) == 2 and type(None) in args:
        inner = _reader(args[0] if args[1] is type(None) else args[1])
        return lambda value: None if value is None else inner(value)
    readers = [_reader(arg) for arg in args]
    words = " or ".join(_WORDS.get(get_origin(arg) or arg, "another value") for arg in args)

    def read(value: object) -> object:
        for reader in readers:
            try:
                return reader(value)
            except WrongTypeError:
                continue
        raise WrongTypeError(f"is {_word(value)}, not {words}")

    return read


def _items(inner: Reader, make: Callable[[list[Any]], Any], value: object) -> object:
    if not isinstance(value, list | tuple):
        raise WrongTypeError(f"is {_word(value)}, not a list")
    made: list[Any] = []
    try:
        made.extend(map(inner, value))
    except WrongTypeError as error:
        error.path.insert(0, len(made))
        raise
    return make(made)


def _fixed(readers: tuple[Reader, ...], value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != len(readers):
        raise WrongTypeError(f"is {_word(value)}, not a list of {len(readers)}")
    rows = enumerate(zip(readers, value, strict=True))
    return tuple(_inside(place, reader, each) for place, (reader, each) in rows)


def _values(inner: Reader, value: object) -> object:
    if not isinstance(value, dict):
        raise WrongTypeError(f"is {_word(value)}, not an object")
    for key, each in value.items():
        try:
            inner(each)
        except WrongTypeError as error:
            error.path.insert(0, key)
            raise
    return value


def _keys(fields: Mapping[str, Reader], required: frozenset[str], value: object) -> object:
    if not isinstance(value, dict):
        raise WrongTypeError(f"is {_word(value)}, not an object")
    if not required <= value.keys():
        name = min(required - value.keys())
        raise WrongTypeError(f"has no {name!r}{_meant(name, value.keys() - fields.keys())}")
    name = ""
    try:
        for name, read in fields.items():
            if name in value:
                read(value[name])
    except WrongTypeError as error:
        error.path.insert(0, name)
        raise
    return value


def _record(kind: Any, fields: Mapping[str, Reader], value: object) -> object:  # noqa: ANN401 - a class
    if not isinstance(value, dict):
        raise WrongTypeError(f"is {_word(value)}, not an object")
    for name in value:
        if name not in fields:
            raise WrongTypeError(f"has an unknown key {_shown(name)}{_meant(name, fields)}")
    made = {name: _inside(name, fields[name], each) for name, each in value.items()}
    try:
        return kind(**made)
    except TypeError as error:
        lacking = [f.name for f in dataclasses.fields(kind) if f.name not in made]
        raise WrongTypeError(f"lacks one of {', '.join(lacking)}") from error


def _tuple(args: tuple[Any, ...]) -> Reader:
    if args[-1] is Ellipsis:
        return partial(_items, _reader(args[0]), tuple)
    return partial(_fixed, tuple(_reader(arg) for arg in args))


_GENERIC: Mapping[object, Callable[[tuple[Any, ...]], Reader]] = {
    NotRequired: lambda args: _reader(args[0]),
    Literal: lambda args: partial(_choice, args),
    Union: _union,
    types.UnionType: _union,
    tuple: _tuple,
    list: lambda args: partial(_items, _reader(args[0]), list),
    Sequence: lambda args: partial(_items, _reader(args[0]), list),
    dict: lambda args: partial(_values, _reader(args[1])),
    Mapping: lambda args: partial(_values, _reader(args[1])),
}
"""Makes the reader of an annotation with arguments, by what the arguments stand behind."""


def _inside(name: str | int, read: Reader, value: object) -> object:
    try:
        return read(value)
    except WrongTypeError as error:
        error.path.insert(0, name)
        raise


def _meant(name: str, known: Any) -> str:  # noqa: ANN401 - names
    hint = nearest(name, known)
    return f" (did you mean {hint!a}?)" if hint else ""


def _word(value: object) -> str:
    return _WORDS.get(type(value), type(value).__name__)


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{_shown(step)}]"
