"""The layers of a memory: what each keeps, and for how long."""

from __future__ import annotations
