"""Read the promises of a strategy class, which decide the invariants that apply to it.

A strategy class says it with class attributes, all of them optional::

    class Mine(Strategy):
        isolates = True         # nobody sees what is another's, in conversations kept apart
        keeps_system = True     # system messages stay, byte for byte
        tail = 6                # so many latest messages stay, where they fit
        departs = {"authority_non_elevation": "the published prompt is a system message"}
        departs_with = {"version=0.3.0,acl=on": {"fail_closed": "recall asks nobody who they are"}}

What `departs` names is measured all the same, and shown as declared: it is neither green nor red.
`departs_with` names what holds unless all of these parameters are given. With a parameter `fixed`
that is true, nothing is declared, since what repairs a design has to hold, but for what is named
with `fixed=true` itself: what the design has no notion of.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsim.strategy import Strategy

if TYPE_CHECKING:
    from memsim.testing.invariant_catalogue import Invariant, Need

_TAILS = {"sliding_window": "messages", "bm25": "window", "vector": "window", "hybrid": "window"}
_WHY: Mapping[Need, str] = {
    "surfaces": "it does not tell what it holds (implement surfaces())",
    "save": "it does not implement save and load",
    "isolation": "it does not say that it keeps principals apart (isolates = True)",
    "grants": "it takes no grants",
    "tail": "it does not say how many latest messages stay (tail = N)",
    "system": "it does not say that system messages stay (keeps_system = True)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The promises of one strategy.

    Attributes:
        tail: latest messages that stay; None where it does not say.
    """

    has: frozenset[Need] = frozenset()
    tail: int | None = None
    departs: Mapping[str, str] = field(default_factory=dict)
    control: str = ""

    def lacking(self, invariant: Invariant) -> str:
        """Why an invariant cannot be measured; empty where it can."""
        for need in invariant.needs:
            if need not in self.has:
                return _WHY[need]
        return ""


def claims_of(kind: object, name: str, params: Mapping[str, str]) -> Claims:
    """Read the promises of a strategy."""
    given: dict[str, Any] = {**_defaults(kind), **params}
    has: set[Need] = set()
    isolates = given.get("scope") == "principal" or given.get("acl") == "on"
    if getattr(kind, "isolates", isolates):
        has.add("isolation")
    if getattr(kind, "inspectable", True) and _overrides(kind, "surfaces"):
        has.add("surfaces")
    if _overrides(kind, "save") and _overrides(kind, "load"):
        has.add("save")
    if _overrides(kind, "grant"):
        has.add("grants")
    if getattr(kind, "keeps_system", False):
        has.add("system")
    tail = getattr(kind, "tail", None) or _number(given.get(_TAILS.get(name, "")))
    if name == "sliding_window" and given.get("tokens") is not None:
        tail = None
    if isinstance(tail, int):
        has.add("tail")
    return Claims(
        has=frozenset(has),
        tail=tail if isinstance(tail, int) else None,
        departs=_departs(kind, given),
        control=getattr(kind, "control", None) or "",
    )


def _departs(kind: object, given: Mapping[str, Any]) -> dict[str, str]:
    fixed = _is_fixed(given)
    found = {} if fixed else dict(getattr(kind, "departs", {}))
    for words, why in getattr(kind, "departs_with", {}).items():
        wanted = dict(word.split("=", 1) for word in words.split(","))
        there = {name: str(given.get(name)).casefold() for name in wanted}
        if there == wanted and (not fixed or "fixed" in wanted):
            found |= why
    return found


def _overrides(kind: object, method: str) -> bool:
    own = getattr(kind, method, None)
    return own is not None and own is not getattr(Strategy, method)


def _defaults(kind: object) -> dict[str, Any]:
    try:
        signature = inspect.signature(kind)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}
    return {
        p.name: p.default
        for p in signature.parameters.values()
        if p.default is not inspect.Parameter.empty
    }


def _is_fixed(given: Mapping[str, Any]) -> bool:
    return str(given.get("fixed", False)).casefold() in {"true", "yes", "on", "1"}


def _number(value: object) -> int | None:
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None
