"""Make a conversation playable: drop what cannot be, fill in times, and count every change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from memsim.message import EPOCH
from memsim.traces.records import SPOKEN, TraceConversation, TraceDocument, TraceMessage
from memsim.traces.trace_format import ImportCounts

BETWEEN_SESSIONS = timedelta(days=1)
"""From the beginning of a session without times to that of the next."""


def tidied(
    conversation: TraceConversation,
    counts: ImportCounts,
    *,
    pace: timedelta,
    begins: datetime = EPOCH,
) -> tuple[TraceConversation, bool]:
    """A conversation whose messages all say something and have a time that never goes back.

    Args:
        conversation: as its format was read.
        counts: what is dropped or changed is counted there.
        pace: from message to message, where the trace has no times.
        begins: when the first message is, where no message has a time.

    Returns:
        The conversation, and whether any time had to be made up.
    """
    kept = list(_kept(conversation.messages, counts))
    paced = any(message.time is None for message in kept)
    timed = tuple(_timed(kept, counts, pace, begins))
    made = replace(
        conversation,
        id=_clean(conversation.id),
        person=_clean(conversation.person),
        title=_clean(conversation.title),
        messages=timed,
    )
    return made, paced


_MAY_BE_EMPTY = frozenset({"compaction", "recall"})
"""A compaction may have left nothing, and a memory may have found nothing."""


def _is_empty(message: TraceMessage) -> bool:
    return not (message.text.strip() or message.calls)


def _kept(messages: tuple[TraceMessage, ...], counts: ImportCounts) -> Iterator[TraceMessage]:
    open_calls: set[str] = set()
    for each in messages:
        message = each if _is_whole(each) else _repaired(each, counts)
        open_calls.update(call.id for call in message.calls)
        if message.role == "tool":
            if message.answers not in open_calls:
                counts.drop("tool result without its call")
                continue
            open_calls.discard(message.answers)
        elif message.role not in _MAY_BE_EMPTY and _is_empty(message):
            counts.drop("empty message")
            continue
        yield message


def _timed(
    messages: list[TraceMessage], counts: ImportCounts, pace: timedelta, begins: datetime
) -> Iterator[TraceMessage]:
    known = next((m.time for m in messages if m.time), None)
    now = known or begins
    spoken = False
    for message in messages:
        time = message.time
        if time is None:
            now += pace if spoken and message.role in SPOKEN else timedelta()
        elif time < now:
            counts.adjusted["time went backwards"] += 1
        else:
            now = time
        spoken = spoken or message.role in SPOKEN
        yield message if time == now else replace(message, time=now)


def _is_whole(message: TraceMessage) -> bool:
    texts = [message.text, message.answers, message.speaker]
    texts += [text for c in message.calls for text in (c.id, c.name, c.arguments)]
    texts += [text for d in message.documents for text in (d.text, d.id)]
    return all(text.isascii() or _is_unicode(text) for text in texts)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _repaired(message: TraceMessage, counts: ImportCounts) -> TraceMessage:
    counts.adjusted["half a surrogate pair replaced"] += 1
    return replace(
        message,
        text=_clean(message.text),
        answers=_clean(message.answers),
        speaker=_clean(message.speaker),
        calls=tuple(
            replace(c, id=_clean(c.id), name=_clean(c.name), arguments=_clean(c.arguments))
            for c in message.calls
        ),
        documents=tuple(
            TraceDocument(_clean(d.text), _clean(d.id), d.score) for d in message.documents
        ),
    )


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
