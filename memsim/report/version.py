"""Which memsim this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The installed version; a checkout that is not installed says so."""
    try:
        return version("memsim")
    except PackageNotFoundError:
        return "(not installed)"
