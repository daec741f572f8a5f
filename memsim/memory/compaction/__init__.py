"""Turning history into less history."""

from __future__ import annotations
