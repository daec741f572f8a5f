"""Opens the layers of the memory service: embedded, or in the servers that have an address."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memsim.errors import UsageError
from memsim.memory.systems.aegis.episodes import LISTS, PROBES, InProcessEpisodes
from memsim.memory.systems.aegis.hashes import InProcessHashes
from memsim.memory.systems.aegis.opening import postgres_episodes, redis_hashes
from memsim.memory.systems.aegis.working import AegisLedger, AegisWorking
from memsim.models.embedding import load_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memsim.memory.systems.aegis.episodes import Episodes
    from memsim.memory.systems.aegis.hashes import Hashes
    from memsim.service.app import Layers


@contextmanager
def open_layers(
    services: Mapping[str, str], *, embedder: str, exact: bool, fixed: bool
) -> Iterator[Layers]:
    """The layers, closed at the end.

    Args:
        services: addresses of servers: `redis` for working memory and ledger, `postgres` for the
            episodes. What has none lives in this process, and ends with it.
        embedder: the embedder's ref.
        exact: whether a search sees every row, without the index.
        fixed: whether working memory is repaired.

    Raises:
        UsageError: the extra `service` is not installed.
        RefError: no embedder is called that.
        StoreError: a server cannot be used.
    """
    try:
        from memsim.service.app import Layers
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "memsim":
            raise
        raise UsageError(
            "the memory service needs a package that is missing: pip install 'memsim[service]'"
        ) from error
    with ExitStack() as closing:
        vectors = load_embedder(embedder)
        lists = None if exact or fixed else LISTS
        hashes: Hashes = InProcessHashes(now)
        if services.get("redis"):
            hashes = redis_hashes(services, None)
        closing.callback(hashes.close)
        rows: Episodes = InProcessEpisodes(lists, PROBES)
        if services.get("postgres"):
            rows = postgres_episodes(
                services, "public", vectors.dimension, lists=lists, probes=PROBES
            )
        closing.callback(rows.close)
        yield Layers(
            working=AegisWorking(hashes, fixed=fixed),
            ledger=AegisLedger(hashes),
            episodes=rows,
            embedder=vectors,
            now=now,
        )


def now() -> datetime:
    """The present: a service lives in real time, unlike a replay."""
    return datetime.now(UTC)
