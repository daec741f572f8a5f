"""Servers that are killed while a memory is written to them: nothing acknowledged is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from benchmarks import server_kills
from memsim.cli.program import program
from memsim.errors import ExitCode
from tests.memory.stores.servers import Server

KINDS: Final = tuple(server_kills.SERVERS)
KILLS: Final = 3
SCENARIO: Final = """memsim: 1
name: order
turns:
  - user: My order is A-4.
    facts: {order: A-4}
  - assistant: Noted.
  - filler: 6
  - user: It goes to Harbour Street 9.
    facts: {street: Harbour Street 9}
  - assistant: Noted as well.
  - filler: 6
probes:
  order: {ask: What is my order?, expect: A-4}
  street: {ask: Which street does it go to?, expect: Harbour Street 9}
"""


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of server."""
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str) -> Iterator[Server]:
    """A server that keeps what it is told, and can be killed."""
    made = server_kills.SERVERS[kind]()
    yield made
    made.stop()


@pytest.fixture
def run(
    kind: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Replays a layered memory, in the server unless told otherwise."""
    (tmp_path / "order.yaml").write_text(SCENARIO, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"MEMSIM_{kind.upper()}_URL", server.url)

    def call(out: str, store: str = kind) -> Result:
        flags = ["--embedder", "hash", "--tokenizer", "chars/4", "--progress", "none"]
        ref = f"layered:store={store},window=2"
        return CliRunner().invoke(
            program, ["run", "order.yaml", "-s", ref, "--output", out, *flags]
        )

    return call


def case(folder: Path) -> dict[str, Any]:
    """What came of the layered memory's case."""
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    (found,) = [c for line in lines if (c := json.loads(line))["strategy"].startswith("layered")]
    return dict(found)


def test_what_a_killed_server_had_acknowledged_is_there(kind: str, server: Server) -> None:
    """Whole, through old connections and new ones; the benchmark does it two hundred times."""
    tally = server_kills.torture(kind, KILLS, server=server)

    assert [] == tally.errors
    assert tally.clean
    assert KILLS == tally.kills
    assert tally.calls


def test_a_run_whose_server_dies_says_so_and_can_be_done_again(
    kind: str,
    server: Server,
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of its writes: no score, an exit code of its own, and the server's name."""
    store = type(server_kills.OPENED[kind](server.url))
    usual, written = store.write, []

    def write(self: Any, *given: Any) -> None:  # noqa: ANN401 - as any store's
        written.append(given)
        if len(written) == 4:
            server.kill()
        usual(self, *given)

    with monkeypatch.context() as dying:
        dying.setattr(store, "write", write)
        died = run("died")
    server.start()
    again, usually = run("again"), run("usually", "memory")

    lost = case(tmp_path / "died")
    assert len(written) >= 4
    assert ExitCode.UNMEASURABLE == died.exit_code
    assert server_kills.NAMES[kind] in died.output
    assert "Traceback" not in died.output
    assert ("error", None) == (lost["state"], lost["metrics"].get("recall"))
    assert ExitCode.PASSED == again.exit_code == usually.exit_code
    assert case(tmp_path / "usually")["metrics"] == case(tmp_path / "again")["metrics"]
