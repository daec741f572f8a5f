"""Models and embedders that fail at one call, or from one call on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from memsim.errors import ContextOverflow, ModelError
from memsim.message import ToolUse
from memsim.models import Reply
from memsim.models.embedders import HashEmbedder
from memsim.models.live import FilterError, Outage, RefusalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsim.models import Embedder, Model, Request, Vectors
    from memsim.models.live import Call, ModelClient, ProviderAnswer
    from memsim.testing.faults import Schedule

EmbedderFault = Literal["down", "nan", "inf", "zero", "longer", "shorter"]

ModelFault = Literal[
    "timeout",
    "429",
    "5xx",
    "reset",
    "refused",
    "overflow",
    "filtered",
    "malformed",
    "empty",
    "blank",
    "refusal",
    "truncated",
    "garbage",
    "json",
    "tool-call",
    "longer",
]

MODEL_FAULTS: Mapping[ModelFault, ModelError | Reply] = {
    "timeout": Outage("m was asked 7 times and never answered: Timeout: no byte in 120 s"),
    "429": Outage("m asks to be left alone for 600 s: RateLimitError: slow down"),
    "5xx": Outage("m was asked 7 times and never answered: InternalServerError: 503"),
    "reset": Outage("m was asked 7 times and never answered: APIConnectionError: reset"),
    "refused": RefusalError("m: AuthenticationError: this key opens nothing"),
    "overflow": ContextOverflow("m: ContextWindowExceededError: 8193 tokens are too many"),
    "filtered": FilterError("m kept its answer to itself: its content filter"),
    "malformed": ModelError("m sent something that is no answer"),
    "empty": Reply(text=""),
    "blank": Reply(text=" \n\t"),
    "refusal": Reply(text="I'm sorry, but I can't help with that."),
    "truncated": Reply(text="The order num"),
    "garbage": Reply(text="\x00\x01\ufffd"),
    "json": Reply(text='{"summary": "The order'),
    "tool-call": Reply(tool_calls=(ToolUse(id="c1", name="no_such_tool", arguments="{"),)),
    "longer": Reply(text="It went on and on, and then on. " * 400),
}
"""What a call that fails comes to: an error, as after all that is tried again, or a poor reply."""


class FailingModel:
    """A model whose calls are on a schedule.

    Args:
        model: what answers otherwise.
        schedule: says which calls fail.
        fault: one of `MODEL_FAULTS`.
    """

    def __init__(self, model: Model, schedule: Schedule, fault: ModelFault = "malformed") -> None:
        self._model = model
        self._schedule = schedule
        self._comes = MODEL_FAULTS[fault]
        self.name = model.name

    def complete(self, request: Request) -> Reply:
        """Answer a request, or fail.

        Raises:
            ModelError: the fault is an error.
        """
        if not self._schedule.fails(request.task):
            return self._model.complete(request)
        if isinstance(self._comes, ModelError):
            raise type(self._comes)(str(self._comes))
        return self._comes


class FailingAsker:
    """A provider whose answers are on a schedule: one that fails may be had by asking again.

    Args:
        asker: who answers otherwise.
        schedule: says which calls fail; persistently, no attempt ever succeeds.
        after: seconds that it asks to be left alone; None where it does not say.
    """

    def __init__(self, asker: ModelClient, schedule: Schedule, after: float | None = None) -> None:
        self._asker = asker
        self._schedule = schedule
        self._after = after

    def ask(self, call: Call) -> ProviderAnswer:
        """The answer to a call.

        Raises:
            Transient: there is none now.
        """
        if self._schedule.fails(call.task):
            raise TransientError(f"{call.model}: ServiceUnavailableError: 503", after=self._after)
        return self._asker.ask(call)


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


class OtherEmbedder(HashEmbedder):
    """Another model of the same dimension: nothing of it means what it means to the hashing one."""

    @property
    def name(self) -> str:
        """A name of its own."""
        return f"other, {super().name}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors whose directions are others."""
        return super().embed(texts)[:, ::-1].copy()
