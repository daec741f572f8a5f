"""Opens what AEGIS keeps: in this process, or in Redis and PostgreSQL where it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memsim.errors import StateError
from memsim.memory.codec import JSON, reading
from memsim.memory.places import SERVICES
from memsim.memory.stores import StoreUnavailableError, name_of
from memsim.models import Embedder
from memsim.systems.aegis.episodes import Episodes, InProcessEpisodes, load_episodes, save_episodes
from memsim.systems.aegis.hashes import Hashes, InProcessHashes
from memsim.systems.aegis.working_memory import ledger_key, working_key


@dataclass(slots=True, kw_only=True)
class AegisStorage:
    """The stores of one case; `prefix` opens its conversations' names on a shared server."""

    hashes: Hashes
    episodes: Episodes
    now: Callable[[], datetime]
    prefix: str = ""
    _closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def save(self) -> JSON:
        """Everything as JSON values; of Redis, what begins with the prefix."""
        seed = self.episodes.seed if isinstance(self.episodes, InProcessEpisodes) else 0
        return {
            "hashes": self._shelf().save(),
            "episodes": save_episodes(self.episodes),
            "seed": seed,
        }

    def load(self, state: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Replace everything by a saved state. Raises StateError and changes nothing if damaged."""
        if not isinstance(state, dict) or set(state) != {"hashes", "episodes", "seed"}:
            raise StateError("the saved state cannot be read back: it is not AEGIS's memory")
        before = self.save()
        try:
            self._take(state)
        except StateError:
            self._take(before)
            raise

    def _take(self, state: Any) -> None:  # noqa: ANN401 - as `load`
        if isinstance(self.hashes, InProcessHashes):
            self.hashes.load(state["hashes"])
        else:
            self._refill(state["hashes"])
        if isinstance(self.episodes, InProcessEpisodes):
            with reading("its index is damaged"):
                self.episodes.restart(0 + state["seed"])
        load_episodes(self.episodes, state["episodes"])

    def close(self) -> None:
        """Release everything, and remove from servers what was put there."""
        self._closing.close()

    def _shelf(self) -> InProcessHashes:
        if isinstance(self.hashes, InProcessHashes):
            return self.hashes
        copy = InProcessHashes(self.now)
        for key in self._keys():
            copy.put(key, self.hashes.all(key))
            if (seconds := self.hashes.ttl(key)) >= 0:
                copy.expire(key, seconds)
        return copy

    def _refill(self, state: Any) -> None:  # noqa: ANN401 - as `load`
        copy = InProcessHashes(self.now)
        copy.load(state)
        for key in self._keys():
            self.hashes.delete(key)
        for key in copy.keys(""):
            self.hashes.put(key, copy.all(key))
            if (seconds := copy.ttl(key)) >= 0:
                self.hashes.expire(key, max(1, seconds))

    def _keys(self) -> list[str]:
        names = (working_key(self.prefix), ledger_key(self.prefix))
        return [key for name in names for key in self.hashes.keys(name)]


def open_storage(
    working: str,
    episodes: str,
    *,
    services: Mapping[str, str],
    folder: Callable[[], Path],
    now: Callable[[], datetime],
    embed: Callable[[], Embedder],
    lists: int | None,
    probes: int,
    seed: int,
) -> AegisStorage:
    """Open the stores of one case; closing them removes the case from its servers.

    Raises:
        ValueError: `working` or `episodes` names no place.
        StoreUnavailableError: a server has no address, or a package of its own is missing.
        StoreError: a server cannot be used.
    """
    from memsim.memory.stores.server_postgres import drop_schema

    for what, word, other in (("working", working, "redis"), ("episodes", episodes, "postgres")):
        if word not in {"embedded", other}:
            raise ValueError(f"{what} is {word!r}: it is 'embedded' or {other!r}")
    name = name_of(folder()) if {working, episodes} != {"embedded"} else ""
    prefix = f"{name}:" if working == "redis" else ""
    with ExitStack() as closing:
        hashes: Hashes = InProcessHashes(now)
        if working == "redis":
            hashes = open_redis_hashes(services, now)
            closing.callback(hashes.close)
            closing.callback(_drop, hashes, prefix)
        rows: Episodes = InProcessEpisodes(lists, probes, seed)
        if episodes == "postgres":
            with address_of("postgres", services) as url:
                closing.callback(drop_schema, url, name)
            rows = open_postgres_episodes(
                services, name, embed().dimension, lists=lists, probes=probes
            )
            closing.callback(rows.close)
        kept = AegisStorage(hashes=hashes, episodes=rows, now=now, prefix=prefix)
        kept._closing = closing.pop_all()  # noqa: SLF001 - its own
        return kept


def open_redis_hashes(services: Mapping[str, str], now: Callable[[], datetime] | None) -> Hashes:
    """The hashes of the Redis server that has an address; errors as `open_storage`."""
    with address_of("redis", services) as url:
        from memsim.systems.aegis.redis_hashes import RedisHashes

        return RedisHashes(url, now)


def open_postgres_episodes(
    services: Mapping[str, str], schema: str, dimension: int, *, lists: int | None, probes: int
) -> Episodes:
    """The episodes of the PostgreSQL server that has an address; errors as `open_storage`."""
    with address_of("postgres", services) as url:
        from memsim.systems.aegis.postgres_episodes import PostgresEpisodes

        return PostgresEpisodes(url, schema, dimension=dimension, lists=lists, probes=probes)


@contextmanager
def address_of(kind: str, services: Mapping[str, str]) -> Iterator[str]:
    """Give a server's address, or StoreUnavailableError if it or a package is missing."""
    if not services.get(kind):
        raise StoreUnavailableError(f"{kind} needs a server: set {SERVICES[kind]}")
    try:
        yield services[kind]
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "memsim":
            raise
        raise StoreUnavailableError(
            f"{kind} needs a package that is missing: pip install 'memsim[{kind}]'"
        ) from error


def _drop(hashes: Hashes, prefix: str) -> None:
    for name in (working_key(prefix), ledger_key(prefix)):
        for key in hashes.keys(name):
            hashes.delete(key)
