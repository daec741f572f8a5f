"""A process that plays cases keeps its memory without holes."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from memsim.heap import keep_large_blocks_apart

tells_of_blocks = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="the C library tells nothing of its blocks",
)

# In a process of its own, since what is set there is for good.
_BLOCKS = """
import ctypes, sys
from memsim.heap import keep_large_blocks_apart

class Told(ctypes.Structure):
    _fields_ = [(f"n{n}", ctypes.c_size_t) for n in range(10)]

told = ctypes.CDLL(None).mallinfo2
told.restype = Told
if sys.argv[1] == "apart":
    keep_large_blocks_apart()
bytearray(30 << 20)  # after it is freed, the library keeps blocks up to this size in its heap
begun = told().n3
large = bytearray(8 << 20)
after = told().n3
small = bytearray(2 << 20)
print(after - begun, told().n3 - after)
"""


@tells_of_blocks
@pytest.mark.parametrize(("how", "apart"), [("apart", "1 0"), ("as it is", "0 0")])
def test_large_blocks_have_pages_of_their_own(how: str, apart: str) -> None:
    """Also after a larger block was freed; smaller ones stay in the heap."""
    command = [sys.executable, "-c", _BLOCKS, how]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert apart == told.stdout.strip()


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_where_the_c_library_is_another_one_nothing_is_set(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    """It has no such parameters, and a system that is not Linux is not asked for its library."""
    asked: list[object] = []

    def library(name: object) -> object:
        asked.append(name)
        return object()

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", library)

    keep_large_blocks_apart()

    assert asked == ([None] if platform == "linux" else [])
