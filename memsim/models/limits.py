"""How much an agent may do, so that what it costs is bounded before it is asked."""

from __future__ import annotations

ROUNDS = 4
"""Times that an agent may call tools for one message or question."""

CALLS = 16
"""Calls of one round that are carried out; further ones are told of in the record alone."""
