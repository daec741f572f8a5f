"""Puts data into the page as blocks of JSON that nothing runs, packed where they are large."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping

from memsim.report.html.markup import Markup

PACKED = 16_384
"""Characters from which on a block is packed."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def dumped(value: object) -> str:
    """A value as JSON of ASCII alone."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


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
