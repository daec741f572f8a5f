"""Others who speak: in the conversation of the user, or each in private ones of their own.

    Hugo: I drink nothing but Trikoland tea.

Where they are private, Hugo is a principal, says it in his own session of the same day without his
name before it, and nobody else may see it. The story beneath is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memsim.scenario.generator.event_log import StoryEvent

PRIVATE = "private"


class PrincipalText(NamedTuple):
    """Who says something, empty for the user, and what they say."""

    principal: str
    text: str


def spoken(subject: str, text: str) -> PrincipalText:
    """Who says a text of a subject's, and what stands behind their name."""
    named = f"{subject}: "
    if not text.startswith(named):
        return PrincipalText("", text)
    return PrincipalText(subject.replace(" ", "_"), text.removeprefix(named))


def by_principal(
    told: Sequence[tuple[int, StoryEvent]],
) -> dict[str, list[tuple[int, StoryEvent]]]:
    """What is told in a session, by who says it; what the user says comes last."""
    found: dict[str, list[tuple[int, StoryEvent]]] = {}
    for place, event in told:
        found.setdefault(spoken(event.subject, event.text).principal, []).append((place, event))
    found[""] = found.pop("", [])
    return found


def principals_of(events: Iterable[StoryEvent]) -> tuple[str, ...]:
    """Everybody but the user who says something, in order."""
    names = (spoken(event.subject, event.text).principal for event in events)
    return tuple(dict.fromkeys(filter(None, names)))
