"""Makes every test hermetic: no network, no personal settings, data only on request."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
DATA_MISSING = (
    "needs_data: the published datasets are not here; set MEMSIM_DATA to the folder that holds"
    " locomo/, longmemeval/, ..."
)
DATA_SET = "MEMSIM_DATA" in os.environ
DATA = Path(os.environ.get("MEMSIM_DATA") or ROOT.parent / "shared" / "data").resolve()

# The same examples on every machine: a red test here is red for everyone.
settings.register_profile("memsim", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("memsim")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what asks for `data_dir`, so that `-m 'not needs_data'` leaves it out."""
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs_data)


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


@pytest.fixture(autouse=True, scope="session")
def _offline() -> Iterator[None]:
    """Connecting anywhere but to this machine fails the test that tries."""
    with pytest.MonkeyPatch.context() as patch:
        connect = socket.socket.connect

        def guarded(self: socket.socket, address: object) -> None:
            if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_local(address):
                self.close()
                raise AssertionError(f"a test reached for the network: {address!r}")
            connect(self, address)  # type: ignore[arg-type]

        patch.setattr(socket.socket, "connect", guarded)
        yield


def _is_local(address: object) -> bool:
    host = address[0] if isinstance(address, tuple) else ""
    return host in {"localhost", "::1"} or str(host).startswith("127.")
