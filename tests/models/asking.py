"""Who is asked in tests of live models: nobody real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memsim.errors import ModelError
from memsim.message import EPOCH, said
from memsim.models import Request
from memsim.models.live import Answer, Call
from memsim.models.refs import LiveRef

REF = LiveRef(model="openai/gpt-4o-mini")
SAID = "The kettle is in the cupboard."
QUESTION = Request(
    task="answer",
    messages=(said("user", "My kettle is in the cupboard.", id="m1", principal="ana"),),
    question="Where is my kettle?",
    asker="ana",
    now=EPOCH,
)


@dataclass
class Stub:
    """Answers each call as it is told, and remembers what it was asked.

    Attributes:
        answer: the answer, or the error, to the n-th call.
    """

    answer: Callable[[Call, int], Answer | ModelError] = lambda call, number: Answer(
        text=SAID, input=100, output=10, cost=0.001
    )
    asked: list[Call] = field(default_factory=list)

    def ask(self, call: Call) -> Answer:
        """What it was told to answer."""
        self.asked.append(call)
        found = self.answer(call, len(self.asked) - 1)
        if isinstance(found, ModelError):
            raise found
        return found
