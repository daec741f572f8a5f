"""Open a store by its kind; packages that a store needs are imported only then.

Each kind is one file of `memsim/memory/stores`, found by its name:

- `store_NAME.py` opens a store in this process or in files;
- `server_NAME.py` opens a store with a server, whose address stands in `MEMSIM_NAME_URL`.

Such a file defines `open_places(site: StoreSite) -> Places`. Addresses may hold passwords, so they
stand in no settings file and in no record of a run.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memsim.errors import nearest
from memsim.memory import stores
from memsim.memory.stores import Places, StoreSite, StoreUnavailableError

if TYPE_CHECKING:
    from memsim.memory.stores import Store

_MODULES = {
    module.name.partition("_")[2]: module.name
    for module in pkgutil.iter_modules(stores.__path__)
    if module.name.startswith(("store_", "server_"))
}

KINDS = tuple(sorted(_MODULES))
"""Every kind of store."""

if TYPE_CHECKING:
    StoreKind = str
else:
    StoreKind = Literal[KINDS]

SERVICES: Mapping[str, str] = {
    kind: f"MEMSIM_{kind.upper()}_URL"
    for kind, module in _MODULES.items()
    if module.startswith("server_")
}
"""The variables that hold the addresses of servers, by the store's kind."""


def addresses(environ: Mapping[str, str]) -> dict[str, str]:
    """The addresses of servers that an environment holds, by the store's name."""
    return {kind: environ[name] for kind, name in SERVICES.items() if environ.get(name)}


def open_store(
    kind: StoreKind,
    folder: Callable[[], Path],
    services: Mapping[str, str],
    *,
    name: str | None = None,
) -> Store:
    """A store of that kind, to be closed by whoever asked for it.

    Args:
        kind: which.
        folder: gives the folder for stores that keep files; asked of no other, unless `name` is
            missing.
        services: addresses of servers by the store's name: `postgres`, `redis`.
        name: the memory's name in a server: a-z, 0-9 and _. Made from the folder where there is
            none, so that the same folder always means the same memory.

    Raises:
        StoreUnavailableError: its server has no address, or a package of its own is missing.
        ValueError: no store is called that.
        StoreError: it cannot be opened.
    """
    return open_places(kind, folder, services, name=name).store


def open_places(
    kind: StoreKind,
    folder: Callable[[], Path],
    services: Mapping[str, str],
    *,
    name: str | None = None,
    throwaway: bool = False,
) -> Places:
    """All that a memory is kept in: with Redis, its working memory and its ledger too.

    `throwaway` says whether it is removed from its server when it is closed, and need not survive a
    power failure meanwhile. Files are for whoever gave the folder to remove. All else is as for
    `open_store`.

    Raises:
        StoreUnavailableError: as `open_store`.
        ValueError: as `open_store`.
        StoreError: as `open_store`.
    """
    if kind not in KINDS:
        meant = nearest(kind, KINDS)
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise ValueError(f"store is {kind!r}: it is {', '.join(KINDS)}{hint}")
    url = _address(kind, services) if kind in SERVICES else ""
    site = StoreSite(folder=folder, url=url, given_name=name, throwaway=throwaway)
    with _needing(kind):
        module = importlib.import_module(f"{stores.__name__}.{_MODULES[kind]}")
        places: Places = module.open_places(site)
    places.closing.callback(places.store.close)
    return places


def _address(kind: str, services: Mapping[str, str]) -> str:
    if not services.get(kind):
        raise StoreUnavailableError(f"store={kind} needs a server: set {SERVICES[kind]}")
    return services[kind]


@contextmanager
def _needing(kind: StoreKind) -> Iterator[None]:
    """Says how to install what a store needs, where it is not there."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package == "memsim" or not (package or kind in SERVICES):
            raise
        asked = f"memsim[{kind}]" if kind in SERVICES else package
        raise StoreUnavailableError(
            f"store={kind} needs a package that is missing: pip install '{asked}'"
        ) from error
