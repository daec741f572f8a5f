"""Serve a library by the HTTP contract: python -P server.py ADAPTER.py PORT OPTIONS.

ADAPTER.py names a class MEMORY, of which each space gets an object. OPTIONS is a JSON object,
to which `folder` is added, where the space may keep files::

    MEMORY(options, embed)      PACKAGE, which is measured; SOURCES, whether texts name messages
    add(message)                the body of POST /v1/messages
    search(question)            the body of POST /v1/search; returns texts, best first
    end_turn(), close()         optional
    delete(principal, ids)      optional; returns the ids of this principal that are erased

`embed` makes a vector of each text, with the embedder of the run. Methods may be coroutine
functions. All calls run on one thread, because some libraries want that.

The first line of the output is the port, any free one where PORT is 0. The program ends when its
standard input does.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import runpy
import shutil
import sys
import threading
import traceback
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Body = dict[str, Any]
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
REACHES = {"socket.connect", "socket.sendto", "socket.sendmsg"}
LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname"}


class ContractRefusal(Exception):  # noqa: N818 - an answer to the client
    """A status, and the contract's word for it."""


class Spaces:
    """The memories of one library, by space."""

    def __init__(self, adapter: Path, options: Body) -> None:
        self._kind = runpy.run_path(str(adapter))["MEMORY"]
        self._options = options
        self._memories: dict[str, Any] = {}
        self._said: dict[str, dict[str, Body]] = {}
        self._loop = asyncio.new_event_loop()
        can = ["search", "reset", "spaces"]
        can += ["sources"] if self._kind.SOURCES else []
        can += ["delete_messages"] if hasattr(self._kind, "delete") else []
        self.identity = {
            "contract": 1,
            "name": self._kind.PACKAGE,
            "version": version(self._kind.PACKAGE),
            "capabilities": can,
        }

    def serve(self, route: str, body: Body, space: str) -> Body:
        """Answer one request."""
        if route == "GET /v1/identity":
            return self.identity
        if route == "POST /v1/reset":
            self._said.pop(space, None)
            self._do(self._memories.pop(space, None), "close")
            shutil.rmtree(space, ignore_errors=True)
            return {}
        if space not in self._memories:
            Path(space).mkdir(exist_ok=True)
            self._memories[space] = self._kind({**self._options, "folder": space}, self._embed)
            self._said[space] = {}
        return self._ask(self._memories[space], self._said[space], route, body)

    def _ask(self, memory: object, said: dict[str, Body], route: str, body: Body) -> Body:
        if route == "POST /v1/messages":
            if said.setdefault(body["id"], body) != body:
                raise ContractRefusal(409, "conflict", f"another message is called {body['id']!r}")
            if said[body["id"]] is body:
                self._do(memory, "add", body)
            return {}
        if route == "POST /v1/turns/end":
            self._do(memory, "end_turn")
            return {}
        if route == "POST /v1/search":
            return {"texts": self._do(memory, "search", body)[: body.get("k", 10)]}
        if route == "DELETE /v1/messages" and hasattr(memory, "delete"):
            gone = self._do(memory, "delete", body["principal"], body["id"])
            for each in gone:
                said.pop(each, None)
            return {"removed": gone}
        raise ContractRefusal(501, "not_offered", f"no {route} here")

    def _embed(self, texts: list[str]) -> list[list[float]]:
        sent = urllib.request.Request(  # noqa: S310 - memsim's own address
            f"{self._options['models']}/embeddings",
            json.dumps({"model": "memsim", "input": texts}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(sent) as answer:  # noqa: S310 - as above
            return [each["embedding"] for each in json.load(answer)["data"]]

    def _do(self, memory: object, name: str, *given: object) -> Any:  # noqa: ANN401 - any library
        method = getattr(memory, name, None)
        done = method(*given) if method else None
        return self._loop.run_until_complete(done) if inspect.iscoroutine(done) else done


def handler(spaces: Spaces) -> type[BaseHTTPRequestHandler]:
    """The class that reads requests and writes answers."""
    one_thread = ThreadPoolExecutor(max_workers=1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections open
        wbufsize = -1  # sends head and body together

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length)
            split = urlsplit(self.path)
            space = self.headers.get("Memsim-Space", "shared")
            try:
                body = json.loads(sent) if sent else {}
                if split.query:
                    fields = parse_qs(split.query)
                    body = {**fields, "principal": fields.get("principal", [""])[0]}
                route = f"{self.command} {split.path}"
                self._answer(200, one_thread.submit(spaces.serve, route, body, space).result())
            except ContractRefusal as refused:
                status, code, said = refused.args
                self._answer(status, {"error": {"code": code, "message": said}})
            except Exception as error:  # noqa: BLE001 - whatever a library raises
                traceback.print_exc()
                said = f"{type(error).__name__}: {error}"[:500]
                self._answer(500, {"error": {"code": "failed", "message": said}})

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - names of http.server

        def _answer(self, status: int, answer: Body) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def stay_on_this_machine(event: str, given: tuple[Any, ...]) -> None:
    """Refuse connections to other machines, as an audit hook."""
    if event in REACHES and isinstance(given[1], tuple) and given[1][0] not in LOOPBACK:
        raise PermissionError(f"no connection to {given[1][0]}: a library under test stays offline")
    if event in LOOK_UPS and given[0] not in LOOPBACK | {None, ""}:
        raise PermissionError(f"no look-up of {given[0]}: a library under test stays offline")


def end_with_parent() -> None:
    """End when the pipe from the process that started this one is closed."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve until standard input ends."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints goes to the log
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.addaudithook(stay_on_this_machine)
    spaces = Spaces(Path(sys.argv[1]), json.loads(sys.argv[3]))
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), handler(spaces)) as listening:
        told.write(f"{listening.server_address[1]}\n")
        told.close()
        listening.serve_forever()


if __name__ == "__main__":
    main()
