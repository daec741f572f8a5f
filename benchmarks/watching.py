"""What does watching cost? Replays with what is watched, and without, side by side.

    python benchmarks/watching.py [--quick]

The strategies are the cheapest there is, which makes watching dearest, the same with long contexts,
and one that searches. The two ways are played in turn, in one process, and of each the least
processor time counts. Claimed: watching takes less than 3 % of the processor time of a replay.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from unittest import mock

from memsim import ScenarioBuilder
from memsim.discovery.loader import prepare, resolve
from memsim.message import TokenCounter, load_tokenizer
from memsim.models.registry import load_embedder, load_model
from memsim.replay import replay
from memsim.scenario.script import Scenario, ScriptEvent

STRATEGIES = ("sliding_window", "sliding_window:messages=100", "bm25")
ALLOWED = 0.03


class Blind:
    """Watches nothing."""

    whose = ""

    def __init__(self, said: object) -> None:
        del said

    def _nothing(self, *_given: object, **_named: object) -> None:
        pass

    heard = shown = told = planted = granted = forgot = lost = _nothing


def conversation(turns: int) -> Scenario:
    """Talk, with tools in between; its events are made before the clock runs."""
    script = ScenarioBuilder("watching").user("My order is A-17.", facts={"order": "A-17"})
    for number in range(turns // 20):
        script = script.filler(19).user(f"Where is parcel {number}?")
        script = script.tool("look_up", result=f"Parcel {number} is in Oslo.")
    scenario = script.probe("order", ask="What is my order?", expect="A-17").build()
    events: list[ScriptEvent] = list(scenario.events(7))
    return Scenario(
        name=scenario.name,
        path=scenario.path,
        play=lambda _seed: iter(events),
        turns=scenario.turns,
        probes=scenario.probes,
    )


def played(scenario: Scenario, name: str) -> float:
    """Seconds of processor time for one replay."""
    counter = TokenCounter(load_tokenizer())
    model = load_model("offline", counter.tokenizer, 7)
    make = prepare(resolve(name))
    with TemporaryDirectory() as folder:
        gc.collect()
        began = time.process_time()
        trace = replay(
            scenario,
            make,
            model=model,
            embed=partial(load_embedder, "hash"),
            counter=counter,
            budget=4096,
            seed=7,
            folder=lambda: folder,  # type: ignore[arg-type, return-value]
            keep=lambda _record: None,
        )
        took = time.process_time() - began
    assert not trace.error, trace.error
    return took


@contextmanager
def blind() -> Iterator[None]:
    """Watch nothing for as long as this lasts."""

    def nothing(*_given: object) -> None:
        pass

    with (
        mock.patch.multiple("memsim.replay.case_state", Watch=Blind, watch_fitted=nothing),
        mock.patch.multiple("memsim.replay.probe_player", watch_asked=nothing, watch_sent=nothing),
        mock.patch("memsim.replay.stage.watch_asked", nothing),
        mock.patch("memsim.replay.tool_agent.watch_sent", nothing),
    ):
        yield


def compared(scenario: Scenario, name: str, rounds: int) -> tuple[float, float]:
    """The least seconds of processor time, watching and blind."""
    watching: list[float] = []
    without: list[float] = []
    for number in range(rounds):
        # Whoever comes second finds warmer caches: so each is second in every other round.
        for watched in (number % 2 == 0, number % 2 == 1):
            if watched:
                watching.append(played(scenario, name))
            else:
                with blind():
                    without.append(played(scenario, name))
    return min(watching), min(without)


def main() -> int:
    """Measure, print, and say whether it is as claimed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer turns and rounds")
    quick = parser.parse_args().quick
    turns, rounds = (1_000, 15) if quick else (2_000, 25)
    scenario = conversation(turns)
    missed = False
    print(f"{turns:,} turns, {rounds} rounds, least processor time of each")
    for name in STRATEGIES:
        played(scenario, name)
        watching, without = compared(scenario, name, rounds)
        cost = watching / without - 1
        missed |= cost >= ALLOWED
        print(f"{name:28} {watching:7.3f} s watching, {without:7.3f} s blind: {cost:+.1%}")
    print(f"allowed: {ALLOWED:.0%}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
