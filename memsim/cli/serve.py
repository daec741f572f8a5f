"""`memsim serve`: serve AEGIS's memory over HTTP on this machine."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from memsim.errors import UsageError
from memsim.models.registry import load_embedder
from memsim.systems.aegis.episodes import InProcessEpisodes
from memsim.systems.aegis.hashes import InProcessHashes
from memsim.systems.aegis.storage import open_postgres_episodes, open_redis_hashes
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memsim.service.app import Layers
    from memsim.systems.aegis.episodes import Episodes
    from memsim.systems.aegis.hashes import Hashes


@contextmanager
def open_layers(
    services: Mapping[str, str], *, embedder: str, exact: bool, fixed: bool
) -> Iterator[Layers]:
    """Open the memory layers of the service, in this process or on servers; close them at the end.

    Args:
        services: addresses of servers by name: `redis` for working memory and ledger, `postgres`
            for episodes. A layer without a server lives in this process and ends with it.
        embedder: the embedder's ref.
        exact: search every row, without the index.
        fixed: repair the defects of AEGIS's working memory.
    """
    try:
        from memsim.service.app import Layers
        from memsim.systems.aegis.ivfflat import LISTS, PROBES
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "memsim":
            raise
        raise UsageError(
            "the memory service needs a package that is missing: pip install 'memsim[service]'"
        ) from error
    with ExitStack() as closing:
        vectors = load_embedder(embedder)
        lists = None if exact or fixed else LISTS
        hashes: Hashes = InProcessHashes(present_time)
        if services.get("redis"):
            hashes = open_redis_hashes(services, None)
        closing.callback(hashes.close)
        rows: Episodes = InProcessEpisodes(lists, PROBES)
        if services.get("postgres"):
            rows = open_postgres_episodes(
                services, "public", vectors.dimension, lists=lists, probes=PROBES
            )
        closing.callback(rows.close)
        yield Layers(
            working=AegisWorkingMemory(hashes, fixed=fixed),
            ledger=AegisLedger(hashes),
            episodes=rows,
            embedder=vectors,
            now=present_time,
        )


def present_time() -> datetime:
    """The present: a service lives in real time, unlike a replay."""
    return datetime.now(UTC)


HOST, PORT = "127.0.0.1", 8002


@click.command(
    "serve",
    epilog="""\b
Examples:
  memsim serve
  memsim serve --port 9002 --exact""",
)
@click.option(
    "--host", metavar="ADDRESS", default=HOST, show_default=True, help="Address to listen on."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--embedder",
    metavar="ID",
    default="wordllama",
    show_default=True,
    help="Embedder that makes the vectors.",
)
@click.option("--exact", is_flag=True, help="Search every episode, without AEGIS's index.")
@click.option("--fixed", is_flag=True, help="Repair AEGIS's defects; implies --exact.")
def command(host: str, port: int, embedder: str, exact: bool, fixed: bool) -> int:
    """Serve working memory, episodes and injection ledger over HTTP, as AEGIS documents it.

    Working memory and ledger are kept in Redis if MEMSIM_REDIS_URL is set, and episodes in
    PostgreSQL if MEMSIM_POSTGRES_URL is set. Otherwise they stay in this process until it ends.
    Everybody who reaches the port can read and write everything.
    """
    from memsim.memory.places import addresses

    services = addresses(os.environ)
    with open_layers(services, embedder=embedder, exact=exact, fixed=fixed) as layers:
        import uvicorn

        from memsim.service.app import create_app

        with listening(host, port) as bound:
            kept = {"redis": "working memory and ledger", "postgres": "episodes"}
            told = "; ".join(
                f"{what} in {name if services.get(name) else 'this process'}"
                for name, what in kept.items()
            )
            name, number = bound.getsockname()[:2]
            click.echo(f"serving http://{name}:{number} ({told}); Ctrl-C ends it", err=True)
            config = uvicorn.Config(create_app(layers), log_level="warning")
            try:
                uvicorn.Server(config).run(sockets=[bound])
            except KeyboardInterrupt:
                return 0
    return 0


def listening(host: str, port: int) -> socket.socket:
    """Open a socket that accepts connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise UsageError(f"{host}:{port} cannot be listened on: {error.strerror}") from error
    return bound
