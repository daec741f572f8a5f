"""Answers calls from recordings, and records what has to be asked for."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.canary.secrets import redact
from memsim.errors import ModelError
from memsim.message import ToolUse
from memsim.models.cassette import CassetteError, Failure, Missed, Recording
from memsim.models.cassette.keys import key_of, message_ids, messages_of, settings_of
from memsim.models.cassette.nearest import miss
from memsim.models.live import Answer
from memsim.models.live.failing import failure, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from memsim.models.cassette.shelf import Shelf
    from memsim.models.live import Asker, Call
    from memsim.models.live.model import Account


class Recorder:
    """Answers from a shelf, and where that may be from a provider.

    An answer is given as it is recorded, without credentials, so that replaying it changes nothing.

    Args:
        shelf: the recordings of the case.
        live: makes who is asked for what is not recorded; called at the first such call.
        account: is told what became of each call.
        place: how the file is shown.
        secrets: texts that must never be written, such as the keys of this machine.
    """

    def __init__(
        self,
        shelf: Shelf,
        live: Callable[[], Asker],
        account: Account,
        *,
        place: str = "",
        secrets: Collection[str] = (),
    ) -> None:
        self._shelf = shelf
        self._live = live
        self._asker: Asker | None = None
        self._account = account
        self._place = place
        self._secrets = tuple(secrets)
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Answer]] = {}

    def ask(self, call: Call) -> Answer:
        """The answer to a call; the same for the same call, from however many threads it comes.

        Raises:
            Missed: it is not recorded, and nobody may be asked.
            ModelError: there is none.
        """
        key = key_of(call)
        with self._lock:
            known = self._shelf.find(key)
            under_way = self._asked.get(key)
            if known is None and under_way is None:
                own = self._asked[key] = Future[Answer]()
        if known is not None:
            self._account.found()
            return _told(known)
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

    def _recorded(self, call: Call, key: str) -> Answer:
        if self._shelf.mode == "none":
            raise Missed(miss(call, self._shelf, self._place))
        if self._shelf.full:
            raise CassetteError("is full: no further call is made", path=self._place)
        outcome: Answer | Failure
        try:
            outcome = self._clean(self._provider.ask(call))
            self._account.paid(outcome)
        except ModelError as error:
            kind = kind_of(error)
            if kind is None:
                raise
            outcome = Failure(kind=kind, said=self._without(str(error)))
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
        return _told(recording)

    @property
    def _provider(self) -> Asker:
        with self._lock:
            if self._asker is None:
                self._asker = self._live()
            return self._asker

    def _clean(self, answer: Answer) -> Answer:
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
        # Half an emoji is as good as none: it could not be read back as it was.
        return redact(text).encode("utf-8", "replace").decode()


def _told(recording: Recording) -> Answer:
    if isinstance(recording.outcome, Failure):
        raise failure(recording.outcome.kind, recording.outcome.said)
    return recording.outcome
