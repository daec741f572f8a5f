"""A process that plays cases keeps its memory without holes."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

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
before = told().n3
kept = bytearray(8 << 20)
print(told().n3 - before)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="the C library is another one",
)
@pytest.mark.parametrize(("how", "apart"), [("apart", 1), ("as it is", 0)])
def test_large_blocks_have_pages_of_their_own(how: str, apart: int) -> None:
    """As many as are asked for, also after a larger block was freed."""
    command = [sys.executable, "-c", _BLOCKS, how]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert apart == int(told.stdout)
