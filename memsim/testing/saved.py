"""Counterexamples in a folder: each as a program, and as data that is tried first next time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.errors import RunFolderError, StateError
from memsim.testing.literals import decode, encode
from memsim.testing.programs import program
from memsim.testing.registry import invariant

if TYPE_CHECKING:
    from memsim.testing.cases import AnyCase
    from memsim.testing.checking import Result

_UNSAFE = re.compile(r"[^A-Za-z0-9_.=,@-]+")


@dataclass(frozen=True, slots=True)
class Counterexamples:
    """The counterexamples of every check.

    Attributes:
        folder: one folder for each strategy is in it.
    """

    folder: Path

    def of(self, subject: str, names: Iterable[str]) -> dict[str, AnyCase]:
        """What was kept of a subject, by invariant; what cannot be read is left out.

        Args:
            subject: a strategy's ref, or `memory`.
            names: of the invariants.
        """
        kept: dict[str, AnyCase] = {}
        for name in names:
            path = self._path(subject, name, ".json")
            try:
                kept[name] = decode(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, StateError):
                # A file of an older memsim, or of somebody else, is no counterexample any more.
                continue
        return kept

    def keep(self, result: Result) -> Path | None:
        """Write a counterexample; the program's path, or None where there is none.

        Raises:
            RunFolderError: it cannot be written.
        """
        if result.case is None:
            return None
        wanted = invariant(result.invariant)
        source = program(wanted, result.subject, result.case, result.why)
        path = self._path(result.subject, result.invariant, ".py")
        data = json.dumps(encode(result.case), indent=1, sort_keys=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(data + "\n", encoding="utf-8")
            path.write_text(source, encoding="utf-8")
        except OSError as error:
            raise RunFolderError(f"cannot be written: {error.strerror}", path=path) from error
        return path

    def _path(self, subject: str, name: str, suffix: str) -> Path:
        folder = _UNSAFE.sub("_", subject).strip("._") or "strategy"
        return self.folder / folder / f"{name}{suffix}"
