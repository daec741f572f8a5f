"""`memsim import --pseudonymise`: write stand-ins, search them for residue, measure the drift."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from memsim.errors import ConfigError, MemsimError
from memsim.report import number_format
from memsim.report.layout import TextLine

_REPLAYED = 5_000
"""Messages of scenarios that are replayed to measure the drift."""

_SHOWN = 3


class PrintedResult(NamedTuple):
    """What is printed of an import, and of the stand-ins."""

    told: list[TextLine]
    result: list[TextLine]


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of this user alone, which is removed afterwards."""
    made = Path(tempfile.mkdtemp(prefix="memsim-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def check_key_file(key_file: Path | None, output: Path) -> None:
    """Refuse a key among the files that are shared.

    Raises:
        ConfigError: the key file lies in the folder of the scenarios.
    """
    if key_file and output.resolve() in key_file.resolve().parents:
        raise ConfigError("lies among the scenarios; keep the key elsewhere", path=key_file)


def pseudonymise(
    folder: Path, output: Path, key_file: Path | None, told: list[TextLine], *, force: bool
) -> PrintedResult:
    """Write the scenarios of a folder with stand-ins, all or none.

    Raises:
        ConfigError: a name or value is left, or a file is there.
    """
    from memsim.message import load_tokenizer
    from memsim.traces.pseudonyms.key_file import read_key
    from memsim.traces.pseudonyms.scenario_files import (
        pseudonyms_of,
        residue_of,
        write_pseudonymised,
    )

    pseudonyms = pseudonyms_of(folder, read_key(key_file), load_tokenizer().count)
    output.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".tmp", dir=output.parent))
    try:
        names = write_pseudonymised(folder, made, pseudonyms)
        left = list(residue_of(made, pseudonyms))
        if left:
            more = f", and {len(left) - _SHOWN:,} more" if len(left) > _SHOWN else ""
            said = f"nothing was written, because something is left: {', '.join(left[:_SHOWN])}"
            raise ConfigError(said + more)
        drift = list(_drift(folder, made, names))
        _move(made, output, force=force)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    found = pseudonyms.identities
    said = (
        f"{number_format.plural(len(found.names) + len(found.wide), 'name')} and"
        f" {number_format.plural(len(found.values), 'value')} have stand-ins; none was found again"
    )
    shown = [TextLine(text=_shown(line.text, pseudonyms.text)) for line in told]
    return PrintedResult(shown, [TextLine(text=said), *drift])


def _shown(said: str, put: Callable[[str], str]) -> str:
    """A line with stand-ins; the id of a question stays, as it stays in the file."""
    stem, named, rest = said.strip().partition("::")
    probe, gap, ask = rest.partition("  ")
    return f"  {put(stem)}::{probe}{gap}{put(ask)}" if named else said


def _drift(folder: Path, made: Path, names: Mapping[str, str]) -> Iterator[TextLine]:
    from memsim.suite.drift import outcome_drift

    pairs: list[tuple[Path, Path]] = []
    room, left = _REPLAYED, 0
    for old, new in names.items():
        room -= (folder / f"{old}.jsonl").read_bytes().count(b"\n")
        if room < 0:
            left += 1
        else:
            pairs.append((folder / f"{old}.yaml", made / f"{new}.yaml"))
    try:
        for drift in outcome_drift(pairs):
            if not drift.questions:
                yield TextLine(text="  no questions, so it is not known whether outcomes move")
                break
            size = number_format.plural(drift.questions, "outcome")
            yield TextLine(text=f"  {drift.strategy}: {drift.moved:,} of {size} moved")
    except MemsimError as error:
        yield TextLine(text=f"  outcomes were not compared: {error}")
    if left:
        yield TextLine(
            text=f"  {number_format.plural(left, 'scenario')} not replayed, to save time"
        )


def _move(made: Path, output: Path, *, force: bool) -> None:
    files = sorted(made.iterdir())
    try:
        made.chmod(0o755)
        if not output.exists():
            made.rename(output)
            return
        for file in files:
            there = output / file.name
            if there.exists() and not force:
                raise ConfigError("is there already; --force replaces it", path=there)
        for file in files:
            file.replace(output / file.name)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", path=output) from None
