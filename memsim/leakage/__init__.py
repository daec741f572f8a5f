"""Measures what a memory gives away: twenty channels, each with its own positive control.

A channel plants canaries in a world, attacks it, and tells of every attempt whether it was safe,
leaked, or says nothing because its control failed: what was never recallable cannot be called
protected.
"""

from __future__ import annotations

from memsim.leakage.channel import Channel
from memsim.leakage.lab import Lab
from memsim.leakage.records import Attempt, Control, Sighting, State, Trail
from memsim.leakage.world import Seen, World

__all__ = [
    "Attempt",
    "Channel",
    "Control",
    "Lab",
    "Seen",
    "Sighting",
    "State",
    "Trail",
    "World",
]
