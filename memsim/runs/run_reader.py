"""Read a saved run from disk, without a model and only what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memsim.errors import RunFolderError, nearest
from memsim.json_input import MOST_BYTES, is_folder, is_regular, open_regular, parse_json
from memsim.json_types import convert
from memsim.leakage import LEAKAGE
from memsim.leakage.attempt import read_finding
from memsim.runs.case_log import (
    CASES,
    CONTEXTS,
    PROBES,
    RECORDS,
    TURNS,
    CaseEntry,
    RecordSpan,
    decode_entry,
    read_entry,
    read_log,
    read_span_lines,
)
from memsim.runs.record_types import AttackLine, ChannelLine, ContextLine, ProbeLine, TurnLine
from memsim.runs.run_folder import INFO, list_runs, read_info, runs_folder
from memsim.suite.cases import CaseOutcome, CaseResult
from memsim.suite.reader_limit import within_reach

LATEST = "latest"
_KINDS: Mapping[str, type] = {TURNS: TurnLine, PROBES: ProbeLine, CONTEXTS: ContextLine}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A saved run."""

    folder: Path
    info: Mapping[str, object]
    cases: tuple[CaseResult, ...]
    _entries: tuple[CaseEntry, ...] = field(repr=False, compare=False)
    _checked: set[tuple[str, RecordSpan]] = field(default_factory=set, repr=False, compare=False)

    @property
    def id(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def table(self, key: str) -> Mapping[str, Any]:
        """A table of `run.json`; empty where there is none."""
        found = self.info.get(key)
        return found if isinstance(found, Mapping) else {}

    @property
    def finished(self) -> bool:
        """Whether every case of the plan was played."""
        return bool(self.info.get("finished"))

    def only(self, keep: Callable[[CaseResult], bool]) -> Run:
        """The run as if it had these cases alone."""
        cases = tuple(filter(keep, self.cases))
        keys = {case.key for case in cases}
        entries = tuple(e for e in self._entries if e.result.key in keys)
        return replace(self, cases=cases, _entries=entries)

    def outcomes(self) -> Iterator[CaseOutcome]:
        """Read every case with its records, in the order in which they were kept."""
        return (read_entry(self.folder, entry) for entry in self._entries)

    def probes(self, case: str | None = None) -> Iterator[dict[str, object]]:
        """Read the probe records of one case, by id or key, or of all."""
        for entry in self._of(case):
            of = entry.result.id, entry.result.repeat
            for record in self._records(PROBES, entry.span(PROBES)):
                if (record["case"], record["repeat"]) != of:
                    said = f"is damaged: records of {entry.result.key!a} name another case"
                    raise RunFolderError(said, path=self.folder / PROBES)
                yield record

    def turns(
        self, case: str | None = None, *, only: Callable[[bytes], bool] | None = None
    ) -> Iterator[dict[str, object]]:
        """Read the turn records of one case, by id or key, or of all.

        Args:
            case: the id or key; None for all cases.
            only: chooses by their text the lines that are decoded, for cases of very many turns.
        """
        for entry in self._of(case):
            yield from self._records(TURNS, entry.span(TURNS), only)

    def turn_bytes(self, case: str) -> int:
        """Count the bytes of a case's turn records."""
        span = self._of(case)[0].span(TURNS)
        return span.end - span.start

    def contexts(self, case: str) -> Iterator[dict[str, object]]:
        """Read the contexts of a case that `memsim.replay.context_recorder` wrote."""
        yield from self._records(CONTEXTS, self._of(case)[0].span(CONTEXTS))

    def size(self, case: str) -> int:
        """Count the bytes of a case's turns and contexts; 0 where no turn was played.

        Raises:
            RunFolderError: there is no such case.
        """
        entry = self._of(case)[0]
        turns, contexts = entry.span(TURNS), entry.span(CONTEXTS)
        played = turns.end - turns.start
        return played + contexts.end - contexts.start if played else 0

    def _of(self, case: str | None) -> tuple[CaseEntry, ...]:
        if case is None:
            return self._entries
        found = [e for e in self._entries if case == e.result.key]
        found = found or [e for e in self._entries if case == e.result.id]
        if not found:
            hint = nearest(case, (e.result.key for e in self._entries))
            raise RunFolderError(f"has no case {case!r}", path=self.folder, hint=hint)
        return tuple(found)

    def _records(
        self, name: str, span: RecordSpan, only: Callable[[bytes], bool] | None = None
    ) -> Iterator[dict[str, object]]:
        path = self.folder / name
        # The checksum says that these are the bytes that were checked.
        checked = (name, span) in self._checked
        for line in filter(None, read_span_lines(path, span, only)):
            yield _record(line, None if checked else _KINDS[name], path)
        if only is None:
            self._checked.add((name, span))


def _record(line: bytes, kind: type | None, path: Path) -> dict[str, object]:
    record: Any = parse_json(line, path, RunFolderError, prefix="is damaged: ", quick=True)
    if kind is not None:
        try:
            _check(record, kind)
        except ValueError as error:
            raise RunFolderError(f"is damaged: {error}", path=path) from error
    found: dict[str, object] = record
    return found


def _check(record: Any, kind: type) -> None:  # noqa: ANN401 - any JSON value
    if kind is ProbeLine and isinstance(record, dict) and LEAKAGE in record:
        attack: AttackLine = convert(record, AttackLine)
        _check_attack(attack["leakage"])
    else:
        convert(record, kind)


def _check_attack(record: dict[str, Any]) -> None:
    if record.get("kind") == "channel":
        convert(record, ChannelLine)
    else:
        read_finding(record)


def load_run(name: str | Path, reports: Path) -> Run:
    """A saved run.

    Args:
        name: `latest`, the beginning of a run's id, or a folder.
        reports: where runs are kept.

    Raises:
        RunFolderError: there is none, or it is a shard: no number is computed from part of a run.
    """
    run = open_folder(_find(str(name), reports))
    if "shard" in run.info:
        said = "is a shard, and only part of a run: make the run with memsim merge"
        raise RunFolderError(said, path=run.folder)
    return run


def open_folder(folder: Path) -> Run:
    """Load the run in a folder."""
    info = read_info(folder)
    entries = tuple(read_log(folder))
    _check_log(folder, entries)
    missing = _cases(info) - len(entries)
    if info.get("finished") and missing:
        raise RunFolderError(f"is damaged: {missing} of its cases are missing", path=folder)
    if info.get("finished"):
        _check_ends(folder, entries)
    cases = within_reach([e.result for e in entries])
    return Run(folder=folder, info=info, cases=cases, _entries=entries)


def _check_log(folder: Path, entries: Sequence[CaseEntry]) -> None:
    # A killed writer leaves a line without its end; a whole one that is wrong was changed.
    path = folder / CASES
    with suppress(FileNotFoundError), open_regular(path, RunFolderError) as log:
        log.seek(sum(entry.length for entry in entries))
        if (line := log.readline(MOST_BYTES)).endswith(b"\n"):
            ends = entries[-1].ends if entries else [0] * len(RECORDS)
            decode_entry(line, ends, path, len(entries) + 1)


def _check_ends(folder: Path, entries: Sequence[CaseEntry]) -> None:
    ends = entries[-1].ends if entries else [0] * len(RECORDS)
    for name, end in zip(RECORDS, ends, strict=True):
        path = folder / name
        size = path.stat().st_size if is_regular(path) else 0
        if size > end:
            message = f"holds {size - end:,} bytes more than cases.jsonl says"
            raise RunFolderError(message, path=path)


def _cases(info: Mapping[str, object]) -> int:
    cases = info.get("played", 0)
    return cases if isinstance(cases, int) else 0


def _find(name: str, reports: Path) -> Path:
    found = list_runs(reports)
    if name == LATEST:
        if not found:
            raise RunFolderError("there is no run yet", path=runs_folder(reports))
        return found[0]
    if is_folder(folder := Path(name)) and is_regular(folder / INFO):
        return folder
    matching = [p for p in found if name and p.name.startswith(name)]
    if len(matching) > 1:
        names = ", ".join(p.name for p in reversed(matching[:5]))
        raise RunFolderError(f"{name!r} matches several runs: {names}")
    if not matching:
        hint = nearest(name, [LATEST, *(p.name for p in found)])
        raise RunFolderError(f"there is no run {name!r}", path=runs_folder(reports), hint=hint)
    return matching[0]
