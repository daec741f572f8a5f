"""Libraries in environments of their own: a library-like memory, and what it may do and not do."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memsim.adapters import library_process
from memsim.adapters.library_memory import IN_RAM, LibraryMemory
from memsim.errors import ModelError, StrategyError
from memsim.message import said
from memsim.models import Reply, Request
from memsim.strategy import Forget
from tests.strategies.conversations import ask, strategy

PROGRAMS = Path(library_process.__file__).parent / "libraries"
SHELF = """\
import json, pathlib, socket, sys, urllib.request

sys.path.append(str(pathlib.Path(__file__).parent))

class Memory:
    PACKAGE = "shelf"
    SOURCES = True

    def __init__(self, options, embed):
        self.file = pathlib.Path(options["folder"], "texts.json")
        self.url, self.embed = options["models"], embed
        self.texts = json.loads(self.file.read_text()) if self.file.exists() else {}

    async def add(self, message):
        text = message["text"]
        if text.startswith("Call "):
            socket.create_connection((text.split()[1], 80), timeout=1)
        if text.startswith("Send "):
            socket.socket(type=socket.SOCK_DGRAM).sendto(b"?", (text.split()[1], 53))
        if text.startswith("Infer "):
            text = self.ask(text)
        self.texts[message["id"]] = [text, self.embed([text])[0], message["principal"]]
        self.file.write_text(json.dumps(self.texts))

    def ask(self, text):
        body = {"messages": [{"role": "user", "content": text}],
                "response_format": {"type": "json_object"}}
        sent = urllib.request.Request(self.url + "/chat/completions", json.dumps(body).encode())
        try:
            answer = json.load(urllib.request.urlopen(sent))
        except OSError:
            return text  # as libraries do
        return ", ".join(json.loads(answer["choices"][0]["message"]["content"])["facts"])

    def search(self, question):
        near = self.embed([question["question"]])[0]
        own = [(i, t) for i, t in self.texts.items() if t[2] == question["principal"]]
        own.sort(key=lambda each: -sum(a * b for a, b in zip(near, each[1][1])))
        return [{"text": t[0], "sources": [i]} for i, t in own]

    def delete(self, principal, ids):
        return [i for i in ids if self.texts.get(i, "  ")[2] == principal and self.texts.pop(i)]

MEMORY = Memory
"""


class Shelf(LibraryMemory):
    """The strategy over `SHELF`."""

    library = "shelf"
    program = "shelf"
    requirements = "shelf==1"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A library that is being served from an environment."""
    python = tmp_path / ".venv-shelf" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    shutil.copy(PROGRAMS / "server.py", tmp_path)
    (tmp_path / "shelf.py").write_text(SHELF, "utf-8")
    metadata = tmp_path / "shelf-1.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.2\n", "utf-8")
    monkeypatch.setattr(library_process, "_FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    host = strategy("no_memory")
    env = replace(host.env, folder=lambda: tmp_path)
    return Shelf(env, k=5, window=0, timeout=10)


def tell(memory: Shelf, text: str, number: int = 0) -> None:
    """A turn of one message."""
    memory.observe(said("user", text, id=f"m{number}", principal="ana"))
    memory.end_turn()


def test_a_library_is_asked_restarted_and_closed(shelf: Shelf) -> None:
    """It finds by the run's embedder, keeps its files over a restart, erases, and ends."""
    tell(shelf, "My order is A-17.")
    tell(shelf, "Infer that my cat is called Milo.", 1)
    process = shelf._process._process

    assert shelf.notes == ("shelf 1.2",)
    assert shelf.context(ask(shelf, "Which order is mine?")).verbatim >= {"m0"}
    assert shelf.restart()
    assert process is not None
    assert process.returncode is not None
    texts = [text.text for text in shelf.find(ask(shelf, "Which cat?"), "ana", 100)]
    assert texts[0].startswith("ana: Infer that my cat is called Milo")
    assert shelf.forget(Forget(principal="ana", text="", sources=("m0",))).removed == ("m0",)
    assert shelf.context(ask(shelf, "Which order is mine?")).verbatim.isdisjoint({"m0"})
    again = shelf._process._process
    shelf.close()
    assert again is not None
    assert again.returncode == 0


def test_a_library_in_ram_is_not_restarted(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would lose everything, so that the report says that a restart is not measured."""
    tell(shelf, "My order is A-17.")
    monkeypatch.setattr(Shelf, "durable", False)
    process = shelf._process._process

    assert shelf.restart()
    assert shelf._process._process is process
    shelf.close()
    again = Shelf(shelf.env, k=5, window=0, timeout=10)
    assert again.notes == ("shelf 1.2", IN_RAM)
    again.close()


def test_what_fails_in_a_library_is_never_green(shelf: Shelf) -> None:
    """Other machines are out of reach; a failed model is an error, though a library swallows it."""

    class Failing:
        name = "failing"

        def complete(self, request: Request) -> Reply:
            raise ModelError("no answer today")

    with pytest.raises(StrategyError, match=r"no look-up of 192\.0\.2\.1"):
        tell(shelf, "Call 192.0.2.1 now.")
    with pytest.raises(StrategyError, match=r"no connection to 192\.0\.2\.1"):
        tell(shelf, "Send 192.0.2.1 a datagram.", 1)
    object.__setattr__(shelf.env, "model", Failing())
    with pytest.raises(ModelError, match="no answer today"):
        tell(shelf, "Infer that I like tea.", 2)
    shelf.close()


def test_the_endpoint_answers_only_within_a_call(shelf: Shelf, subtests: pytest.Subtests) -> None:
    """Work in the background gets no model; and what is not offered is refused."""
    url = shelf._endpoint.url
    chat: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi."}]}
    with subtests.test("outside"):
        assert post(f"{url}/chat/completions", chat)[0] == 503
    for path, body, status in (
        ("/embeddings", {"input": ["a", "b"], "encoding_format": "base64"}, 200),
        ("/chat/completions", chat, 200),
        ("/chat/completions", {**chat, "stream": True}, 200),
        ("/models", {}, 404),
    ):
        with subtests.test(path), shelf._endpoint.answering():
            assert post(url + path, body)[0] == status
    for path, body in (
        ("/chat/completions", {"messages": [{"role": "oracle", "content": "Hi."}]}),
        ("/embeddings", {"input": [[1, 2]]}),
    ):
        with subtests.test(path), pytest.raises(StrategyError), shelf._endpoint.answering():
            assert post(url + path, body)[0] == 400
    shelf.close()


def test_a_missing_environment_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, before anything is started."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"no environment \.venv-shelf: make it by `make library"):
        library_process.find_python("shelf", "shelf==1")


def post(url: str, body: object) -> tuple[int, Any]:
    """Status and answer."""
    sent = urllib.request.Request(url, json.dumps(body).encode())  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(sent) as answer:  # noqa: S310 - loopback
            read = answer.read()
            stream = answer.headers["Content-Type"] == "text/event-stream"
            return answer.status, read if stream else json.loads(read)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
