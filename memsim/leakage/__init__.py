"""Measures what a memory gives away: twenty channels, each with its own positive control.

A channel plants canaries in a world, attacks it, and tells of every attempt whether it was safe,
leaked, or says nothing because its control failed: what was never recallable cannot be called
protected.
"""
