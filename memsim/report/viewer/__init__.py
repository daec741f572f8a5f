"""The replay viewer: a run turn by turn, as the model would have seen it, in the report's page."""

from __future__ import annotations

from memsim.report.viewer.replay_pages import ROOM, fragment, save_beside

__all__ = ["ROOM", "fragment", "save_beside"]
