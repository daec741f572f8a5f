"""Imports and classes of modules, read from their syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, and whether importing the importer already imports it."""

    target: str
    line: int
    executed: bool
    """At the top level and not under TYPE_CHECKING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A source file by its dotted name, with its classes and imports."""

    name: str
    documented: bool
    classes: tuple[str, ...]
    """Public classes that it defines at its top level."""
    imports: tuple[Import, ...]

    @property
    def part(self) -> str:
        """The name that ranks it: `memsim.scoring.recall` is part of `scoring`."""
        return self.name.split(".")[1] if "." in self.name else "__init__"


def read_tree(folder: Path, package: str) -> dict[str, Module]:
    """Read every module of a package, keyed by dotted name."""
    paths = {_dotted(path, folder, package): path for path in sorted(folder.rglob("*.py"))}
    return {name: read_module(path, name, known=paths) for name, path in paths.items()}


def read_module(path: Path, name: str, known: Iterable[str] = ()) -> Module:
    """Read one module; `known` names tell `from package import module` from a mere name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return Module(
        name=name,
        documented=ast.get_docstring(tree) is not None,
        classes=tuple(
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        ),
        imports=tuple(_imports(tree, package, frozenset(known))),
    )


def _dotted(path: Path, folder: Path, package: str) -> str:
    parts = (package, *path.relative_to(folder).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def edges(modules: Mapping[str, Module]) -> Iterator[tuple[Module, Import, Module]]:
    """Who imports whom, among these modules."""
    for module in modules.values():
        for imported in module.imports:
            if imported.target in modules:
                yield module, imported, modules[imported.target]


def _imports(tree: ast.Module, package: str, known: frozenset[str]) -> Iterator[Import]:
    executed = {id(node) for node in _executed(tree.body)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in sorted(set(_targets(node, package, known))):
                yield Import(target=target, line=node.lineno, executed=id(node) in executed)


def _executed(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run on import, inside `if`, `try`, `with` and class bodies too."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _executed(node.orelse)
        else:
            yield from _executed(_statements(node))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _targets(
    node: ast.Import | ast.ImportFrom, package: str, known: frozenset[str]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    source = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        source = ".".join([*above, source] if source else above)
    for alias in node.names:
        inner = f"{source}.{alias.name}"
        yield inner if inner in known else source
