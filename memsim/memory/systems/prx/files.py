"""PRX's markdown files: the copy that its database keeps beside itself, and the file backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

MEMORY = "MEMORY.md"
DAILY = "memory"
SNAPSHOT = "MEMORY_SNAPSHOT.md"
TITLE = "# Long-Term Memory"

DENIED = "Access denied: memory files are protected by ACL policy"
"""What file_read answers under access control."""

_KEYED = re.compile(r"\*\*(.+?)\*\*: ?(.*)")


class Line(NamedTuple):
    """An entry of the file backend."""

    key: str
    text: str
    category: str


def daily_name(day: date) -> str:
    """The file of a day."""
    return f"{DAILY}/{day.isoformat()}.md"


def is_memory_file(path: str) -> bool:
    """Whether file_read has to leave a path of the workspace alone, in whatever case."""
    parts = [p for p in path.replace("\\", "/").lower().split("/") if p not in {"", "."}]
    names = {MEMORY.lower(), SNAPSHOT.lower()}
    return bool(parts) and (parts[-1] in names or DAILY in parts)


class Files:
    """The files of one workspace.

    Args:
        folder: made with the first of them.
        stamped: whether each line begins with when it was written, as the database's copy has it.
            Lines of the file backend have none, and stand apart.
    """

    def __init__(self, folder: Path, *, stamped: bool) -> None:
        self.folder = folder
        self._stamped = stamped
        self._lines: dict[str, list[Line]] | None = None

    def append(self, key: str, content: str, category: str, now: datetime) -> None:
        """Add an entry: core to MEMORY.md, all else to the day's file."""
        name = MEMORY if category == "core" else daily_name(now.date())
        head = TITLE if category == "core" else f"# Daily Log — {now.date().isoformat()}"
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        at = f"[{now.strftime('%Y-%m-%d %H:%M:%S')}] " if self._stamped else ""
        entry = f"- {at}**{key}**: {content}\n"
        added = entry if self._stamped else f"\n{entry}"
        if not path.exists():
            added = f"{head}\n\n{entry}"
        with path.open("a", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.write(added)
        if self._lines is not None:
            known = self._lines.setdefault(name, [])
            known += _entries(name, added, len(known))

    def lines(self) -> Iterator[Line]:
        """Every line that is an entry: MEMORY.md first, then the days in their order."""
        if self._lines is None:
            self._lines = {name: self.of(name) for name in self.names()}
        for name in sorted(self._lines, key=lambda n: (n != MEMORY, n)):
            yield from self._lines[name]

    def names(self) -> list[str]:
        """The files that there are."""
        days = sorted((self.folder / DAILY).glob("*.md")) if self.folder.exists() else []
        roots = [MEMORY] if (self.folder / MEMORY).is_file() else []
        return roots + [f"{DAILY}/{path.name}" for path in days]

    def read(self, name: str) -> str:
        """A file's text."""
        return (self.folder / name).read_text(encoding="utf-8", errors="surrogatepass")

    def of(self, name: str) -> list[Line]:
        """The entries of one file."""
        return [*_entries(name, self.read(name))]

    def recall(self, query: str, limit: int) -> list[tuple[Line, float]]:
        """Entries by the share of the query's words in them; ties stay in their order."""
        words = query.lower().split()
        if not words:
            return []
        found = []
        for line in self.lines():
            said = line.text.lower()
            score = sum(word in said for word in words) / len(words)
            if score:
                found.append((line, score))
        return sorted(found, key=lambda f: -f[1])[:limit]

    def get(self, key: str) -> Line | None:
        """The first entry with this key, or with this text in it."""
        return next((line for line in self.lines() if line.key == key or key in line.text), None)

    def forget(self, key: str) -> bool:
        """Files are only added to: nothing is ever forgotten (0.3.0)."""
        return False

    def save(self) -> dict[str, str]:
        """Every file's text by its name, the snapshot and what was put away among them."""
        return {name: self.read(name) for name in self._all()}

    def load(self, saved: dict[str, str]) -> None:
        """Put these files in the place of those there are."""
        for name in self._all():
            (self.folder / name).unlink()
        for name, text in saved.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
        self._lines = None

    def _all(self) -> list[str]:
        away = sorted((self.folder / DAILY / "archive").glob("*.md"))
        snapshot = [SNAPSHOT] if (self.folder / SNAPSHOT).is_file() else []
        return [*self.names(), *snapshot, *(f"{DAILY}/archive/{path.name}" for path in away)]

    def without(self, key: str, texts: frozenset[str]) -> None:
        """Take entries with a key and one of these texts out of every file (`fixed` alone).

        The snapshot is made anew instead.
        """
        for name in self._all():
            if name == SNAPSHOT:
                continue
            before = self.read(name)
            after = before
            stamp, apart = (r"\[[^\]\n]*\] ", "") if self._stamped else ("", "\n")
            for text in sorted(texts):
                entry = rf"{apart}- {stamp}\*\*{re.escape(key)}\*\*: {re.escape(text)}\n"
                after = re.sub(entry, "", after)
            if after != before:
                path = self.folder / name
                path.write_text(after, encoding="utf-8", errors="surrogatepass", newline="\n")
        self._lines = None


def _entries(name: str, text: str, start: int = 0) -> Iterator[Line]:
    stem = Path(name).stem
    category = "core" if name == MEMORY else "daily"
    kept = [
        line.strip()
        for line in text.split("\n")
        if line.strip() and not line.strip().startswith("#")
    ]
    for number, line in enumerate(kept, start):
        said = line.removeprefix("- ")
        keyed = _KEYED.match(said)
        if keyed is None:
            yield Line(f"{stem}:{number}", said, category)
        else:
            yield Line(keyed[1], keyed[2], category)
