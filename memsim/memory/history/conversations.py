"""One conversation as it goes: its latest messages, and a summary of what was before them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.errors import StateError, StoreError
from memsim.memory.codec import JSON, reading
from memsim.memory.compaction.blobs import MemoryBlobs, referenced, reload, stored
from memsim.memory.events import MemoryEvent
from memsim.memory.history.shorten import MOST, Shortener, clip_messages
from memsim.memory.history.summary_buffer import SummaryBuffer
from memsim.memory.history.window import Window, text_bytes
from memsim.memory.history.working_memory import LIMIT, TTL
from memsim.memory.options import MemoryOptions
from memsim.message import utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.context import Section
    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.compaction.outcome import CompactionOutcome
    from memsim.memory.compaction.summary import SummaryLine
    from memsim.message import Message, TokenCounter
    from memsim.models import Model

    Whole = tuple[str, str]


_THINNED = {
    "offload": "offloaded",
    "shorten results": "shortened",
    "deduplicate": "deduplicated",
}
"""What is told of steps that take nothing out of reach, and so are no compactions of a history."""

OFFLOADED = 256
"""Messages of a conversation that stay offloaded; older ones are on record alone."""


class SessionHistory:
    """The working history of a conversation.

    Unused for `TTL`, its latest messages are no longer shown: they go, or into the summary where
    there is one. They have `LIMIT` bytes of UTF-8 at most, before a message is taken in and after.
    With a summary nothing goes that does not stand in it, so there each message alone is limited.

    Args:
        counter: token counts.
        messages: latest messages that are shown.
        keep: tokens that stay verbatim before the oldest are summarised; None for no summary.
        limit: tokens that the summary may have.
        share: of a budget that the summary may take; the messages have the rest.
        thinning: what becomes of long messages; they stay as they are where None.
        blobs: where what is offloaded goes; in this process unless told otherwise.
        references: whether a short form may stand for a message that would not fit as it was said.
            An agent can reload it; for anybody else it would only add tokens.
    """

    def __init__(
        self,
        counter: TokenCounter,
        *,
        messages: int,
        keep: int | None,
        limit: int,
        share: float = 0.5,
        thinning: Shortener | None = None,
        blobs: Blobs | None = None,
        references: bool = True,
    ) -> None:
        self._counter = counter
        self._messages = messages
        self._buffer = (
            SummaryBuffer(counter, keep=keep, limit=limit, share=share, voice="user")
            if keep
            else None
        )
        self.window = (
            self._buffer.window if self._buffer else Window(counter, messages=4 * messages)
        )
        self._thinning = thinning or Shortener(
            counter=counter, room=0, options=MemoryOptions(offload=False, shorten=False)
        )
        self._blobs: Blobs = MemoryBlobs() if blobs is None else blobs
        self._used: datetime | None = None
        self._size = 0
        self._thick: dict[str, None] = {}
        """Ids of messages of which there may be less, once they have been answered."""
        self._whole: dict[str, Whole] = {}
        """By the id of a message that is not in the window as it was said: the digest of what was
        said, under which it may be offloaded, and whose message it is."""
        self._references = references
        self._saved: dict[str, int] = {}
        """By the id of a message in the window: the tokens that its short form saves."""

    def add(self, message: Message, now: datetime) -> None:
        """A message was said; a late result is left out whose call is not there, or no more."""
        self.sweep(now)
        self._used = now
        most = self._make_room(message)
        if not self.window.answers_here(message):
            return
        shown = self._thinning.admitted(message, self._blobs, most)
        if shown is None:
            return
        self._note(message, shown)
        left = self.window.add(shown)
        self._size += text_bytes(shown) - sum(map(text_bytes, left))
        if self._thinning.may_thin(shown):
            self._thick[shown.id] = None

    def is_new(self, message: Message) -> bool:
        """Whether a message is not among the latest.

        Raises `ValueError` if another one is there under its id.
        """
        known = self._whole.get(message.id)
        if known is not None and known[0] == _digest(message):
            return False
        if message.id not in self.window:
            return True
        if self.window.get(message.id) == message:
            return False
        raise ValueError(f"another message of the conversation is called {message.id!r}")

    def touch(self, now: datetime) -> None:
        """Its latest messages were shown, and last longer for it."""
        if self._used is not None and not self._expired(now):
            self._used = now

    def sweep(self, now: datetime) -> None:
        """Drop the latest messages where nobody has used them for too long."""
        if not self._expired(now):
            return
        if self._buffer is not None:
            self._buffer.expire()
        else:
            self.window.drop(len(self.window))
        self._size = 0

    def compact(self, model: Model, now: datetime) -> list[MemoryEvent]:
        """Make less of long messages, and summarise what is beyond the limit.

        Raises `ModelError` if the model failed; nothing is summarised. Raises `StoreError` if
        something could not be offloaded; all of it is shown as it was said.
        """
        happened = [*self._thinned(now)]
        done = self._buffer.compact(model, now) if self._buffer else None
        if done is not None:
            happened.append(_told(done))
        return happened

    def sections(self, budget: int, now: datetime, question: str = "") -> tuple[Section, ...]:
        """The summary and the latest messages, as far as they fit into a budget.

        Where the very last is too long for that, its beginning and end are shown; but no part of
        the question, because the model is given the question as a whole beside this.
        """
        expired = self._expired(now)
        sections = self._fitting(budget, expired=expired)
        shown = 0 if expired else self._showing()
        if not shown or any(s.layer == "window" for s in sections):
            return sections
        last = self.window.section(self.window.tokens, last=1).messages
        if question and last[-1].role == "user" and last[-1].text == question:
            return sections
        room = budget - sum(s.tokens for s in sections)
        clip = clip_messages(last, self._counter, room)
        return (*sections, clip) if clip.messages else sections

    def summary_lines(self) -> tuple[SummaryLine, ...]:
        """What the summary says, line by line."""
        return self._buffer.summary.lines if self._buffer else ()

    def reload(self, reference: str) -> tuple[Message, ...]:
        """What was offloaded under a reference, as it was said.

        Raises `StoreError` if this conversation has no such thing, or `StateError` if it is
        damaged.
        """
        return reload(reference, self._blobs)

    def has_offloaded(self) -> bool:
        """Whether anything can be reloaded."""
        return bool(self._blobs.digests())

    def offloaded(self) -> Iterator[Message]:
        """Every message that is offloaded, as it was said."""
        for digest in self._blobs.digests():
            yield from reload(digest, self._blobs)

    def remove(self, ids: Iterable[str], principal: str) -> tuple[str, ...]:
        """Take out a principal's messages, and what was made from them; ids of what is gone.

        Raises `StoreError` if what was offloaded cannot be removed.
        """
        meant = frozenset(ids)
        self._erase([i for i, (_, who) in self._whole.items() if i in meant and who == principal])
        theirs = [m for m in self.window if m.id in meant and m.principal == principal]
        # Of what was being offloaded when something failed there may be a blob as well.
        if theirs and self._blobs.digests():
            self._blobs.drop(_digest(m) for m in theirs if not m.composed)
        own = [m.id for m in theirs]
        if self._buffer is not None:
            elsewhere = sorted(i for i in meant if i not in self.window)
            gone = self._buffer.remove([*own, *elsewhere], principal)
        else:
            gone = tuple(m.id for m in self.window.remove(own))
        self._size = sum(map(text_bytes, self.window))
        return gone

    def tidy(self) -> None:
        """Remove what is offloaded and belongs to no message, as a killed process may leave it.

        Raises `StoreError` if it cannot be removed.
        """
        known = {digest for digest, _ in self._whole.values()}
        self._blobs.drop(d for d in self._blobs.digests() if d not in known)

    def save(self) -> JSON:
        """The whole state as JSON values, without the content that is offloaded."""
        part: dict[str, JSON] = {"window": self.window.save()}
        if self._buffer is not None:
            part = self._buffer.save()
        return {
            **part,
            "used": None if self._used is None else self._used.isoformat(),
            "whole": {i: [*self._whole[i]] for i in self._whole},
            "saved": {i: n for i, n in self._saved.items() if i in self.window},
        }

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state; called on an empty session.

        Raises `StateError` if it is no such state.
        """
        with reading("a conversation is damaged"):
            if self._buffer is not None:
                if "lines" not in saved:
                    raise StateError("the conversation was saved without a summary")
                self._buffer.load(saved)
            else:
                self.window.load(saved["window"])
            used = saved.get("used")
            self._used = None if used is None else utc(datetime.fromisoformat(used))
            self._whole = {
                "" + source: ("" + digest, "" + who)
                for source, (digest, who) in saved.get("whole", {}).items()
            }
            self._saved = {"" + i: 0 + n for i, n in saved.get("saved", {}).items()}
        self._size = sum(map(text_bytes, self.window))
        self._thick = {m.id: None for m in self.window if self._thinning.may_thin(m)}

    def _expired(self, now: datetime) -> bool:
        return self._used is not None and self._used + TTL <= now

    def _showing(self) -> int:
        return self._buffer.showing() if self._buffer else len(self.window)

    def _fitting(self, budget: int, *, expired: bool) -> tuple[Section, ...]:
        if self._buffer is not None:
            return self._buffer.sections(budget, last=0 if expired else None)
        if expired:
            return ()
        saved = None if self._references else self._saved
        section = self.window.section(budget, last=self._messages, saved=saved)
        return (section,) if section.messages else ()

    def _make_room(self, message: Message) -> int:
        """Have the oldest leave for a message; bytes that it may have itself.

        What it belongs to stays, and is cut where there is too much of it.
        """
        size = min(text_bytes(message), MOST)
        if self._buffer is not None:
            return MOST
        joined = self.window.joined(message)
        for older in [*self.window][: len(self.window) - len(joined)]:
            if self._size + size <= LIMIT:
                return MOST
            if older.id in self.window:
                gone = self.window.drop(len(self.window.group(older.id)))
                self._size -= sum(map(text_bytes, gone))
        if self._size + size <= LIMIT:
            return MOST
        most = LIMIT // (len(joined) + 1)
        cut = [self._thinning.admitted(m, self._blobs, most) or m for m in joined]
        for was, shown in zip(joined, cut, strict=True):
            self._note(was, shown)
        self.window.replace(cut)
        self._size = sum(map(text_bytes, cut))
        return max(0, min(most, LIMIT - self._size))

    def _note(self, message: Message, shown: Message | None) -> None:
        """Remember what was said, where something else stands for it, or nothing."""
        if shown != message and not message.composed:
            self._whole[message.id] = _digest(message), message.principal

    def _thinned(self, now: datetime) -> Iterator[MemoryEvent]:
        self._erase([i for i in self._whole if i not in self.window][:-OFFLOADED])
        if not self._thick:
            return
        shown = [*self.window]
        whole = tuple(map(self._original, shown))
        done = self._thinning(whole, self._blobs, now)
        if done.changed:
            left = {m.id: m for m in done.history}
            for was, message in zip(shown, whole, strict=True):
                if left.get(message.id) == message:
                    left[message.id] = was
                else:
                    self._note(message, left.get(message.id))
                    self._count_saved(was, left.get(message.id))
            self.window.replace(left.values())
            self._size = sum(map(text_bytes, self.window))
            yield from map(_told, (o for o in done.outcome.steps if o.kind == "compaction"))
        self._thick = {m.id: None for m in self.window if self._thinning.may_thin(m)}
        self._saved = {i: n for i, n in self._saved.items() if i in self.window}

    def _count_saved(self, was: Message, shown: Message | None) -> None:
        if shown is not None:
            less = self._counter.message(was) - self._counter.message(shown)
            self._saved[was.id] = self._saved.get(was.id, 0) + less

    def _original(self, message: Message) -> Message:
        """What was cut when it came, as it was said; any other message as it is."""
        digest, _ = self._whole.get(message.id, ("", ""))
        if not message.composed or digest in {"", *referenced((message,))}:
            return message
        try:
            return reload(digest, self._blobs)[0]
        except (StateError, StoreError):
            return message

    def _erase(self, ids: Iterable[str]) -> None:
        gone = [i for i in ids if i in self._whole]
        if gone:
            self._blobs.drop(self._whole[i][0] for i in gone)
            for source in gone:
                del self._whole[source]


