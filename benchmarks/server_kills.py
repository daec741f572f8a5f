"""Does a memory in a server hold what was promised when the server is killed?

Entries are written to PostgreSQL and Redis, one call after another, while the server is killed
(SIGKILL, every process of it) at a random time, started again on what it had written, and looked
at through the connection that was cut off and through a new one. Redis keeps a log of its commands,
as it has to where a memory is to survive it. Claimed: every call that had returned is there, the
one that had not is there wholly or not at all, and what it raised is one line that names the
server; afterwards the memory is written to as before.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.store_kills import ALL, State, Tally, applied, calls
from memsim.errors import StoreError
from memsim.memory.stores import Store
from memsim.memory.stores.postgres.store import PostgresStore
from memsim.memory.stores.redis.store import RedisStore
from tests.memory.stores.servers import Server, start_postgres, start_redis

KILLS, QUICK = 200, 5
LONGEST = 0.3
"""Seconds for which a server lives at most, from the first call on."""

SERVERS: dict[str, Callable[[], Server]] = {
    "postgres": start_postgres,
    "redis": lambda: start_redis("--appendonly", "yes", "--appendfsync", "always"),
}
OPENED: dict[str, Callable[[str], Store]] = {
    "postgres": lambda url: PostgresStore(url, "kills"),
    "redis": lambda url: RedisStore(url, "kills"),
}
NAMES = {"postgres": "PostgreSQL", "redis": "Redis"}


@contextmanager
def killed_after(server: Server, seconds: float) -> Iterator[None]:
    """Kill a server after so long; it is dead at the end."""

    def kill() -> None:
        time.sleep(seconds)
        server.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        killer.join()


def until_it_fails(store: Store, state: State, seed: int) -> tuple[list[State], int, Exception]:
    """Write until something is raised.

    Returns:
        The states that there may be, the calls that returned, and what was raised.
    """
    for done, (written, erased) in enumerate(calls(seed)):
        after = applied(state, written, erased)
        try:
            if written:
                store.write(
                    written, np.eye(8, dtype=np.float32)[[len(e.text) % 8 for e in written]]
                )
            else:
                store.erase(erased)
        except Exception as error:  # noqa: BLE001 - whatever it is, is looked at
            return [state, after], done, error
        state = after
    raise AssertionError("unreachable")


def looked(store: Store) -> tuple[State, bool]:
    """What is in a store, and whether its words and vectors agree with it."""
    found = {e.id: e.text for e in store.find(ALL, limit=10_000)}
    words = {h.id for h in store.lexical("falcon", ALL, 10_000)}
    near = {h.id for h in store.nearest(np.eye(8, dtype=np.float32)[0], ALL, 10_000)}
    return found, found.keys() == words == near


def torture(kind: str, kills: int, seed: int = 0, server: Server | None = None) -> Tally:
    """Kill a server so many times; one of its own, unless there is one."""
    tally, state = Tally(), State()
    own = server or SERVERS[kind]()
    store = OPENED[kind](own.url)
    try:
        for number in range(seed, seed + kills):
            with killed_after(own, random.Random(number).random() * LONGEST):
                due, done, error = until_it_fails(store, state, number)
            own.start()
            tally.kills, tally.calls = tally.kills + 1, tally.calls + done
            said = str(error)
            if not isinstance(error, StoreError) or NAMES[kind] not in said or "\n" in said:
                tally.unreadable += 1
                tally.errors.append(f"{type(error).__name__}: {said}")
            state = compared(OPENED[kind], store, own, due, tally)
    finally:
        store.close()
        if server is None:
            own.stop()
    return tally


def compared(
    opened: Callable[[str], Store], old: Store, server: Server, due: list[State], tally: Tally
) -> State:
    """Look at what a server has after it was killed; the state from here on."""
    again = opened(server.url)
    try:
        (found, whole), other = looked(again), looked(old)
    except StoreError as error:
        tally.unreadable += 1
        tally.errors.append(str(error))
        return due[-1]
    finally:
        again.close()
    if found not in due or not whole or other != (found, whole):
        tally.third += 1
        tally.errors.append(f"{len(found)} entries, not {len(due[0])} or {len(due[1])}")
    tally.unfinished += found == due[-1] != due[0]
    return found


def main() -> int:
    """Kill each server and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} kills and not {KILLS}")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--only", choices=tuple(SERVERS), action="append")
    given = parser.parse_args()
    print("server    kills  calls  wrong or untold errors  third states  done though not told")
    clean = True
    for kind in given.only or SERVERS:
        tally = torture(kind, QUICK if given.quick else given.kills)
        print(
            f"{kind:8} {tally.kills:6} {tally.calls:6} {tally.unreadable:23} {tally.third:13}"
            f" {tally.unfinished:21}",
            flush=True,
        )
        for error in tally.errors[:5]:
            print(f"  {error}")
        clean &= tally.clean
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main())
