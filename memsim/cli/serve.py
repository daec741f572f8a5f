"""`memsim serve`: AEGIS's memory as a service on this machine."""

from __future__ import annotations

import os
import socket

import click

from memsim.errors import UsageError

HOST, PORT = "127.0.0.1", 8002


@click.command(
    "serve",
    epilog="""\b
Examples:
  memsim serve
  memsim serve --port 9002 --exact""",
)
@click.option("--host", metavar="ADDRESS", default=HOST, show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port; 0 for any that is free.",
)
@click.option(
    "--embedder", metavar="ID", default="wordllama", show_default=True, help="Makes the vectors."
)
@click.option("--exact", is_flag=True, help="Search every episode, without AEGIS's index.")
@click.option("--fixed", is_flag=True, help="Repair AEGIS's defects; --exact is then implied.")
def command(host: str, port: int, embedder: str, exact: bool, fixed: bool) -> int:
    """Serve working memory, episodes and injection ledger over HTTP, as AEGIS documents it.

    Working memory and ledger are kept in Redis where MEMSIM_REDIS_URL is set, episodes in
    PostgreSQL where MEMSIM_POSTGRES_URL is; otherwise in this process, until it ends. Whoever
    reaches the port may read and write everything.
    """
    from memsim.memory.stores.opening import addresses
    from memsim.service.opening import open_layers

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
    """A socket that takes connections, on which nobody is served yet.

    Raises:
        UsageError: the address is not this machine's, or taken.
    """
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
