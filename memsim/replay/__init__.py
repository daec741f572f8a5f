"""Play one scenario through one strategy on a virtual clock, and record a trace."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

from memsim.errors import MemsimError
from memsim.message import TokenCounter
from memsim.models import Embedder, Model
from memsim.replay.case_state import CaseState
from memsim.replay.context_recorder import ContextRecorder
from memsim.replay.player import MakeStrategy
from memsim.replay.stage import Stage
from memsim.scenario.script import Ask, Scenario
from memsim.trace import Trace, TurnRecord


def replay(
    scenario: Scenario,
    make: MakeStrategy,
    *,
    model: Model,
    embed: Callable[[], Embedder],
    counter: TokenCounter,
    budget: int,
    seed: int,
    folder: Callable[[], Path],
    repeat: int = 0,
    services: Mapping[str, str] | None = None,
    keep: Callable[[TurnRecord], None] | None = None,
    contexts: bool = False,
) -> Trace:
    """Play a scenario through a strategy.

    An error of the strategy ends the case and is recorded in the trace. An error in a question
    ends that question only.

    Args:
        scenario: the script to play.
        make: makes the strategy from its environment; called again at each restart in the script.
        model: the language model, for the strategy and for reading the answers.
        embed: makes the embedder, if the strategy asks for one.
        counter: token counts.
        budget: tokens that a context may use.
        seed: of the script's fillers and the strategy's chance.
        folder: makes the case's private folder, if the strategy asks for one.
        repeat: number of the repeat. It seeds the model and the strategy, not the script.
        services: addresses of servers that the strategy may use, by name.
        keep: takes each turn's record instead of the trace, for scripts too long to hold.
        contexts: record every context in the trace, up to a size.
    """
    case = CaseState(
        scenario,
        make,
        model=model,
        embed=embed,
        counter=counter,
        budget=budget,
        chance=random.Random(f"{seed}/{scenario.name}/{repeat}"),
        folder=folder,
        repeat=repeat,
        services=services or {},
    )
    stage = Stage(case)
    if keep is not None:
        stage.keep = keep
    if contexts:
        case.recorder = ContextRecorder(stage.trace.contexts)
    asked: set[str] = set()
    try:
        stage.open()
        for event in scenario.events(seed):
            stage.play(event)
            if isinstance(event, Ask):
                asked.add(event.probe.id)
        stage.check_purity()
        stage.inspect_store()
    except MemsimError as error:
        stage.trace.error = str(error)
        stage.trace.keep_traceback(error)
        stage.abandon([p for p in scenario.probes if p.id not in asked])
    finally:
        stage.close()
    return stage.trace
