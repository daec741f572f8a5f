"""PRX's markdown files: the copy that its database keeps beside itself, and the file backend."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memsim.errors import LocatedError, StoreError
from memsim.json_input import is_folder, is_regular, read_bytes
from memsim.memory.codec import JSON, reading
from memsim.systems.prx.schema import MemoryRow


def lines_of(text: str) -> list[str]:
    """Every line without its end; what ends with a line feed has no empty line after it."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


# PRX's chunker: markdown by headings, paragraphs and lines; sizes in bytes, quirks included.

BYTES_PER_TOKEN = 4
_HEADINGS = ("# ", "## ", "### ")


class MarkdownChunk(NamedTuple):
    """A chunk of a document."""

    number: int
    heading: str | None
    content: str


def chunks(text: str, tokens: int) -> list[MarkdownChunk]:
    """Cut a markdown text into pieces of at most so many tokens, four bytes each.

    Paragraphs of a section that is too long carry its heading; the lines of a paragraph that is too
    long do not, and the heading is left standing alone before and after them.
    """
    most = BYTES_PER_TOKEN * tokens
    found: list[tuple[str | None, str]] = []
    for heading, body in _sections(text):
        whole = f"{heading}\n{body}" if heading else body
        parts = [whole] if _size(whole) <= most else _parted(heading, body, most)
        found += [(heading, part.strip()) for part in parts if part.strip()]
    return [
        MarkdownChunk(index, heading, content) for index, (heading, content) in enumerate(found)
    ]


def _sections(text: str) -> list[tuple[str | None, str]]:
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in lines_of(text):
        if line.startswith(_HEADINGS):
            sections.append((line.strip(), []))
        else:
            sections[-1][1].append(line + "\n")
    return [(heading, "".join(lines)) for heading, lines in sections]


def _parted(heading: str | None, body: str, most: int) -> list[str]:
    start = f"{heading}\n" if heading else ""
    parts: list[str] = []
    buffer = start
    for paragraph in _paragraphs(body):
        if _size(buffer) + _size(paragraph) > most and buffer.strip():
            parts.append(buffer)
            buffer = start
        if _size(paragraph) > most:
            if buffer.strip():
                parts.append(buffer)
                buffer = start
            parts += _packed(paragraph, most)
        else:
            buffer += paragraph + "\n"
    return [*parts, buffer]


def _paragraphs(body: str) -> list[str]:
    paragraphs, lines = [], []
    for line in lines_of(body):
        if line.strip():
            lines.append(line + "\n")
        elif lines:
            paragraphs.append("".join(lines))
            lines = []
    return [*paragraphs, "".join(lines)] if lines else paragraphs


def _packed(paragraph: str, most: int) -> list[str]:
    parts, buffer = [], ""
    for line in (said + "\n" for said in lines_of(paragraph)):
        if buffer and _size(buffer) + _size(line) > most:
            parts.append(buffer)
            buffer = ""
        buffer += line
    return [*parts, buffer]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


MEMORY = "MEMORY.md"
DAILY = "memory"
SNAPSHOT = "MEMORY_SNAPSHOT.md"
TITLE = "# Long-Term Memory"

DENIED = "Access denied: memory files are protected by ACL policy"
"""What file_read answers under access control."""

_KEYED = re.compile(r"\*\*(.+?)\*\*: ?(.*)")


class MarkdownLine(NamedTuple):
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


class MarkdownFiles:
    """The files of one workspace, whose folder is made with the first of them.

    Args:
        stamped: whether each line begins with when it was written, as the database's copy has it.
            Lines of the file backend have none, and stand apart.
    """

    def __init__(self, folder: Path, *, stamped: bool) -> None:
        self.folder = folder
        self._stamped = stamped
        self._lines: dict[str, list[MarkdownLine]] | None = None

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

    def lines(self) -> Iterator[MarkdownLine]:
        """Every line that is an entry: MEMORY.md first, then the days in their order."""
        if self._lines is None:
            self._lines = {name: self.of(name) for name in self.names()}
        for name in sorted(self._lines, key=lambda n: (n != MEMORY, n)):
            yield from self._lines[name]

    def names(self) -> list[str]:
        """The files that there are."""
        days = sorted((self.folder / DAILY).glob("*.md")) if is_folder(self.folder) else []
        roots = [MEMORY] if is_regular(self.folder / MEMORY) else []
        return roots + [f"{DAILY}/{path.name}" for path in days if is_regular(path)]

    def read(self, name: str) -> str:
        """A file's text, with line ends as Python reads them.

        Raises StoreError where it cannot be read.
        """
        try:
            data = read_bytes(self.folder / name, LocatedError)
            text = data.decode("utf-8", "surrogatepass")
        except (OSError, LocatedError, UnicodeDecodeError) as error:
            raise StoreError(f"{self.folder / name}: cannot be read: {error}") from error
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def of(self, name: str) -> list[MarkdownLine]:
        """The entries of one file."""
        return [*_entries(name, self.read(name))]

    def recall(self, query: str, limit: int) -> list[tuple[MarkdownLine, float]]:
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

    def get(self, key: str) -> MarkdownLine | None:
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


