"""A server of the contract that turns hostile when it is asked for texts, each time in one way."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from tests.doubles.contract_server import HonestServer

PATIENCE = 0.25
"""Seconds that a client waits in these tests."""

Line = socket.socket
Attack = Callable[[Line], None]

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def plain(body: bytes, head: bytes = _OK) -> Attack:
    """Answer with a body that may be anything."""
    sized = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    return lambda line: line.sendall(sized)


def told(**answer: Any) -> Attack:  # noqa: ANN401 - JSON
    """Answer with JSON."""
    return plain(json.dumps(answer).encode())


def _silent(line: Line) -> None:
    time.sleep(2 * PATIENCE)


def _closes(line: Line) -> None:
    line.shutdown(socket.SHUT_RDWR)


def _drips(data: bytes) -> Attack:
    def drip(line: Line) -> None:
        end = time.monotonic() + 4 * PATIENCE
        while time.monotonic() < end:
            line.sendall(data)
            time.sleep(PATIENCE / 8)

    return drip


def _half(line: Line) -> None:
    line.sendall(_OK + b'Content-Length: 400\r\n\r\n{"texts": [')
    line.shutdown(socket.SHUT_RDWR)


def _endless(line: Line) -> None:
    line.sendall(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    piece = b"%x\r\n%s\r\n" % (65_536, b" " * 65_536)
    while True:
        line.sendall(piece)


def _changing() -> Attack:
    count = iter(range(10_000))

    def change(line: Line) -> None:
        told(texts=[{"text": f"The code is {next(count)}."}])(line)

    return change


def _first_drips(line: Line) -> None:
    line.sendall(_OK)
    _drips(b"X-More: 1\r\n")(line)


def _body_drips(line: Line) -> None:
    line.sendall(_OK + b"Content-Length: 100000\r\n\r\n")
    _drips(b" ")(line)


TEXT = {"text": "The code is A-17."}
ATTACKS: Mapping[str, Attack] = {
    "is silent": _silent,
    "closes": _closes,
    "closes in the middle": _half,
    "drips its head": _first_drips,
    "drips its body": _body_drips,
    "says continue for ever": _drips(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "announces gigabytes": plain(b"", _OK + b"Content-Length: 9999999999\r\n"),
    "never ends": _endless,
    "is no HTTP": lambda line: line.sendall(b"hello\r\n\r\n" * 9),
    "redirects": plain(b"{}", b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"),
    "fails": plain(b'{"error": {"code": "failed", "message": "no"}}', b"HTTP/1.1 500 No\r\n"),
    "refuses without a reason": plain(b"<html>", b"HTTP/1.1 403 No\r\n"),
    "answers a page": plain(b"<html>not here</html>"),
    "answers nothing": plain(b""),
    "answers a list": plain(b"[]"),
    "answers what is no number": plain(b'{"texts": [{"text": "A-17", "score": NaN}]}'),
    "answers a deep list": plain(b'{"texts": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "answers no texts": told(found=[TEXT]),
    "answers texts that are none": told(texts=["The code is A-17."]),
    "answers a number as text": told(texts=[{"text": 17}]),
    "answers half a character": plain(b'{"texts": [{"text": "\\ud800 A-17"}]}'),
    "answers a wrong time": told(texts=[TEXT | {"time": "tomorrow"}]),
    "names what nobody said": told(texts=[TEXT | {"sources": ["m77777"]}]),
    "finds more than was asked for": told(texts=[TEXT] * 11),
    "changes its answer": _changing(),
}


class HostileServer:
    """Honest until it is asked to search."""

    def __init__(self, attack: Attack, route: str = "/v1/search") -> None:
        self._attack, self._route = attack, route
        self._honest = HonestServer()
        self._honest.offers = ("search", "sources", "reset", "spaces")  # type: ignore[misc]

    def talk(self, line: Line) -> None:
        """Answer the requests of one connection."""
        received = line.makefile("rb")
        while first := received.readline():
            method, target, _ = first.decode().split()
            length, space = 0, ""
            while (header := received.readline()).strip():
                name, _, value = header.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
                space = value.strip() if name.lower() == "memsim-space" else space
            body = json.loads(received.read(length) or b"{}")
            if target == self._route:
                self._attack(line)
            else:
                status, answer = self._honest.serve(method, target, body, space)
                head = _OK.replace(b"200 OK", b"%d Said" % status)
                plain(json.dumps(answer).encode(), head)(line)


@contextmanager
def serving_hostile(server: HostileServer) -> Iterator[str]:
    """The address of a hostile server in this process."""
    lines: list[Line] = []

    def answer(line: Line) -> None:
        with suppress(OSError, ValueError):
            server.talk(line)
        line.close()

    def accept() -> None:
        with suppress(OSError):
            while True:
                line, _ = bound.accept()
                lines.append(line)
                threading.Thread(target=answer, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as bound:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            bound.shutdown(socket.SHUT_RDWR)
