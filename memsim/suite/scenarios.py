"""Find and load scenarios by path, folder, glob, name, dataset or case id."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.discovery.project import Project, builtin_folder
from memsim.errors import ErrorCollector, RefError, ScenarioError, nearest
from memsim.fast_dataclass import fast_init
from memsim.heap import rare_garbage_collection
from memsim.json_input import is_folder
from memsim.leakage import LEAKAGE

if TYPE_CHECKING:
    from memsim.scenario.script import Scenario


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRef:
    """The printable reference of a scenario, which is sent to worker processes in its place.

    Attributes:
        source: the file as ids write it, or the dataset's name.
        place: where the file or the dataset's data is.
        twist: the relation that is applied to it; or relations whose questions are asked beside the
            plain ones, as `+thanks+typo`; empty for none.
    """

    source: str
    name: str
    dataset: str = ""
    options: tuple[tuple[str, str], ...] = ()
    place: Path | None = field(default=None, compare=False, repr=False)
    twist: str = ""

    def __str__(self) -> str:
        return f"{self.source}::{self.name}" + (f"~{self.twist}" if self.twist else "")

    def load(self) -> Scenario:
        """The scenario; read once for a process while its file does not change.

        Raises:
            ScenarioError: the file is wrong.
            RefError: the file no longer holds it.
        """
        if (held := _HELD.get(self)) is not None:
            return held
        if self.place is None:
            raise RefError(f"{self} has not been found yet")
        if self.dataset:
            inside = scenarios_in_dataset(self.dataset, self.place, self.options)
        else:
            inside = scenarios_in_file(self.place, self.source)
        if self.name not in inside:
            raise RefError(f"{self} is gone", hint=nearest(self.name, inside))
        if self.twist:
            return _twisted(self.twist, self.name, inside)
        return inside[self.name]


_HELD: dict[ScenarioRef, Scenario] = {}
"""Scenarios that another machine sent."""


def hold(ref: ScenarioRef, scenario: Scenario) -> None:
    """Take a scenario as another machine sent it; only the latest one is held."""
    if _HELD.get(ref) is not scenario:
        _HELD.clear()
        _HELD[ref] = scenario


def _twisted(twist: str, name: str, inside: Mapping[str, Scenario]) -> Scenario:
    from memsim.scenario.relations import asked_together, twisted

    if twist.startswith("+"):
        return asked_together(inside[name], twist[1:].split("+"))
    names = [*inside]
    # Another one of the same file or dataset: the next, and after the last the first.
    other = names[(names.index(name) + 1) % len(names)]
    return twisted(inside[name], twist, inside[other] if other != name else None)


OF_LEAKAGE = frozenset({"attempts"})
"""Its options; the others are for datasets that are read."""

_Stamp = tuple[int, int]
_READ: dict[Path, tuple[_Stamp, Mapping[str, Scenario]]] = {}
"""Files as they were read last, so that a file is parsed once while it does not change."""


def scenarios_in_file(path: Path, shown: str) -> Mapping[str, Scenario]:
    """The scenarios of a file by name, parsed once while the file does not change.

    Raises:
        ScenarioError: it is wrong.
    """
    known = _READ.get(path)
    if known is None or known[0] != _stamp(path):
        try:
            known = remember(path, load_path(path))
        except ScenarioError as error:
            raise shown_as(error, shown) from None
    return known[1]


def load_path(path: Path) -> Sequence[Scenario]:
    """The scenarios of a file or folder, parsed now.

    Raises:
        ScenarioError: one is wrong.
    """
    from memsim.scenario import load_scenarios

    return load_scenarios(path)


def remember(path: Path, scenarios: Sequence[Scenario]) -> tuple[_Stamp, Mapping[str, Scenario]]:
    """Cache the scenarios of a file that was parsed."""
    known = _READ[path] = _stamp(path), {s.name: s for s in scenarios}
    return known


def _stamp(path: Path) -> _Stamp:
    try:
        stat = os.stat(path)  # noqa: PTH116 - a suite asks thousands of times; Path's takes twice
    except OSError:
        return 0, -1
    return stat.st_mtime_ns, stat.st_size


def shown_as(error: ScenarioError, path: str) -> ScenarioError:
    """The error, with its file named as in case ids."""
    return error.shown_as(lambda _path: path)


@lru_cache(maxsize=8)
def scenarios_in_dataset(
    name: str, path: Path, options: tuple[tuple[str, str], ...]
) -> Mapping[str, Scenario]:
    """The scenarios of a dataset by name, read once.

    Raises:
        ScenarioError: its data is wrong.
    """
    from memsim.scenario.datasets import load_dataset

    if name == LEAKAGE:
        from memsim.leakage.channels import leak_scenarios

        return {s.name: s for s in leak_scenarios(path, dict(options))}
    return {s.name: s for s in load_dataset(name, path, dict(options))}


def dataset_names() -> Collection[str]:
    """Every dataset that can be named."""
    from memsim.scenario.datasets import DATASETS

    return (*DATASETS, LEAKAGE)


# Which scenarios a run plays: from selectors to refs.

_BUILTIN = "builtin/"
SUFFIXES = (".yaml", ".yml")
_CASE = re.compile(
    r"^(?P<source>.*?)::(?P<name>[^\[\]]*?)(?:\[(?P<case>.*)\](?:#\d+)?)?(?:::(?P<probe>.*))?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The result of selectors.

    Attributes:
        scenarios: in order, each once.
        cases: brackets that a selector gave, such as `sliding_window@4k`, by scenario; scenarios
            without one are played in full.
    """

    scenarios: tuple[ScenarioRef, ...] = ()
    cases: Mapping[ScenarioRef, frozenset[str]] = field(default_factory=dict)


