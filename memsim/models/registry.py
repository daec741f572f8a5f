"""Load the models and embedders of this machine by their ref.

`memsim.models.provider_models` opens those of providers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import RefError
from memsim.message import load_tokenizer
from memsim.models.embedders import CachedEmbedder, HashEmbedder, WordLlamaEmbedder
from memsim.models.model_ref import LiveRef, read_embedder, read_model

if TYPE_CHECKING:
    from memsim.message import TokenCounter, Tokenizer
    from memsim.models import Embedder, Model


def load_embedder(ref: str) -> Embedder:
    """Load the embedder of a ref such as `wordllama` or `hash:dim=128`, with a cache.

    Raises:
        RefError: there is no such embedder.
        ModelError: it cannot be loaded.
    """
    named = read_embedder(ref)
    if named.kind == "hash":
        return CachedEmbedder(HashEmbedder(named.dimension))
    if named.kind == "wordllama":
        return CachedEmbedder(WordLlamaEmbedder(named.dimension))
    if named.kind == "minilm":
        from memsim.models.minilm_embedder import MiniLmEmbedder

        return CachedEmbedder(MiniLmEmbedder())
    from memsim.models.live.provider_embedder import LiteLLMEmbedder

    return CachedEmbedder(LiteLLMEmbedder(named.name))


def load_model(ref: str, tokenizer: str | Tokenizer | TokenCounter, seed: int = 0) -> Model:
    """Load the model of a ref such as `offline` or `offline:miss=0.1`.

    Live models are opened for one case at a time: see `memsim.models.provider_models`.

    Raises:
        RefError: there is no such model on this machine, or no such tokenizer.
    """
    named = read_model(ref)
    if isinstance(named, LiveRef):
        raise RefError(f"{ref!r} is not on this machine: only a run can ask it, or its recordings")
    from memsim.models.offline.model import OfflineModel

    counts = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return OfflineModel(counts, seed=seed, miss=named.miss)
