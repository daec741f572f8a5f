"""Convert the parameters of a ref to the types in the strategy's signature."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence

from memsim.discovery.strategy_source import Param
from memsim.errors import RefError, nearest

Value = int | float | bool | str | None

_ON = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def read_params(
    given: Sequence[tuple[str, str]], known: Sequence[Param], handle: str
) -> dict[str, Value]:
    """The values of a ref's parameters.

    Raises:
        RefError: a parameter is unknown or missing, or a value has the wrong type.
    """
    by_name = {p.name: p for p in known}
    values: dict[str, Value] = {}
    for name, text in given:
        if name not in by_name:
            raise _unknown(name, by_name, handle)
        values[name] = read_value(text, by_name[name], handle)
    for param in known:
        if param.default is None and param.name not in values:
            raise RefError(f"{handle} needs {param.name}: write {handle}:{param.name}=...")
    return values


def _unknown(name: str, known: Mapping[str, Param], handle: str) -> RefError:
    takes = ", ".join(known) or "no parameters"
    return RefError(
        f"{handle} has no parameter {name!r}; it takes {takes}", hint=nearest(name, known)
    )


def read_value(text: str, param: Param, handle: str) -> Value:
    """Convert one value.

    The annotation determines the type: int, float, bool (on, off, true, false), str, `Literal` and
    unions of these with None. Without a readable annotation, the default determines it.

    Raises:
        RefError: the text does not have the type.
    """
    kinds = _kinds(param)
    for kind in kinds:
        read, value = _read(text, kind)
        if read:
            return value
    choices = [str(k[1]) for k in kinds if k[0] == "literal"]
    wanted = " or ".join([_article(k[0]) for k in kinds if k[0] != "literal"] + choices)
    raise RefError(
        f"{handle}: {param.name} must be {wanted}, not {text!r}", hint=nearest(text, choices)
    )


_Kind = tuple[str, Value]


def _article(kind: str) -> str:
    return {"int": "a whole number", "float": "a number", "bool": "on or off"}.get(kind, kind)


def _read(text: str, kind: _Kind) -> tuple[bool, Value]:
    name, constant = kind
    if name == "literal":
        return text == str(constant), constant
    if name == "none":
        return text.lower() == "none", None
    if name == "bool":
        known = _ON.get(text.lower())
        return known is not None, known
    if name == "int":
        return _number(text, int)
    if name == "float":
        return _number(text, float)
    return True, text


def _number(text: str, kind: type[int | float]) -> tuple[bool, Value]:
    if "_" in text:
        return False, None  # Python accepts this notation, but it is not meant here
    try:
        value = kind(text)
    except ValueError:
        return False, None
    return math.isfinite(value), value


def _kinds(param: Param) -> list[_Kind]:
    try:
        node = ast.parse(param.annotation, mode="eval").body if param.annotation else None
    except SyntaxError:
        node = None
    kinds = _of_annotation(node) if node is not None else []
    # str comes last, because every value is a text.
    return sorted(kinds or _of_default(param), key=lambda kind: kind[0] == "str")


def _of_annotation(node: ast.expr) -> list[_Kind]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _of_annotation(node.left), _of_annotation(node.right)
        return left + right if left and right else []
    if isinstance(node, ast.Constant):
        return [("none", None)] if node.value is None else []
    if isinstance(node, ast.Subscript):
        return _of_generic(node)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return [(name, None)] if name in {"int", "float", "bool", "str"} else []


def _of_generic(node: ast.Subscript) -> list[_Kind]:
    name = (
        node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    )
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal":
        return [("literal", n.value) for n in inner if _is_plain(n)]  # type: ignore[attr-defined]
    if name == "Optional":
        return [*_of_annotation(inner[0]), ("none", None)]
    return []


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool | str)


def _of_default(param: Param) -> list[_Kind]:
    try:
        default = ast.literal_eval(param.default) if param.default else None
    except (ValueError, SyntaxError):
        default = None
    kind = type(default).__name__
    return [(kind, None)] if kind in {"int", "float", "bool", "str"} else [("str", None)]
