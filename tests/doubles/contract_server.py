"""An honest memory behind the HTTP contract, in this process; doubles override one method each."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from memsim.adapters.http_contract import CAPABILITIES, DEEPEST, STATUSES, ErrorCode

Record = dict[str, Any]
Reply = tuple[int, Record]


_PAGE = (("cursor", "0"), ("limit", "1000"))


class Refusal(Exception):  # noqa: N818 - an answer, not a failure
    """What the server answers in place of a success."""

    def __init__(self, code: ErrorCode, said: str = "no") -> None:
        self.status, self.body = STATUSES[code], {"error": {"code": code, "message": said}}
        super().__init__(said)


def words(text: str) -> set[str]:
    """The words that a search compares; every character of texts without blanks."""
    found = set(re.findall(r"\w+", text.casefold()))
    return found if text.isascii() else found | {c for c in text if c.isalnum()}


class HonestServer:
    """Keeps every message of a space, on a disk and in RAM, and finds those that share words."""

    offers: ClassVar[tuple[str, ...]] = CAPABILITIES

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.disk: dict[str, list[Record]] = {}

    # What doubles override.

    def identity(self) -> Record:
        """Who serves."""
        offers = list(self.offers)
        return {"contract": 1, "name": "honest", "version": "1", "capabilities": offers}

    def space_of(self, name: str) -> str:
        """The space that a header means."""
        return name

    def too_deep(self, body: Record) -> bool:
        """Whether a body is nested deeper than the contract allows."""
        depth = 0
        level: list[Any] = [body]
        while level and depth <= DEEPEST:
            inside = [each.values() if isinstance(each, dict) else each for each in level]
            level = [each for found in inside for each in found if isinstance(each, dict | list)]
            depth += 1
        return bool(level)

    def check(self, body: Record) -> None:
        """Refuse what is no message."""
        wanted = ("id", "principal", "session", "role", "text", "time")
        if not all(isinstance(body.get(key), str) for key in wanted):
            raise Refusal("invalid")

    def add(self, said: list[Record], body: Record) -> None:
        """Keep a message."""
        held = [m for m in said if m["id"] == body["id"]]
        if held and held[0] != body:
            raise Refusal("conflict")
        if not held:
            said.append(body)

    def end(self, said: list[Record]) -> None:
        """End a turn."""

    def may_read(self, said: list[Record], body: Record) -> list[Record]:
        """What a principal may find: their own, and sessions that they take part in."""
        who = body["principal"]
        sessions = {m["session"] for m in said if m["principal"] == who}
        return [m for m in said if m["principal"] == who or m["session"] in sessions]

    def search(self, said: list[Record], body: Record) -> list[Record]:
        """The texts that share words with a question, best first."""
        asked = words(body["question"])
        found = [(len(asked & words(m["text"])), m) for m in self.may_read(said, body)]
        best = sorted((p for p in found if p[0]), key=lambda pair: -pair[0])
        return [self.text_of(m) for _, m in best][: body.get("k", 10)]

    def context(self, said: list[Record], body: Record) -> list[Record]:
        """The latest texts that fit, in their order."""
        room, fitting = body["budget"] * 3, []
        for message in reversed(self.may_read(said, body)):
            room -= len(message["text"])
            if room >= 0:
                fitting.append(self.text_of(message))
        return fitting[::-1]

    def text_of(self, message: Record) -> Record:
        """A message as it is found."""
        return {"text": message["text"], "sources": [message["id"]], "time": message["time"]}

    def memories(self, said: list[Record]) -> list[Record]:
        """Everything that is kept."""
        return [self.text_of(m) | {"principal": m["principal"]} for m in said]

    def page(self, found: list[Record], start: int, end: int) -> Record:
        """One page of a list."""
        return {"memories": found[start:end], "next": str(end) if end < len(found) else None}

    def delete(self, said: list[Record], principal: str, ids: list[str]) -> list[str]:
        """Erase messages of a principal."""
        gone = [m["id"] for m in said if m["principal"] == principal and m["id"] in ids]
        said[:] = [m for m in said if m["id"] not in gone]
        return gone

    def delete_principal(self, said: list[Record], principal: str) -> list[str]:
        """Erase everything of a principal."""
        return self.delete(said, principal, [m["id"] for m in said])

    def clock(self, said: list[Record], now: str) -> None:
        """Let time pass."""

    def reset(self, said: list[Record]) -> None:
        """Empty a space."""
        said.clear()

    def restart(self, said: list[Record]) -> None:
        """Read the disk again."""

    # The routes.

    def serve(self, method: str, target: str, body: Record, space: str) -> Reply:
        """Answer one request."""
        parts = urlsplit(target)
        with self.lock:
            said = self.disk.setdefault(self.space_of(space), [])
            try:
                if self.too_deep(body):
                    raise Refusal("too_large")  # noqa: TRY301 - answered below
                return 200, self.route(method, parts.path, parse_qs(parts.query), body, said)
            except Refusal as refusal:
                return refusal.status, refusal.body
            except (KeyError, TypeError, AttributeError):
                return 400, Refusal("invalid").body

    def route(
        self,
        method: str,
        path: str,
        query: Mapping[str, list[str]],
        body: Record,
        said: list[Record],
    ) -> Record:
        """Do what a route asks for."""
        if method == "GET" and path == "/v1/identity":
            return self.identity()
        if method == "GET" and path == "/v1/memories" and "memories" in self.offers:
            who = query.get("principal", [None])[0]
            found = [m for m in self.memories(said) if who in {None, m["principal"]}]
            start, limit = (int(query.get(key, [otherwise])[0]) for key, otherwise in _PAGE)
            return self.page(found, start, start + limit)
        if method == "DELETE" and path == "/v1/messages" and "delete_messages" in self.offers:
            return {"removed": self.delete(said, query["principal"][0], query["id"])}
        whole = path.startswith("/v1/principals/") and "delete_principals" in self.offers
        if method == "DELETE" and whole:
            who = unquote(path.removeprefix("/v1/principals/"))
            return {"removed": self.delete_principal(said, who)}
        if method == "POST":
            return self.posted(path.removeprefix("/v1/"), body, said)
        raise Refusal("not_found")

    def posted(self, what: str, body: Record, said: list[Record]) -> Record:
        """Do what is posted."""
        plain: dict[str, Callable[[], None]] = {
            "turns/end": lambda: self.end(said),
            "clock": lambda: self.clock(said, body["now"]),
            "reset": lambda: self.reset(said),
            "restart": lambda: self.restart(said),
        }
        if what == "messages":
            self.check(body)
            self.add(said, body)
            return {}
        if what in {"search", "context"} and what in self.offers:
            if not isinstance(body["question"], str):
                raise Refusal("invalid")
            find = self.search if what == "search" else self.context
            return {"texts": find(said, body)}
        if what == "turns/end" or what in self.offers:
            plain[what]()
            return {}
        raise Refusal("not_offered")


@contextmanager
def serving_double(server: HonestServer) -> Iterator[str]:
    """The address of a server in this process."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            try:
                body = json.loads(self.rfile.read(length) or b"{}")
            except ValueError:
                body = None
            space = self.headers.get("Memsim-Space", "shared")
            status, reply = server.serve(self.command, self.path, body, space)
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - names that http.server calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            thread.join()