def find_scenarios(
    selectors: Sequence[str | ScenarioRef],
    project: Project,
    *,
    data: Path | None = None,
    options: Mapping[str, str] | None = None,
) -> tuple[ScenarioRef, ...]:
    """The scenarios that selectors name, in order and without duplicates.

    None given means the project's folder `scenarios`, or memsim's own where there is none.

    Raises:
        RefError: a selector means nothing.
        ScenarioError: a file is wrong.
    """
    return select_scenarios(selectors, project, data=data, options=options).scenarios


def select_scenarios(
    selectors: Sequence[str | ScenarioRef],
    project: Project,
    *,
    data: Path | None = None,
    options: Mapping[str, str] | None = None,
) -> Selection:
    """As `find_scenarios`, with the cases that selectors name. A ref stands for its scenario.

    Raises:
        RefError: a selector means nothing.
        ScenarioError: a file is wrong.
    """
    finder = _Finder(project, data, tuple(sorted((options or {}).items())))
    cases: dict[ScenarioRef, set[str]] = {}
    errors = ErrorCollector()
    made = [errors.read(partial(finder.find, s)) for s in selectors or [_home(project)]]
    errors.end()
    for found, case in made:
        for ref in found:
            known = cases.setdefault(ref, set() if case else {""})
            known.add(case)
    narrowed = {ref: frozenset(c) for ref, c in cases.items() if "" not in c}
    return Selection(scenarios=tuple(cases), cases=narrowed)


