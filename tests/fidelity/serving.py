"""The memory service on a free port of this machine, for as long as a test takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from memsim.cli.serve import present_time
from memsim.models.embedders import HashEmbedder
from memsim.service.app import Layers, create_app
from memsim.systems.aegis.episodes import Episodes, InProcessEpisodes
from memsim.systems.aegis.hashes import Hashes, InProcessHashes
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory
from tests.service.app_thread import serving_app

DIMENSION = 64


@contextmanager
def serving(hashes: Hashes | None = None, episodes: Episodes | None = None) -> Iterator[str]:
    """The address of the service over these, or over new ones in this process."""
    kept = InProcessHashes(present_time) if hashes is None else hashes
    layers = Layers(
        working=AegisWorkingMemory(kept),
        ledger=AegisLedger(kept),
        episodes=InProcessEpisodes() if episodes is None else episodes,
        embedder=HashEmbedder(DIMENSION),
        now=present_time,
    )
    with serving_app(create_app(layers), lifespan="off") as address:
        yield address


@contextmanager
def calling() -> Iterator[httpx.Client]:
    """A client of a service of its own."""
    with serving() as address, httpx.Client(base_url=address, trust_env=False) as client:
        yield client
