"""Write down everything that a memory shows in a world, so that two plays can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.errors import BudgetUnsatisfiable

if TYPE_CHECKING:
    from memsim.strategy import Query
    from memsim.testing.check_cases import Case
    from memsim.testing.worlds import World

View = Sequence[tuple[str, str]]
"""What was looked at, and its text; in the order of looking."""


def view_of(world: World, *, ordered: bool = False) -> View:
    """Everything that a world has shown and shows now.

    Args:
        world: after it has played its case.
        ordered: surfaces in the order in which they are listed.
    """
    seen = [
        (f"turn {s.query.turn}, {s.query.principal}", repr((s.context, str(s.refused))))
        for s in world.transcript.sights
        if s.delivered
    ]
    seen.append(("what it raised", f"{world.transcript.failed} {world.transcript.crashed}".strip()))
    if world.over:
        return seen
    seen += [
        (f"the question of {who}", world.context_text(world.query(text, who)))
        for who in world.case.principals
        for text in world.case.questions
    ]
    if "surfaces" in world.subject.claims.has:
        listed = [repr(surface) for surface in world.memory.surfaces()]
        seen.append(("its surfaces", "\n".join(listed if ordered else sorted(listed))))
    if "save" in world.subject.claims.has:
        seen.append(("its saved state", world.saved()))
    return seen


def difference(one: View, other: View) -> str:
    """Where two views differ first, and how; empty where they do not."""
    for (name, left), (_, right) in zip(one, other, strict=False):
        if left != right:
            at = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
            start = max(0, at - 12)
            return f"{name}: {left[start : at + 28]!r} became {right[start : at + 28]!r}"
    if len(one) != len(other):
        return f"{one[-1][0]}: {one[-1][1]!r} became {other[-1][1]!r}"[:160]
    return ""


# What a question is answered from, by ids and by the codes in its text.

CODE = re.compile(r"K-\d{4}")
WIDE = 20_000
"""A budget in which everything that was said has room."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Ids and codes that somebody is shown."""

    text: str
    ids: frozenset[str]
    verbatim: frozenset[str]
    codes: frozenset[str]


def shown(world: World, query: Query) -> Answer:
    """What a question is answered from."""
    try:
        context = world.memory.context(query).ranked()
    except BudgetUnsatisfiable as error:
        return Answer(str(error), frozenset(), frozenset(), frozenset())
    text = "\n".join(m.text for s in context.sections for m in s.messages)
    ids = frozenset((*context.verbatim, *context.derived, *context.ranking))
    return Answer(repr(context), ids, frozenset(context.verbatim), frozenset(CODE.findall(text)))


def found_messages(world: World, case: Case) -> set[str]:
    """Ids of the messages with a code that are found by their own words."""
    if world.over:
        return set()
    found = set()
    for message in case.messages:
        codes = set(CODE.findall(message.text))
        if message.role == "user" and codes:
            query = world.query(message.text, message.principal, budget=WIDE)
            seen = shown(world, query)
            if message.id in seen.ids or codes <= seen.codes:
                found.add(message.id)
    return found
