"""Stores by name: what each needs, what it is called in a server, and what is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest
import redis
from click.testing import CliRunner

from memsim.cli.program import program
from memsim.errors import StoreError
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import WorkingMemory
from memsim.memory.ledger import InjectionLedger
from memsim.memory.places import (
    KINDS,
    SERVICES,
    StoreKind,
    addresses,
    open_places,
    open_store,
)
from memsim.memory.stores import Places, StoreUnavailableError, name_of
from memsim.message import EPOCH
from memsim.suite.single import run
from tests.memory.stores import servers

POCKET = """\
from memsim.memory.stores.in_memory import InMemory
from memsim.memory.stores import Places


def open_places(site):
    return Places(store=InMemory())
"""

SCENARIO = """\
memsim: 1
name: short
budget: 2k
turns:
  - user: My order is A-17 and the card ends in 4411.
    facts: {order: A-17}
  - assistant: Noted.
  - filler: 3
  - user: Please ship it to Oslo.
    facts: {city: Oslo}
  - restart
  - filler: 2
probes:
  order: {after: end, ask: What is my order number?, expect: A-17}
  city: {after: end, ask: Where should it go?, expect: Oslo}
"""


@pytest.fixture
def services() -> Mapping[str, str]:
    """The addresses of this process's servers."""
    return {"postgres": servers.postgres().url, "redis": servers.redis().url}


def left(services: Mapping[str, str]) -> list[str]:
    """Every memory that a server holds under a name of ours."""
    with psycopg.connect(services["postgres"]) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
    with redis.Redis.from_url(services["redis"]) as client:
        keys = [key.decode() for key in client.scan_iter("memsim:{memsim_*")]
    return sorted([name for (name,) in rows if name.startswith("memsim_")] + keys)