@dataclass(frozen=True, slots=True)
class _Finder:
    project: Project
    data: Path | None
    options: tuple[tuple[str, str], ...]

    def find(self, selector: str | ScenarioRef) -> tuple[tuple[ScenarioRef, ...], str]:
        """The scenarios and, for a case's id, its bracket."""
        if isinstance(selector, ScenarioRef):
            return (selector,), ""
        split = _CASE.match(selector)
        if split is None:
            return tuple(self._sources(selector)), ""
        source, name = split["source"], split["name"]
        inside = tuple(self._sources(source))
        found = tuple(ref for ref in inside if ref.name == name) if name else inside
        if not found:
            hint = nearest(name, (ref.name for ref in inside))
            raise RefError(f"{source} holds no scenario {name!r}", hint=hint)
        return found, split["case"] or ""

    def _sources(self, selector: str) -> Iterator[ScenarioRef]:
        if path := self._path(selector):
            yield from self._in_path(path)
        elif selector in dataset_names():
            yield from self._in_dataset(selector)
        elif any(mark in selector for mark in "*?["):
            yield from self._in_glob(selector)
        else:
            yield from self._named(selector)

    def _path(self, selector: str) -> Path | None:
        if not selector.strip() or "\0" in selector:
            raise RefError(f"{selector!r} is not a scenario")
        for folder in (self.project.here, self.project.base):
            if (path := folder / selector).exists():
                return path
        if selector.startswith(_BUILTIN):
            path = builtin_folder("scenarios") / selector.removeprefix(_BUILTIN)
            return path if path.exists() else None
        return None

    def _in_dataset(self, name: str) -> Iterator[ScenarioRef]:
        from memsim.scenario.script_files import check_one_line

        place = self._data_of(name)
        options = tuple(o for o in self.options if (o[0] in OF_LEAKAGE) == (name == LEAKAGE))
        try:
            inside = scenarios_in_dataset(name, place, options)
        except ScenarioError as error:
            raise self._as_shown(error) from None
        for scenario in inside.values():
            yield ScenarioRef(
                source=name,
                name=check_one_line(scenario.name),
                dataset=name,
                options=options,
                place=place,
            )

    def _data_of(self, name: str) -> Path:
        if name == LEAKAGE:
            from memsim.leakage.channels import own_folder

            return own_folder(self.project).resolve()
        if self.data is None:
            raise RefError(f"{name} is a dataset: say where its data is with --data PATH")
        return Path(os.path.realpath(self.data))

    def _in_path(self, path: Path) -> Iterator[ScenarioRef]:
        if not is_folder(path):
            yield from self._in_file(path)
            return
        found = self._in_folder(path)
        if not found:
            raise RefError("holds no scenario files (*.yaml)", path=self.project.show(path))
        yield from found

    def _in_folder(self, folder: Path) -> list[ScenarioRef]:
        from memsim.scenario.script_files import check_one_line

        try:
            with rare_garbage_collection():
                scenarios = load_path(folder)
        except ScenarioError as error:
            raise self._as_shown(error) from None
        shown, real = self.project.show(folder), os.path.realpath(folder)
        refs = []
        for scenario in scenarios:
            inside = _inside(scenario.path, folder)
            place = Path(real + os.sep + inside)
            remember(place, [scenario])
            source = check_one_line(posixpath.normpath(f"{shown}/{inside.replace(os.sep, '/')}"))
            refs.append(ScenarioRef(source=source, name=scenario.name, place=place))
        return refs

    def _as_shown(self, error: ScenarioError) -> ScenarioError:
        return error.shown_as(lambda path: self.project.show(Path(path)) if path else "")

    def _in_file(self, path: Path) -> Iterator[ScenarioRef]:
        from memsim.scenario.script_files import check_one_line

        source, place = check_one_line(self.project.show(path)), Path(os.path.realpath(path))
        for name in scenarios_in_file(place, source):
            yield ScenarioRef(source=source, name=name, place=place)

    def _in_glob(self, pattern: str) -> Iterator[ScenarioRef]:
        try:
            files = [p for p in sorted(self.project.here.glob(pattern)) if p.suffix in SUFFIXES]
        except (ValueError, NotImplementedError):
            files = []
        if not files:
            raise RefError(f"no scenario file matches {pattern!r}")
        errors = ErrorCollector()
        found = [errors.read(partial(self._listed_in, file)) for file in files]
        errors.end()
        for inside in found:
            yield from inside

    def _listed_in(self, file: Path) -> list[ScenarioRef]:
        return list(self._in_file(file))

    def _named(self, name: str) -> Iterator[ScenarioRef]:
        known: dict[str, ScenarioRef] = {}
        for ref in self._everywhere():
            if ref.name == name:
                yield ref
                return
            known.setdefault(ref.name, ref)
        if name.endswith(SUFFIXES) or "/" in name:
            near = nearest(Path(name).name, _neighbours(self.project.here / name))
            hint = (Path(name).parent / near).as_posix() if near else None
            raise RefError(f"there is no file {name!r}", hint=hint)
        raise RefError(
            f"no scenario is called {name!r}", hint=nearest(name, [*known, *dataset_names()])
        )

    def _everywhere(self) -> Iterator[ScenarioRef]:
        folders = dict.fromkeys(Path(os.path.realpath(folder)) for folder in _homes(self.project))
        for folder in folders:
            yield from self._in_folder(folder)


def _inside(path: Path | str, folder: Path) -> str:
    text, above = str(path), f"{folder}{os.sep}"
    return text[len(above) :] if text.startswith(above) else str(Path(path).relative_to(folder))


def _home(project: Project) -> str:
    own = project.root / "scenarios" if project.root else None
    return str(own if own and own.is_dir() else builtin_folder("scenarios"))


def _homes(project: Project) -> Iterable[Path]:
    own = [project.root / "scenarios"] if project.root else []
    return [folder for folder in (*own, builtin_folder("scenarios")) if folder.is_dir()]


def _neighbours(path: Path) -> Iterable[str]:
    return [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
