"""Makes the model that a ref names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.errors import RefError
from memsim.models.refs import LiveRef, read_model
from memsim.tokens import load_tokenizer

if TYPE_CHECKING:
    from memsim.models import Model
    from memsim.tokens import TokenCounter, Tokenizer


def load_model(ref: str, tokenizer: str | Tokenizer | TokenCounter, seed: int = 0) -> Model:
    """The model that a ref such as `offline` or `offline:miss=0.1` names.

    Models of providers are opened for one case at a time: see `memsim.models.opening`.

    Args:
        ref: what names it.
        tokenizer: the tokenizer, or its name, in whose tokens it counts.
        seed: what its chance, where it has any, is drawn from.

    Raises:
        RefError: the ref names no model that is here, or the tokenizer's name no tokenizer.
    """
    named = read_model(ref)
    if isinstance(named, LiveRef):
        raise RefError(f"{ref!r} is not on this machine: only a run can ask it, or its recordings")
    from memsim.models.offline import OfflineModel

    counts = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return OfflineModel(counts, seed=seed, miss=named.miss)
