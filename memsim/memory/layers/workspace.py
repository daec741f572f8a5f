"""Workspace memory: Markdown files that agents and people share, found by their headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memsim.memory.acl import Where
from memsim.memory.conversation import digest_of
from memsim.memory.echo import names_any
from memsim.memory.entry import Entry
from memsim.memory.state import JSON, reading
from memsim.memory.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from pathlib import Path

    from memsim.memory.chunks import Chunk
    from memsim.memory.vault import Vault


class WorkspaceLayer:
    """A folder of files for each principal, and an index of their pieces.

    Args:
        vault: where the index is kept.
        folder: in which the principals' folders are.
    """

    def __init__(self, vault: Vault, folder: Path) -> None:
        self._vault = vault
        self._folder = folder

    def of(self, principal: str) -> Workspace:
        """A principal's files; their names say nothing of the principal's."""
        return Workspace(self._folder / digest_of(principal))

    def note(self, principal: str, text: str, now: datetime) -> str:
        """Add a note to the day's file, and index it; the file's name.

        Raises:
            ValueError: the note is blank or cannot be encoded.
            WorkspaceFull: the day's files are full.
            StoreError: it cannot be written.
        """
        name = self.of(principal).note(text, now)
        self.index(principal, now)
        return name

    def index(self, principal: str, now: datetime) -> int:
        """Bring the index in line with the files, whoever changed them; how many pieces there are.

        Raises:
            StoreError: a file or the store cannot be read.
        """
        pieces = {chunk.id: chunk for chunk in self.of(principal).chunks()}
        where = self._vault.where(principal, owner=principal, layers=("workspace",), archived=None)
        held = {e.key: e for e in self._vault.each(where)}
        self._vault.erase(held[key].id for key in held.keys() - pieces.keys())
        new = [_entry(principal, chunk, now) for chunk in pieces.values()]
        self._vault.put([e for e in new if e.key not in held or held[e.key].text != e.text])
        return len(pieces)

    def erase_naming(self, principal: str, telling: Collection[str], now: datetime) -> int:
        """Take out the lines of a principal's files that name something; how many.

        Args:
            principal: whose files.
            telling: names and exact values, case-folded, as `telling_words` gives them.
            now: the present.
        """
        workspace, gone = self.of(principal), 0
        for name in workspace.names():
            lines = (workspace.read(name) or "").splitlines(keepends=True)
            kept = [line for line in lines if not names_any(line, telling)]
            if len(kept) < len(lines):
                workspace.write(name, "".join(kept))
                gone += len(lines) - len(kept)
        if gone:
            self.index(principal, now)
        return gone

    def save(self) -> JSON:
        """The pages of everybody who has some, by owner and name."""
        where = Where(reader=None, layers=frozenset({"workspace"}), archived=None)
        owners = sorted({entry.owner for entry in self._vault.each(where)})
        return {owner: self._pages(owner) for owner in owners}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Write saved pages, each in place of the one of its name.

        Raises:
            StateError: they are no such pages; nothing has changed.
            StoreError: one cannot be written.
        """
        with reading("its workspace is damaged"):
            pages = [
                (owner, name, "" + text) for owner in saved for name, text in saved[owner].items()
            ]
        for owner, name, text in pages:
            self.of(owner).write(name, text)

    def _pages(self, owner: str) -> dict[str, JSON]:
        workspace = self.of(owner)
        return {name: workspace.read(name) for name in workspace.names()}


def _entry(owner: str, chunk: Chunk, now: datetime) -> Entry:
    heading = " > ".join(chunk.headings)
    return Entry(
        key=chunk.id,
        text=f"{heading}\n{chunk.text}" if heading else chunk.text,
        owner=owner,
        layer="workspace",
        category="daily",
        created=now,
        updated=now,
        attributes=(("file", chunk.file), ("line", str(chunk.line))),
    )
