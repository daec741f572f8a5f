"""What AutoContextMemory notes of each compression."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memsim.memory.state import JSON, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memsim.memory.systems.agentscope.families import Family
    from memsim.message import Message
    from memsim.tokens import TokenCounter

    History = Sequence[Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionEvent:
    """One compression.

    Attributes:
        event_type: which family's.
        timestamp: in milliseconds.
        compressed_message_count: messages that went into it.
        previous_message_id: of the message before it; None at the beginning.
        next_message_id: of the message after it; None at the end.
        compressed_message_id: of what took their place; None where content was offloaded.
        input_token: tokens that the model read, or that there were before.
        output_token: tokens that it wrote, or that there are after.
        time: seconds that the model took.
    """

    event_type: str
    timestamp: int
    compressed_message_count: int
    previous_message_id: str | None
    next_message_id: str | None
    compressed_message_id: str | None
    input_token: int
    output_token: int
    time: float

    def save(self) -> JSON:
        """The event as JSON values."""
        return dict(asdict(self))

    @classmethod
    def loaded(cls, saved: Any) -> CompressionEvent:  # noqa: ANN401 - from a file
        """The event that `save` wrote.

        Raises:
            StateError: it wrote no such thing.
        """
        with reading("its compression events are damaged"):
            return cls(**saved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What one call of a model took."""

    input: int
    output: int
    time: float


def events_of(
    family: Family,
    old: History,
    new: History,
    used: Sequence[Used],
    counter: TokenCounter,
    now: int,
) -> list[CompressionEvent]:
    """The events of a family's step, in the order in which it works.

    Args:
        family: which.
        old: the history before it.
        new: the history after it.
        used: what each call of the model took, in order.
        counter: the estimate, for what is offloaded.
        now: milliseconds.
    """
    changes = list(_replaced(old, new))
    if not family.onwards:
        changes.reverse()
    events: list[CompressionEvent] = []
    for at, (first, stop, place) in enumerate(changes):
        # What has been worked on is new already on one side, and still old on the other.
        before, after = (new, old) if family.onwards else (old, new)
        left = place - 1 if family.onwards else first - 1
        right = stop if family.onwards else place + 1
        offload = Used(
            input=counter.message(old[first]), output=counter.message(new[place]), time=0.0
        )
        meta = used[at] if family.asks else offload
        events.append(
            CompressionEvent(
                event_type=family.event,
                timestamp=now,
                compressed_message_count=stop - first,
                previous_message_id=id_of(before[left]) if left >= 0 else None,
                next_message_id=id_of(after[right]) if right < len(after) else None,
                compressed_message_id=id_of(new[place]) if family.asks else None,
                input_token=meta.input,
                output_token=meta.output,
                time=meta.time,
            )
        )
    return events


def id_of(message: Message) -> str:
    """The id of a message for events; what took the place of one has an id of its own there."""
    return f"{message.id}:made" if message.composed and ":" not in message.id else message.id


def _replaced(old: History, new: History) -> Iterator[tuple[int, int, int]]:
    at = 0
    for place, message in enumerate(new):
        if at < len(old) and old[at] is message:
            at += 1
            continue
        first, at = at, at + 1
        if message.id != old[first].id:
            following = new[place + 1] if place + 1 < len(new) else None
            while at < len(old) and old[at] is not following:
                at += 1
        yield first, at, place
