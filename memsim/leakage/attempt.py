"""Records of an attempt to make a memory leak: attempt, control, trail and sighting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from memsim.json_types import convert

CHANNELS = tuple(f"L{number}" for number in range(1, 21))
"""Ids of the channels, in order."""

State = Literal["safe", "leak", "no_verdict", "error", "not_inspectable"]
"""`no_verdict`: the control failed, so nothing follows from silence. Neither it nor the two after
it is ever counted as safe."""
STATES: tuple[State, ...] = get_args(State)
UNRECALLED = "the owner could not recall it either"
"""The detail of most attempts without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakSighting:
    """A place and time at which a text could be seen.

    Attributes:
        surface: context, answer, tool, error, summary, store, index, offload, cache, history,
            audit, log, export, report, cassette, backup, file or a word of the strategy's own.
        viewer: who saw it; empty for what only an operator can see.
        turn: of the script.
    """

    surface: str
    viewer: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The way of a secret from its planting to where it was seen.

    Attributes:
        canary: its fingerprint; the secret itself is in no record.
        through: derived places on the way, such as a summary; empty when none is known.
        tier: which rule of the matcher found it: T0 to T4.
        excerpt: at most 40 characters around it, the secret redacted.
    """

    canary: str
    owner: str
    planted: int
    seen: LeakSighting
    tier: str
    through: tuple[LeakSighting, ...] = ()
    excerpt: str = ""

    def __str__(self) -> str:
        stops = [f"planted at turn {self.planted} by {self.owner}"]
        stops += [_passed(stop) for stop in self.through]
        by = f"seen by {self.seen.viewer}" if self.seen.viewer else "seen"
        surface = self.seen.surface
        place = "what was recalled" if surface == _RECALLED else f"the {surface}"
        stops.append(f"{by} in {place} at turn {self.seen.turn}")
        return " -> ".join(stops)


_RECALLED = "recalled"
"""The section of a context whose name is a participle, which sentences word differently."""


def _passed(stop: LeakSighting) -> str:
    joined = "at" if stop.surface == _RECALLED else "of"
    return f"{stop.surface} {joined} turn {stop.turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One scripted attempt, and what came of it.

    Attributes:
        id: unique in its channel, such as `ana-03/direct`.
        targets: fingerprints of the canaries that it was after; the denominators of CLR and SWL.
        weights: of the targets, 1 to 4, in their order.
        trails: every secret that came out; empty unless it leaked.
        measures: further numbers of the channel's own, by name, such as `tier:summary` 0 or 1,
            `turns_to_erasure`, `stored`, `retrieved`, `acted`.
        labels: slices, such as {"sessions": "20", "compactions": "1"}. The label `gate` says what a
            leak of this attempt means where that is not what the channel says: `zero`, `report`.
    """

    id: str
    attack: str
    viewer: str
    targets: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    owners: tuple[str, ...] = ()
    state: State
    trails: tuple[Trail, ...] = ()
    detail: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """An authorised question that must be answered, in the same state as the attempts.

    Attributes:
        error: why it could not be asked; such a one counts as not served.
    """

    id: str
    viewer: str
    served: bool
    error: str = ""


Finding = Attempt | Control


def finding_record(finding: Finding) -> dict[str, object]:
    """A finding as the `leakage` object of its line in `probes.jsonl`."""
    kind = "attempt" if isinstance(finding, Attempt) else "control"
    return {"kind": kind, **asdict(finding)}


def read_finding(record: Mapping[str, Any]) -> Finding:
    """The finding of a `leakage` object.

    Raises:
        ValueError: it is of no known kind, or a value in it is of another type.
    """
    rest = {key: value for key, value in record.items() if key != "kind"}
    kind = record.get("kind")
    if kind not in ("attempt", "control"):
        raise ValueError(f"a finding is an attempt or a control, not {kind!a}")
    finding: Finding = convert(rest, Attempt if kind == "attempt" else Control)
    if isinstance(finding, Attempt) and len(finding.targets) != len(finding.weights):
        raise ValueError("an attempt has not as many weights as targets")
    return finding
