"""What a mode keeps track of: short texts that know which messages they are from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memsim.errors import ModelError
from memsim.memory.codec import JSON
from memsim.memory.compaction.summary import Summary
from memsim.message import Message, Text, composed
from memsim.models import Model, Request
from memsim.systems.cogtrix.prompts import DISTILLATION
from memsim.systems.cogtrix.settings import FACTS_DAYS


@dataclass(frozen=True, slots=True)
class Note:
    """A text, the ids of the messages it is from, and what else belongs to it by name."""

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
    """Notes of one kind, oldest first, of which the latest `limit` stay."""

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
class NotePart:
    """A text before the window, with ids of the messages behind it."""

    text: str
    sources: tuple[str, ...] = ()


def note_part(text: str, notes: Iterable[Note]) -> NotePart:
    """A part that shows some notes."""
    return NotePart(text, tuple(dict.fromkeys(i for note in notes for i in note.sources)))


# When something was said: written before what the model reads of it.

SHOWN_FORMAT = "[%Y-%m-%d %H:%M:%S UTC] "
STORED_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def iso_stamp(time: datetime) -> str:
    """A time as the history file holds it."""
    return time.astimezone(UTC).strftime(STORED_FORMAT)


def read_stamp(stamp: str) -> datetime:
    """Read what `iso_stamp` wrote. Raises ValueError where it is no time."""
    time = datetime.fromisoformat(stamp)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def stamped_message(message: Message, *, users_only: bool = False, known: bool = True) -> Message:
    """Stamp a message with its time, where that is `known`, as the model reads it.

    Tool traffic is not stamped: only what the user submits, and what the model says.
    """
    text = message.spoken
    told = message.role == "user" or (
        message.role == "assistant" and bool(text.strip()) and not message.calls and not users_only
    )
    blocks = message.blocks
    if told and known:
        stamp = message.time.astimezone(UTC).strftime(SHOWN_FORMAT)
        blocks = (Text(stamp + text), *(b for b in blocks if not isinstance(b, Text)))
    # Marked as composed, no date of the context's own is written before it.
    return replace(message, blocks=blocks, quotes=(message.id,), composed=True)


# What the source carries over when a summary is dropped: a few facts, for some days.

FACTS, WORDS = 15, 20
"""How many facts at most, and words in each."""


def distil_facts(summary: Summary, model: Model, now: datetime) -> list[Note]:
    """Extract facts from a dropped summary, valid for `FACTS_DAYS`; none where the model fails."""
    told = composed("user", summary.text, id="summary", derived_from=summary.sources, time=now)
    try:
        request = Request(task="extract", messages=(told,), now=now, prompt=DISTILLATION)
        reply = model.complete(request)
    except (ModelError, OSError):
        return []
    until = iso_stamp(now + timedelta(days=FACTS_DAYS))
    lines = [line for line in reply.text.splitlines() if line.strip()][:FACTS]
    return [
        Note(" ".join(line.split()[:WORDS]), summary.sources, {"until": until}) for line in lines
    ]


def valid_facts(facts: Iterable[Note], now: datetime) -> list[Note]:
    """Those of the facts that still hold."""
    current = iso_stamp(now)
    return [fact for fact in facts if fact.more["until"] >= current]
