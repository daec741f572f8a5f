"""Workspace memory: Markdown files that agents and people share, found by their headings.

The index follows what is written through the layer at once, and what others write whenever it is
asked to: it looks at the files' times and sizes, and reads those alone that were changed.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.memory.codec import JSON, reading
from memsim.memory.entry import Entry, digest_of, entry_id
from memsim.memory.forget_request import names_any
from memsim.memory.index.split import chunk
from memsim.memory.layers.pages import (
    STANDING,
    Page,
    PageStamp,
    Workspace,
    WorkspaceFull,
    day_ends,
    place_of,
)
from memsim.memory.permissions import Where

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from memsim.memory.index.split import PageChunk
    from memsim.memory.vault import Vault


# Where the lines that were noted on pages come from, so that they go with what was forgotten.


_OF_THE_PAGE = re.compile(r"#{1,2} \d{4}-\d{2}-\d{2}|[\s>#=|:+*_~`.-]*", re.ASCII)
"""Lines that say nothing: the heading of a day, and marks of Markdown alone."""


class NoteSources:
    """Which messages the lines of each principal's notes are of, in each place."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, dict[str, frozenset[str]]]] = {}

    def add(
        self, principal: str, text: str, sources: Collection[str], place: str
    ) -> frozenset[str]:
        """The lines of a note are of these messages, and of those that they were of before.

        Returns the digests of the lines of which nothing was known in this place. Raises
        `ValueError` if the text cannot be encoded.
        """
        lines = digests(principal, text) if sources else frozenset()
        if not lines:
            return lines
        known = self._of.setdefault(principal, {})
        new = frozenset(line for line in lines if place not in known.get(line, {}))
        for line in lines:
            places = known.setdefault(line, {})
            places[place] = places.get(place, frozenset()).union(sources)
        return new

    def spare(self, principal: str, line: str, places: Iterable[str]) -> None:
        """A line that is known stands in these places as well, on its own account."""
        known = self._of[principal][line]
        for place in places:
            known.setdefault(place, frozenset())

    def drop(
        self, principal: str, lines: Iterable[str], places: Collection[str] | None = None
    ) -> None:
        """These lines are gone: from these places, or from all where none are named."""
        known = self._of.get(principal, {})
        for line in lines:
            before = known.pop(line, {})
            left = {p: of for p, of in before.items() if places is not None and p not in places}
            if any(left.values()):
                known[line] = left
        if not known:
            self._of.pop(principal, None)

    def free(self, principal: str, sources: Collection[str]) -> None:
        """These messages are gone, and their ids may be others': no line is of them any more."""
        known, gone = self._of.get(principal, {}), frozenset(sources)
        for line in self.lines_of(principal, sources):
            known[line] = {place: of - gone for place, of in known[line].items()}
            self.drop(principal, [line], ())

    def among(self, principal: str, text: str) -> frozenset[str]:
        """Digests of those lines of a page that were noted."""
        known = self._of.get(principal)
        return digests(principal, text) & known.keys() if known else frozenset()

    def lines(self, principal: str) -> frozenset[str]:
        """Digests of all lines that a principal's notes have."""
        return frozenset(self._of.get(principal, ()))

    def places(self, principal: str, line: str) -> frozenset[str]:
        """Where a line is known to stand, or to have stood, on whatever account."""
        return frozenset(self._of.get(principal, {}).get(line, ()))

    def lines_of(self, principal: str, sources: Collection[str]) -> dict[str, frozenset[str]]:
        """Where any of these messages has a part in a line, by the line's digest."""
        meant = frozenset(sources)
        every = {
            line: frozenset(place for place, of in places.items() if not meant.isdisjoint(of))
            for line, places in self._of.get(principal, {}).items()
        }
        return {line: places for line, places in every.items() if places}

    def save(self) -> JSON:
        """The whole state as JSON values."""
        return {
            who: {
                line: {place: [*sorted(of)] for place, of in sorted(known[line].items())}
                for line in sorted(known)
            }
            for who, known in sorted(self._of.items())
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one; one of before names no places.

        Raises `StateError` if it is no such state; nothing has changed.
        """
        with reading("where its notes come from is damaged"):
            self.rebuilt = any(isinstance(of, list) for k in saved.values() for of in k.values())
            self._of = {
                "" + who: {"" + line: _placed(of) for line, of in known.items()}
                for who, known in saved.items()
            }


def _placed(of: Any) -> dict[str, frozenset[str]]:  # noqa: ANN401 - as `load`
    places = {"": of} if isinstance(of, list) else of
    return {"" + place: frozenset("" + i for i in ids) for place, ids in places.items()}


def digests(principal: str, text: str) -> frozenset[str]:
    """What the lines of a text are known by, but for those that say nothing."""
    return frozenset(d for line in text.splitlines() if (d := digest(principal, line)))


def digest(principal: str, line: str) -> str:
    """What a line is known by, whatever space is around it; empty where it says nothing."""
    said = line.removeprefix("\ufeff").strip()
    return "" if _OF_THE_PAGE.fullmatch(said) else digest_of(principal, said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    """What the index holds of a file."""

    stamp: PageStamp | None
    keys: frozenset[str]
    noted: frozenset[str] = frozenset()


class WorkspaceLayer:
    """A folder of files for each principal, and an index of their pieces."""

    def __init__(self, vault: Vault, folder: Path, now: Callable[[], datetime]) -> None:
        self._vault = vault
        self._folder = folder
        self._now = now
        self._indexed: dict[str, dict[str, _Indexed]] = {}
        self._owners: set[str] = set()
        self.noted = NoteSources()

    def of(self, principal: str) -> Workspace:
        """A principal's files, indexed as they are written; their names do not tell whose."""
        return Workspace(
            self._folder / digest_of(principal),
            written=lambda name: self.index(principal, self._now(), written={name}),
            readonly=self._vault.readonly,
        )

    def known(self) -> list[str]:
        """Everybody whose files were looked at, by name in order."""
        return sorted(self._owners)

    def standing(self, principal: str, limit: int | None = None) -> list[Page]:
        """What every context of a principal's shows: who the agent is, and whom it serves.

        Raises `StoreError` if a file cannot be read.
        """
        return self._files(principal).pages(STANDING, limit)

    def pieces(self, principal: str, pages: Collection[Page]) -> list[str]:
        """Ids of the entries whose texts stand in pages, whether there are such entries or not."""
        return [
            entry_id(principal, "workspace", piece.id)
            for page in pages
            for piece in chunk(page.name, page.text)
        ]

    def note(
        self,
        principal: str,
        text: str,
        now: datetime,
        sources: Collection[str] = (),
        known: Callable[[], object] = lambda: None,
    ) -> str:
        """Add a note to the day's file, and index it; what stands there already, no second time.

        The lines of the note go with any of `sources`. `known` is called when it is known what they
        are of, and before they are written, so that no other line is left. Returns the file's name.

        Raises:
            ValueError: the note is blank or cannot be encoded.
            WorkspaceFull: the day's files are full.
            StoreError: it cannot be written.
        """
        files = self._files(principal)
        name = files.holding(text, now)
        place = now.date().isoformat()
        new = self.noted.add(principal, text, sources, place)
        if sources:
            known()
        try:
            name = name or files.note(text, now)
        except WorkspaceFull:  # of other errors, nobody knows whether it stands there
            self.noted.drop(principal, new, {place})
            raise
        self.index(principal, now, written={name})
        return name

    def index(self, principal: str, now: datetime, *, written: Collection[str] = ()) -> int:
        """Bring the index in line with the files, whoever changed them; how many pieces there are.

        Those `written` are read even if they look unchanged. Raises `StoreError` if a file cannot
        be read, or the store failed; the next call does it all. Raises `ModelError` if the embedder
        failed; so it does then, too.
        """
        files = self._files(principal)
        self._owners.add(principal)
        # Out until all is done: what was not finished is begun anew, from what the store holds.
        before = self._indexed.pop(principal, None)
        held = self._held(principal) if before is None else before
        stamps = files.stamps()
        after = {
            name: known
            for name, known in held.items()
            if known.stamp == stamps.get(name) and known.stamp is not None and name not in written
        }
        stale = [held[name] for name in held.keys() - after.keys()]
        old = frozenset[str]().union(*(known.keys for known in stale))
        lines = self.noted.lines(principal) if before is None else _noted_in(stale)
        pieces: dict[str, PageChunk] = {}
        for name in sorted(stamps.keys() - after.keys()):
            text = files.read(name) or ""
            found = {piece.id: piece for piece in chunk(name, text)}
            noted = self.noted.among(principal, text)
            after[name] = _Indexed(stamp=stamps[name], keys=frozenset(found), noted=noted)
            pieces |= found
            lines -= noted
        self._erase(principal, old - pieces.keys())
        new = [piece for key, piece in pieces.items() if key not in old]
        self._vault.put([_entry(principal, piece, now) for piece in new])
        if lines:
            self.noted.drop(principal, lines - _noted_in(after.values()))
        self._indexed[principal] = after
        return sum(len(known.keys) for known in after.values())

    def erase(
        self,
        principal: str,
        sources: Collection[str],
        telling: Collection[str],
        now: datetime,
        settle: Callable[[], object] = lambda: None,
    ) -> int:
        """Take out the lines that were noted of messages, or name what they said; how many.

        What was noted goes where it was noted. Where it stands there no more, somebody moved it,
        and it goes if it stands in one place only: of several, one may be somebody's own. A line
        that is of other messages as well goes, too. `telling` are names and exact values,
        case-folded, as `telling_words` gives them. `settle` makes last which lines stay, before the
        first goes, so that a second call takes none of them for a moved line. Raises `StoreError`
        if a file cannot be read or written, or the store failed; doing it again finishes it. Raises
        `ModelError` if the embedder failed; the lines are gone.
        """
        of_them = self.noted.lines_of(principal, sources)
        if not of_them and not telling:
            return 0
        taken = self._taken(principal, of_them, settle) if of_them else frozenset()
        workspace = self._unlimited(principal)
        gone: dict[str, int] = {}
        for name in workspace.names():
            lines = (workspace.read(name) or "").splitlines(keepends=True)
            kept = [
                line
                for line in lines
                if (name, digest(principal, line)) not in taken and not names_any(line, telling)
            ]
            if len(kept) < len(lines):
                workspace.write(name, "".join(kept))
                gone[name] = len(lines) - len(kept)
        self.index(principal, now, written=gone)
        for line, places in of_them.items():
            self.noted.drop(principal, [line], places)
        return sum(gone.values())

    def save(self) -> JSON:
        """The pages of everybody who has some, by owner and name."""
        where = Where(reader=None, layers=frozenset({"workspace"}), archived=None)
        owners = self._owners.union(entry.owner for entry in self._vault.each(where))
        saved = {owner: self._pages(owner) for owner in sorted(owners)}
        return {owner: pages for owner, pages in saved.items() if pages}

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Write saved pages, each in place of the one of its name.

        Raises `StateError` if they are no such pages; nothing has changed. Raises `StoreError` if
        one cannot be written.
        """
        with reading("its workspace is damaged"):
            pages = [
                (owner, name, "" + text) for owner in saved for name, text in saved[owner].items()
            ]
        self._indexed.clear()
        self._owners.update(owner for owner, _, _ in pages)
        for owner, name, text in pages:
            self._unlimited(owner).write(name, text)

    def _taken(
        self,
        principal: str,
        noted: Mapping[str, frozenset[str]],
        settle: Callable[[], object],
    ) -> frozenset[tuple[str, str]]:
        """Files with the digests of the lines that are to go from them."""
        files = self._files(principal)
        stands: dict[str, list[str]] = {line: [] for line in noted}
        for name in files.names():
            for line in (files.read(name) or "").splitlines():
                stands.get(digest(principal, line), []).append(name)
        taken: set[tuple[str, str]] = set()
        spared = False
        for line, names in stands.items():
            there = {name for name in names if place_of(name) in noted[line]}
            known = self.noted.places(principal, line)
            moved = [name for name in names if place_of(name) not in known]
            if there and moved:
                self.noted.spare(principal, line, map(place_of, moved))
                spared = True
            elif len(moved) == 1:
                taken.add((moved[0], line))
            taken.update((name, line) for name in there)
        if spared:
            settle()
        return frozenset(taken)

    def _files(self, principal: str) -> Workspace:
        return Workspace(self._folder / digest_of(principal), readonly=self._vault.readonly)

    def _unlimited(self, principal: str) -> Workspace:
        # People's pages may be longer than what may be added to, and are kept or cut all the same.
        folder, readonly = self._folder / digest_of(principal), self._vault.readonly
        return Workspace(folder, file_limit=sys.maxsize, readonly=readonly)

    def _erase(self, principal: str, keys: Collection[str]) -> None:
        if keys:
            self._vault.erase(entry_id(principal, "workspace", key) for key in sorted(keys))

    def _held(self, principal: str) -> dict[str, _Indexed]:
        """What the store holds of a principal's files, by their names."""
        where = self._vault.where(principal, owner=principal, layers=("workspace",), archived=None)
        keys: dict[str, set[str]] = {}
        for entry in self._vault.each(where):
            keys.setdefault(dict(entry.attributes).get("file", ""), set()).add(entry.key)
        return {n: _Indexed(stamp=None, keys=frozenset(held)) for n, held in keys.items()}

    def _pages(self, owner: str) -> dict[str, JSON]:
        workspace = self._files(owner)
        return {name: workspace.read(name) for name in workspace.names()}


def _noted_in(files: Iterable[_Indexed]) -> frozenset[str]:
    return frozenset[str]().union(*(file.noted for file in files))


def _entry(owner: str, piece: PageChunk, now: datetime) -> Entry:
    heading = " > ".join(piece.headings)
    # A day's page that is read late is as old as the day, so that retention counts from there.
    latest = day_ends(piece.file)
    noted = now if latest is None else min(now, latest)
    return Entry(
        key=piece.id,
        text=f"{heading}\n{piece.text}" if heading else piece.text,
        owner=owner,
        layer="workspace",
        category="daily",
        created=noted,
        updated=noted,
        attributes=(("file", piece.file), ("line", str(piece.line))),
    )
