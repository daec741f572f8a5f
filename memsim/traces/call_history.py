"""Conversations from calls of a model, each of which was sent the whole history again.

A call's messages are compared with those that are known. What follows the known ones is new. Where
only the end of the known ones was sent, behind a text that is not known, the agent has compacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from memsim.traces.records import TraceConversation, TraceMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCall:
    """One call of a model or of a memory.

    Attributes:
        conversation: the id of its conversation.
        inputs: what was sent, or for a memory its one `recall`.
        outputs: what came back.
        compacted: the trace says that earlier messages were not sent any more.
    """

    conversation: str
    person: str = ""
    title: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    inputs: tuple[TraceMessage, ...] = ()
    outputs: tuple[TraceMessage, ...] = ()
    compacted: bool = False


def conversations_of(calls: Iterable[TracedCall]) -> Iterator[TraceConversation]:
    """The conversations of calls, in the order of their first calls."""
    threads: dict[str, list[TracedCall]] = {}
    for call in calls:
        threads.setdefault(call.conversation, []).append(call)
    for name, thread in threads.items():
        if all(call.began for call in thread):
            thread.sort(key=lambda call: call.began or datetime.min)  # noqa: DTZ901 - none is None
        history = _History()
        for call in thread:
            history.add(call)
        person = next((call.person for call in thread if call.person), "")
        messages = tuple(history.messages)
        yield TraceConversation(id=name, messages=messages, person=person, title=thread[0].title)


_MOST_WINDOWS = 8
"""Calls beside each other that are told apart."""

_Key = tuple[str, str, tuple[str, ...], str]


def _key(message: TraceMessage) -> _Key:
    calls = tuple(call.name + call.arguments for call in message.calls)
    return message.role, message.text, calls, message.speaker


@dataclass(slots=True)
class _History:
    messages: list[TraceMessage] = field(default_factory=list)
    windows: list[list[_Key]] = field(default_factory=list)
    """What a next call may send again, the latest last: agents make calls beside the main one."""
    system: str = ""

    def add(self, call: TracedCall) -> None:
        """Add what is new in a call."""
        inputs = list(call.inputs)
        leading = next((n for n, m in enumerate(inputs) if m.role != "system"), len(inputs))
        self._instruct(inputs[:leading], call)
        said = [m for m in inputs[leading:] if m.role != "recall"]
        if said:
            self._say(said, call)
        elif not self.windows:
            self.windows.append([])
        self.messages += [_timed(m, call.began) for m in inputs if m.role == "recall"]
        for message in call.outputs:
            self.messages.append(_timed(message, call.ended or call.began))
            self.windows[-1].append(_key(message))

    def _instruct(self, system: list[TraceMessage], call: TracedCall) -> None:
        text = "\n".join(m.text for m in system)
        if text and text != self.system:
            self.system = text
            self.messages.append(TraceMessage("system", text, system[0].time or call.began))

    def _say(self, said: list[TraceMessage], call: TracedCall) -> None:
        keys = [_key(m) for m in said]
        head, known = self._recognise(keys)
        if call.compacted and not known:
            head = known = 1
        if head:
            text = "\n".join(m.text for m in said[:head] if m.text)
            self.messages.append(TraceMessage("compaction", text, said[0].time or call.began))
        self.messages += [_timed(m, call.began) for m in said[known:]]
        self.windows = [*self.windows[-_MOST_WINDOWS:], keys]

    def _recognise(self, keys: list[_Key]) -> tuple[int, int]:
        """What is known of a call by the window that knows most; the window is taken away."""
        found = [_known(window, keys) for window in self.windows]
        best = max(range(len(found)), key=lambda n: (found[n][1] - found[n][0], n), default=-1)
        if best < 0 or not found[best][1]:
            return 0, 0
        del self.windows[best]
        return found[best]


def _known(window: list[_Key], keys: list[_Key]) -> tuple[int, int]:
    """How many messages stand for older ones, and how many are known in all."""
    if not window:
        return 0, 0
    if len(window) <= len(keys) and all(map(_alike, window, keys)):
        return 0, len(window)
    # Only the end of the known messages was sent, or all of them and less.
    last = next((n for n in range(len(keys) - 1, -1, -1) if keys[n] == window[-1]), -1)
    if last < 0:
        return (0, len(keys)) if keys == window[: len(keys)] else (0, 0)
    same = 0
    while same < min(last + 1, len(window)) and keys[last - same] == window[-1 - same]:
        same += 1
    return last + 1 - same, last + 1


def _alike(one: _Key, other: _Key) -> bool:
    # A trace may tell an answer with more parts than the next call is sent of it.
    return one == other or one[0] == other[0] == "assistant"


def _timed(message: TraceMessage, time: datetime | None) -> TraceMessage:
    return message if message.time or time is None else replace(message, time=time)
