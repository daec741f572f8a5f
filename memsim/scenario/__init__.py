"""Scripts: what is said, planted and asked, read from YAML or built in Python."""

from __future__ import annotations

from memsim.scenario.build import ScenarioBuilder
from memsim.scenario.load import load_scenario, load_scenarios
from memsim.scenario.schema import scenario_schema
from memsim.scenario.script import (
    ABILITIES,
    MATCHES,
    UNKNOWN,
    Ability,
    Ask,
    Elapsed,
    Fact,
    ForgetAsked,
    Granted,
    Match,
    Probe,
    Restarted,
    Scenario,
    ScriptEvent,
    Turn,
)

__all__ = [
    "ABILITIES",
    "MATCHES",
    "UNKNOWN",
    "Ability",
    "Ask",
    "Elapsed",
    "Fact",
    "ForgetAsked",
    "Granted",
    "Match",
    "Probe",
    "Restarted",
    "Scenario",
    "ScenarioBuilder",
    "ScriptEvent",
    "Turn",
    "load_scenario",
    "load_scenarios",
    "scenario_schema",
]
