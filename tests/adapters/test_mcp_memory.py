"""The strategy `mcp`: conversations with MCP servers, mappings, and servers that are hostile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memsim.adapters.mcp_mapping import PRESETS, MappingError, load_mapping, presets
from memsim.adapters.mcp_messages import McpError
from memsim.cli.program import program
from memsim.discovery.loader import resolve as resolve_ref
from memsim.discovery.source_digest import source_digest
from memsim.discovery.strategy_ref import parse_ref
from memsim.errors import ExitCode, RefError
from memsim.message import said
from memsim.strategy import Event, Forget, Strategy
from memsim.trace import Trace
from tests.adapters.test_hostile_server import SCRIPT, play
from tests.doubles.mcp_server import ATTACKS, MAPPING, Notes, mapping_of
from tests.strategies.conversations import ask, strategy

PATIENCE = 0.4


def written(folder: Path, text: str) -> str:
    """A ref of the mapping in a file."""
    path = folder / "notes.yaml"
    path.write_text(text, encoding="utf-8")
    return f"mcp:mapping={path}"


def tell(memory: Strategy, text: str, number: int, who: str = "ana") -> None:
    """A turn of one message."""
    memory.observe(said("user", text, id=f"m{number}", principal=who))
    memory.end_turn()


@contextmanager
def serving_http(folder: Path, *, events: bool) -> Iterator[tuple[str, list[str]]]:
    """Notes over streamable HTTP: its address, and the methods and sessions that it saw."""
    notes, seen = Notes(folder / "notes.json"), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.headers["Authorization"] == "Bearer sesame"
            seen.append(f"{body['method']} {self.headers.get('Mcp-Session-Id')}")
            answer = notes.serve(body)
            data = json.dumps(answer).encode() if answer else b""
            if events and answer:
                data = b": hello\r\n\r\nevent: message\r\ndata: " + data + b"\r\n\r\n"
            kind = "text/event-stream" if events else "application/json"
            self.answer(200 if answer else 202, kind, data)

        def do_DELETE(self) -> None:
            seen.append(f"DELETE {self.headers.get('Mcp-Session-Id')}")
            self.answer(200, "text/plain", b"")

        def answer(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Mcp-Session-Id", "s7")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/mcp", seen
        listening.shutdown()


def test_a_server_is_started_asked_restarted_and_ended(tmp_path: Path) -> None:
    """Principals do not meet; what left the window is found, listed and erased."""
    events: list[Event] = []
    memory = strategy(written(tmp_path, mapping_of()) + ",window=1", log=events.append)
    tell(memory, "My order is A-17.", 0)
    tell(memory, "My order is B-99.", 1, "ben")
    tell(memory, "Weather looks fine.", 2)
    query = ask(memory, "Which order is mine?")

    assert memory.context(query).verbatim == {"m0", "m2"}
    assert memory.restart()
    assert memory.context(query).verbatim == {"m0", "m2"}
    assert {s.sources for s in memory.surfaces("ben")} == {("m1",)}
    assert {s.sources for s in memory.surfaces()} == {("m0",), ("m1",), ("m2",)}
    outcome = memory.forget(Forget(principal="ana", text="", sources=("m0",)))
    assert (outcome.supported, outcome.removed) == (True, ("m0",))
    assert memory.context(query).verbatim == {"m2"}
    processes = [s._client._transport._process for s in memory._servers.values()]  # type: ignore[attr-defined]
    memory.close()
    assert all(process.poll() is not None for process in processes)
    assert [e.detail for e in events if e.detail] == [
        "notes 7 over MCP 2025-06-18",
        "lives in wall time: age and expiry are not measured",
    ]


def test_a_list_in_pages_is_read_to_its_end(tmp_path: Path) -> None:
    """Nothing that is kept on a later page counts as erased; a list without end is an error."""
    paged = mapping_of().replace(
        "tool: all_notes,", 'tool: all_notes, arguments: {page: "{page}"},'
    )
    memory = strategy(written(tmp_path, paged))
    for n in range(5):
        tell(memory, f"My order is A-{n}.", n)
    kept = {s.sources for s in memory.surfaces()}
    memory.close()
    endless = paged.replace('""', '"lists for ever"')
    memory = strategy(written(tmp_path, endless) + f",timeout={PATIENCE}")
    tell(memory, "My order is A-17.", 0)

    assert kept == {(f"m{n}",) for n in range(5)}
    with pytest.raises(McpError, match="no answer in time"):
        list(memory.surfaces())
    memory.close()


def test_a_server_over_http_is_asked(
    tmp_path: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As JSON and as events, within one session, and with names of this case alone."""
    monkeypatch.setenv("NOTES_TOKEN", "sesame")
    for events in (False, True):
        place = tmp_path / str(events)
        place.mkdir()
        with subtests.test(events=events), serving_http(place, events=events) as (url, seen):
            mapping = mapping_of(principals="argument", url=url) + "token_env: NOTES_TOKEN\n"
            ref = written(place, mapping) + ",window=0"
            one, two = strategy(ref), strategy(ref)
            assert one.hosts == ("127.0.0.1",)
            tell(one, "My order is A-17.", 0)
            tell(two, "My order is B-99.", 1)

            assert one.context(ask(one, "Which order is mine?")).verbatim == {"m0"}
            assert two.context(ask(two, "Which order is mine?")).verbatim == {"m1"}
            assert {s.sources for s in one.surfaces()} == {("m0",)}
            one.close()
            two.close()
            assert seen[:2] == ["initialize None", "notifications/initialized s7"]
            assert seen[-1] == "DELETE s7"


