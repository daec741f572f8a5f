"""Parts that memories are built from: windows, compaction, retrieval."""

from __future__ import annotations
