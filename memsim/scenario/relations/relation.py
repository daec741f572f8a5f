"""A relation: what is changed in a scenario, and what must hold between the plain and the twisted.

A relation needs no gold answer. Each works on the events of any script or dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from memsim.scenario.script import Ask, Probe, Scenario, ScriptEvent

Expected = Literal["same", "no worse", "no better"]
"""`same`: no answer changes. `no worse`: none is lost. `no better`: none is gained."""

Events = Iterator[ScriptEvent]
Change = Callable[[Scenario], Scenario]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A twist, and what it may do to the outcome of a question.

    Attributes:
        about: what is changed, in a few words.
        expected: what must hold.
        ask: the question as it is put instead; None where it stays.
        change: makes the changed scenario; None where only questions or the budget change.
        budget: by how much the budget is multiplied.
    """

    about: str
    expected: Expected = "same"
    ask: Callable[[str], str] | None = None
    change: Change | None = None
    budget: int = 1


def with_probes(scenario: Scenario, change: Callable[[Probe], Probe]) -> Scenario:
    """The scenario with every probe changed, where it is listed and where it is asked."""
    return replace(
        scenario,
        probes=tuple(map(change, scenario.probes)),
        play=partial(_asked, scenario, change),
    )


def _asked(scenario: Scenario, change: Callable[[Probe], Probe], seed: int) -> Events:
    for event in scenario.events(seed):
        yield replace(event, probe=change(event.probe)) if isinstance(event, Ask) else event


def with_events(retell: Callable[[Events, int], Events], scenario: Scenario) -> Scenario:
    """The scenario with its events told in another way; `retell` gets the number of turns."""
    return replace(scenario, play=partial(_retold, scenario, retell))


def _retold(scenario: Scenario, retell: Callable[[Events, int], Events], seed: int) -> Events:
    return retell(scenario.events(seed), scenario.turns)
