"""Scripts: what is said, planted and asked, read from YAML or built in Python.

Names are imported when they are asked for: who only lists scenarios reads no YAML.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.scenario.builder import ScenarioBuilder
    from memsim.scenario.scenario_loader import load_scenario, load_scenarios
    from memsim.scenario.script import (
        ABILITIES,
        MATCHES,
        UNKNOWN,
        Ability,
        Ask,
        ElapseEvent,
        Fact,
        ForgetEvent,
        GrantEvent,
        Match,
        Probe,
        RestartEvent,
        Scenario,
        ScriptEvent,
        Turn,
    )
    from memsim.scenario.script_plan import scenario_schema

__all__ = [
    "ABILITIES",
    "MATCHES",
    "UNKNOWN",
    "Ability",
    "Ask",
    "ElapseEvent",
    "Fact",
    "ForgetEvent",
    "GrantEvent",
    "Match",
    "Probe",
    "RestartEvent",
    "Scenario",
    "ScenarioBuilder",
    "ScriptEvent",
    "Turn",
    "load_scenario",
    "load_scenarios",
    "scenario_schema",
]

_HOMES = {
    "ScenarioBuilder": "builder",
    "load_scenario": "scenario_loader",
    "load_scenarios": "scenario_loader",
    "scenario_schema": "script_plan",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in __all__:
            home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'script')}")
            return getattr(home, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
