"""Embedders of providers through litellm: batches, retries, and checked vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memsim.errors import ModelError
from memsim.models.live import Outage, ProviderAnswer, RefusalError, TransientError
from memsim.models.live.cost_limit import listed_price
from memsim.models.live.litellm_client import TIMEOUT, load_litellm, provider_error
from memsim.models.live.retry import RetryPolicy, retry
from memsim.models.model_ref import DEFAULT_DIMENSION, LITELLM

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memsim.models import Vectors
    from memsim.models.live.cost_limit import SpendingLedger
    from memsim.models.model_access import CallAccount

BATCH = 96
"""Number of texts per call, which every provider accepts."""

_CHARACTERS = 120_000


class LiteLLMEmbedder:
    """An embedding model of a provider; its key comes from the environment."""

    def __init__(
        self,
        model: str,
        *,
        account: CallAccount | None = None,
        ledger: SpendingLedger | None = None,
        cap: float | None = None,
        patience: RetryPolicy | None = None,
        wait: Callable[[float], None] | None = None,
    ) -> None:
        self._model = model
        self._dimension = 0
        self._price = listed_price(model)
        self._account = account
        self._ledger = ledger
        self._cap = cap
        self._patience = patience or RetryPolicy()
        self._wait = wait

    @property
    def name(self) -> str:
        """`litellm/` and the model's id."""
        return LITELLM + self._model

    @property
    def dimension(self) -> int:
        """Length of each vector; one short text is embedded to learn it.

        Raises:
            ModelError: the provider failed.
        """
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension); an empty text gives zeros.

        Raises:
            ModelError: the provider failed, or returned vectors that are not finite, zero, or of
                another dimension.
            OutOfMoney: the call could exceed the cost limit and was not made.
        """
        import numpy as np

        spoken = [text for text in texts if text.strip()]
        rows = iter([row for batch in batches(spoken) for row in self._request(batch)])
        given = [next(rows) if text.strip() else None for text in texts]
        width = self._dimension or (DEFAULT_DIMENSION if not texts else self.dimension)
        found = np.zeros((len(texts), width), dtype=np.float32)
        for row, vector in enumerate(given):
            if vector is not None:
                found[row] = vector
        return found

    def _request(self, texts: list[str]) -> list[NDArray[np.float64]]:
        import numpy as np

        from memsim.models.embedders import unit_vector

        rows = [np.asarray(row, dtype=np.float64) for row in self._paid(texts)]
        width = self._dimension or (rows[0].size if rows else 0)
        if len(rows) != len(texts) or any(row.shape != (width,) for row in rows) or not width:
            raise ModelError(f"{self.name} returned vectors of a wrong number or dimension")
        if not all(np.isfinite(row).all() for row in rows):
            raise ModelError(f"{self.name} returned vectors that are not finite")
        if not all(row.any() for row in rows):
            raise ModelError(f"{self.name} returned a zero vector")
        self._dimension = width
        try:
            return [unit_vector(row) for row in rows]
        except OverflowError as error:
            raise ModelError(f"{self.name} returned a vector that is too long") from error

    def _paid(self, texts: list[str]) -> list[list[float]]:
        key = "\n".join(texts)

        def attempt() -> list[list[float]]:
            aside = self._set_aside(texts)
            try:
                reply = self._reply(texts)
            except ModelError as error:
                if not (isinstance(error, TransientError) and error.billed):
                    self._settle(-aside)
                raise
            tokens = int(getattr(getattr(reply, "usage", None), "prompt_tokens", 0) or 0)
            cost = self._price.cost(tokens, 0) if self._price else None
            self._settle((cost or 0.0) - aside)
            if self._account is not None:
                self._account.paid(ProviderAnswer(text="", input=tokens, cost=cost))
            return _vectors(self.name, reply)

        try:
            return retry(
                attempt,
                name=self.name,
                key=key,
                patience=self._patience,
                wait=self._wait or time.sleep,
            )
        except (Outage, RefusalError) as error:
            if self._account is not None:
                self._account.fail(str(error))
            raise

    def _reply(self, texts: list[str]) -> Any:  # noqa: ANN401 - a record of litellm
        litellm = load_litellm()
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            return litellm.embedding(
                model=self._model, input=clean, timeout=TIMEOUT, max_retries=0, num_retries=0
            )
        except Exception as error:  # providers raise many types
            raise provider_error(self.name, error) from error

    def _set_aside(self, texts: list[str]) -> float:
        if self._cap is None or self._ledger is None or self._price is None:
            return 0.0
        aside = self._price.cost(sum(len(text.encode("utf-8", "replace")) + 8 for text in texts), 0)
        self._ledger.add(aside, self._cap)
        return aside

    def _settle(self, dollars: float) -> None:
        if self._cap is not None and self._ledger is not None and dollars:
            self._ledger.add(dollars)


class DryEmbedder:
    """A stand-in for a provider's embedder, which counts costs and hashes texts."""

    def __init__(self, model: str, account: CallAccount) -> None:
        from memsim.models.embedders import HashEmbedder

        self.name = LITELLM + model
        self.dimension = DEFAULT_DIMENSION
        self._stand_in = HashEmbedder()
        self._price = listed_price(model)
        self._account = account

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension), by hashing."""
        for batch in batches([text for text in texts if text.strip()]):
            # A token has at least one byte.
            most = sum(len(text.encode("utf-8", "replace")) for text in batch)
            cost = self._price.cost(most, 0) if self._price else None
            self._account.paid(ProviderAnswer(text="", input=most, cost=cost))
        return self._stand_in.embed(texts)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in their order, in batches that every provider accepts."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH or size + len(text) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _vectors(name: str, reply: Any) -> list[list[float]]:  # noqa: ANN401 - a record of litellm
    try:
        items = [dict(item) for item in reply.data]
        # Some providers return the vectors in another order.
        items.sort(key=lambda item: item.get("index", 0))
        return [list(item["embedding"]) for item in items]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{name} returned something other than a list of vectors") from error
