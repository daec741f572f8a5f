"""How strategies are found and named: by path, in a project, installed, or shipped with memsim."""

from __future__ import annotations

from memsim.discovery.listing import find_strategies, locate
from memsim.discovery.loading import (
    load_strategy,
    make,
    pin,
    prepare,
    reload_changed,
    resolve,
    source_digest,
)
from memsim.discovery.project import Project, builtin_folder, find_project
from memsim.discovery.refs import StrategyRef, parse_ref
from memsim.discovery.source import Found, Param
from memsim.discovery.trial import try_parameters

__all__ = [
    "Found",
    "Param",
    "Project",
    "StrategyRef",
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
