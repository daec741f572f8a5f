"""ARCHITECTURE.md names files that exist: drawings, ways and the table of where to add what."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "memsim"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

_PATH = re.compile(r"(?<![\w/.])(?:[\w.-]+/)+(?:[\w-]+\.(?:py|yaml))?|(?<![\w/.])[a-z_]+\.py\b")
_PACKAGE = re.compile(r"memsim(?:/[a-z_]+)+(?![\w/.])")


def named() -> set[str]:
    """Every path of the page, as it is written."""
    return set(_PATH.findall(PAGE)) | set(_PACKAGE.findall(PAGE))


def test_every_path_exists() -> None:
    """From the repository's root, or from the package where a drawing is within it."""
    missing = [
        path
        for path in sorted(named())
        if not any((top / path).exists() for top in (ROOT, PACKAGE))
    ]

    assert len(named()) > 40
    assert missing == []
