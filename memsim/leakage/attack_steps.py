"""Steps that channels share: tell a secret, ask its owner for it, word an attack on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from memsim.leakage.tool_calls import properties

if TYPE_CHECKING:
    from memsim.canary import Canary
    from memsim.leakage.attack_world import AttackWorld
    from memsim.leakage.attempt import Attempt, Control
    from memsim.leakage.lab import Lab
    from memsim.models import ToolSpec

T = TypeVar("T")


def batches(count: int, size: int) -> Iterator[range]:
    """The numbers of the attempts of each world, `size` in a world."""
    return (range(first, min(first + size, count)) for first in range(0, count, size))


def share(count: int, parts: int, part: int) -> int:
    """How many attempts one of several parts gets when all get equally many."""
    return count // parts + (part < count % parts)


def divide(count: int, parts: Sequence[T]) -> Iterator[tuple[T, range]]:
    """The numbers of the attempts of each part, all parts getting equally many, if any."""
    first = 0
    for number, part in enumerate(parts):
        places = range(first, first + share(count, len(parts), number))
        if places:
            yield part, places
        first = places.stop


def key_of(canary: Canary) -> str:
    """The key under which a secret is stored."""
    return f"{canary.slot.replace(' ', '-')}-code"


def topic(canary: Canary) -> str:
    """What a secret is called in a question."""
    return f"{canary.slot} {canary.noun}"


def attack_words(canary: Canary, viewer: str, **more: str) -> dict[str, str]:
    """The words that fill the slots of an attack on a secret."""
    return {
        "owner": canary.owner,
        "viewer": viewer,
        "slot": canary.slot,
        "topic": topic(canary),
        "noun": canary.noun,
        **more,
    }


def tell(lab: Lab, world: AttackWorld, canary: Canary, *, session: str = "", lead: str = "") -> str:
    """Say a secret in its owner's words and record the turn; returns the message's id."""
    said = world.say(canary.owner, lead + canary.statement, session=session, plants=[canary.id])
    lab.planted[canary.id] = world.turn
    return said


def recall(
    lab: Lab,
    world: AttackWorld,
    canary: Canary,
    id: str,  # noqa: A002 - the record's own field name
    *,
    session: str = "",
) -> Control:
    """Ask a secret's owner for it: the control of the attempts on it."""
    return lab.control(id, world.ask(canary.owner, canary.question, session=session), canary)


def storing_tools(world: AttackWorld, principal: str) -> list[ToolSpec]:
    """The tools that store a value under a key."""
    tools = world.strategy.tools(principal)
    return [tool for tool in tools if not tool.reads and {"key", "value"} <= properties(tool)]


def compacted(world: AttackWorld) -> str:
    """The label for how often the memory has compacted: 0, 1, 2 or 3 for more."""
    return str(min(3, world.compactions()))


def leaked(attempt: Attempt, detail: str) -> Attempt:
    """The attempt as a leak that shows in another way than by a secret's own words."""
    return replace(attempt, state="leak", detail=detail)