def opened(kind: StoreKind, folder: Path, services: Mapping[str, str]) -> Places:
    """The places of a case."""
    folder.mkdir(exist_ok=True)
    return open_places(kind, lambda: folder, services, throwaway=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_opens_by_its_name(
    kind: StoreKind, tmp_path: Path, services: Mapping[str, str]
) -> None:
    """What is asked for is what is given, and nothing of it is left in a server."""
    places = opened(kind, tmp_path / "case", services)

    assert kind == places.store.name
    places.close()
    places.close()
    assert left(services) == []


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_two_folders_share_nothing_in_a_server(
    kind: StoreKind, tmp_path: Path, services: Mapping[str, str]
) -> None:
    """What one case has removed is there for the other one still."""
    first, second = (opened(kind, tmp_path / name, services) for name in ("one", "two"))

    before = left(services)
    first.close()
    after = left(services)
    second.close()

    assert before != after
    assert [name for name in before if name_of(tmp_path / "two") in name] == after
    assert after
    assert left(services) == []


def test_with_redis_working_memory_and_ledger_live_there_too(
    tmp_path: Path, services: Mapping[str, str]
) -> None:
    """A second process would see them, and closing takes them with it."""
    of = Conversation("ana", "s1")
    places = opened("redis", tmp_path / "case", services)
    WorkingMemory(places.working).write_scratchpad(of, "buy milk", EPOCH)
    InjectionLedger(places.ledger).claim(of, "item", EPOCH)

    again = opened("redis", tmp_path / "case", services)

    assert WorkingMemory(again.working).scratchpad(of, EPOCH) == "buy milk"
    assert InjectionLedger(again.ledger).claim(of, "item", EPOCH) is None
    again.close()
    assert left(services) == []


def test_a_memory_of_ones_own_name_stays(tmp_path: Path, services: Mapping[str, str]) -> None:
    """Only what was to be thrown away is removed."""
    name = f"memsim_kept_{os.getpid()}"
    open_store("postgres", lambda: tmp_path, services, name=name).close()

    assert left(services) == [name]
    places = open_places("postgres", lambda: tmp_path, services, name=name, throwaway=True)
    places.close()


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_a_server_without_an_address_is_named(kind: StoreKind, tmp_path: Path) -> None:
    """The variable to set is in the message; no folder is made for nothing."""
    with pytest.raises(StoreUnavailableError) as refused:
        open_store(kind, lambda: pytest.fail("asked"), addresses({SERVICES[kind]: ""}))

    assert str(refused.value) == f"store={kind} needs a server: set MEMSIM_{kind.upper()}_URL"
    assert isinstance(refused.value, StoreError)


@pytest.mark.parametrize(("kind", "package"), [("postgres", "psycopg"), ("redis", "redis")])
def test_a_missing_package_is_named(
    kind: StoreKind, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is the extra that brings it; no server is looked for."""
    gone = [name for name in sys.modules if name.startswith(f"memsim.memory.stores.{kind}")]
    for name in gone:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(StoreUnavailableError) as refused:
        open_store(kind, lambda: pytest.fail("asked"), {kind: "nowhere"})

    assert f"pip install 'memsim[{kind}]'" in str(refused.value)


def test_a_driver_without_its_library_is_a_missing_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A psycopg without libpq raises an ImportError that names no module."""
    broken = types.ModuleType("memsim.memory.stores.server_postgres")

    def open_places(_: object) -> Places:
        raise ImportError("no pq wrapper available")

    broken.open_places = open_places  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, broken.__name__, broken)

    with pytest.raises(StoreUnavailableError, match=r"pip install 'memsim\[postgres\]'"):
        open_store("postgres", lambda: pytest.fail("asked"), {"postgres": "nowhere"})


def test_an_unknown_kind_is_named_with_the_nearest() -> None:
    """A slip is an error of the caller's."""
    with pytest.raises(ValueError, match="did you mean 'postgres'"):
        open_store("postgras", lambda: pytest.fail("asked"), {})


def test_one_new_file_is_a_new_kind(tmp_path: Path) -> None:
    """No list names the kinds a second time."""
    (tmp_path / "store_pocket.py").write_text(POCKET, encoding="utf-8")
    code = (
        "from memsim.memory import stores; stores.__path__.append('.')\n"
        "from memsim.memory.places import open_store\n"
        "print(open_store('pocket', None, {}).name)\n"
    )

    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (shown.stdout, shown.stderr) == ("memory\n", "")


@pytest.mark.parametrize("kind", KINDS)
def test_layered_remembers_the_same_in_every_store(
    kind: StoreKind,
    tmp_path: Path,
    services: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By parameter alone, over a restart, and without a trace in the server."""
    path = tmp_path / "short.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    for name, url in services.items():
        monkeypatch.setenv(SERVICES[name], url)

    expected, found = (run(path, f"layered:store={name}") for name in ("sqlite", kind))

    assert (found.state, found.error) == ("scored", "")
    assert told(expected.probes) == told(found.probes)
    assert told(expected.turns) == told(found.turns)
    assert left(services) == []


def test_two_workers_do_not_meet_in_a_server(
    tmp_path: Path, services: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers get the address too; it stands in nothing that the run wrote."""
    path = tmp_path / "short.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    monkeypatch.setenv(SERVICES["redis"], services["redis"])
    flags = ["--repeat", "2", "-j", "2", "-q", "-o", str(tmp_path / "run")]

    result = CliRunner().invoke(program, ["run", str(path), "-s", "layered:store=redis", *flags])

    assert (result.exit_code, result.stderr) == (0, "")
    written = [p.read_text(encoding="utf-8") for p in (tmp_path / "run").rglob("*") if p.is_file()]
    assert [text for text in written if services["redis"] in text] == []
    assert left(services) == []


def told(records: object) -> list[str]:
    """Records without the name of the case."""
    assert isinstance(records, tuple)
    return [json.dumps({**r, "case": ""}, sort_keys=True) for r in records]
