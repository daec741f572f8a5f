"""Doubles that write texts of their own for the wrong reader, in the wrong role, or lose a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memsim.testing.doubles.honest import Honest

if TYPE_CHECKING:
    from memsim.message import Message
    from memsim.testing.doubles.drawers import Drawer


class SharedSummary(Honest):
    """One summary of what everybody said, for everybody."""

    def summary_of(self, principal: str) -> dict[str, str]:
        every = [line for d in self.drawers.values() for line in d.summary.items()]
        return dict(every)


class SystemSummary(Honest):
    """Its summary, and what it recalls, speak as the system."""

    voice: Literal["user", "system"] = "system"


class UnpinnedRule(Honest):
    """A standing rule is a message like any other, and leaves with the others."""

    def pin(self, drawer: Drawer, message: Message) -> None:
        drawer.history[message.id] = message
        drawer.take_in(message)
        self.talk(message.principal, message.session).window.add(message)
