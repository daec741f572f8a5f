"""Playing cases on Ray: the same bytes, and only the case that a dead process played is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

import pytest

from memsim import ray_executor
from memsim.cli import supervisor
from memsim.errors import UsageError
from memsim.ray_connection import RayConnection, RayHeadLostError, connected, silence

RECORDS = ("probes.jsonl", "turns.jsonl", "contexts.jsonl", "report.md")
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
"""Nodes that are made here let in only who has this."""

RAY = (sys.executable, "-m", "ray.scripts.scripts")

STRATEGY = """
import os
import signal
import time
from pathlib import Path

from memsim import Strategy


class Mine(Strategy):
    \"\"\"Waits for each answer, and kills its process where a file says so.\"\"\"

    def __init__(self, env, *, seconds: float = 0.0, killer: str = "") -> None:
        super().__init__(env)
        self.seconds, self.killer, self.last = seconds, killer, []

    def observe(self, message):
        self.last = [message]
        if self.killer and Path(self.killer).exists():
            os.kill(os.getpid(), signal.SIGKILL)

    def context(self, query):
        time.sleep(self.seconds)
        build = self.env.build
        return build.context(build.section("window", self.last))
"""
SCENARIO = """memsim: 1
name: {name}
turns:
  - user: The code is {code}.
    facts: {{code: "{code}"}}
  - assistant: Noted.
