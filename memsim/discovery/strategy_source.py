"""Read the strategies of a file from its syntax tree, without executing it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from memsim.discovery.strategy_ref import Origin, snake_case
from memsim.errors import RefError
from memsim.json_input import read_bytes

_PACKAGE = Path(__file__).resolve().parents[1]
_SYSTEMS = _PACKAGE / "systems"
"""Its packages open with the statements of the systems that are reproduced."""

_MOST_BYTES = 2**20
"""Of a file; its syntax tree takes hundreds of times as much."""

_ARGUMENT = re.compile(r"^\s*(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
_ROW = re.compile(r"^\*\s+(?:(API|not reproduced):\s+)?(.+?)(?:\s*->\s*(test_\w+))?$")
_SECTION = re.compile(
    r"^\s*(Args|Arguments|Parameters|Attributes|Raises|Returns|Example|Examples):\s*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A parameter of a strategy.

    Attributes:
        default: its default as source text; None when it must be given.
        annotation: its type as source text, aliases of the same file resolved; empty for none.
        doc: what the docstring says of it.
    """

    name: str
    default: str | None = None
    annotation: str = ""
    doc: str = ""


FidelityMark = Literal["replayed", "API", "not reproduced"]
"""How far a statement of a reproduced system holds.

`replayed`: a scenario or a command reaches what does it. `API`: only callers of the classes do.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityRow:
    """A statement about a reproduced system; `test` checks it, and is empty if there is none."""

    text: str
    test: str = ""
    mark: FidelityMark = "replayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategySource:
    """A strategy as its source describes it.

    Attributes:
        path: the file; None for an installed strategy without source.
        doc: the first line of its docstring.
        control: its `control`, if the class sets it to a literal; otherwise empty.
        shadows: the origin of another strategy of that name that it replaces; empty for none.
        fidelity: statements of the system that it reproduces.
        entry: the entry point of an installed strategy, `module:Class`.
        problem: why the file or entry point provides no strategy; empty if it does.
    """

    name: str
    path: Path | None = None
    line: int = 0
    class_name: str = ""
    doc: str = ""
    origin: Origin = "path"
    control: str = ""
    shadows: str = ""
    params: tuple[Param, ...] = ()
    fidelity: tuple[FidelityRow, ...] = ()
    entry: str = ""
    problem: str = ""


def strategies_in(
    path: Path, *, origin: Origin = "path", shown: str = ""
) -> tuple[StrategySource, ...]:
    """The strategies that a file defines, in its order.

    A strategy is a public class that is not abstract, and whose bases in the file lead to one
    called `Strategy`.

    Raises:
        RefError: the file cannot be read or is not valid Python.
    """
    tree = _parse(path, shown or path.name)
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    aliases = dict(_assignments(tree.body))
    return tuple(
        StrategySource(
            name=snake_case(node.name),
            path=path,
            line=node.lineno,
            class_name=node.name,
            doc=(ast.get_docstring(node) or "").partition("\n")[0],
            origin=origin,
            control=_control(node, classes),
            params=_params(node, tree, aliases),
            fidelity=tuple(_fidelity(_table_of(node))),
        )
        for node in classes.values()
        if not node.name.startswith("_") and _is_strategy(node, classes) and not _abstract(node)
    )


def _parse(path: Path, shown: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about escapes appear when the file is loaded
            return ast.parse(read_bytes(path, RefError, most=_MOST_BYTES))
    except SyntaxError as error:
        message = f"SyntaxError: {error.msg}"
        raise RefError(message, path=shown, line=error.lineno) from error
    except RefError as error:
        raise RefError(error.message, path=shown) from error
    except (FileNotFoundError, ValueError) as error:  # ValueError: null bytes
        reason = error.strerror if isinstance(error, FileNotFoundError) else str(error)
        raise RefError(f"cannot be read: {reason}", path=shown) from error
    except (RecursionError, MemoryError) as error:  # MemoryError: the stack of the parser
        raise RefError("is nested too deeply", path=shown) from error


def _is_strategy(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> bool:
    return any(name == "Strategy" for name in _ancestry(node, classes))


def _ancestry(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[str]:
    pending, seen = [node], {node.name}
    while pending:
        for base in pending.pop(0).bases:
            name = _last_name(base)
            if name and name not in seen:
                seen.add(name)
                yield name
                if name in classes:
                    pending.append(classes[name])


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _abstract(node: ast.ClassDef) -> bool:
    if any(_last_name(base) == "ABC" for base in node.bases):
        return True
    return any(
        _last_name(mark) == "abstractmethod"
        for method in node.body
        if isinstance(method, ast.FunctionDef)
        for mark in method.decorator_list
    )


def _assignments(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def _lineage(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[ast.ClassDef]:
    return [node, *(classes[name] for name in _ancestry(node, classes) if name in classes)]


def _control(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> str:
    for owner in _lineage(node, classes):
        for name, value in _assignments(owner.body):
            if name == "control":
                return str(value.value or "") if isinstance(value, ast.Constant) else ""
    return ""


def _params(
    node: ast.ClassDef, tree: ast.Module, aliases: Mapping[str, ast.expr]
) -> tuple[Param, ...]:
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    for owner in _lineage(node, classes):
        record = dict(_assignments(owner.body)).get("parameters")
        if isinstance(record, ast.Name):
            return tuple(_fields(record.id, tree))
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                docs = _argument_docs(owner) | _argument_docs(method)
                return tuple(_with_docs(_signature(method, aliases), docs))
    return ()


def _fields(record: str, tree: ast.Module) -> Iterator[Param]:
    """The fields of a dataclass that a file defines, or imports from `memsim`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == record:
            docs, aliases = _argument_docs(node, "Attributes"), dict(_assignments(tree.body))
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    name = field.target.id
                    yield Param(
                        name=name,
                        default=ast.unparse(field.value) if field.value else None,
                        annotation=_annotation(field.annotation, aliases),
                        doc=docs.get(name, ""),
                    )
        elif isinstance(node, ast.ImportFrom) and any(a.name == record for a in node.names):
            package, *parts = (node.module or "").split(".")
            if package == _PACKAGE.name:
                path = _PACKAGE.joinpath(*parts).with_suffix(".py")
                yield from _fields(record, _parse(path, path.name))


