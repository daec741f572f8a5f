"""Says what a script leaves open, from a seed: fillers, short replies, large tool results."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.scenario.filler import Talker, patterns
from memsim.scenario.plan import Filler, Plan, ToolCall


class SeededVoice:
    """A voice that says the same for the same seed.

    Args:
        plan: the script.
        values: what it must never say.
        seed: the run's seed; the script's own is added.
    """

    def __init__(self, plan: Plan, values: frozenset[str], seed: int) -> None:
        self._domain = plan.domain
        self._values = values
        self._seed = f"{plan.seed + seed}/{plan.name}"
        self._talkers: dict[str, Talker] = {}
        self._notes: Talker | None = None

    def reply(self) -> str:
        """A short answer of the assistant's."""
        if self._notes is None:
            self._notes = self._talker("notes", 0)
        return self._notes.plain()

    def result(self, call: ToolCall, number: int) -> str:
        """A tool's result with its generated lines around it."""
        if not (call.lines or call.characters):
            return call.result
        talker = self._talker(call.domain or "tool", number)
        planted = [call.result] if call.result else []
        lines = _padding(talker, call)
        at = round(call.depth * len(lines))
        return "\n".join(lines[:at] + planted + lines[at:])

    def talk(self, filler: Filler, number: int) -> Iterator[tuple[str, str]]:
        """What user and assistant say in a filler's turns."""
        talker = self._talker(filler.domain or self._domain, number)
        return talker.turns(filler.turns, filler.words or 0)

    def _talker(self, domain: str, number: int) -> Talker:
        talker = self._talkers.get(domain)
        if talker is None:
            talker = self._talkers[domain] = Talker(patterns(domain, self._values))
        talker.begin(f"{self._seed}/{domain}/{number}")
        return talker


def _padding(talker: Talker, call: ToolCall) -> list[str]:
    wanted = call.lines - (call.result.count("\n") + 1 if call.result else 0)
    lines = [talker.plain() for _ in range(wanted)]
    space = call.characters - len(call.result) - sum(map(len, lines)) - len(lines)
    while space > 0:
        line = talker.plain()
        space -= len(line) + 1
        if space >= 0 or not lines:
            lines.append(line)
    return lines
