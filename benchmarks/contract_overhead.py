"""What does the HTTP contract cost? One memory called in this process and over loopback.

    python benchmarks/contract_overhead.py [--quick]

The memory is the service of docs/examples, which runs in a process of its own as well. Rounds of
calls alternate between the two, and of each the least counts. Claimed: a call over HTTP takes less
than a millisecond more than the same call in the process.
"""

from __future__ import annotations

import argparse
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from memsim.adapters.black_box import BlackBox
from memsim.adapters.credit import ForeignText
from memsim.adapters.http_memory import HttpMemory
from memsim.clock import Clock
from memsim.message import CharsOverFour, Message, TokenCounter, said
from memsim.models.registry import load_model
from memsim.strategy import Environment, Query

SERVICE = Path(__file__).resolve().parents[1] / "docs" / "examples" / "memory_service.py"
SPACE = "direct"
MOST = 1e-3
ROUNDS, CALLS = 90, 10
KEPT = 10
"""So many are kept, and found: the memory itself costs little."""


class Direct(BlackBox):
    """The same memory without HTTP."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env, window=0)
        self._serve = runpy.run_path(str(SERVICE))["Memory"].serve

    def add(self, message: Message) -> None:
        body = {"id": message.id, "principal": message.principal, "text": message.text}
        self._serve(None, "/v1/messages", body, SPACE)

    def find(self, query: Query, user: str, room: int) -> Sequence[ForeignText]:
        body = {"question": query.text, "principal": user, "k": 10}
        found: dict[str, Any] = self._serve(None, "/v1/search", body, SPACE)
        return [ForeignText(text=t["text"], sources=tuple(t["sources"])) for t in found["texts"]]


def environment() -> Environment:
    """An environment in which nothing costs much."""
    counter = TokenCounter(CharsOverFour())

    def none() -> NoReturn:
        raise AssertionError

    model = load_model("offline", counter.tokenizer)
    return Environment(
        clock=Clock(), model=model, counter=counter, embed=none, folder=none, budget=4096
    )


@contextmanager
def served() -> Iterator[str]:
    """The address of the service in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, str(SERVICE), str(port)]) as process:
        try:
            for _ in range(200):
                with socket.socket() as trial:
                    if trial.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def timed(call: Callable[[int], object], start: int) -> float:
    """Seconds of one call, on average over a round."""
    began = time.perf_counter()
    for number in range(start, start + CALLS):
        call(number)
    return (time.perf_counter() - began) / CALLS


def compared(what: str, direct: Callable[[int], object], http: Callable[[int], object]) -> bool:
    """Print what a call costs both ways, and whether the difference is as claimed."""
    pairs = [(timed(direct, at), timed(http, at)) for at in range(0, ROUNDS * CALLS, CALLS)]
    here, there = (min(each) for each in zip(*pairs, strict=True))
    more = there - here
    fast = more < MOST
    print(
        f"{what:8} in process {here * 1e6:6.0f} µs, over HTTP {there * 1e6:6.0f} µs:"
        f" {there / here:5.1f} times, {more * 1e6:4.0f} µs more, less than {MOST * 1e6:.0f} claimed"
        f"{'' if fast else ': MISSED'}"
    )
    return fast


def main() -> int:
    """Compare writing and reading."""
    global ROUNDS  # noqa: PLW0603 - a script of its own
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a third of the rounds")
    if parser.parse_args().quick:
        ROUNDS //= 3
    with served() as url:
        direct = Direct(environment())
        http = HttpMemory(environment(), url=url, read="search", k=10, window=0, timeout=10)

        def tell(memory: BlackBox) -> Callable[[int], object]:
            return lambda number: memory.add(
                said("user", f"Room {number % KEPT} is blue.", id=f"m{number % KEPT}")
            )

        def ask(memory: BlackBox) -> Callable[[int], object]:
            now = memory.env.clock.now()
            query = Query(
                text="Which room is blue?",
                principal="user",
                session="s1",
                time=now,
                turn=0,
                budget=4096,
            )
            return lambda _number: memory.find(query, "user", 4096)

        fast = [compared("a write", tell(direct), tell(http))]
        fast.append(compared("a read", ask(direct), ask(http)))
        http.close()
    return int(not all(fast))


if __name__ == "__main__":
    sys.exit(main())
