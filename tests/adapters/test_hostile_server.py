"""A hostile server never passes and never hangs a run."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from memsim.adapters.http_client import ContractClient, ServerError
from memsim.adapters.json_depth import nested_deeper
from memsim.cli.program import program
from memsim.discovery.loader import prepare
from memsim.errors import ExitCode
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.registry import load_model
from memsim.replay import replay
from memsim.scenario.scenario_loader import load_scenario
from memsim.trace import Trace
from tests.doubles.hostile_server import ATTACKS, PATIENCE, HostileServer, serving_hostile
from tests.strategies.conversations import embedder, own_folder

SCRIPT = """\
memsim: 1
name: code
turns:
  - user: The code is A-17.
    facts: {code: A-17}
  - user: The weather is fine.
probes:
  code: {after: end, ask: What is the code?, expect: A-17}
  again: {after: end, ask: Which code is it?, expect: A-17}
"""
SLOWEST = 3.0
"""Seconds that a case may take: a few time-outs, and never one for each question."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A scenario of two questions."""
    path = tmp_path / "code.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def play(script: Path, ref: str) -> Trace:
    """The scenario, through a strategy."""
    counter = TokenCounter(load_tokenizer("chars/4"))
    return replay(
        load_scenario(script),
        prepare(ref),
        model=load_model("offline", counter),
        embed=embedder,
        counter=counter,
        budget=1000,
        seed=7,
        folder=own_folder,
    )


def searching(url: str) -> str:
    """The ref of a server that is searched, and waited for a moment."""
    return f"http:url={url},read=search,window=0,timeout={PATIENCE}"


def test_a_hostile_server_never_passes(script: Path, subtests: pytest.Subtests) -> None:
    """Every question is an error, soon, and the error is one line."""
    for name, attack in ATTACKS.items():
        with subtests.test(server=name), serving_hostile(HostileServer(attack)) as url:
            began = time.monotonic()
            trace = play(script, searching(url))

            assert [p.answer for p in trace.probes] == [None, None]
            assert all(p.error and "\n" not in p.error for p in trace.probes)
            assert time.monotonic() - began < SLOWEST


def test_an_honest_server_passes_the_same_script(script: Path) -> None:
    """The proof that the attacks above are what fails it."""
    attack = ATTACKS["is silent"]
    with serving_hostile(HostileServer(attack, route="/v1/none")) as url:
        trace = play(script, searching(url))

    assert [p.answer is not None and "A-17" in p.answer for p in trace.probes] == [True, True]


def test_the_last_answer_of_a_connection_is_read() -> None:
    """Though its body comes after a head that announces the end; the next one is a new one's."""

    def late(line: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\n"
        line.sendall(head)
        time.sleep(PATIENCE / 5)
        line.sendall(b'{"texts": []}')

    with serving_hostile(HostileServer(late)) as url:
        client = ContractClient(url, timeout=PATIENCE)
        answers = [client.post("/v1/search", {}) for _ in range(2)]
        client.close()

    assert answers == [{"texts": []}, {"texts": []}]


def test_a_dead_server_is_not_asked_again() -> None:
    """The first time-out is the last."""
    with serving_hostile(HostileServer(ATTACKS["is silent"])) as url:
        client = ContractClient(url, timeout=PATIENCE)
        with pytest.raises(ServerError, match=r"no answer within 0\.25 s"):
            client.post("/v1/search", {})
        began = time.monotonic()
        with pytest.raises(ServerError, match=r"no answer within 0\.25 s"):
            client.get("/v1/identity")

        assert time.monotonic() - began < PATIENCE / 2
        client.close()


def test_a_run_ends_unmeasurable(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the code for that, whether the server dies on the way or was never there."""
    monkeypatch.chdir(tmp_path)
    with serving_hostile(HostileServer(ATTACKS["is silent"])) as url:
        refs = [f"http:url={url},read=search,timeout={PATIENCE}", "http:url=http://127.0.0.1:1"]
        flags = [flag for ref in refs for flag in ("-s", ref)]
        result = CliRunner().invoke(program, ["run", str(script), *flags, "-k", "http"])

    assert result.exit_code == ExitCode.UNMEASURABLE
    assert "Traceback" not in result.output


def test_nesting_is_measured_outside_of_texts(subtests: pytest.Subtests) -> None:
    """Brackets in texts do not count, whatever is escaped in them."""
    for data, deep in (
        (b"[" * 32 + b"]" * 32, False),
        (b"[" * 33, True),
        (b'{"text": "' + b"[" * 99 + b'"}', False),
        (b'{"text": "\\"' + b"[" * 99 + b'"}', False),
        (b'{"text": "\\\\", "more": ' + b"[" * 40, True),
        (b"[" + b"[]," * 99 + b"[]]", False),
    ):
        with subtests.test(data=data[:20]):
            assert nested_deeper(data, 32) is deep
