"""The servers of the tests: real, apart from each other, and gone afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
import redis

from tests.memory.stores import servers

ROOT = Path(__file__).resolve().parents[3]


def test_postgres_brings_pgvector() -> None:
    """The store's index is tested for real."""
    with psycopg.connect(servers.postgres().url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchone()

    assert row is not None
    assert (0, 8) <= tuple(int(part) for part in row[0].split("."))[:2]


def test_redis_answers_on_its_socket_alone() -> None:
    """Two processes that test side by side never share a server."""
    with redis.Redis.from_url(servers.redis().url) as connection:
        port = connection.config_get("port")

    assert {"port": "0"} == {str(k): str(v) for k, v in port.items()} or port == {b"port": b"0"}


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_a_server_dies_with_the_tests_that_started_it(kind: str) -> None:
    """Killed tests leave no process and no folder behind."""
    start = f"from tests.memory.stores import servers; print(servers.{kind}().folder, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{start}; import time; time.sleep(60)"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + servers.PATIENCE
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.02)

    assert not folder.exists()


def test_programs_that_others_cannot_reach_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment below a private home stays private, and the server starts all the same."""
    monkeypatch.setattr(servers, "_open_to_all", lambda path: "pgserver" not in str(path))

    copied = servers._programs(tmp_path, for_others=True)

    assert tmp_path in copied.parents
    version = subprocess.run([copied / "postgres", "--version"], capture_output=True, check=True)
    assert version.stdout.startswith(b"postgres (PostgreSQL) ")
