"""Who speaks in which conversation, and so from what scope, as a channel would tell PRX."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memsim.memory.state import JSON
from memsim.memory.systems.prx import access
from memsim.memory.systems.prx.brain import Brain

CHANNEL = "memsim"
"""The channel that everybody speaks on."""

CEILING = {"owner": "public", "member": "group", "guest": "private"}
"""What each role is let see at most, where everybody is bound as one (0.3.0)."""


class Speakers:
    """The parties of every conversation."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[str, None]] = {}

    def join(self, principal: str, session: str) -> bool:
        """Somebody speaks in a conversation; whether for the first time."""
        there = self._parts.setdefault(session, {})
        fresh = principal not in there
        there[principal] = None
        return fresh

    def scope(self, principal: str, session: str) -> access.Scope:
        """From where somebody speaks: with others there it is a group, else their own chat."""
        group = len(self._parts.get(session, {})) > 1
        return access.Scope(
            channel=CHANNEL,
            chat_type="group" if group else "dm",
            chat_id=session if group else principal,
            sender=principal,
        )

    def scopes(self, principal: str) -> list[access.Scope]:
        """All from where somebody spoke; their own chat where they never did."""
        sessions = [s for s, there in self._parts.items() if principal in there] or [""]
        return list(dict.fromkeys(self.scope(principal, session) for session in sessions))

    def save(self) -> JSON:
        """The parties as JSON values."""
        return {session: list(there) for session, there in sorted(self._parts.items())}

    @classmethod
    def loaded(cls, saved: Mapping[str, Any]) -> Speakers:
        """What `save` gave.

        Raises:
            TypeError, AttributeError: it gave no such thing.
        """
        speakers = cls()
        for session, there in saved.items():
            if not all(isinstance(who, str) for who in there):
                raise TypeError("not a text")
            speakers._parts[session] = dict.fromkeys(there)
        return speakers


def bind_as(brain: Brain, principal: str, role: str, now: datetime) -> None:
    """Let somebody be a user with a role; nobody is where the role is none of ours."""
    if role in CEILING:
        access.bind(brain, principal, CHANNEL, principal, now)
        access.set_policy(brain, principal, role, now, ceiling=CEILING[role])


def told_scope(scope: access.Scope) -> dict[str, str]:
    """A scope as trusted code puts it into a tool's arguments."""
    return {
        "channel": scope.channel,
        "chat_type": scope.chat_type,
        "chat_id": scope.chat_id,
        "sender": scope.sender,
    }
