"""The pytest of agent memory: replay long conversations against rival memories."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from memsim.context import Context, Section
from memsim.message import Message, composed, said
from memsim.models import ToolSpec
from memsim.strategy import (
    Environment,
    Event,
    Forget,
    ForgetOutcome,
    Grant,
    Location,
    Query,
    State,
    Strategy,
    Surface,
)

if TYPE_CHECKING:
    from memsim.discovery import load_strategy
    from memsim.scenario.build import ScenarioBuilder
    from memsim.scenario.script import Scenario
    from memsim.suite.single import run

__all__ = [
    "Context",
    "Environment",
    "Event",
    "Forget",
    "ForgetOutcome",
    "Grant",
    "Location",
    "Message",
    "Query",
    "Scenario",
    "ScenarioBuilder",
    "Section",
    "State",
    "Strategy",
    "Surface",
    "ToolSpec",
    "composed",
    "load_strategy",
    "run",
    "said",
]

_LATE = {
    "Scenario": "memsim.scenario.script",
    "ScenarioBuilder": "memsim.scenario.build",
    "load_strategy": "memsim.discovery",
    "run": "memsim.suite.single",
}

if not TYPE_CHECKING:  # for a type checker the names above are all there are

    def __getattr__(name: str) -> object:
        # What a strategy file does not need is imported when it is asked for.
        if name in _LATE:
            return getattr(importlib.import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
