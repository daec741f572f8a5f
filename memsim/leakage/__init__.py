"""Measures what a memory gives away: twenty channels, each with its own positive control.

A channel plants canaries in a world, attacks it, and tells of every attempt whether it was safe,
leaked, or says nothing because its control failed: what was never recallable cannot be called
protected.
"""

from __future__ import annotations

LEAKAGE = "leakage"
"""Name of the dataset and its folder, and the key of a channel's lines in `probes.jsonl`."""
