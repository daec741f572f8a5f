"""State of one case in play: the player, the script's facts, and contexts under contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.clock import Clock
from memsim.context import Context
from memsim.errors import StrategyError
from memsim.latency import CallTimer
from memsim.replay.contract import Watch, watch_fitted
from memsim.replay.fact_book import Chronicle, FactBook
from memsim.replay.original_messages import OriginalMessages
from memsim.replay.player import Player
from memsim.replay.strategy_calls import MeteredModel, calls_by_phase, timed_calls_by_phase
from memsim.replay.tool_agent import ToolAgent
from memsim.strategy import Environment
from memsim.trace import Trace

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memsim.message import TokenCounter
    from memsim.models import Embedder, Model
    from memsim.replay.context_recorder import ContextRecorder
    from memsim.replay.player import MakeStrategy
    from memsim.replay.strategy_calls import HearError
    from memsim.scenario.script import Scenario
    from memsim.strategy import Query, Strategy
    from memsim.trace import AgentRound, Phase


class CaseState:
    """What turns and questions of one case share; the arguments are those of `replay`.

    Besides them, `hear` is told every error of the strategy.

    Attributes:
        said: when each message was said.
        watch: holds the strategy to its contract.
        reader: the model without its meter, for readings that are no cost of the strategy.
        calls: by phase, what guards and meters calls of the strategy.
        timed: the same for the calls of every turn and question, which are timed as well.
        compactions: how many the strategy has logged.
        heard: every message that was said, if the strategy shows what it stores.
    """

    def __init__(
        self,
        scenario: Scenario,
        make: MakeStrategy,
        *,
        model: Model,
        embed: Callable[[], Embedder],
        counter: TokenCounter,
        budget: int,
        chance: random.Random,
        folder: Callable[[], Path],
        repeat: int,
        services: Mapping[str, str],
        hear: HearError | None = None,
    ) -> None:
        self.trace = Trace()
        self.recorder: ContextRecorder | None = None
        self.reader = model
        self.model = MeteredModel(model)
        watch = CallTimer()
        self.trace.latency = watch.counts
        self.calls = calls_by_phase(self.model, hear)
        self.timed = timed_calls_by_phase(self.model, hear, watch)
        self.counter = counter
        self.budget = budget
        self.repeat = repeat
        self.facts = FactBook()
        self.said = Chronicle(e for p in scenario.probes for e in p.evidence)
        self.watch = Watch(self.said.session_of)
        self.compactions = 0
        self.heard = OriginalMessages()
        self.rounds: list[AgentRound] = []
        env = Environment(
            clock=Clock(),
            model=self.model,
            counter=counter,
            embed=embed,
            random=chance,
            folder=folder,
            budget=budget,
            services=services,
        )
        self.player = Player(make, env, self.calls, self.timed)
        self.build = env.build

    @property
    def turn(self) -> int:
        """The number of the turn in play; 0 before the first."""
        # The calls of the strategy name it. It stands where they find it without the case, because
        # a case in a circle would keep all that its strategy holds after its end.
        return self.model.turn

    @turn.setter
    def turn(self, number: int) -> None:
        self.model.turn = number

    @property
    def strategy(self) -> Strategy:
        """The strategy in play; another object after each restart."""
        return self.player.strategy

    def request(self, query: Query, *, ranked: bool = False) -> Context:
        """Ask the strategy for a context, and hold it to the contract.

        Raises:
            StrategyError: the strategy raised, or broke its contract.
        """
        with self.timed["search"]:
            context = self.strategy.context(query)
            if not isinstance(context, Context):
                raise StrategyError(f"context returned {type(context).__name__}, not a Context")
            self.watch.check_context(context, query)
            return context.ranked() if ranked else context

    def fit(self, context: Context, budget: int) -> tuple[Context, int, frozenset[str]]:
        """Trim a context to a budget.

        Returns:
            The trimmed context, the tokens that were cut, and the ids of the messages they held.
        """
        fitted, cut = self.build.cut(context, budget)
        watch_fitted(context, fitted, budget)
        gone = frozenset(i for m in cut for i in (*m.verbatim, *m.derived_from))
        return fitted, context.tokens - fitted.tokens, gone

    def agent(self, phase: Phase) -> ToolAgent:
        """An agent that calls the strategy's tools in a phase."""
        return ToolAgent(
            self.model,
            self.strategy,
            repeat=self.repeat,
            counter=self.counter,
            hold=self.calls[phase],
            # Tool calls for a question belong to no turn.
            log=self.player.events.append if phase == "write" else lambda _event: None,
            keep=self.rounds.append,
        )

    def take_rounds(self) -> tuple[AgentRound, ...]:
        """The agent's rounds since the last call of this."""
        rounds = tuple(self.rounds)
        self.rounds.clear()
        return rounds
