"""Find strategies and scenarios: by path, in a project, in installed packages, or in memsim."""

from __future__ import annotations

from memsim.discovery.catalogue import find_strategies, locate
from memsim.discovery.loader import (
    load_strategy,
    make,
    pin,
    prepare,
    reload_changed,
    resolve,
    source_digest,
    try_parameters,
)
from memsim.discovery.project import Project, builtin_folder, find_project
from memsim.discovery.strategy_ref import StrategyRef, parse_ref
from memsim.discovery.strategy_source import Param, StrategySource

__all__ = [
    "Param",
    "Project",
    "StrategyRef",
    "StrategySource",
    "builtin_folder",
    "find_project",
    "find_strategies",
    "load_strategy",
    "locate",
    "make",
    "parse_ref",
    "pin",
    "prepare",
    "reload_changed",
    "resolve",
    "source_digest",
    "try_parameters",
]
