"""Estimate the costs of a run without calling a provider: count, measure and price its calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.models import AGENT_CALLS, AGENT_ROUNDS
from memsim.models.cassette.call_recorder import key_of
from memsim.models.live import ProviderAnswer
from memsim.models.live.cost_limit import call_texts, tokens_at_most
from memsim.models.live.task_prompts import LENGTHS, compose

if TYPE_CHECKING:
    from memsim.message import TokenCounter
    from memsim.models import Model, Reply, Request
    from memsim.models.live import Call
    from memsim.models.live.cost_limit import Price
    from memsim.models.model_access import CallAccount
    from memsim.models.model_ref import LiveRef

OTHERS = 1.5
"""Maximum number of another provider's tokens for one token of ours, in common languages."""

_EXACT = ("openai/", "azure/")
_AROUND = 96
"""Tokens around a call and its result, including notes on errors and cuts."""


class DryModel:
    """A model that answers with a stand-in, and counts the costs of the real model.

    Contexts are measured as they are. Where the real model's text can be longer than that of the
    stand-in, it is priced at the maximum length.
    """

    def __init__(
        self,
        ref: LiveRef,
        stand_in: Model,
        *,
        price: Price | None,
        counter: TokenCounter,
        budget: int,
        account: CallAccount,
    ) -> None:
        self._ref = ref
        self._stand_in = stand_in
        self._price = price
        self._counter = counter
        self._budget = budget
        self._account = account
        self._known: set[str] = set()

    @property
    def name(self) -> str:
        """The real model's ref."""
        return self._ref.label

    def complete(self, request: Request) -> Reply:
        """Answer a request as the stand-in does.

        Raises:
            ModelError: the stand-in failed.
        """
        call = compose(request, self._ref)
        key = key_of(call)
        if key not in self._known:
            # A repeated question in one case is paid once.
            self._known.add(key)
            self._account.paid(self._counted(call, request))
        return replace(self._stand_in.complete(request), cost=0.0)

    def _counted(self, call: Call, request: Request) -> ProviderAnswer:
        exact = sum(map(self._counter.text, call_texts(call)))
        # The first round of an agent is counted for all rounds, so the others are not counted.
        rounds = 1 if request.task != "act" else 0 if request.round else AGENT_ROUNDS
        written = rounds * call.max_tokens
        cost = None
        if self._price is not None:
            read = rounds * self._most(call, request)
            if rounds == AGENT_ROUNDS:
                read += self._traffic(call.max_tokens)
            cost = self._price.cost(read, written)
        return ProviderAnswer(text="", input=exact, output=written, cost=cost)

    def _most(self, call: Call, request: Request) -> int:
        usual = sum(map(self._counter.text, call_texts(call)))
        longest = usual + self._longer(request)
        if call.model.startswith(_EXACT):
            return tokens_at_most(call) + self._longer(request)
        return int(OTHERS * longest) + 16 * (len(call.messages) + len(call.tools) + 1)

    def _traffic(self, length: int) -> int:
        """Tokens of calls and results that an agent receives again, in all its rounds together."""
        results = (AGENT_ROUNDS - 1) * int(OTHERS * self._budget)
        rounds = AGENT_ROUNDS * (AGENT_ROUNDS - 1) // 2
        return results + rounds * (length + AGENT_CALLS * _AROUND)

    def _longer(self, request: Request) -> int:
        """Tokens by which a call of the real model can be longer."""
        if request.task in {"answer", "act"}:
            return max(0, self._budget - self._counter.messages(request.messages))
        if request.task == "judge":
            return max(0, LENGTHS["answer"] - self._counter.text(request.given))
        if request.task == "summarise" and request.previous and request.max_tokens:
            return max(0, request.max_tokens - self._counter.text(request.previous))
        return 0
