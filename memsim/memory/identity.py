"""Which messages a memory knows: an id is one message's, whichever conversation it is said in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.memory.layers.episodic import exchange

if TYPE_CHECKING:
    from memsim.memory.backlog import Backlog
    from memsim.memory.conversations import Conversations
    from memsim.memory.entry import Entry
    from memsim.memory.layers.episodic import Episodic
    from memsim.memory.timeline import Timeline
    from memsim.memory.vault import Vault
    from memsim.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Tells a message that is new from one that is said once more, and from another of its id.

    A principal's messages each have an id of their own, and so have those of a conversation. The
    id of what was forgotten, or purged, may be used again.
    """

    backlog: Backlog
    timeline: Timeline
    conversations: Conversations
    episodic: Episodic
    vault: Vault

    def is_new(self, message: Message) -> bool:
        """Whether nothing of a message's id is known; the store is read only where something is.

        Raises:
            ValueError: it can be kept in no store, or another message has its id.
            StoreError: what is on record under its id cannot be read.
        """
        exchange(message)
        if "\n" in message.id:
            raise ValueError(f"the id of a message has several lines: {message.id!r}")
        waiting = self.backlog.called(message)
        if waiting and waiting != [message]:
            raise _another(message)
        if waiting or not self.conversations.is_new(message):
            return False
        known = self.timeline.entries(message.principal, message.id)
        if known:
            return not self._is_held(message, known)
        if self.timeline.is_taken(message.session, message.id):
            raise _another(message)
        return True

    def _is_held(self, message: Message, known: list[str]) -> bool:
        held = {e.id: e for e in self.vault.store.get(known)}
        if not held:
            # An erasure that failed on its way took it out of the store, and no further.
            self.timeline.remove(known)
            return False
        made = {e.id: e for e in self.episodic.entries(message)}
        if made.keys() != held.keys() or not all(_alike(held[i], made[i]) for i in made):
            raise _another(message)
        return True


def _alike(held: Entry, made: Entry) -> bool:
    """Whether both say the same; who may read it, and what time has done to it, is left out."""
    return (held.text, held.session, held.created, held.attributes) == (
        made.text,
        made.session,
        made.created,
        made.attributes,
    )


def _another(message: Message) -> ValueError:
    return ValueError(f"another message is called {message.id!r}: an id is one message's")
