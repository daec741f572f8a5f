"""AgenticX's scratchpad: short notes of one session by key, some keys being its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memsim.memory.state import JSON, reading

VALUE_LENGTH, MOST_KEYS, SHOWN = 10_000, 50, 200
FACTS = "session_facts"
SUBAGENT, DELEGATION = "subagent_result::", "delegation_result::"
PENDING = "__pending_subagent_summaries__"
HINTS = ("__taskspace_hint__", "__taskspace_label_hint__")
RESULT_LENGTH, MOST_PENDING = 500, 50


class Scratchpad:
    """What a session's agent and its hooks write down."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        # Thousands of turns add to these: they become one text only where somebody reads it.
        self._facts: list[str] = []

    @property
    def values(self) -> dict[str, Any]:
        """What is there by key; one reserved key holds a list, all others text."""
        if not self._facts:
            return dict(self._values)
        facts = "\n".join((self._values.get(FACTS, ""), *self._facts)).strip()
        return {**self._values, FACTS: facts}

    @property
    def facts(self) -> list[str]:
        """The lines of `session_facts`, oldest first."""
        return [*self._values.get(FACTS, "").split("\n"), *self._facts]

    def __bool__(self) -> bool:
        return bool(self._values or self._facts)

    def write(self, key: str, value: str) -> str:
        """`scratchpad_write`: the answer that the agent gets."""
        key = key.strip()
        if not key:
            return "ERROR: key is required"
        there = {*self._values, *([FACTS] if self._facts else [])}
        if key not in there and len(there) >= MOST_KEYS:
            return f"ERROR: scratchpad key limit exceeded ({MOST_KEYS})"
        if len(value) > VALUE_LENGTH:
            value = f"{value[:VALUE_LENGTH]}\n... (truncated to {VALUE_LENGTH} chars)"
        if key == FACTS:
            self._facts.clear()
        self._values[key] = value
        return f"OK: scratchpad[{key}] updated"

    def read(self, key: str = "", *, list_only: bool = False) -> str:
        """`scratchpad_read`: a value, or the keys."""
        values = self.values
        if list_only or not key:
            return "\n".join(sorted(values)) or "(empty)"
        if key not in values:
            return f"ERROR: key not found: {key}"
        return str(values[key])

    def note_facts(self, lines: Sequence[str]) -> None:
        """Add a turn's facts to those of the session; nothing is looked for twice."""
        self._facts += lines

    def erase(self, lines: Sequence[str]) -> None:
        """Take lines out of the session's facts."""
        kept = [line for line in self.facts if line and line not in lines]
        self._values.pop(FACTS, None)
        self._facts = kept

    def report(self, agent: str, status: str, summary: str) -> None:
        """Take what a sub-agent came back with, under each of the reserved keys."""
        text = f"{status}: {summary[:RESULT_LENGTH]}"
        self._values[f"{SUBAGENT}{agent}"] = self._values[f"{DELEGATION}{agent}"] = text
        pending = [*self._values.get(PENDING, []), text]
        self._values[PENDING] = pending[-MOST_PENDING:]

    def results(self) -> dict[str, str]:
        """The reports of sub-agents, by agent: the historical results of the prompt."""
        keys = sorted(key for key in self._values if key.startswith(SUBAGENT))
        return {key.removeprefix(SUBAGENT): self._values[key] for key in keys}

    def rendered(self) -> str:
        """The scratchpad as the prompt shows it."""
        shown = {key: str(value)[:SHOWN] for key, value in self._values.items()}
        if self._facts:
            shown[FACTS] = "\n".join((shown.get(FACTS, ""), *self._facts[:SHOWN])).strip()[:SHOWN]
        lines = (f"- {key}: {shown[key]}...".replace("\n", " ") for key in sorted(shown))
        return "\n".join(lines) or "(empty)"

    def shown_facts(self) -> list[str]:
        """The lines of the session's facts that the prompt shows whole."""
        begun = "\n".join((self._values.get(FACTS, ""), *self._facts[:SHOWN])).strip()
        whole = begun.split("\n")
        return [line for line in begun[:SHOWN].split("\n") if line in whole]

    def save(self) -> JSON:
        """All values, by key."""
        return self.values

    def load(self, saved: Any) -> None:  # noqa: ANN401 - what was read from a file may be anything
        """Take over saved values.

        Raises:
            StateError: they are none.
        """
        with reading("its scratchpad is damaged"):
            self._values = dict(saved.items())
            self._facts = []