def _digest(message: Message) -> str:
    return hashlib.sha256(stored((message,))).hexdigest()


def _told(done: CompactionOutcome) -> MemoryEvent:
    """What happened, as it is told: a summary that is refused changes nothing."""
    kind = "compaction" if done.kind == "compaction" else "compaction-refused"
    return MemoryEvent(
        kind=_THINNED.get(done.step, kind),
        sources=done.sources,
        before=done.before,
        after=done.after,
        detail=done.detail,
    )


# The conversations as they go: their latest messages, their summaries, and who is in which.


FIRST = "s1"
"""The conversation of who has not said anything yet."""


class Conversations:
    """The sessions of a memory, by name."""

    def __init__(self, make: Callable[[str], SessionHistory]) -> None:
        self._make = make
        self._sessions: dict[str, SessionHistory | None] = {}
        self._unread: dict[str, str] = {}
        self._latest: dict[str, str] = {}

    def __iter__(self) -> Iterator[tuple[str, SessionHistory]]:
        for name in [*self._sessions]:
            session = self.get(name)
            if session is not None:
                yield name, session

    def is_new(self, message: Message) -> bool:
        """Whether a message is not among the latest of its conversation.

        Raises `ValueError` if another one is there under its id.
        """
        session = self.get(message.session)
        return session is None or session.is_new(message)

    def add(self, message: Message, now: datetime) -> str | None:
        """A message was said; the conversation that its principal has left for it, if any."""
        before = self._latest.get(message.principal)
        self._latest[message.principal] = message.session
        session = self.get(message.session)
        if session is None:
            session = self._sessions[message.session] = self._make(message.session)
        session.add(message, now)
        return None if before == message.session else before

    def get(self, name: str) -> SessionHistory | None:
        """A conversation by its name."""
        found = self._sessions.get(name)
        if found is None and name in self._unread:
            found = self._make(name)
            found.load(json.loads(self._unread[name]))
            self._sessions[name] = found
            del self._unread[name]
        return found

    def names(self) -> list[str]:
        """The names of all conversations."""
        return [*self._sessions]

    def latest(self, principal: str) -> str:
        """The name of the conversation that a principal spoke in last."""
        return self._latest.get(principal, FIRST)

    def remove(self, sources: Collection[str], principal: str) -> int:
        """Take a principal's messages out of every conversation; how many are gone."""
        return sum(len(session.remove(sources, principal)) for _, session in self)

    def touch(self, name: str, now: datetime) -> None:
        """The latest messages of a conversation were shown, and last longer for it."""
        if (session := self.get(name)) is not None:
            session.touch(now)

    def sweep(self, now: datetime) -> None:
        """Drop the latest messages of every conversation that nobody has used for too long."""
        for _, session in self:
            session.sweep(now)

    def tidy(self) -> None:
        """Remove what is offloaded and belongs to no message.

        Raises `StoreError` if it cannot be removed.
        """
        for _, session in self:
            session.tidy()

    def save(self) -> JSON:
        """The whole state as JSON values."""
        latest: dict[str, JSON] = {who: self._latest[who] for who in sorted(self._latest)}
        sessions: dict[str, JSON] = {name: self._save(name) for name in sorted(self._sessions)}
        return {"latest": latest, "sessions": sessions}

    def _save(self, name: str) -> JSON:
        session = self._sessions[name]
        part: JSON = json.loads(self._unread[name]) if session is None else session.save()
        return part

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over a saved state in place of the present one.

        Raises `StateError` if it is no such state; nothing has changed.
        """
        sessions: dict[str, SessionHistory | None] = {}
        with reading("its conversations are damaged"):
            for name, part in saved["sessions"].items():
                session = sessions[name] = self._make(name)
                session.load(part)
            latest = {"" + who: "" + name for who, name in saved["latest"].items()}
        self._sessions, self._latest, self._unread = sessions, latest, {}

    def load_late(self, saved: Any) -> None:  # noqa: ANN401 - as above
        """As `load`, of a state that is known to be as it was written.

        Each conversation is read when it is first asked for: thousands take a second.
        """
        with reading("its conversations are damaged"):
            # As texts: the garbage collector would look at each part of them.
            unread = {"" + name: json.dumps({**part}) for name, part in saved["sessions"].items()}
            latest = {"" + who: "" + name for who, name in saved["latest"].items()}
        self._sessions, self._latest, self._unread = dict.fromkeys(unread), latest, unread
