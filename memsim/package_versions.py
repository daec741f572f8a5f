"""The versions of Python and of the packages that numbers depend on."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

_PACKAGES = ("memsim", "chromadb", "litellm", "tiktoken", "wordllama")


def versions_here() -> dict[str, str | None]:
    """The version of Python and of each package; None for one that is not installed."""
    return {"python": platform.python_version(), **dict(map(_version, _PACKAGES))}


@cache
def _version(package: str) -> tuple[str, str | None]:
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        return package, None
