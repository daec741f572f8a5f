"""Every kind of store, empty, for tests that hold all of them to the same promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from memsim.memory.stores import Store
from tests.memory.stores.kinds import KINDS, Home, Kind

for module in ("local", "remote"):
    if find_spec(f"tests.memory.stores.{module}"):
        import_module(f"tests.memory.stores.{module}")

Fresh = Callable[[], AbstractContextManager[Store]]
"""Gives an empty store as often as it is called, one for each generated case."""


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of store in turn."""
    return KINDS[str(request.param)]


@pytest.fixture
def home(kind: Kind, tmp_path: Path) -> Iterator[Home]:
    """A place for one memory."""
    folder = tmp_path / "home"
    folder.mkdir()
    made = kind.make(folder)
    yield made
    made.dispose()


@pytest.fixture
def store(home: Home) -> Store:
    """An empty store."""
    return home.open()


@pytest.fixture
def fresh(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """Empty stores, one after another."""

    @contextmanager
    def opened() -> Iterator[Store]:
        made = kind.make(tmp_path_factory.mktemp("fresh"))
        try:
            yield made.open()
        finally:
            made.dispose()

    return opened
