"""Embedders and models of which one call fails, or every call from it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memsim.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Embedder, Model, Reply, Request, Vectors
    from memsim.testing.faults.schedule import Schedule

EmbedderFault = Literal["down", "nan", "inf", "zero", "longer", "shorter"]


class FailingEmbedder:
    """An embedder whose calls are on a schedule.

    Args:
        embedder: what answers otherwise.
        schedule: says which calls fail; one that fails persistently is down from there on.
        fault: what a failing call gives: an error, other numbers, or another dimension.
    """

    def __init__(self, embedder: Embedder, schedule: Schedule, fault: EmbedderFault) -> None:
        self._embedder = embedder
        self._schedule = schedule
        self._fault = fault
        self.name = embedder.name
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, or what the fault is.

        Raises:
            ModelError: the fault is to be down.
        """
        found = self._embedder.embed(texts)
        if not self._schedule.fails("embed"):
            return found
        if self._fault == "down":
            raise ModelError("the embedder does not answer")
        if self._fault == "longer":
            return found.repeat(2, axis=1)
        if self._fault == "shorter":
            return found[:, :-1]
        found = found.copy()
        found[:] = {"nan": float("nan"), "inf": float("inf"), "zero": 0.0}[self._fault]
        return found


class FailingModel:
    """A model whose calls are on a schedule.

    Args:
        model: what answers otherwise.
        schedule: says which calls fail.
        reply: what a failing call gives; None for an error.
    """

    def __init__(self, model: Model, schedule: Schedule, reply: Reply | None = None) -> None:
        self._model = model
        self._schedule = schedule
        self._reply = reply
        self.name = model.name

    def complete(self, request: Request) -> Reply:
        """Answer a request, or fail.

        Raises:
            ModelError: the fault is to raise.
        """
        if not self._schedule.fails(request.task):
            return self._model.complete(request)
        if self._reply is None:
            raise ModelError("the model does not answer")
        return self._reply
