"""The pytest of agent memory: replay long conversations against rival memories."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.context import Context, Section
    from memsim.discovery.loader import load_strategy
    from memsim.message import Message, composed, paired, said
    from memsim.models import ToolSpec
    from memsim.notebook.results import Results
    from memsim.notebook.runner import compare, load, run
    from memsim.scenario.builder import ScenarioBuilder
    from memsim.scenario.script import Scenario
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
    "Results",
    "Scenario",
    "ScenarioBuilder",
    "Section",
    "State",
    "Strategy",
    "Surface",
    "ToolSpec",
    "compare",
    "composed",
    "load",
    "load_strategy",
    "paired",
    "run",
    "said",
]

_HOMES = {
    "context": ("Context", "Section"),
    "discovery.loader": ("load_strategy",),
    "message": ("Message", "composed", "paired", "said"),
    "models": ("ToolSpec",),
    "notebook.results": ("Results",),
    "notebook.runner": ("compare", "load", "run"),
    "scenario.builder": ("ScenarioBuilder",),
    "scenario.script": ("Scenario",),
    "strategy": (
        "Environment",
        "Event",
        "Forget",
        "ForgetOutcome",
        "Grant",
        "Location",
        "Query",
        "State",
        "Strategy",
        "Surface",
    ),
}
_LATE = {name: f"memsim.{module}" for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker knows only the names above

    def __getattr__(name: str) -> object:
        # Every start of pytest imports this package, so its names are imported on first use.
        if name in _LATE:
            found = getattr(importlib.import_module(_LATE[name]), name)
            return globals().setdefault(name, found)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
