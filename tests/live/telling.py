"""What live tests have to say beyond passing, for the end of the run."""

from __future__ import annotations

LINES: list[str] = []
"""Told below the tests' own report."""