WAYS = {"whole": {"m0"}, "words": {"m0"}, "all": {"m0", "m1"}}


def test_a_server_is_asked_in_three_ways(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The question as it is, its words, or everything that is listed."""
    for way, found in WAYS.items():
        with subtests.test(ask=way):
            memory = strategy(written(tmp_path, mapping_of()) + f",window=0,ask={way}")
            tell(memory, "My order is A-17.", 0)
            tell(memory, "Weather looks fine.", 1)

            assert memory.context(ask(memory, "Which order is mine?")).verbatim == found
            memory.close()


BAD: dict[str, tuple[str, str, int | None, str]] = {
    "no such file": ("", "", None, "there is no such file"),
    "no YAML": ("add:", "add: [", 6, "is no YAML"),
    "an alias": ("name: notes", "name: &x notes\nenv: {a: *x}", 3, "aliases are not allowed"),
    "a key twice": ("name: notes", "name: a\nname: b", 3, "duplicate key 'name' (first"),
    "no version": ("memsim-mcp: 1", "", 1, "begins with memsim-mcp: 1"),
    "an unknown key": ("name:", "nmae:", 2, "unknown key 'nmae' (did you mean 'name'?)"),
    "no tool": ("{tool: note, ", "{tol: note, ", 5, "(did you mean 'tool'?)"),
    "a wrong choice": ("PRINCIPALS", "servre", 4, "(did you mean 'server'?)"),
    "a wrong type": ("name: notes", "name: 7", 2, "name is a whole number, not a text"),
    "an unknown placeholder": ('"{text}"', '"{txt}"', 5, "{txt} (did you mean 'text'?)"),
    "no question": ('"{question}"', '"all"', 8, "no argument of find holds {question}"),
    "no text in the reply": ("text: text, id: id}\nlist", "id: id}\nlist", 9, "where the text is"),
    "command and url": ("name: notes", "url: http://x/mcp", 2, "either a command or a url"),
    "a bad pattern": ('items: "notes[]", text: text, id: id}\nl', "lines: ['(']}\nl", 9, "pattern"),
}


def test_a_wrong_mapping_is_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the file, the line and what may have been meant; before anything is started."""
    path = tmp_path / "notes.yaml"
    for name, (there, instead, line, said_so) in BAD.items():
        if not said_so:
            continue
        with subtests.test(name):
            text = MAPPING.replace(there, instead) if there else ""
            assert text != MAPPING
            path.write_text(text.replace("PRINCIPALS", "server"), encoding="utf-8")
            if not there:
                path.unlink()
            with pytest.raises(MappingError) as caught:
                load_mapping(path, "notes.yaml")
            place = f"notes.yaml:{line}: " if line else "notes.yaml: "
            assert str(caught.value).startswith(place)
            assert said_so in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_mapping_of_another_server_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A tool or an argument that the server has not is named, with what it has."""
    for there, instead, said_so in (
        ("tool: note,", "tool: notes,", "no tool 'notes' (did you mean 'note'?)"),
        ("words:", "word:", "look has no argument 'word' (did you mean 'words'?)"),
        (', who: "{principal}"}}', "}}", "note needs the argument 'who'"),
    ):
        with subtests.test(instead):
            memory = strategy(written(tmp_path, mapping_of().replace(there, instead, 1)))
            with pytest.raises(McpError, match="notes: ") as caught:
                tell(memory, "My order is A-17.", 0)
            assert said_so in str(caught.value)
            memory.close()


def test_presets_are_mappings(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """Each is read; one that is not there, or has no environment here, is one line."""
    for name in presets():
        with subtests.test(name):
            assert load_mapping(PRESETS / f"{name}.yaml", name).environment == name
    assert len(presets()) >= 5
    for ref, said_so in (
        ("mcp:server-memori", "did you mean 'server-memory'?"),
        ("mcp:server-memory", "make library NAME=server-memory"),
        ("mcp", "server-memory"),
    ):
        with subtests.test(ref), pytest.MonkeyPatch.context() as patched:
            patched.setenv("MEMSIM_FOLDER", str(tmp_path))
            with pytest.raises((RefError, ValueError), match=said_so.replace("?", r"\?")):
                strategy(ref)


def test_a_preset_needs_no_name() -> None:
    """It is printed without one as well; other strategies' parameters have names."""
    assert parse_ref("mcp:server-memory,k=5") == parse_ref("mcp:preset=server-memory,k=5")
    assert str(parse_ref("mcp:preset=server-memory,k=5")) == "mcp:server-memory,k=5"
    with pytest.raises(RefError, match="name=value"):
        parse_ref("bm25:server-memory")


def test_a_mapping_is_part_of_the_source(tmp_path: Path) -> None:
    """A run is not resumed with another one."""
    ref = resolve_ref(written(tmp_path, mapping_of()))
    other = tmp_path / "other"
    other.mkdir()
    changed = resolve_ref(written(other, mapping_of() + "# more"))

    assert source_digest(ref) != source_digest(changed)


def play_notes(folder: Path, mapping: str) -> Trace:
    """Two questions, against a server."""
    script = folder / "code.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    return play(script, f"{written(folder, mapping)},window=0,timeout={PATIENCE}")


def test_an_honest_server_passes(tmp_path: Path) -> None:
    """The proof that the attacks are what fails a hostile one."""
    trace = play_notes(tmp_path, mapping_of())

    assert [p.answer is not None and "A-17" in p.answer for p in trace.probes] == [True, True]


def test_a_hostile_server_never_passes(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Every question is an error, soon, and the error is one line."""
    late = mapping_of("never begins") + "slow_start: 0.5\n"
    attacks = {name: mapping_of(name) for name in (*ATTACKS, "cannot begin")}
    for name, mapping in {**attacks, "never begins": late}.items():
        with subtests.test(server=name):
            began = time.monotonic()
            trace = play_notes(tmp_path, mapping)

            assert [p.answer for p in trace.probes] == [None, None]
            assert all(p.error and "\n" not in p.error for p in trace.probes)
            assert time.monotonic() - began < 5


def test_a_run_with_a_dead_server_is_unmeasurable(tmp_path: Path) -> None:
    """One line tells why, and the code is that of what could not be measured."""
    (tmp_path / "code.yaml").write_text(SCRIPT, encoding="utf-8")
    ref = written(tmp_path, mapping_of("cannot begin"))
    flags = ["-s", ref, "-k", "mcp", "--progress", "none", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(program, ["run", str(tmp_path / "code.yaml"), *flags])

    assert result.exit_code == ExitCode.UNMEASURABLE
    assert "the server ended: notes: no such disk" in result.output
    assert "Traceback" not in result.output


CHILD = """\
import os, sys, time
from pathlib import Path
from memsim.adapters.mcp_mapping import load_mapping
from memsim.adapters.mcp_server import McpServer
folder = Path(sys.argv[1])
server = McpServer(load_mapping(folder / "notes.yaml", "notes"), folder, {}, 5)
print("ready", flush=True)
time.sleep(60)
"""


def test_servers_end_with_a_killed_run(tmp_path: Path) -> None:
    """A server that ignores the end of its input, and what it started, are killed."""
    written(tmp_path, mapping_of("stays"))
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    end = time.monotonic() + 10
    while any(map(_runs, pids)) and time.monotonic() < end:
        time.sleep(0.05)

    assert not any(map(_runs, pids))


def _runs(pid: int) -> bool:
    try:
        state: Any = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return bool(state != "Z")
