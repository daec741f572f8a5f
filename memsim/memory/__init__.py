"""An agent memory, usable without the rest of memsim, and the parts that memories are built from.

`open_memory` gives one that is kept in a folder; `Memory` is one over any store.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.memory import Memory
    from memsim.memory.options import MemoryOptions
    from memsim.memory.persistence.open_memory import open_memory
    from memsim.memory.persistence.saved_memory import SavedMemory

__all__ = ["Memory", "MemoryOptions", "SavedMemory", "open_memory"]

_LATE = {
    "Memory": "memsim.memory.memory",
    "MemoryOptions": "memsim.memory.options",
    "SavedMemory": "memsim.memory.persistence.saved_memory",
    "open_memory": "memsim.memory.persistence.open_memory",
}

if not TYPE_CHECKING:  # for a type checker the names above are all there are

    def __getattr__(name: str) -> object:
        # A strategy that uses one part of it does not load the others.
        if name in _LATE:
            return getattr(importlib.import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
