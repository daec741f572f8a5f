"""Send values between the two processes; messages that both know are sent as numbers.

The player sends pickles, which the strategy's process may trust. The strategy's process sends
frames of `memsim.strategy_process.frame_codec`, in which nothing is run.
"""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from memsim.errors import StrategyError
from memsim.message import Message, fields_of, message_of
from memsim.strategy_process.frame_codec import (
    NAMES,
    RECORDS,
    FrameDecoder,
    FrameEncoder,
)

_LENGTH = 8
_CHUNK = 1 << 16
MOST = 1 << 30
"""Bytes of the largest frame."""
KEPT = 2048
"""Messages of the strategy's own that both sides keep: those of its latest contexts."""


def known_message(number: int) -> Message:
    """In a pickle: an original message, which both sides have."""
    raise LookupError(number)


def kept_message(number: int) -> Message:
    """In a pickle: a message of the strategy's own that was sent before."""
    raise LookupError(number)


def heard_message(*given: Any) -> Message:  # noqa: ANN401 - the fields of a message
    """In a pickle: a message of its fields."""
    raise LookupError(*given)


def record_of(number: int, *given: Any) -> object:  # noqa: ANN401 - the fields of a record
    """In a pickle: a record of its fields."""
    return RECORDS[number](**dict(zip(NAMES[number], given, strict=True)))


def _reducer(number: int) -> Callable[[Any], tuple[Any, ...]]:
    # Python's own way for dataclasses with slots takes four times as long.
    names = NAMES[number]
    return lambda record: (record_of, (number, *[getattr(record, name) for name in names]))


REDUCERS = {kind: _reducer(number) for number, kind in enumerate(RECORDS)}


class Wire:
    """One end of the pipe.

    Both ends keep the same messages, in the order of their use, so that a message that the strategy
    shows again is the same object to the player again.

    Args:
        line: the descriptor of the connection.
        trusted: whether the other end may send objects of any class; true for the strategy's end.
        wait: is called before each wait for the other end.
    """

    def __init__(
        self, line: int, *, trusted: bool, wait: Callable[[], object] = lambda: None
    ) -> None:
        self._line = line
        self._wait = wait
        self._buffer = bytearray()
        self._trusted = trusted
        self._messages: list[Message] = []
        self._states: list[tuple[Any, ...]] = []
        self._numbers: dict[int, int] = {}
        self._kept: OrderedDict[int, Message] = OrderedDict()
        self._kept_numbers: dict[int, int] = {}
        self._next = 0
        self._encoder = FrameEncoder(self._named)
        self._decoder = FrameDecoder({"m": self._original, "k": self._find, "n": self._added})
        self._reducers = {**copyreg.dispatch_table, **REDUCERS, Message: self._reduced}
        self._functions: dict[str, Callable[..., object]] = {
            known_message.__name__: self._messages.__getitem__,
            kept_message.__name__: self._find,
            heard_message.__name__: _interned,
            record_of.__name__: record_of,
        }

    def know(self, message: Message) -> None:
        """Note an original message that both sides have from now on."""
        if id(message) in self._numbers:
            return
        self._numbers[id(message)] = len(self._messages)
        self._messages.append(message)
        self._states.append(_state(message) if self._trusted else ())

    def send(self, value: object) -> None:
        """Send a value.

        Raises:
            StrategyError: it holds what cannot be sent.
        """
        self._write(self._encoded(value) if self._trusted else self._pickled(value))

    def receive(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next value.

        Raises:
            EOFError: the other side is gone.
            StrategyError: it cannot be read.
        """
        frame = self._read()
        if self._trusted:
            return _Reader(frame, self._functions).load()
        return self._decoder.decode(frame)

    def _pickled(self, value: object) -> bytes:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=5)
        pickler.dispatch_table = self._reducers
        pickler.dump(value)
        return buffer.getvalue()

    def _encoded(self, value: object) -> bytes:
        try:
            return self._encoder.encode(value)
        except StrategyError:
            # The other side will not hear of what was kept for this frame.
            self._kept.clear()
            self._kept_numbers.clear()
            raise

    def _write(self, frame: bytes) -> None:
        data = memoryview(len(frame).to_bytes(_LENGTH, "big") + frame)
        while data:
            data = data[os.write(self._line, data) :]

    def _read(self) -> bytes:
        # One system call for a small frame: they take most of the time of a short call.
        while len(self._buffer) < _LENGTH or len(self._buffer) < (end := self._end()):
            self._wait()
            data = os.read(self._line, _CHUNK)
            if not data:
                raise EOFError
            self._buffer += data
        frame = bytes(self._buffer[_LENGTH:end])
        del self._buffer[:end]
        return frame

    def _end(self) -> int:
        length = int.from_bytes(self._buffer[:_LENGTH], "big")
        if length > MOST:
            raise StrategyError("sent what cannot be read: it is too long")
        return _LENGTH + length

    def _reduced(self, message: Message) -> tuple[Callable[..., Message], tuple[Any, ...]]:
        number = self._numbers.get(id(message))
        if number is not None:
            return known_message, (number,)
        number = self._kept_numbers.get(id(message))
        return (heard_message, fields_of(message)) if number is None else (kept_message, (number,))

    def _named(self, message: Message) -> dict[str, Any]:
        number = self._numbers.get(id(message))
        # What was altered in place is no longer what was said.
        if number is not None and self._states[number] == _state(message):
            return {"m": number}
        number = self._kept_numbers.get(id(message))
        if number is not None:
            self._kept.move_to_end(number)
            return {"k": number}
        self._next += 1
        frame = {"n": [self._next, *map(self._encoder.tree, fields_of(message))]}
        self._keep(self._next, message)
        return frame

    def _original(self, number: int) -> Message:
        return self._messages[number]

    def _find(self, number: int) -> Message:
        if not self._trusted:
            self._kept.move_to_end(number)
        return self._kept[number]

    def _added(self, given: list[Any]) -> Message:
        number, *of = given
        message = message_of(*of)
        self._keep(number, message)
        return message

    def _keep(self, number: int, message: Message) -> None:
        self._kept[number] = message
        self._kept_numbers[id(message)] = number
        if len(self._kept) > KEPT:
            _, gone = self._kept.popitem(last=False)
            del self._kept_numbers[id(gone)]


def _state(message: Message) -> tuple[Any, ...]:
    """Everything that a message holds, as it is now."""
    blocks = [getattr(b, "text", "") for b in message.blocks]
    return (*fields_of(message), message.text, *blocks)


def _interned(*given: Any) -> Message:  # noqa: ANN401 - the fields of a message
    # Names come again and again: as in one process, each is one object.
    return message_of(*[sys.intern(v) if type(v) is str else v for v in given])


class _Reader(pickle.Unpickler):
    def __init__(self, data: bytes, functions: dict[str, Callable[..., object]]) -> None:
        super().__init__(io.BytesIO(data))
        self._functions = functions

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a class or a function
        if module == __name__ and name in self._functions:
            return self._functions[name]
        return super().find_class(module, name)
