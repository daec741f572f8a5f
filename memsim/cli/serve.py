"""`memsim serve`: serve AEGIS's memory over HTTP, or memsim's own by the HTTP contract."""

from __future__ import annotations

import json
import os
import socket
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from memsim.errors import UsageError
from memsim.models.registry import load_embedder
from memsim.report.run_summary import own_version
from memsim.systems.aegis.episodes import InProcessEpisodes
from memsim.systems.aegis.hashes import InProcessHashes
from memsim.systems.aegis.storage import open_postgres_episodes, open_redis_hashes
from memsim.systems.aegis.working_memory import AegisLedger, AegisWorkingMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fastapi import FastAPI

    from memsim.service.app import Layers
    from memsim.service.contract_memory import MemorySpaces
    from memsim.systems.aegis.episodes import Episodes
    from memsim.systems.aegis.hashes import Hashes


@contextmanager
def needs_service() -> Iterator[None]:
    """Turn a missing package of the service into a line that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "memsim":
            raise
        raise UsageError(
            "the memory service needs a package that is missing: pip install 'memsim[service]'"
        ) from error


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
    with needs_service():
        from memsim.service.app import Layers
    from memsim.systems.aegis.ivfflat import LISTS, PROBES

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
  memsim serve --contract --port 8080
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
@click.option("--contract", is_flag=True, help="Serve memsim's own memory by the HTTP contract.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --contract: where memories are saved.  [default: a folder that is deleted]",
)
@click.option(
    "--openapi", is_flag=True, help="Print the contract's OpenAPI description, and serve nothing."
)
@click.option("--exact", is_flag=True, help="Search every episode, without AEGIS's index.")
@click.option("--fixed", is_flag=True, help="Repair AEGIS's defects; implies --exact.")
def command(
    host: str,
    port: int,
    embedder: str,
    contract: bool,
    folder: Path | None,
    openapi: bool,
    exact: bool,
    fixed: bool,
) -> int:
    """Serve a memory over HTTP: AEGIS's, as it documents it, or memsim's by the HTTP contract.

    AEGIS's working memory and ledger are kept in Redis if MEMSIM_REDIS_URL is set, and its episodes
    in PostgreSQL if MEMSIM_POSTGRES_URL is set. Otherwise they stay in this process until it ends.
    Everybody who reaches the port can read and write everything.
    """
    if openapi:
        click.echo(contract_description(), nl=False)
        return 0
    if contract:
        if exact or fixed:
            raise UsageError("--exact and --fixed are of AEGIS's memory: remove --contract")
        with open_spaces(folder, embedder) as spaces:
            return _run(contract_app(spaces), host, port, str(folder or "until it ends"))
    if folder is not None:
        raise UsageError("--folder belongs to --contract: add it")
    from memsim.memory.places import addresses

    services = addresses(os.environ)
    with open_layers(services, embedder=embedder, exact=exact, fixed=fixed) as layers:
        from memsim.service.app import create_app

        kept = {"redis": "working memory and ledger", "postgres": "episodes"}
        told = "; ".join(
            f"{what} in {name if services.get(name) else 'this process'}"
            for name, what in kept.items()
        )
        return _run(create_app(layers), host, port, told)


def _run(app: FastAPI, host: str, port: int, told: str) -> int:
    """Serve an application until the user ends it."""
    import uvicorn

    with listening(host, port) as bound:
        name, number = bound.getsockname()[:2]
        click.echo(f"serving http://{name}:{number} ({told}); Ctrl-C ends it", err=True)
        config = uvicorn.Config(app, log_level="warning")
        try:
            uvicorn.Server(config).run(sockets=[bound])
        except KeyboardInterrupt:
            return 0
    return 0


@contextmanager
def open_spaces(folder: Path | None, embedder: str) -> Iterator[MemorySpaces]:
    """Memories for the contract, in a folder or in one that is deleted at the end."""
    with needs_service():
        from memsim.service.contract_memory import MemorySpaces

    load_embedder(embedder)  # a wrong name is refused before anybody asks
    with ExitStack() as closing:
        place = folder or Path(closing.enter_context(TemporaryDirectory(prefix="memsim-")))
        yield MemorySpaces(place, embedder)


def contract_app(spaces: MemorySpaces) -> FastAPI:
    """The application that serves memories by the contract."""
    with needs_service():
        from memsim.service.contract_app import create_contract_app
    return create_contract_app(spaces, own_version())


def contract_description() -> str:
    """The OpenAPI description of the contract, as `docs/contract.openapi.json` holds it."""
    with needs_service():
        from memsim.service.contract_memory import MemorySpaces
    described = contract_app(MemorySpaces(Path(), "")).openapi()
    return json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


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
