"""Makes every test hermetic: no network, no personal settings, data only on request."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.charmap import intervals_from_codec
from hypothesis.internal.constants_ast import Constants
from hypothesis.internal.intervalsets import IntervalSet

from tests.tiers import (
    FAST,
    KINDS,
    SLOW,
    TESTS,
    mark_slow,
    may_hold_slow,
    unlisted_slow,
    whole_file_is_slow,
    worker_group,
)

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
DATA_MISSING = (
    "needs_data: the published datasets are not here; set MEMSIM_DATA to the folder that holds"
    " locomo/, longmemeval/, ..."
)
DATA_SET = "MEMSIM_DATA" in os.environ
DATA = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data").resolve()

# The same examples on every machine: a red test here is red for everyone. Hypothesis would add
# constants of the modules loaded so far: they depend on the tests before, and take seconds to read.
settings.register_profile("memsim", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("memsim")
pytest.MonkeyPatch().setattr(
    "hypothesis.internal.conjecture.providers._get_local_constants", Constants
)


def _codec_intervals(codec: str) -> tuple[IntervalSet, IntervalSet]:
    """What UTF-8 encodes is known: Hypothesis would try every character, which takes seconds."""
    if codec != "utf-8":
        return intervals_from_codec(codec)
    return IntervalSet(((0, 0xD7FF), (0xE000, 0x10FFFF))), IntervalSet(())


pytest.MonkeyPatch().setattr("hypothesis.internal.charmap.intervals_from_codec", _codec_intervals)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers of slow tests."""
    config.addinivalue_line("markers", "slow: left out by `make test`; see tests/tiers.py")
    for kind, what in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: slow; {what}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files unread of which no test would run: slow ones, or those without a slow test."""
    chosen = config.getoption("markexpr")
    is_test = collection_path.match("test_*.py")
    left_out = chosen == FAST and whole_file_is_slow(collection_path)
    return left_out or (chosen == SLOW and is_test and not may_hold_slow(collection_path)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Every other worker reads the tests from the end.

    Pytest takes longer to read them than Python, and saves what it read: so each file is read by
    one worker, and not by all at the same time.
    """
    config = session.config
    from_the_end = os.environ.get("PYTEST_XDIST_WORKER", "").endswith(("1", "3", "5", "7", "9"))
    if from_the_end and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args = sorted(map(str, TESTS.iterdir()), reverse=True)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, and those that ask for `data_dir`; in any worker in the same order."""
    items.sort(key=lambda item: item.path)
    mark_slow(items)
    if unlisted := unlisted_slow(items):
        raise pytest.UsageError(f"list in PARTLY_SLOW of tests/tiers.py: {', '.join(unlisted)}")
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs_data)


def pytest_collection_finish() -> None:
    """Collect garbage less often: what was read stays, and looking through it again takes time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Share tests out by `worker_group`: xdist's own groups are lost with this pytest."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = worker_group
    return scheduling


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the published datasets; skips where they are absent.

    A MEMSIM_DATA that points nowhere is a mistake and fails instead.
    """
    if DATA.is_dir():
        return DATA
    if DATA_SET:
        pytest.fail(f"MEMSIM_DATA is not a folder: {DATA}")
    pytest.skip(DATA_MISSING)


@pytest.fixture(autouse=True)
def _own_settings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's MEMSIM_* variables must not colour a test."""
    for name in sorted(os.environ):
        if name.startswith("MEMSIM_"):
            monkeypatch.delenv(name)


REACHED: list[str] = []
"""Addresses beyond this machine that the present test tried to reach."""

NOWHERE = "http://127.0.0.1:9"
"""Where nobody listens: what is sent through it as a proxy leaves no machine."""


@pytest.fixture(autouse=True)
def reached() -> Iterator[list[str]]:
    """What a test reached for beyond this machine, which fails it, whoever caught the error."""
    REACHED.clear()
    yield REACHED
    assert [] == REACHED


@pytest.fixture(autouse=True, scope="session")
def _offline() -> Iterator[None]:
    """Nothing but this machine can be reached, nor looked up; children are sent nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", _looked_up(socket.getaddrinfo))
        for scheme in ("http", "https", "all"):
            for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
                patch.setenv(name, NOWHERE)
        for name in ("no_proxy", "NO_PROXY"):
            patch.setenv(name, "localhost,127.0.0.1,::1")
        yield


def _guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *given: object) -> Any:  # noqa: ANN401 - as the guarded one
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_local(given[-1]):
            self.close()
            _refuse(given[-1])
        return call(self, *given)

    return guarded


def _looked_up(call: Callable[..., Any]) -> Callable[..., Any]:
    def looked_up(host: object, *given: object, **named: object) -> Any:  # noqa: ANN401 - as above
        name = host.decode() if isinstance(host, bytes) else host
        if name and not _is_local((name,)) and not _is_number(str(name)):
            _refuse(name)
        return call(host, *given, **named)

    return looked_up


def _refuse(address: object) -> None:
    REACHED.append(repr(address))
    raise AssertionError(f"a test reached for the network: {address!r}")


def _is_local(address: object) -> bool:
    host = str(address[0] if isinstance(address, tuple) else "")
    return host in {"localhost", "::1", socket.gethostname()} or host.startswith("127.")


def _is_number(host: str) -> bool:
    # It need not be looked up, and is refused where it is connected to.
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
