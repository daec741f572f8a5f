"""Brings Chroma into play in conversations that are short."""

from __future__ import annotations

import pytest

from memsim.memory.retrieval import chroma


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is written to after a few messages, not after hundreds."""
    monkeypatch.setattr(chroma, "BATCH", 6)
