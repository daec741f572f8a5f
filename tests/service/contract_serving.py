"""The reference of the memory contract on a free port, for as long as a test takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memsim.cli.serve import contract_app, open_spaces
from tests.service.app_thread import serving_app

EMBEDDER = "hash"


@contextmanager
def serving_contract() -> Iterator[str]:
    """The address of `memsim serve --contract` in this process."""
    with open_spaces(None, EMBEDDER) as spaces, serving_app(contract_app(spaces)) as address:
        yield address
