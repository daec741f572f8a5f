"""Brings Chroma into play in conversations that are short."""

from __future__ import annotations

import pytest

from memsim.memory.index import chroma_vectors


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is written to after a few messages, not after hundreds."""
    monkeypatch.setattr(chroma_vectors, "BATCH", 6)
