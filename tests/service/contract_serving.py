"""The reference of the memory contract on a free port, for as long as a test takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from memsim.cli.serve import contract_app, listening, open_spaces

EMBEDDER = "hash"


@contextmanager
def serving_contract() -> Iterator[str]:
    """The address of `memsim serve --contract` in this process."""
    with open_spaces(None, EMBEDDER) as spaces:
        bound = listening("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(contract_app(spaces), log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            bound.close()
