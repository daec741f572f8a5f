"""Every public name of every package can be imported."""

from __future__ import annotations

import importlib
import pkgutil

import memsim


def test_every_public_name_is_there() -> None:
    """A package that imports its names late would otherwise fail where the first user asks."""
    packages = [memsim.__name__]
    packages += [m.name for m in pkgutil.walk_packages(memsim.__path__, "memsim.") if m.ispkg]
    missing = []
    for package in map(importlib.import_module, packages):
        for name in getattr(package, "__all__", ()):
            try:
                getattr(package, name)
            except (ImportError, AttributeError) as error:
                missing.append(f"{package.__name__}.{name}: {error}")

    assert [] == missing
