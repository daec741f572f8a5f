"""PRX's hygiene: files by the day in their name, rows by when they were last written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memsim.memory.retention import RetentionPolicy
from memsim.systems.prx import topics
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.schema import MemoryRow, timestamp
from memsim.systems.prx.settings import PrxSettings
from memsim.systems.prx.storage import entry_of

HYGIENE_INTERVAL = timedelta(hours=12)
USEFUL = 3
"""Uses from which 0.3.0 keeps a row whatever its age."""

IDLE = timedelta(hours=24)
STATE = "state/memory_hygiene_state.json"

DayOf = Callable[[Path], date | None]

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:_.*)?\.md")


@dataclass(slots=True, kw_only=True)
class HygieneReport:
    """What a run came to."""

    archived_memory_files: int = 0
    archived_session_files: int = 0
    purged_memory_archives: int = 0
    purged_session_archives: int = 0
    pruned_conversation_rows: int = 0
    pruned_daily_rows: int = 0
    closed_stale_topics: int = 0


def is_due(last: datetime | None, now: datetime) -> bool:
    """Whether it is time for another run."""
    return last is None or now - last >= HYGIENE_INTERVAL


def run_released_hygiene(
    brain: Brain, workspace: Path, settings: PrxSettings, now: datetime
) -> HygieneReport | None:
    """0.3.0's run, which remembers in a file when it last was; None where it is not yet time."""
    state = workspace / STATE
    if not settings.hygiene_enabled or not is_due(_last(state), now):
        return None
    report = HygieneReport()
    tidy_files(workspace, settings, now, report)
    prune(brain, settings, now, report)
    state.parent.mkdir(parents=True, exist_ok=True)
    told = {"last_run_at": timestamp(now), "last_report": asdict(report)}
    state.write_text(json.dumps(told), encoding="utf-8")
    return report


def tidy_files(
    workspace: Path, settings: PrxSettings, now: datetime, report: HygieneReport
) -> None:
    """Put old files away, and delete those that were put away long ago; 0 days mean never."""
    memory, sessions = workspace / "memory", workspace / "sessions"
    if settings.archive_after_days:
        before = now.date() - timedelta(days=settings.archive_after_days)
        report.archived_memory_files = _archive(memory, before, _memory_day)
        report.archived_session_files = _archive(sessions, before, _session_day)
    if settings.purge_after_days:
        before = now.date() - timedelta(days=settings.purge_after_days)
        report.purged_memory_archives = _purge(memory / "archive", before, _memory_day)
        report.purged_session_archives = _purge(sessions / "archive", before, _session_day)


def prune(
    brain: Brain, settings: PrxSettings, now: datetime, report: HygieneReport, owner: str = ""
) -> list[MemoryRow]:
    """Delete and return old rows that were of no use, of one owner or all; custom rows stay.

    Topics that nobody spoke of are closed. The report is told how many they were.
    """
    talk = _prune(brain, "conversation", settings.conversation_retention_days, now, owner)
    daily = _prune(brain, "daily", settings.daily_retention_days, now, owner)
    report.pruned_conversation_rows = len(talk)
    report.pruned_daily_rows = len(daily)
    report.closed_stale_topics = topics.close_idle(brain.connection, now - IDLE, now)
    return talk + daily


def due(
    brain: Brain, settings: PrxSettings, now: datetime
) -> tuple[list[MemoryRow], list[MemoryRow]]:
    """The rows that the documented retention puts away now, and those that it erases."""
    kept = {
        "conversation": settings.conversation_retention_days,
        "daily": settings.daily_retention_days,
    }
    away, gone = settings.archive_after_days, settings.purge_after_days
    # Custom entries follow daily ones, and core entries stay until they are forgotten.
    policy = RetentionPolicy(retention=kept, archive_after=away, purge_after=gone)
    least = min((d for d in (*kept.values(), away, gone) if d), default=None)
    if least is None:
        return [], []
    since = timestamp(now - timedelta(days=least))
    old = brain.rows(
        "m.updated_at <= ? AND m.category <> 'core'", (since,), order="m.updated_at, m.rowid"
    )
    entries = [(row, replace(entry_of(row), category=row.category or "-")) for row in old]
    archived = [row for row, entry in entries if policy.to_archive(entry, now)]
    return archived, [row for row, entry in entries if policy.to_erase(entry, now)]


def _prune(brain: Brain, category: str, days: int, now: datetime, owner: str) -> list[MemoryRow]:
    if not days:
        return []
    old = brain.rows(
        "m.category = ? AND m.updated_at < ? AND m.useful_count < ?"
        " AND ? IN ('', m.sender_id, m.raw_sender)",
        (category, timestamp(now - timedelta(days=days)), USEFUL, owner),
    )
    brain.drop(row.number for row in old)
    return old


def _last(state: Path) -> datetime | None:
    try:
        return datetime.fromisoformat(json.loads(state.read_text("utf-8"))["last_run_at"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _memory_day(path: Path) -> date | None:
    found = _DAY.fullmatch(path.name)
    return _read_day(found[1]) if found else None


def _session_day(path: Path) -> date | None:
    named = _read_day(path.name[:10])
    if named is not None:
        return named
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date()


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []


def _archive(folder: Path, before: date, day_of: DayOf) -> int:
    count = 0
    for path in _files(folder):
        day = day_of(path)
        if day is None or day >= before:
            continue
        (folder / "archive").mkdir(exist_ok=True)
        path.rename(_free(folder / "archive" / path.name))
        count += 1
    return count


def _free(path: Path) -> Path:
    place, number = path, 0
    while place.exists():
        number += 1
        place = path.with_name(f"{path.stem}_{number}{path.suffix}")
    return place


def _purge(folder: Path, before: date, day_of: DayOf) -> int:
    old = [p for p in _files(folder) if (day := day_of(p)) is not None and day < before]
    for path in old:
        path.unlink()
    return len(old)
