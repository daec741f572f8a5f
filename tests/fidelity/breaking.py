"""Conversations in which a published design breaks what a memory has to hold, and where it is told.

Each is played by the function that measures the invariant: it must object to the design as it was
published, and to nothing once it is repaired. A design names its breaks as `departs`; its fidelity
table has a row for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from memsim.discovery.loader import load_strategy
from memsim.testing import Case, CaseTurn, Violation, verify
from memsim.testing.generators.generated_conversations import Kind, TurnPlan, written

ROOT = Path(__file__).resolve().parents[2]
FACT = "The door code at the office is {code} since Monday."
PARCEL = "Parcels for Paris carry {code} on every label."
LATER = "Correction: it is no longer that, it is {code} now."


def said(text: str = "Where is the order?", kind: Kind = "talk", *, calls: int = 1) -> TurnPlan:
    """One turn of Ana's, three minutes after the one before."""
    return TurnPlan(0, 3, kind, ("fact", text), calls, 1, rule=False, renewed=False, aside="")


def elsewhere(turn: TurnPlan) -> TurnPlan:
    """The turn, with which another conversation begins."""
    return replace(turn, renewed=True)


def by_ben(turn: TurnPlan) -> TurnPlan:
    """The turn, as Ben's."""
    return replace(turn, who=1)


def months_later(turn: TurnPlan) -> TurnPlan:
    """The turn, when what was said before is old."""
    return replace(turn, gap=100 * 24 * 60)


def told(*turns: TurnPlan, budget: int = 1024, behaviour: str = "good") -> Case:
    """A case of these turns."""
    return Case(events=written(turns), budget=budget, behaviour=behaviour)  # type: ignore[arg-type]


def unasked(case: Case) -> Case:
    """The case, but that its first turn begins with what the model says."""
    first, *others = case.events
    assert isinstance(first, CaseTurn)
    return replace(case, events=(replace(first, heard=()), *others))


FAMILY = "Ærlig\u200f北京👨\u200d👩\u200d👧\u200d👦"
TOOLS = replace(said("Look it up.", "tools", calls=3), long=60)
LATE = (said(kind="late"), elsewhere(said()))

Cases = Mapping[str, tuple[str, Case]]
"""By invariant: the strategy as published, and a conversation in which it is broken."""

AEGIS: Cases = MappingProxyType(
    {
        "pair_closure": ("aegis", told(*LATE)),
        "authority_non_elevation": ("aegis", told(said(FACT), said(FACT))),
        "provider_validity": ("aegis", told(*LATE, said(), said(kind="dangling"))),
        "within_budget": ("aegis", told(*[replace(said(), rule=True)] * 3, budget=40)),
    }
)
AGENTICX: Cases = MappingProxyType(
    {
        "pair_closure": ("agenticx", told(*[TOOLS] * 4)),
        "authority_non_elevation": ("agenticx", told(*[said()] * 12)),
        "provider_validity": ("agenticx", told(*[TOOLS] * 4)),
        "within_budget": ("agenticx", told(TOOLS, budget=240)),
        "progress": ("agenticx", told(*[said()] * 12, behaviour="longer")),
        "bad_summaries_are_refused": ("agenticx", told(*[said()] * 20, behaviour="refusal")),
        "usage_reset": ("agenticx:behaviour=source", told(*[TOOLS] * 5)),
    }
)
CONTEXTUAL = "agentscope:memory=autocontext"
AGENTSCOPE: Cases = MappingProxyType(
    {
        "within_budget": (CONTEXTUAL, told(*[said()] * 7, budget=131, behaviour="truncated")),
        "progress": (CONTEXTUAL, told(*[said()] * 7, budget=131)),
        "failure_keeps_state": (
            CONTEXTUAL,
            told(*[said()] * 8, budget=131, behaviour="truncated"),
        ),
        "scale": (f"{CONTEXTUAL},version=1.0.12,longterm=store", told(said(), budget=90)),
    }
)
COGTRIX: Cases = MappingProxyType(
    {
        "pair_closure": (
            "cogtrix",
            told(said(kind="late"), by_ben(said()), said(), budget=108),
        ),
        "current_input": ("cogtrix", told(said(FACT * 9), budget=48)),
        "within_budget": ("cogtrix", told(said(LATER, "tools", calls=3), budget=90)),
        "progress": ("cogtrix", told(*[said()] * 18, behaviour="longer")),
        "bad_summaries_are_refused": ("cogtrix", told(*[said()] * 18, behaviour="refusal")),
        "provider_validity": (
            "cogtrix",
            unasked(told(said(kind="late"), by_ben(said()), said(), by_ben(said(kind="dangling")))),
        ),
        "well_formed": ("cogtrix", told(said(f"{FAMILY} {{code}} {FAMILY}"), budget=48)),
    }
)
RELEASED = "prx:version=0.3.0,acl=on"
PRX: Cases = MappingProxyType(
    {
        "authority_non_elevation": ("prx", told(said(FACT), by_ben(said(FACT)))),
        "non_interference": (
            "prx:acl=on",
            told(said(FACT, "silence"), months_later(by_ben(said(FACT)))),
        ),
        "grant_and_revoke": (
            "prx:acl=on",
            told(said(kind="silence"), by_ben(said(FACT)), months_later(said())),
        ),
        "fail_closed": (RELEASED, told(said(PARCEL))),
        "principal_source": (RELEASED, told(said(), by_ben(said(PARCEL)))),
        "foreign_handle": (RELEASED, told(said(), by_ben(said(PARCEL)))),
    }
)
SHOWN: Mapping[str, Cases] = MappingProxyType(
    {
        "aegis": AEGIS,
        "agenticx": AGENTICX,
        "agentscope": AGENTSCOPE,
        "cogtrix": COGTRIX,
        "prx": PRX,
    }
)
"""By system."""


def repaired(ref: str) -> str:
    """The same strategy, repaired."""
    return f"{ref}{',' if ':' in ref else ':'}fixed=true"


def assert_broken_unless_fixed(system: str, name: str) -> None:
    """The published design breaks it in the conversation shown, and the repaired one does not."""
    ref, case = SHOWN[system][name]
    with pytest.raises(Violation):
        verify(name, ref, case)
    verify(name, repaired(ref), case)


def declared(system: str) -> frozenset[str]:
    """What a system says that it breaks, in whatever version."""
    kind = load_strategy(system)
    found = {**getattr(kind, "departs", {})}
    for more in getattr(kind, "departs_with", {}).values():
        found |= more
    return frozenset(found)


def in_table(system: str) -> frozenset[str]:
    """What its fidelity table has a row for: `* breaks I1 name, ...`."""
    text = (ROOT / "memsim" / "systems" / system / "__init__.py").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^\s*\* breaks I\d+ (\w+)", text, re.MULTILINE))