def _entries(name: str, text: str, start: int = 0) -> Iterator[MarkdownLine]:
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
            yield MarkdownLine(f"{stem}:{number}", said, category)
        else:
            yield MarkdownLine(keyed[1], keyed[2], category)


# What PRX writes into files beside its rows, and what stands there when the rows are gone.


class FileLine(NamedTuple):
    """A line of a file, which stays when its row is gone (0.3.0)."""

    name: str
    key: str
    text: str
    sources: tuple[str, ...]


class FileCopies:
    """The files of a memory, or none, and the lines that stand in them."""

    def __init__(self, files: MarkdownFiles | None) -> None:
        self.files = files
        self._lines: list[FileLine] = []

    def append(self, key: str, content: str, category: str, now: datetime) -> None:
        """Write an entry."""
        if self.files is not None:
            self.files.append(key, content, category, now)

    def note(
        self, key: str, text: str, category: str, sources: tuple[str, ...], now: datetime
    ) -> None:
        """An entry was written, of which nobody else knows where it came from."""
        if self.files is not None:
            name = "MEMORY.md" if category == "core" else daily_name(now.date())
            self._lines.append(FileLine(name, key, text, sources))

    @property
    def has_snapshot(self) -> bool:
        """Whether there is a snapshot of core entries."""
        return any(w.name == SNAPSHOT for w in self._lines)

    def snapshot(self, rows: Sequence[MemoryRow]) -> None:
        """These rows stand in the snapshot now, and no others."""
        self._lines = [w for w in self._lines if w.name != SNAPSHOT]
        self._lines += [FileLine(SNAPSHOT, r.key, r.content, r.sources) for r in rows]

    def without(self, rows: Sequence[MemoryRow]) -> None:
        """Take what rows say out of the files."""
        if self.files is None:
            return
        for row in rows:
            self.files.without(row.key, frozenset({row.content}))
        gone = {(row.key, row.content) for row in rows}
        self._lines = [w for w in self._lines if (w.key, w.text) not in gone]

    def look_again(self, workspace: Path) -> None:
        """Some files may have been deleted."""

        def is_there(name: str) -> bool:
            path = workspace / name
            return path.exists() or (path.parent / "archive" / path.name).exists()

        there = {name: is_there(name) for name in {w.name for w in self._lines}}
        self._lines = [w for w in self._lines if there[w.name]]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """What stands in files beside the rows: where it came from, and the text."""
        return ((line.sources, line.text) for line in self._lines)

    def save(self) -> dict[str, JSON]:
        """Files and lines as JSON values."""
        written: list[JSON] = [[w.name, w.key, w.text, list(w.sources)] for w in self._lines]
        files = {} if self.files is None else self.files.save()
        return {"written": written, "files": dict(files)}

    def take(self, read: tuple[list[FileLine], dict[str, str]]) -> None:
        """Put what was read in the place of what there is."""
        self._lines, files = read
        if self.files is not None:
            self.files.load(files)


def read_copies(saved: Any) -> tuple[list[FileLine], dict[str, str]]:  # noqa: ANN401 - from a file
    """Read lines and files that `FileCopies.save` gave. Raises StateError if damaged."""
    with reading("its files are damaged"):
        lines = [
            FileLine(_text(name), _text(key), _text(text), tuple(map(_text, sources)))
            for name, key, text, sources in saved["written"]
        ]
        return lines, {_text(name): _text(text) for name, text in saved["files"].items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
