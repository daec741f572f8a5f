"""What AgenticX puts into a prompt beside the messages, and which messages that came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memsim.message import composed, said

if TYPE_CHECKING:
    from memsim.memory.systems.agenticx.studio import Studio
    from memsim.message import Message

Statements = Sequence[tuple[str, tuple[str, ...]]]
"""What the long-term backend knows, each with the ids of the messages that it came from."""


def core(roots: Mapping[str, str]) -> tuple[Message, ...]:
    """The identity files, by name, as far as they say anything."""
    texts = [text for text in roots.values() if text]
    return (composed("system", "\n\n".join(texts), id="workspace:core"),) if texts else ()


def recalled(
    studio: Studio, session: str, text: str, principal: str, turn: int
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """What was found in the workspace for a question, and the ids of where it came from."""
    found = studio.recall(session, said("user", text, id="asked", principal=principal))
    credit = studio.credit(found)
    if not found.text:
        return (), credit.sources
    message = composed(
        "system",
        found.text,
        id=f"recalled:{turn}",
        quotes=tuple(dict.fromkeys(credit.quotes)),
        derived_from=tuple(dict.fromkeys(credit.derived)),
    )
    return (message,), credit.sources


def stated(known: Statements, turn: int) -> tuple[Message, ...]:
    """What the long-term backend found."""
    if not known:
        return ()
    text = "\n".join(f"- {line}" for line, _ in known)
    sources = tuple(dict.fromkeys(i for _, ids in known for i in ids))
    return (composed("system", text, id=f"mem0:{turn}", derived_from=sources),)


def scratchpad(studio: Studio, session: str) -> tuple[Message, ...]:
    """The notes of a session."""
    notes = studio.seen(session).scratchpad
    if not notes:
        return ()
    credit = studio.lines(notes.shown_facts())
    message = composed(
        "system",
        notes.rendered(),
        id=f"scratchpad:{session}",
        quotes=tuple(dict.fromkeys(credit.quotes)),
        derived_from=tuple(dict.fromkeys(credit.derived)),
    )
    return (message,)
