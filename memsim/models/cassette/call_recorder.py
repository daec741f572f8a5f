"""Answer model calls from recordings, and record new answers."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.canary.secrets import redact
from memsim.errors import ModelError, UnrecordedCall
from memsim.message import ToolUse
from memsim.models.cassette import BEGINNING, CassetteError, RecordedFailure, Recording, SentMessage
from memsim.models.live import ProviderAnswer, failure_error, failure_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from memsim.models.cassette.case_recordings import CaseRecordings
    from memsim.models.cassette.tape import Tape
    from memsim.models.live import Call, ChatMessage, ModelClient
    from memsim.models.model_access import CallAccount


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode


def key_of(call: Call) -> str:
    """The key of a call: 128 bits of a hash of everything that the provider receives."""
    return _digest(
        {"messages": list(message_ids(call)), "settings": settings_of(call), "task": call.task}
    )[:32]


def settings_of(call: Call) -> dict[str, object]:
    """Everything that a provider receives except the messages; of tools the names and a hash.

    From the second draw on, its number is included, so that several answers to one call are
    separate recordings.
    """
    tools = [[t.name, t.description, t.parameters] for t in call.tools]
    found: dict[str, object] = {
        "max_tokens": call.max_tokens,
        "model": call.model,
        "temperature": call.temperature,
    }
    if call.draw:
        found["draw"] = call.draw
    if tools:
        found["tools"] = [t.name for t in call.tools]
        found["tools_hash"] = _digest(tools)[:16]
    return found


def message_ids(call: Call) -> tuple[str, ...]:
    """64 bits of a hash of each message in hexadecimal, in order."""
    return tuple(_id(message) for message in call.messages)


def messages_of(call: Call, clean: Callable[[str], str] = redact) -> dict[str, SentMessage]:
    """The stored part of each message, by its hash."""
    return {
        _id(m): SentMessage(
            role=m.role, beginning=text_start(_message_text(m), clean), length=len(_message_text(m))
        )
        for m in call.messages
    }


def text_start(text: str, clean: Callable[[str], str] = redact) -> str:
    """The first characters of a text, without credentials or parts of them."""
    return clean(text[: 16 * BEGINNING])[:BEGINNING]


def _message_text(message: ChatMessage) -> str:
    calls = " ".join(f"{call.name}({call.arguments})" for call in message.calls)
    return f"{message.text} {calls}".strip() if calls else message.text


def _id(message: ChatMessage) -> str:
    calls = [[c.id, c.name, c.arguments] for c in message.calls]
    return _digest([message.role, message.text, calls, message.answers])[:16]


def _digest(value: object) -> str:
    return hashlib.sha256(_encode(value).encode()).hexdigest()


_QUOTED = 48


def describe_miss(call: Call, shelf: CaseRecordings, place: str) -> str:
    """One line for a missing recording: the call, the nearest recording, and what to do."""
    wanted = f"the {call.task} call {key_of(call)[:8]} (repeat {shelf.repeat}) is not recorded"
    advice = "`--record new` records what is missing"
    if not shelf.tape.calls:
        return f"{wanted}: there is no {place}; {advice}"
    near = nearest_to(call, shelf.tape)
    if near is None:
        return f"{wanted} in {place}, which has no {call.task} call at all; {advice}"
    line = shelf.tape.lines.get((near.key, near.repeat), 0)
    return (
        f"{wanted} in {place}; the nearest is line {line}:"
        f" {difference(call, shelf.repeat, near, shelf.tape)}; {advice}"
    )


def nearest_to(call: Call, tape: Tape) -> Recording | None:
    """The recording of the same task that is most similar to a call; the first of several."""
    wanted, settings, key = message_ids(call), settings_of(call), key_of(call)

    def rank(recording: Recording) -> tuple[object, ...]:
        shared = sum((Counter(wanted) & Counter(recording.messages)).values())
        share = 2 * shared / (len(wanted) + len(recording.messages) or 1)
        alike = sum(recording.settings.get(name) == value for name, value in settings.items())
        return -(recording.key == key), -share, -alike, recording.repeat, recording.key

    same = [r for r in tape.calls.values() if r.task == call.task]
    return min(same, key=rank, default=None)


def difference(call: Call, repeat: int, near: Recording, tape: Tape) -> str:
    """The difference between a recording and a call, in one line."""
    if near.key == key_of(call):
        return f"it is of repeat {near.repeat}, not {repeat}"
    said = list(_settings(call, near))
    found = _messages(call, near, tape)
    return "; ".join([*said, *([found] if found else [])])


def _settings(call: Call, near: Recording) -> list[str]:
    now = settings_of(call)
    names = sorted(now.keys() | near.settings.keys())
    return [
        f"{name} is {now.get(name)!r}, recorded {near.settings.get(name)!r}"
        for name in names
        if now.get(name) != near.settings.get(name)
    ]


def _messages(call: Call, near: Recording, tape: Tape) -> str:
    now, then = message_ids(call), near.messages
    places = [n for n in range(max(len(now), len(then))) if now[n : n + 1] != then[n : n + 1]]
    if not places:
        return ""
    first = places[0]
    ours, theirs = messages_of(call), tape.messages
    mine = _quoted(ours[now[first]]) if first < len(now) else "not there"
    recorded = _quoted(theirs[then[first]]) if first < len(then) else "not there"
    what = "the instructions" if not first else f"message {first + 1} of {len(now)}"
    if mine == recorded:
        recorded = "alike as far as it is kept"
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{what}{more}: now {mine}, recorded {recorded}"


def _quoted(said: SentMessage) -> str:
    text = " ".join(said.beginning.split())
    cut = text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
    return f"{said.role} {cut!r} ({said.length} characters)"


class CallRecorder:
    """Answers calls from recordings, or from a provider if the mode allows it.

    A new answer is returned as it is recorded, without credentials, so that a replay changes
    nothing.

    Args:
        shelf: the recordings of the case.
        live: makes the client of the provider; called at the first missing answer.
        account: counts the calls.
        place: the file's name in messages.
        secrets: texts that must never be written, such as the keys of this machine.
    """

    def __init__(
        self,
        shelf: CaseRecordings,
        live: Callable[[], ModelClient],
        account: CallAccount,
        *,
        place: str = "",
        secrets: Collection[str] = (),
    ) -> None:
        self._shelf = shelf
        self._live = live
        self._asker: ModelClient | None = None
        self._account = account
        self._place = place
        self._secrets = tuple(secrets)
        self._lock = threading.Lock()
        self._asked: dict[str, Future[ProviderAnswer]] = {}

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call; equal calls get equal answers, from any number of threads.

        Raises:
            Missed: the call is not recorded, and no provider may be asked.
            ModelError: the call failed.
        """
        key = key_of(call)
        with self._lock:
            known = self._shelf.find(key)
            under_way = self._asked.get(key)
            if known is None and under_way is None:
                own = self._asked[key] = Future[ProviderAnswer]()
        if known is not None:
            self._account.found()
            return _answer_of(known)
        if under_way is not None:
            return under_way.result()
        try:
            answer = self._recorded(call, key)
        except BaseException as error:
            own.set_exception(error)
            raise
        else:
            own.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._asked[key]

    def _recorded(self, call: Call, key: str) -> ProviderAnswer:
        if self._shelf.mode == "none":
            raise UnrecordedCall(describe_miss(call, self._shelf, self._place))
        if self._shelf.full:
            raise CassetteError("is full: no further call is made", path=self._place)
        outcome: ProviderAnswer | RecordedFailure
        try:
            outcome = self._clean(self._provider.ask(call))
            self._account.paid(outcome)
        except ModelError as error:
            kind = failure_kind(error)
            if kind is None:
                raise
            outcome = RecordedFailure(kind=kind, said=self._without(str(error)))
        recording = Recording(
            key=key,
            repeat=self._shelf.repeat,
            task=call.task,
            settings=settings_of(call),
            messages=message_ids(call),
            outcome=outcome,
        )
        with self._lock:
            self._shelf.add(recording, messages_of(call, self._without))
        return _answer_of(recording)

    @property
    def _provider(self) -> ModelClient:
        with self._lock:
            if self._asker is None:
                self._asker = self._live()
            return self._asker

    def _clean(self, answer: ProviderAnswer) -> ProviderAnswer:
        calls = tuple(
            ToolUse(
                id=self._without(c.id),
                name=self._without(c.name),
                arguments=self._without(c.arguments),
            )
            for c in answer.calls
        )
        return replace(answer, text=self._without(answer.text), calls=calls)

    def _without(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        # Half an emoji is dropped, because it cannot be read back.
        return redact(text).encode("utf-8", "replace").decode()


def _answer_of(recording: Recording) -> ProviderAnswer:
    if isinstance(recording.outcome, RecordedFailure):
        raise failure_error(recording.outcome.kind, recording.outcome.said)
    return recording.outcome
