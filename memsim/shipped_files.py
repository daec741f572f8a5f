"""Files that cases need on another machine: packed by fingerprint, unpacked once a process.

A file that lies at the same place there, with the same bytes, is used where it lies, so that
tracebacks name the same paths as on the machine that sent it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.discovery.source_digest import source_digest
from memsim.errors import RefError
from memsim.leakage import LEAKAGE
from memsim.suite.scenarios import hold

if TYPE_CHECKING:
    from memsim.scenario.script import Scenario
    from memsim.suite.cases import CaseSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """What one case needs, by fingerprint.

    Attributes:
        scenario: of the script; empty for a channel of leakage, which has none.
        files: of the strategy's file, and of the folder with attacks; empty for none.
        source: the sha256 of the strategy's source, which must be the same on the other machine.
    """

    scenario: str
    files: tuple[str, str]
    source: str

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Everything in it that has bytes."""
        return tuple(name for name in (self.scenario, *self.files) if name)


class Packer:
    """Packs what cases need; everything is read and packed once."""

    def __init__(self, store: Callable[[bytes], object]) -> None:
        self._store = store
        self._of_paths: dict[Path, str] = {}
        self._of_scenarios: dict[str, str] = {}
        self.stored: dict[str, object] = {}

    def pack(self, spec: CaseSpec) -> Shipment:
        """Store what a case needs, and name it."""
        attacked = spec.scenario.dataset == LEAKAGE
        file, folder = spec.strategy.file, spec.scenario.place if attacked else None
        return Shipment(
            scenario="" if attacked else self._scenario(spec),
            files=(self._path(file), self._path(folder)),
            source=source_digest(spec.strategy),
        )

    def _scenario(self, spec: CaseSpec) -> str:
        name = str(spec.scenario)
        if name not in self._of_scenarios:
            self._of_scenarios[name] = self._keep(pickle.dumps(spec.scenario.load()))
        return self._of_scenarios[name]

    def _path(self, path: Path | None) -> str:
        if path is None or not path.exists():
            return ""
        if path not in self._of_paths:
            self._of_paths[path] = self._keep(pickle.dumps(_contents(path)))
        return self._of_paths[path]

    def _keep(self, data: bytes) -> str:
        fingerprint = hashlib.sha256(data).hexdigest()
        if fingerprint not in self.stored:
            self.stored[fingerprint] = self._store(data)
        return fingerprint


def _contents(path: Path) -> tuple[tuple[str, bytes], ...]:
    """A file, or the files of a folder by their places in it, in order."""
    if path.is_file():
        return (("", path.read_bytes()),)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return tuple((file.relative_to(path).as_posix(), file.read_bytes()) for file in files)


class Unpacker:
    """Unpacks what cases need on this machine."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._paths: dict[tuple[str, Path], Path] = {}
        self._scenarios: dict[str, Scenario] = {}

    def unpack(self, spec: CaseSpec, sent: Shipment, fetch: Callable[[str], bytes]) -> CaseSpec:
        """The case as it is played here.

        Args:
            spec: the case as it was sent.
            sent: what was packed for it.
            fetch: gets the bytes of a fingerprint.

        Raises:
            RefError: something that belongs to the strategy is not the same here.
        """
        file, folder = sent.files
        strategy, scenario = spec.strategy, spec.scenario
        if file and strategy.file is not None:
            place = self._place(file, strategy.file, fetch, "strategies")
            strategy = replace(strategy, file=place)
        if source_digest(strategy) != sent.source:
            where = "a file, program or library that it names is missing or differs on this node"
            raise RefError(f"{strategy}: {where}")
        if folder and scenario.place is not None:
            place = self._place(folder, scenario.place, fetch, "scenarios")
            scenario = replace(scenario, place=place)
        if sent.scenario:
            hold(scenario, self._script(sent.scenario, fetch))
        guarded = spec.guarded
        if guarded is not None:
            guarded = (*guarded, self._own_folder() / "scenarios")
        return replace(spec, strategy=strategy, scenario=scenario, guarded=guarded)

    def close(self) -> None:
        """Remove what was unpacked."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _own_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="memsim-")))
        return self._folder

    def _script(self, fingerprint: str, fetch: Callable[[str], bytes]) -> Scenario:
        if fingerprint not in self._scenarios:
            # One at a time: a script may be large, and the cases of one follow each other.
            self._scenarios = {fingerprint: pickle.loads(fetch(fingerprint))}  # noqa: S301 - our own
        return self._scenarios[fingerprint]

    def _place(
        self, fingerprint: str, path: Path, fetch: Callable[[str], bytes], kind: str
    ) -> Path:
        known = self._paths.get((fingerprint, path))
        if known is None:
            contents: Sequence[tuple[str, bytes]] = pickle.loads(fetch(fingerprint))  # noqa: S301 - our own
            same = path.exists() and _contents(path) == contents
            known = path if same else self._write(fingerprint, path.name, contents, kind)
            self._paths[fingerprint, path] = known
        return known

    def _write(
        self, fingerprint: str, name: str, contents: Sequence[tuple[str, bytes]], kind: str
    ) -> Path:
        root = self._own_folder() / kind / fingerprint[:16] / name
        for inside, data in contents:
            file = root / inside if inside else root
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return root
