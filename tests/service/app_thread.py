"""A web application on a free port of this machine, for as long as a test takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn

from memsim.cli.serve import listening


@contextmanager
def serving_app(app: Any, lifespan: Literal["auto", "off"] = "auto") -> Iterator[str]:  # noqa: ANN401 - any ASGI application
    """The address of an application that a thread of this process serves."""
    bound = listening("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan=lifespan))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
