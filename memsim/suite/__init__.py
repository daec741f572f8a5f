"""Many cases: which there are, how one is played, and what came of it.

The command line and the pytest plugin both stand on this, so their numbers cannot differ.
"""

from __future__ import annotations

from memsim.suite.cases import CaseOutcome, CaseResult, CaseSpec
from memsim.suite.expect import Bound, ExpectFailure, check_expectations, parse_bound
from memsim.suite.planning import CONTROLS, Plan, plan, resolve_strategies
from memsim.suite.play import run_case
from memsim.suite.scenarios import ScenarioRef, Selection, find_scenarios, select_scenarios
from memsim.suite.select import parse_expression

__all__ = [
    "CONTROLS",
    "Bound",
    "CaseOutcome",
    "CaseResult",
    "CaseSpec",
    "ExpectFailure",
    "Plan",
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
