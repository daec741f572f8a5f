"""Puts data into the page as blocks of JSON that nothing runs, packed where they are large."""

from __future__ import annotations

import base64
import bz2
import json
import re
import zlib
from collections.abc import Mapping

from memsim.report.html.markup import Markup

PACKED = 16_384
"""Characters from which on a block is packed."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PACKED_BLOCK = re.compile(r'(<script type="text/plain" id="data-[a-z0-9-]+">)([A-Za-z0-9+/=]+)<')
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def dumped(value: object) -> str:
    """A value as JSON of ASCII alone."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def room_of(text: str) -> int:
    """Characters that a block with a text takes up in the page, more or less.

    zlib packs a little better or worse from one build to the next; what finds room must not depend
    on that, so the size is told from bzip2's, which is the same everywhere and mostly an eighth
    less.
    """
    if len(text) < PACKED:
        return len(text)
    return len(bz2.compress(text.encode(errors="backslashreplace"))) * 8 // 5


def unpacked(page: str) -> str:
    """A page with every packed block as the text that it stands for: what two pages have alike."""
    return _PACKED_BLOCK.sub(lambda found: f"{found[1]}{_inflated(found[2])}<", page)


def _inflated(text: str) -> str:
    return zlib.decompress(base64.b64decode(text)).decode()


def block(name: str, text: str) -> Markup:
    """A block that `Page.data(name)` reads.

    Args:
        name: a letter, then letters, digits and dashes.
        text: JSON.

    Raises:
        ValueError: the name is another.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a block of data cannot be called {name!r}")
    if len(text) < PACKED:
        # Within strings only: JSON has none of these signs elsewhere.
        inside = text.translate(_UNSAFE)
        return Markup(f'<script type="application/json" id="data-{name}">{inside}</script>\n')
    packed = base64.b64encode(zlib.compress(text.encode(errors="backslashreplace"), 9)).decode()
    return Markup(f'<script type="text/plain" id="data-{name}">{packed}</script>\n')


def blocks(data: Mapping[str, str]) -> Markup:
    """All blocks, in their order."""
    return Markup("".join(block(name, text) for name, text in data.items()))
