"""A small MCP server, honest or hostile, as a program: FILE [ATTACK].

It keeps notes in a file, and imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Body = dict[str, Any]

MAPPING = """\
memsim-mcp: 1
name: notes
command: [PYTHON, -I, -S, SERVER, "{folder}/notes.json", ATTACK]
principals: PRINCIPALS
add: {tool: note, arguments: {id: "{id}", text: "{text}", who: "{principal}"}}
find:
  tool: look
  arguments: {words: "{question}", who: "{principal}", most: "{k}"}
  reply: {items: "notes[]", text: text, id: id}
list: {tool: all_notes, reply: {items: "notes[]", text: text, id: id}}
delete: {tool: drop, arguments: {ids: "{ids}"}}
"""
"""A mapping of it, with words in capitals to replace."""

_LONG = 100.0


def mapping_of(attack: str = "", *, principals: str = "server", url: str = "") -> str:
    """The mapping, for a server with an attack, or for one at an address."""
    text = MAPPING.replace("PYTHON", sys.executable).replace("SERVER", __file__)
    text = text.replace("ATTACK", json.dumps(attack)).replace("PRINCIPALS", principals)
    lines = (f"url: {url}" if url and line[:8] == "command:" else line for line in text.split("\n"))
    return "\n".join(lines)


def schema(**properties: str) -> Body:
    """The schema of a tool's arguments, all of which are needed."""
    kinds = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": kinds, "required": [*properties]}


TOOLS = {
    "note": schema(id="string", text="string", who="string"),
    "look": schema(words="string", who="string", most="integer"),
    "all_notes": {"type": "object", "properties": {"page": {"type": "integer"}}},
    "drop": schema(ids="array"),
}


class Notes:
    """Answers messages of the protocol."""

    def __init__(self, file: Path, attack: str = "") -> None:
        self._file, self.attack = file, attack
        self._notes: list[Body] = json.loads(file.read_text()) if file.exists() else []

    def serve(self, asked: Body) -> Body | None:
        """The answer to a message; None for a note."""
        if "id" not in asked:
            return None
        return {"jsonrpc": "2.0", "id": asked["id"], "result": self._result(asked)}

    def _result(self, asked: Body) -> Body:
        if asked["method"] == "initialize":
            version = asked["params"]["protocolVersion"]
            server = {"name": "notes", "version": "7"}
            return {"protocolVersion": version, "serverInfo": server, "capabilities": {}}
        if asked["method"] == "tools/list":
            return {"tools": [{"name": n, "inputSchema": s} for n, s in self.tools().items()]}
        params = asked["params"]
        told: Body = getattr(self, params["name"])(**params["arguments"])
        return {"content": [{"type": "text", "text": json.dumps(told)}]}

    def tools(self) -> Mapping[str, Body]:
        """The tools that it offers."""
        return TOOLS

    def note(self, id: str, text: str, who: str) -> Body:  # noqa: A002 - an argument of the tool
        """Keep a note."""
        self._notes.append({"id": id, "text": text, "who": who})
        self._file.write_text(json.dumps(self._notes))
        return {}

    def look(self, words: str, who: str, most: int) -> Body:
        """Find notes that share words."""
        wanted = set(words.lower().strip("?").split())
        found = [
            n for n in self._notes if n["who"] == who and wanted & set(n["text"].lower().split())
        ]
        return {"notes": found[:most]}

    def all_notes(self, page: int = 0) -> Body:
        """Every note, or one page of two."""
        if self.attack == "lists for ever":
            return {"notes": [{"id": "x", "text": f"This is on page {page}."}]}
        return {"notes": self._notes[2 * page - 2 : 2 * page] if page else self._notes}

    def drop(self, ids: list[str]) -> Body:
        """Delete notes."""
        self._notes = [n for n in self._notes if n["id"] not in ids]
        self._file.write_text(json.dumps(self._notes))
        return {}


def _say(*answers: object) -> None:
    for answer in answers:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        os.write(1, data + b"\n")


def _told(asked: Body, **told: object) -> Body:
    content = [{"type": "text", "text": json.dumps(told)}]
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": content}}


def _answer(asked: Body, **result: object) -> None:
    _say({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def _endless(asked: Body) -> None:
    while True:
        os.write(1, b"{" + b" " * 65_536)


def _dripping(asked: Body) -> None:
    for _ in range(200):
        os.write(1, b" ")
        time.sleep(0.01)


def _asking(asked: Body) -> None:
    while True:
        _say({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})


def _changed(asked: Body) -> None:
    _say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    TOOLS.pop("drop", None)
    _say(_told(asked, notes=[]))


def _counting() -> Callable[[Body], None]:
    count = iter(range(10_000))

    def change(asked: Body) -> None:
        _say(_told(asked, notes=[{"id": "x", "text": f"The code is {next(count)}."}]))

    return change


NOTE = {"id": "x", "text": "The code is A-17."}
ATTACKS: Mapping[str, Callable[[Body], None]] = {
    "is silent": lambda _: time.sleep(_LONG),
    "closes": lambda _: sys.exit(3),
    "never ends": _endless,
    "drips": _dripping,
    "asks for ever": _asking,
    "says what is no JSON": lambda _: _say(b"{no"),
    "says a deep list": lambda _: _say(b'{"jsonrpc": ' + b"[" * 100_000),
    "answers another request": lambda a: _answer({"id": "other"}),
    "answers no result": lambda a: _say({"jsonrpc": "2.0", "id": a["id"]}),
    "fails": lambda a: _answer(a, isError=True, content=[{"type": "text", "text": "no disk"}]),
    "answers no content": lambda a: _answer(a, found=[NOTE]),
    "answers a plain text": lambda a: _answer(a, content=[{"type": "text", "text": "A-17"}]),
    "answers other keys": lambda a: _say(_told(a, found=[NOTE])),
    "answers a number as text": lambda a: _say(_told(a, notes=[{"id": "x", "text": 17}])),
    "answers half a character": lambda a: _answer(a, content=[{"type": "text", "text": "\ud800"}]),
    "finds more than was asked for": lambda a: _say(_told(a, notes=[NOTE] * 11)),
    "changes its tools": _changed,
    "changes its answer": _counting(),
}
"""What it does when it is asked to look."""


def lines() -> Iterator[Body]:
    """The messages on standard input."""
    for line in sys.stdin:
        yield json.loads(line)


def main(file: str, attack: str = "") -> None:
    """Serve on the standard streams."""
    if attack == "stays":
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({_LONG})"])
        Path(file).with_name("pids").write_text(f"{os.getpid()} {child.pid}")
    if attack == "never begins":
        time.sleep(_LONG)
    if attack == "cannot begin":
        sys.exit("notes: no such disk")
    notes = Notes(Path(file), attack)
    for asked in lines():
        looks = asked.get("params", {}).get("name") == "look"
        if looks and attack in ATTACKS:
            ATTACKS[attack](asked)
            continue
        answer = notes.serve(asked)
        if answer is not None:
            _say(answer)
    if attack == "stays":
        time.sleep(_LONG)


if __name__ == "__main__":
    main(*sys.argv[1:])