probes:
  code: {{after: end, ask: What is the code?, expect: "{code}"}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with twelve scenarios and a strategy of its own."""
    (tmp_path / "pyproject.toml").write_text("[tool.memsim]\n")
    (tmp_path / "mine.py").write_text(STRATEGY)
    (tmp_path / "scenarios").mkdir()
    for number in range(12):
        text = SCENARIO.format(name=f"code_{number:02}", code=1000 + number)
        (tmp_path / "scenarios" / f"code_{number:02}.yaml").write_text(text)
    return tmp_path


def memsim(
    project: Path, *arguments: str, jobs: str, more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.Popen[str]:
    """Start `memsim run` in a project; reports name the command, so `-j` is a variable."""
    return subprocess.Popen(
        [sys.executable, "-m", "memsim", "run", *arguments],
        cwd=project,
        env={**os.environ, "MEMSIM_JOBS": jobs, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a process that ends."""
    out, err = process.communicate(timeout=150)
    return process.returncode, out, err


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """The kept cases by their ids."""
    path = folder / "cases.jsonl"
    text = path.read_text() if path.exists() else ""
    return {case["id"]: case for case in map(json.loads, text.splitlines())}


def wait_for_cases(process: subprocess.Popen[str], count: int) -> None:
    """Wait until progress tells of so many cases."""
    assert process.stderr is not None
    while count:
        line = process.stderr.readline()
        assert line, "it ended"
        count -= line.startswith("[")


def assert_same_records(one: Path, other: Path) -> None:
    """Both runs have the same bytes."""
    for name in RECORDS:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def on_two_nodes(project: Path, kill: str, *arguments: str) -> subprocess.Popen[str]:
    """Run memsim on two Ray nodes; see ray_nodes.py."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "ray_nodes.py"), kill, "ray", *arguments],
        cwd=project,
        env=os.environ | TOKEN | {"MEMSIM_JOBS": "ray"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_on_ray_has_the_bytes_of_a_run_on_one_process(project: Path) -> None:
    """With a strategy of memsim and one of the user; nothing of Ray is printed."""
    strategies = ("-s", "bm25", "-s", "mine.py@Mine", "--progress", "none")
    assert ended(memsim(project, *strategies, "-o", "one", jobs="1"))[0] == 0

    code, out, err = ended(memsim(project, *strategies, "-o", "ray", jobs="ray"))

    assert (code, err) == (0, "")
    assert "ray" not in out.replace("ray/report.md", "").lower().split()
    assert_same_records(project / "one", project / "ray")


def test_a_killed_actor_loses_only_its_case(project: Path) -> None:
    """The others are played, the run is not green, and the same command plays only what is lost."""
    killer = project / "kill"
    killer.touch()
    refs = ("-s", "bm25", "-s", f"mine.py@Mine:killer={killer}")
    strategies = (*refs, "-k", "bm25 or code_03", "--progress", "plain")
    run = (*strategies, "-o", "ray")

    code, _, err = ended(memsim(project, *run, jobs="ray"))

    lost = [case for case, found in cases(project / "ray").items() if found["state"] == "lost"]
    assert (code, len(lost), len(cases(project / "ray"))) == (7, 1, 16)
    assert "code_03" in lost[0]
    assert "Mine" in lost[0]
    assert "1 of 16 cases lost: the process that played them died" in err
    killer.unlink()
    code, _, err = ended(memsim(project, *run, jobs="ray"))
    assert code == 0
    assert sum(line.startswith("[") for line in err.splitlines()) == 1
    assert ended(memsim(project, *strategies, "-o", "one", jobs="1"))[0] == 0
    assert_same_records(project / "one", project / "ray")


def test_a_killed_node_loses_only_what_it_played(project: Path) -> None:
    """On two nodes, one of which is killed; the same command plays only what is lost."""
    slow = ("run", "-s", "mine.py@Mine:seconds=0.4", "-k", "Mine", "--progress", "plain")
    run = (*slow, "-o", "ray")

    code, _, err = ended(on_two_nodes(project, "node", *run))

    found = cases(project / "ray")
    lost = [case for case, one in found.items() if one["state"] == "lost"]
    assert (code, len(found), len(lost)) == (7, 12, 1), err
    assert "1 of 12 cases lost: the process that played them died" in err
    code, _, err = ended(on_two_nodes(project, "none", *run))
    assert code == 0, err
    assert sum(line.startswith("[") for line in err.splitlines()) == 1
    assert ended(memsim(project, *slow[1:], "-o", "one", jobs="2"))[0] == 0
    assert_same_records(project / "one", project / "ray")


def test_a_killed_head_of_this_machine_keeps_what_was_played(project: Path) -> None:
    """As on a cluster."""
    slow = ("-s", "mine.py@Mine:seconds=1", "-k", "Mine", "--progress", "plain", "-o", "ray")
    process = memsim(project, *slow, jobs="ray")
    wait_for_cases(process, 2)

    for kind in ("gcs_server", "raylet"):
        for pid in _descendants(process.pid, kind):
            os.kill(pid, signal.SIGKILL)
    code, _, err = ended(process)

    assert code == 7, err
    assert LOST in err
    assert "Traceback" not in err
    assert not (project / "ray" / "report.md").exists()
    code, _, err = ended(memsim(project, *slow, jobs="2"))
    assert (code, len(cases(project / "ray"))) == (0, 12)


def test_a_head_of_this_machine_is_never_asked_for_its_processors() -> None:
    """A dead one would not answer; after a minute Ray ends the process, and nothing is said."""
    node = SimpleNamespace(dead_processes=list)
    worker = SimpleNamespace(_global_node=node)
    fake = SimpleNamespace(_private=SimpleNamespace(worker=worker))  # with nothing to ask
    cluster = RayConnection(fake, "ray", own=2)
    assert cluster.processors() == 2

    node.dead_processes = lambda: [("gcs_server", None)]

    with pytest.raises(RayHeadLostError, match="-j ray: the Ray head ended"):
        cluster.processors()


def raylet_lost(**calls: object) -> Any:  # noqa: ANN401 - a module
    """As Ray's module where the head of this machine has ended."""
    node = SimpleNamespace(dead_processes=lambda: [("raylet", 0)])
    errors = SimpleNamespace(
        RayError=RayError, RayTaskError=RayTaskError, RayActorError=RayActorError
    )
    worker = SimpleNamespace(_global_node=node)
    return SimpleNamespace(exceptions=errors, _private=SimpleNamespace(worker=worker), **calls)


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's."""


class RayActorError(RayError):
    """As Ray's."""


@pytest.mark.parametrize("kind", [RayError, RayActorError])
@pytest.mark.parametrize("hello", [None, "hello"])
def test_a_head_that_died_with_its_actors_is_no_lost_case(
    kind: type[Exception], hello: str | None
) -> None:
    """Not in the last cases either, where nothing is looked at afterwards."""

    def get(_news: object) -> None:
        raise kind

    fake = raylet_lost(get=get, put=None)
    crew = ray_executor._Crew(RayConnection(fake, "ray", own=1), [], no_play, lambda _: None)
    player = ray_executor._Player(None, hello, playing=deque([(0, "news")]))

    with pytest.raises(RayHeadLostError):
        crew._hear(player)


@pytest.mark.parametrize("dead", [True, False])
def test_an_error_of_ray_is_told_as_the_head_that_died(
    monkeypatch: pytest.MonkeyPatch, dead: bool
) -> None:
    """Wherever it is raised; where the head is alive, it is told as it is."""
    fake = raylet_lost(put=None)
    if not dead:
        fake._private.worker._global_node.dead_processes = list

    def fail(_crew: object) -> NoReturn:
        raise RayError

    made = nullcontext(RayConnection(fake, "ray", own=1))
    monkeypatch.setattr(ray_executor, "connected", lambda _: made)
    monkeypatch.setattr(ray_executor._Crew, "outcomes", fail)

    with pytest.raises(RayHeadLostError if dead else RayError):
        list(ray_executor.RayPool("ray").run([None], no_play))  # type: ignore[list-item]


def test_a_terminal_has_its_cursor_again_after_ray_ended_a_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress that was ended in its middle had hidden it."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    assert supervisor._exit_code(1, "ray") == 7
    assert capsys.readouterr().err == f"\x1b[?25h\nmemsim: -j ray: {LOST}"


def no_play(_spec: object) -> NoReturn:
    """Nothing is played."""
    raise AssertionError


ENDED_BY_RAY = """
import os, sys
from memsim.cli.supervisor import SUPERVISION, supervised

def command():
    with SUPERVISION.played_by(sys.argv[1] if sys.argv[1] == "ray" else 1):
        os._exit(int(sys.argv[2])) if sys.argv[3] == "inside" else None
    sys.exit(int(sys.argv[2]))

supervised(command)
"""
LOST = "the Ray head ended: give the same command again; `memsim run` goes on where it was\n"


@pytest.mark.parametrize(
    ("address", "ended_with", "where", "code"),
    [
        ("ray", 1, "inside", 7),
        ("ray", 1, "after", 1),
        ("ray", 5, "inside", 5),
        ("none", 1, "inside", 1),
    ],
)
def test_a_process_that_ray_ended_without_a_word_has_its_error(
    address: str, ended_with: int, where: str, code: int
) -> None:
    """Ray calls `_exit(1)` where a lost head is noticed; 1 would say that facts were lost."""
    arguments = [address, str(ended_with), where]

    found = subprocess.run(
        [sys.executable, "-c", ENDED_BY_RAY, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == code
    assert found.stderr.endswith(LOST) is (code == 7)
    assert found.stderr.count("\n") == (code == 7)


DYING_RAY = """
import os
import memsim.ray_executor
from memsim.cli import main

memsim.ray_executor.RayPool.run = lambda *_: os._exit(1)
main()
"""


@pytest.mark.parametrize(
    "command",
    [
        ("run", "-s", "bm25"),
        ("run", "-s", "bm25", "--model", "openai/gpt-4o", "--dry-run"),
        ("twist", "-s", "bm25"),
        ("limit", "-s", "bm25", "--dial", "updates"),
        ("baseline", "save", "--aa", "2"),
    ],
    ids=" ".join,
)
def test_each_command_tells_that_ray_ended_its_process(
    project: Path, command: tuple[str, ...]
) -> None:
    """Exit 1 would say that the memory failed."""
    if command[0] == "baseline":
        assert ended(memsim(project, "-s", "bm25", "-q", jobs="1"))[0] == 0

    found = subprocess.run(
        [sys.executable, "-c", DYING_RAY, *command],
        cwd=project,
        env=os.environ | {"MEMSIM_JOBS": "ray"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.returncode, found.stderr.endswith(f"memsim: -j ray: {LOST}")) == (7, True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The address of a cluster that serves clients, and the process that started it."""
    port = _free_port()
    options = ("--head", "--num-cpus=1", "--port=0", f"--ray-client-server-port={port}", "--block")
    # Ray's sockets lie below its folder, and the path of a socket has at most 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="ray") as folder,
        (tmp_path_factory.mktemp("head") / "log").open("w") as log,
        subprocess.Popen(
            [*RAY, "start", *options, "--include-dashboard=false", f"--temp-dir={folder}"],
            env=os.environ | TOKEN,
            stdout=log,
            stderr=log,
        ) as head,
    ):
        try:
            _wait_for_port(port, head)
            yield f"ray://127.0.0.1:{port}", head.pid
        finally:
            head.terminate()


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def _wait_for_port(port: int, head: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert head.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        else:
            return


def test_a_cluster_at_an_address_plays_the_same_bytes(
    project: Path, cluster: tuple[str, int]
) -> None:
    """Through Ray's server for clients, which has files of its own."""
    strategies = ("-s", "bm25", "-s", "mine.py@Mine", "-k", "code_01", "--progress", "none")
    assert ended(memsim(project, *strategies, "-o", "one", jobs="1"))[0] == 0

    code, _, err = ended(memsim(project, *strategies, "-o", "ray", jobs=cluster[0], more=TOKEN))

    assert (code, err) == (0, "")
    assert_same_records(project / "one", project / "ray")


def test_a_killed_head_at_an_address_keeps_what_was_played(
    project: Path, cluster: tuple[str, int]
) -> None:
    """Exit 7 and no report; the same command without Ray plays the remaining cases."""
    address, head = cluster
    refs = ("-s", "mine.py@Mine:seconds=1", "-k", "Mine and code_0")
    slow = (*refs, "--progress", "plain", "-o", "ray")
    process = memsim(project, *slow, jobs=address, more=TOKEN)
    wait_for_cases(process, 2)

    for pid in _descendants(head, ""):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    code, _, err = ended(process)

    assert code == 7, err
    assert LOST in err
    assert "Traceback" not in err
    assert not (project / "ray" / "report.md").exists()
    code, _, err = ended(memsim(project, *slow, jobs="2"))
    assert (code, len(cases(project / "ray"))) == (0, 10)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What is started can be interrupted, also where a shell has put the tests behind it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_was_played(project: Path) -> None:
    """Exit 2 and the command that goes on, as on this machine; no process is left."""
    slow = ("-s", "mine.py@Mine:seconds=2", "-k", "Mine", "--progress", "plain", "-o", "ray")
    process = memsim(project, *slow, jobs="ray")
    wait_for_cases(process, 2)
    left = _descendants(process.pid, "")

    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)

    assert code == 2, err
    assert "interrupted: " in err
    assert "to go on: memsim run" in err
    assert len(left) > 3
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/exe").exists() and _alive(pid) for pid in left):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_watched_a_closed_channel_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The head has ended, and memsim says so in one line; other errors of threads are told."""
    told: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda error: told.append(str(error.exc_value)))
    worker = SimpleNamespace(print_worker_logs=print)

    def fail(said: str) -> None:
        raise ValueError(said)

    with silence(SimpleNamespace(_private=SimpleNamespace(worker=worker))):
        for said in ("Cannot monitor channel state: Channel closed!", "another"):
            thread = threading.Thread(target=fail, args=(said,))
            thread.start()
            thread.join()

    assert told == ["another"]
    assert worker.print_worker_logs is print


def _alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def _descendants(pid: int, kind: str) -> list[int]:
    """Processes below one whose command line holds a word."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            parents[int(entry.name)] = (int(status.rpartition(")")[2].split()[1]), command)
    below = {pid}
    for _ in range(6):
        below |= {child for child, (parent, _) in parents.items() if parent in below}
    return [p for p in below - {pid} if kind in parents[p][1].split("\0")[0]]


@pytest.mark.parametrize("jobs", ["ray:8", "ray://", "ray://host", "ray://host:1:2", "rays"])
def test_an_address_has_one_form(project: Path, jobs: str) -> None:
    """Anything else is refused in one line."""
    code, _, err = ended(memsim(project, jobs=jobs))

    assert code == 4
    assert f"MEMSIM_JOBS must be ray or ray://host:port for a Ray cluster, not {jobs!r}" in err


def test_without_ray_one_line_says_what_to_install(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Exit 4, before anything is played."""
    empty = tmp_path_factory.mktemp("empty")
    (empty / "ray.py").write_text("raise ModuleNotFoundError('ray')\n")
    process = subprocess.run(
        [sys.executable, "-m", "memsim", "run", "-s", "bm25", "-j", "ray", "-q"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(empty)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.returncode == 4
    assert process.stderr.strip().endswith("-j ray needs Ray: pip install 'memsim[ray]'")


@pytest.mark.parametrize(("failures", "said"), [(2, ""), (3, "no Ray cluster answers there")])
def test_a_cluster_that_was_too_busy_for_a_client_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, failures: int, said: str
) -> None:
    """Its server starts another for each client, which may take too long on a busy machine."""
    tried: list[str] = []

    def init(address: str, **_: object) -> None:
        tried.append(address)
        if len(tried) <= failures:
            raise ConnectionAbortedError("Initialization failure from server: Traceback")

    worker = SimpleNamespace(print_worker_logs=None)
    fake: Any = ModuleType("ray")
    fake.init, fake.shutdown, fake.is_initialized = init, lambda: None, lambda: False
    fake._private = SimpleNamespace(worker=worker)
    monkeypatch.setitem(sys.modules, "ray", fake)
    refused = pytest.raises(UsageError, match=said) if said else nullcontext()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with refused, connected(address):
            pass

    assert [address] * 3 == tried


def test_a_head_that_was_just_started_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job script starts a head and goes on at once."""
    tried: list[str] = []

    def sleep(_seconds: float) -> None:
        tried.append("waited")
        server.listen()

    fake: Any = ModuleType("ray")
    fake.init = lambda address, **_: tried.append(address)
    fake.shutdown, fake.is_initialized = lambda: None, lambda: False
    fake._private = SimpleNamespace(worker=SimpleNamespace(print_worker_logs=None))
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr("memsim.ray_connection.time.sleep", sleep)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))  # takes no connection before it listens
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with connected(address):
            pass

    assert tried == ["waited", address]


def test_an_address_with_nothing_there_is_tried_for_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray itself would try for half a minute."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(
        "memsim.ray_connection.time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep)
    )
    with pytest.raises(UsageError, match="no Ray cluster answers there: Connection refused"):
        connected("ray://127.0.0.1:1").__enter__()

    assert 5 <= clock[0] < 5.5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ray://127.0.0.1:1", "Connection refused"),
        ("ray://nowhere.invalid:10001", ""),  # each resolver has its own words
        (f"ray://{'long' * 20}:10001", ""),
    ],
)
def test_no_cluster_at_an_address_is_one_line(project: Path, address: str, said: str) -> None:
    """Exit 4."""
    code, _, err = ended(memsim(project, "-s", "bm25", "-q", jobs=address))

    assert code == 4
    assert err.startswith(f"memsim: -j {address}: no Ray cluster answers there: {said}")
    assert err.count("\n") == 1
