"""Send values between the two processes; messages that both know are sent as numbers.

What the strategy's process sends is read with a closed list of classes: it can name no other one,
so nothing that it sends is run.
"""

from __future__ import annotations

import copyreg
import io
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from memsim.context import Context, Section
from memsim.errors import StrategyError
from memsim.message import Message, Text, ToolResult, ToolUse
from memsim.models import Request, ToolSpec
from memsim.strategy import Event, Forget, ForgetOutcome, Grant, Location, Query, Surface

_RECORDS = (
    Context,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Message,
    Query,
    Request,
    Section,
    Surface,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
)
_PLAIN = {("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")}


_LENGTH = 8
_CHUNK = 1 << 16
KEPT = 2048
"""Messages of the strategy's own that both sides keep: those of its latest contexts."""


def known_message(number: int) -> Message:
    """In a frame: an original message, which both sides have."""
    raise LookupError(number)


def kept_message(number: int) -> Message:
    """In a frame: a message of the strategy's own that was sent before."""
    raise LookupError(number)


def new_message(number: int, *fields: Any) -> Message:  # noqa: ANN401 - the fields of a message
    """In a frame: a message of the strategy's own, which both sides keep under a number."""
    raise LookupError(number, *fields)


def message_of(*fields: Any) -> Message:  # noqa: ANN401 - the fields of a message
    """A message of its fields, in their order."""
    return Message(**dict(zip(_FIELDS, fields, strict=True)))


_FIELDS = tuple(name for name in Message.__dataclass_fields__ if name != "text")
_ALLOWED: dict[tuple[str, str], Any] = {(r.__module__, r.__name__): r for r in _RECORDS}


class Wire:
    """One end of the pipe.

    Both ends keep the same messages, in the order of their use, so that a message that the strategy
    shows again is the same object to the player again.

    Args:
        line: the descriptor of the connection.
        trusted: whether the other end may send objects of any class; true for the strategy's end.
    """

    def __init__(self, line: int, *, trusted: bool) -> None:
        self._line = line
        self._buffer = bytearray()
        self._trusted = trusted
        self._messages: list[Message] = []
        self._numbers: dict[int, int] = {}
        self._kept: OrderedDict[int, Message] = OrderedDict()
        self._kept_numbers: dict[int, int] = {}
        self._next = 0

    def know(self, message: Message) -> None:
        """Note an original message that both sides have from now on."""
        self._numbers[id(message)] = len(self._messages)
        self._messages.append(message)

    def send(self, value: object) -> None:
        """Send a value.

        Raises:
            StrategyError: it holds what cannot be sent.
        """
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=5)
        pickler.dispatch_table = copyreg.dispatch_table | {Message: self._reduced}
        try:
            pickler.dump(value)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            # The other side will not hear of what was kept for this frame.
            self._kept.clear()
            self._kept_numbers.clear()
            raise StrategyError(f"gave what cannot leave its process: {error}") from None
        self._write(buffer.getvalue())

    def receive(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next value.

        Raises:
            EOFError: the other side is gone.
            StrategyError: it is of a class that may not be sent.
        """
        return _Reader(self._read(), self._functions, trusted=self._trusted).load()

    def _write(self, frame: bytes) -> None:
        data = memoryview(len(frame).to_bytes(_LENGTH, "big") + frame)
        while data:
            data = data[os.write(self._line, data) :]

    def _read(self) -> bytes:
        # One system call for a small frame: they take most of the time of a short call.
        while len(self._buffer) < _LENGTH or len(self._buffer) < (end := self._end()):
            data = os.read(self._line, _CHUNK)
            if not data:
                raise EOFError
            self._buffer += data
        frame = bytes(self._buffer[_LENGTH:end])
        del self._buffer[:end]
        return frame

    def _end(self) -> int:
        return _LENGTH + int.from_bytes(self._buffer[:_LENGTH], "big")

    @property
    def _functions(self) -> dict[str, Callable[..., Message]]:
        return {
            known_message.__name__: self._messages.__getitem__,
            kept_message.__name__: self._find,
            new_message.__name__: self._add,
            message_of.__name__: message_of,
        }

    def _reduced(self, message: Message) -> tuple[Callable[..., Message], tuple[Any, ...]]:
        number = self._numbers.get(id(message))
        if number is not None:
            return known_message, (number,)
        number = self._kept_numbers.get(id(message))
        if number is not None:
            if self._trusted:
                self._kept.move_to_end(number)
            return kept_message, (number,)
        fields = tuple(getattr(message, name) for name in _FIELDS)
        if not self._trusted:
            return message_of, fields
        self._next += 1
        self._keep(self._next, message)
        return new_message, (self._next, *fields)

    def _find(self, number: int) -> Message:
        if not self._trusted:
            self._kept.move_to_end(number)
        return self._kept[number]

    def _add(self, number: int, *fields: Any) -> Message:  # noqa: ANN401 - the fields of a message
        message = message_of(*fields)
        self._keep(number, message)
        return message

    def _keep(self, number: int, message: Message) -> None:
        self._kept[number] = message
        self._kept_numbers[id(message)] = number
        if len(self._kept) > KEPT:
            _, gone = self._kept.popitem(last=False)
            del self._kept_numbers[id(gone)]


class _Reader(pickle.Unpickler):
    def __init__(
        self, data: bytes, functions: dict[str, Callable[..., Message]], *, trusted: bool
    ) -> None:
        super().__init__(io.BytesIO(data))
        self._functions = functions
        self._trusted = trusted

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a class or a function
        if module == __name__ and name in self._functions:
            return self._functions[name]
        if (found := _ALLOWED.get((module, name))) is not None:
            return found
        if self._trusted or (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise StrategyError(f"gave a {module}.{name}, which cannot leave its process")
