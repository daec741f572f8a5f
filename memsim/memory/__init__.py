"""An agent memory, usable without the rest of memsim, and the parts that memories are built from.

`open_memory` gives one that is kept in a folder; `Memory` is one over any store. A strategy of your
own finds what a request to forget means with `requested_message`, and writes its messages into its
state with `pack`, `unpack`, `part` and `load_whole`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.memory.codec import load_whole, pack, part, unpack
    from memsim.memory.forget_request import requested_message
    from memsim.memory.memory import Memory
    from memsim.memory.options import MemoryOptions
    from memsim.memory.persistence.open_memory import open_memory
    from memsim.memory.persistence.saved_memory import SavedMemory

__all__ = [
    "Memory",
    "MemoryOptions",
    "SavedMemory",
    "load_whole",
    "open_memory",
    "pack",
    "part",
    "requested_message",
    "unpack",
]

_LATE = {
    "Memory": "memsim.memory.memory",
    "MemoryOptions": "memsim.memory.options",
    "SavedMemory": "memsim.memory.persistence.saved_memory",
    "load_whole": "memsim.memory.codec",
    "open_memory": "memsim.memory.persistence.open_memory",
    "pack": "memsim.memory.codec",
    "part": "memsim.memory.codec",
    "requested_message": "memsim.memory.forget_request",
    "unpack": "memsim.memory.codec",
}

if not TYPE_CHECKING:  # for a type checker the names above are all there are

    def __getattr__(name: str) -> object:
        # A strategy that uses one part of it does not load the others.
        if name in _LATE:
            return getattr(importlib.import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