def _signature(method: ast.FunctionDef, aliases: Mapping[str, ast.expr]) -> Iterator[Param]:
    arguments = method.args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(positional) - len(arguments.defaults))
    defaults: list[ast.expr | None] = [*missing, *arguments.defaults]
    pairs = [*zip(positional, defaults, strict=True)][2:]  # after self and env
    for argument, default in [
        *pairs,
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]:
        yield Param(
            name=argument.arg,
            default=ast.unparse(default) if default else None,
            annotation=_annotation(argument.annotation, aliases),
        )


def _annotation(node: ast.expr | None, aliases: Mapping[str, ast.expr]) -> str:
    if node is None:
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name) and node.id in aliases:
        return ast.unparse(aliases[node.id])
    return ast.unparse(node)


def _with_docs(params: Iterator[Param], docs: Mapping[str, str]) -> Iterator[Param]:
    for param in params:
        yield replace(param, doc=docs.get(param.name, ""))


def _argument_docs(node: ast.ClassDef | ast.FunctionDef, *sections: str) -> dict[str, str]:
    docs: dict[str, str] = {}
    name, inside = "", False
    for line in (ast.get_docstring(node) or "").splitlines():
        if section := _SECTION.match(line):
            inside, name = section[1] in {"Args", "Arguments", "Parameters", *sections}, ""
        elif inside and (found := _ARGUMENT.match(line)) and _indent(line) <= 4:
            name = found[1]
            docs[name] = found[2]
        elif inside and name and line.strip():
            docs[name] += f" {line.strip()}"
    return docs


def _table_of(node: ast.ClassDef) -> str:
    """The docstring with the statements: its own, or that of the system that it reproduces."""
    for name, value in _assignments(node.body):
        if name == "reproduces" and isinstance(value, ast.Constant):
            path = _SYSTEMS / str(value.value) / "__init__.py"
            return ast.get_docstring(_parse(path, path.name)) or ""
    return ast.get_docstring(node) or ""


def _fidelity(document: str) -> Iterator[FidelityRow]:
    told = ""
    for line in (*document.splitlines(), ""):
        text = line.strip()
        if told and (not text or text.startswith("* ")):
            if row := _row(told):
                yield row
            told = ""
        if text.startswith("* "):
            told = text
        elif told:
            told += f" {text}"


def _row(told: str) -> FidelityRow | None:
    found = _ROW.match(told)
    if not found or bool(found[3]) == (found[1] == "not reproduced"):
        return None
    mark = cast("FidelityMark", found[1] or "replayed")
    return FidelityRow(text=found[2], test=found[3] or "", mark=mark)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
