"""Plan, play and record the cases of a run.

The command line and the pytest plugin both stand on this, so their numbers cannot differ. Names are
imported when they are asked for: who only shows a saved run needs no strategy, script or score.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.suite.case_plan import (
        CONTROLS,
        CasePlan,
        parse_expression,
        plan,
        resolve_strategies,
    )
    from memsim.suite.cases import (
        CaseOutcome,
        CaseResult,
        CaseSpec,
        ExpectFailure,
        MetricBound,
        check_expectations,
        parse_bound,
    )
    from memsim.suite.play import run_case
    from memsim.suite.scenarios import ScenarioRef, Selection, find_scenarios, select_scenarios

__all__ = [
    "CONTROLS",
    "CaseOutcome",
    "CasePlan",
    "CaseResult",
    "CaseSpec",
    "ExpectFailure",
    "MetricBound",
    "ScenarioRef",
    "Selection",
    "check_expectations",
    "find_scenarios",
    "parse_bound",
    "parse_expression",
    "plan",
    "resolve_strategies",
    "run_case",
    "select_scenarios",
]

_HOMES = {
    "case_plan": ("CONTROLS", "CasePlan", "parse_expression", "plan", "resolve_strategies"),
    "cases": (
        "CaseOutcome",
        "CaseResult",
        "CaseSpec",
        "ExpectFailure",
        "MetricBound",
        "check_expectations",
        "parse_bound",
    ),
    "play": ("run_case",),
    "scenarios": ("ScenarioRef", "Selection", "find_scenarios", "select_scenarios"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _HOME:
            return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
