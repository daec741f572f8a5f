"""Working memory as entries, so that whoever looks into a memory sees it beside the rest."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from memsim.memory.canonical import canonical
from memsim.memory.conversation import Conversation
from memsim.memory.derived import Erased
from memsim.memory.entry import Entry
from memsim.memory.working import TTL
from memsim.message import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.memory.saved import SavedMemory

WORKING = "working"
"""The layer, and the category that a filter knows it by."""


def at_hand(memory: SavedMemory, who: str | None) -> Iterator[Entry]:
    """What conversations have at hand: an entry for each field, dated when it was last used.

    Args:
        memory: whose working memory.
        who: under access control only what is theirs; None for everybody's.
    """
    saved: Any = memory.working.save()
    for principal, session, document in saved:
        if memory.options.acl and who not in {None, principal}:
            continue
        for name in memory.working.peek(Conversation(principal, session), memory.now()):
            yield _entry(principal, session, name, document)


def drop(memory: SavedMemory, who: str, key: str) -> Erased:
    """Take out somebody's own field with a key that `at_hand` gives; what there was of it."""
    for entry in at_hand(memory, who):
        if (entry.owner, entry.key) == (who, key):
            names = {key.partition("\n")[0]}
            memory.working.remove(Conversation(who, entry.session), names, memory.now())
            # Of no message: what else is to go with whatever is forgotten, and it is kept.
            rest = memory.forget(who, ())
            return Erased(entries=(entry,), beside=rest.beside)
    return Erased()


def _entry(principal: str, session: str, name: str, document: Any) -> Entry:  # noqa: ANN401 - as saved
    value, until = document["fields"][name], document["until"]
    used = EPOCH if until is None else datetime.fromisoformat(until) - TTL
    return Entry(
        key=f"{name}\n{session}",
        text=value if isinstance(value, str) else canonical(value),
        owner=principal,
        layer="working",
        category=WORKING,
        session=session,
        created=used,
        updated=used,
    )
