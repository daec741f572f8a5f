"""The strategies that can be named, and the search for the strategy of a ref.

Order of precedence: the project's `strategies/`, installed packages (entry points of the group
`memsim.strategies`), memsim's own.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.discovery.project import Project, builtin_folder
from memsim.discovery.strategy_ref import Origin, StrategyRef, snake_case
from memsim.discovery.strategy_source import StrategySource, strategies_in
from memsim.errors import RefError, nearest
from memsim.json_input import is_folder, is_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib import metadata

ENTRY_POINTS = "memsim.strategies"
FOLDER = "strategies"


def find_strategies(project: Project) -> tuple[StrategySource, ...]:
    """All strategies, sorted by name, without executing any of them.

    A file that cannot be read is in the list with its `problem`.
    """
    kept: dict[str, StrategySource] = {}
    rows: list[StrategySource] = []
    for origin in _everything(project):
        taken = dict(kept)
        for found in origin:
            first = taken.get(found.name)
            if first is None:
                kept.setdefault(found.name, found)
                rows.append(found)
            elif not first.shadows and not first.problem:
                place = rows.index(first)
                rows[place] = kept[found.name] = replace(first, shadows=found.origin)
    return tuple(sorted(rows, key=lambda f: (f.name, str(f.path), f.line)))


def _everything(project: Project) -> Iterator[tuple[StrategySource, ...]]:
    shipped = builtin_folder(FOLDER)
    if project.root is not None:
        own = project.root / FOLDER
        if is_folder(own) and own.resolve() != shipped.resolve():
            yield tuple(_in_folder(own, "project", project))
    yield tuple(_installed())
    yield tuple(_in_folder(shipped, "built-in", project))


def _in_folder(folder: Path, origin: Origin, project: Project) -> Iterator[StrategySource]:
    if not is_folder(folder):
        return
    place = project.show(folder / "_").removesuffix("_")  # once: resolving paths is slow
    for path in sorted(folder.glob("*.py")):
        if path.name.startswith("_"):
            continue
        shown = project.show(path) if path.is_symlink() else f"{place}{path.name}"
        try:
            yield from _read(path, origin, shown)
        except RefError as error:
            yield StrategySource(name=path.stem, path=path, origin=origin, problem=str(error))


def _read(path: Path, origin: Origin, shown: str) -> tuple[StrategySource, ...]:
    try:
        stat = path.stat()
    except OSError:
        return strategies_in(path, origin=origin, shown=shown)
    return _cached(path, stat.st_mtime_ns, stat.st_size, origin, shown)


@lru_cache(maxsize=256)
def _cached(
    path: Path, _mtime: int, _size: int, origin: Origin, shown: str
) -> tuple[StrategySource, ...]:
    return strategies_in(path, origin=origin, shown=shown)


def _installed() -> Iterator[StrategySource]:
    if not any(map(_offers, sys.path)):
        return
    from importlib import metadata

    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda p: p.name):
        module, _, class_name = point.value.partition(":")
        blank = StrategySource(
            name=point.name,
            class_name=class_name,
            origin="installed",
            entry=f"{module}:{class_name}",
        )
        yield _described(blank, point, module.strip())


def _offers(place: str) -> bool:
    """Whether a package may provide strategies; a full search with importlib is slow.

    Packages that are not a folder, such as zip files, may always provide some.
    """
    try:
        folder = Path(place).absolute()
        return _offers_since(folder, folder.stat().st_mtime_ns)
    except OSError:
        return False


@lru_cache(maxsize=64)
def _offers_since(folder: Path, _mtime: int) -> bool:
    """The same, looked up once until a package is installed or removed."""
    try:
        with os.scandir(folder) as inside:
            return any(_names_us(entry) for entry in inside if entry.name.endswith("-info"))
    except NotADirectoryError:
        return True
    except OSError:
        return False


def _names_us(entry: os.DirEntry[str]) -> bool:
    try:
        with Path(entry.path, "entry_points.txt").open("rb") as file:
            return ENTRY_POINTS.encode() in file.read()
    except NotADirectoryError:
        return True  # importlib reads an egg-info that is a single file
    except OSError:
        return False


def _described(blank: StrategySource, point: metadata.EntryPoint, module: str) -> StrategySource:
    stem = module.replace(".", "/")
    for name in (f"{stem}.py", f"{stem}/__init__.py"):
        path = Path(str(point.dist.locate_file(name))) if point.dist else None
        if path is None or not path.is_file():
            continue
        try:
            inside = strategies_in(path, origin="installed", shown=module)
        except RefError as error:
            return replace(blank, path=path, problem=str(error))
        for found in inside:
            if found.class_name == blank.class_name:
                return replace(found, name=blank.name, entry=blank.entry)
    return blank


def locate(ref: StrategyRef, project: Project) -> StrategySource:
    """Find the strategy of a ref.

    Raises:
        RefError: there is no such strategy, or there are several.
    """
    if ref.path:
        return _in_file(ref, project)
    rows = find_strategies(project)
    candidates = [f for f in rows if f.name == ref.name]
    if not candidates:
        names = sorted({f.name for f in rows if not f.problem})
        message = f"there is no strategy {ref.name!r}"
        if unread := _unread(ref.name, project):
            raise RefError(f"{message}; {unread}")
        raise RefError(message, hint=nearest(ref.name, names))
    if candidates[0].problem:
        raise RefError(candidates[0].problem)
    if len(candidates) > 1:
        places = " and ".join(f"{project.show(f.path)}:{f.line}" for f in candidates if f.path)
        raise RefError(
            f"two strategies have the name {ref.name}: {places}; choose one with FILE.py@Class"
        )
    return candidates[0]


def _unread(name: str, project: Project) -> str:
    why = project.unread(FOLDER)
    found = _in_folder(project.here / FOLDER, "path", project) if why else ()
    return why if any(f.name == name for f in found) else ""


def _in_file(ref: StrategyRef, project: Project) -> StrategySource:
    path = file_of(ref.path, project)
    if path is None:
        raise RefError(f"there is no file {ref.path!r}", hint=_near_file(ref.path, project))
    shown = project.show(path)
    inside = _read(path, "path", shown)
    if not inside:
        raise RefError("no class in it descends from memsim.Strategy", path=shown)
    return _one_of(inside, ref, shown)


def _one_of(inside: tuple[StrategySource, ...], ref: StrategyRef, shown: str) -> StrategySource:
    names = [f.class_name for f in inside]
    if not ref.name:
        if len(inside) > 1:
            message = (
                f"has {len(names)} strategies ({', '.join(names)}): write {ref.path}@{names[0]}"
            )
            raise RefError(message, path=shown)
        return inside[0]
    for found in inside:
        if ref.name in {found.class_name, found.name}:
            return found
    hint = nearest(ref.name, names) or nearest(snake_case(ref.name), (f.name for f in inside))
    raise RefError(f"has no strategy {ref.name!r}, only {', '.join(names)}", path=shown, hint=hint)


def file_of(written: str, project: Project) -> Path | None:
    """A file relative to the current folder or the project; None if there is none."""
    for folder in (project.here, project.base):
        path = folder / written
        if is_regular(path):
            return path
    return None


def _near_file(written: str, project: Project) -> str | None:
    folder = (project.here / written).parent
    known: Iterable[str] = [p.name for p in folder.glob("*.py")] if is_folder(folder) else []
    close = nearest(Path(written).name, known)
    return (Path(written).parent / close).as_posix() if close else None
