"""What a mode keeps track of: short texts that know which messages they are from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from memsim.memory.state import JSON


@dataclass(frozen=True, slots=True)
class Note:
    """Something noted.

    Attributes:
        text: what.
        sources: ids of the messages it is from.
        more: what else belongs to it, by name.
    """

    text: str
    sources: tuple[str, ...] = ()
    more: dict[str, str] = field(default_factory=dict, hash=False)

    def saved(self) -> JSON:
        """It as JSON values."""
        return {"text": self.text, "sources": list(self.sources), **self.more}

    @classmethod
    def loaded(cls, saved: Any) -> Note:  # noqa: ANN401 - from a file
        """The note that `saved` wrote; a bare text is one without sources."""
        if isinstance(saved, str):
            return cls(saved)
        more = {key: "" + value for key, value in saved.items() if key not in {"text", "sources"}}
        return cls("" + saved["text"], tuple(saved.get("sources", ())), more)


class Notes:
    """Notes of one kind, oldest first.

    Args:
        limit: so many of the latest stay; None for all.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._notes: list[Note] = []

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, text: str, sources: tuple[str, ...] = (), **more: str) -> None:
        """Note something."""
        self._notes.append(Note(text, sources, more))
        if self._limit is not None:
            del self._notes[: max(0, len(self._notes) - self._limit)]

    def add_once(self, text: str, sources: tuple[str, ...] = (), **more: str) -> bool:
        """Note something unless it is noted already; whether it was new."""
        if any(note.text == text for note in self._notes):
            return False
        self.add(text, sources, **more)
        return True

    def change(self, text: str, **more: str) -> bool:
        """Change what belongs to a note; whether there is such a note."""
        for place, note in enumerate(self._notes):
            if note.text == text:
                self._notes[place] = replace(note, more={**note.more, **more})
                return True
        return False

    def drop_first(self) -> None:
        """Drop the oldest."""
        del self._notes[:1]

    def latest(self, count: int) -> list[Note]:
        """So many of the latest."""
        return self._notes[max(0, len(self._notes) - count) :]

    def remove(self, ids: Iterable[str]) -> None:
        """Drop what is from any of these messages."""
        gone = set(ids)
        self._notes = [note for note in self._notes if gone.isdisjoint(note.sources)]

    def save(self) -> JSON:
        """All of them as JSON values."""
        return [note.saved() for note in self._notes]

    def load(self, saved: Any) -> None:  # noqa: ANN401 - from a file
        """Take over saved ones."""
        self._notes = [Note.loaded(item) for item in saved or ()]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what stands before the window.

    Attributes:
        text: what it says.
        sources: ids of the messages behind it.
    """

    text: str
    sources: tuple[str, ...] = ()


def part(text: str, notes: Iterable[Note]) -> Part:
    """A part that shows some notes."""
    return Part(text, tuple(dict.fromkeys(i for note in notes for i in note.sources)))
