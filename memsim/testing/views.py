"""Everything that one principal is shown at a point, by name, and the way by which it came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from memsim.context import SECTIONS
from memsim.leakage.tooluse import arguments
from memsim.testing.cases import Elapse, Forgotten, Granted, Happening, Turn
from memsim.testing.invariants.acl import actor

if TYPE_CHECKING:
    from memsim.testing.worlds import Sight, World

Piece = tuple[str, tuple[str, ...]]
"""A text, and the ids of the messages that it quotes or says that it was made from."""


@dataclass(frozen=True, slots=True)
class View:
    """One thing that somebody was shown, piece by piece."""

    pieces: tuple[Piece, ...] = ()

    @property
    def data(self) -> bytes:
        """It as bytes, a line for each piece."""
        return "\n".join(text for text, _ in self.pieces).encode("utf-8", "surrogatepass")

    def at(self, byte: int) -> tuple[str, ...]:
        """Ids of the messages that the piece at a byte was made from."""
        end = 0
        for text, made_from in self.pieces:
            end += len(text.encode("utf-8", "surrogatepass")) + 1
            if byte < end:
                return made_from
        return ()


def views(world: World, who: str) -> dict[str, View]:
    """What one principal is shown: contexts, tools' answers and tiers; errors as they come.

    Args:
        world: is asked, which changes nothing in it.
        who: looks.
    """
    return dict(_views(world, who))


def path(
    world: World,
    who: str,
    view: str,
    made_from: Sequence[str],
    happened: Sequence[Happening],
    *,
    less: bool = False,
) -> Iterator[str]:
    """The way by which something came to somebody, or was kept from them, a stop each.

    Args:
        world: in which it came.
        who: sees it.
        view: where.
        made_from: ids of the messages that it says it was made from.
        happened: so far.
        less: whether this world shows less of it than the other.
    """
    said = {m.id: (t.number, m.principal) for t in _turns(happened) for m in (*t.heard, *t.reply)}
    foreign = {i for i in made_from if said.get(i, (0, who))[1] != who}
    for event in happened:
        if actor(event) not in {who, ""} and (not foreign or foreign & set(_ids(event))):
            yield _told(event)
    if "summary" in view and foreign:
        first, last = (of(said[i][0] for i in foreign) for of in (min, max))
        yield "a summary of " + (f"turn {first}" if first == last else f"turns {first} to {last}")
    elif not foreign and any(
        e.kind == "compaction" for x in world.transcript.ends for e in x.events
    ):
        yield "a compaction"
    how = f"missing because of it for {who}" if less and not foreign else f"seen by {who}"
    yield f"{how} after turn {last_turn(happened)} in the {view}"


def last_turn(happened: Sequence[Happening]) -> int:
    """The number of the latest turn."""
    return max((turn.number for turn in _turns(happened)), default=0)


def _views(world: World, who: str) -> Iterator[tuple[str, View]]:
    sent = [s for s in world.transcript.sights if s.delivered and s.query.principal == who]
    if sent:
        yield from _context(sent[-1], f"context of turn {sent[-1].query.turn}")
    failed = world.transcript.failed
    yield "error", View(((world.transcript.crashed or str(failed or ""), ()),))
    if world.over:
        return
    for text in world.case.questions:
        yield from _context(world.ask(text, who), f"context for {text!r}")
        yield from _tools(world, who, text)
    if "surfaces" in world.subject.claims.has:
        tiers = sorted((s.tier, s.sources, s.text) for s in world.memory.surfaces(who))
        for tier, found in groupby(tiers, key=lambda surface: surface[0]):
            yield f"tier {tier}", View(tuple((text, ids) for _, ids, text in found))


def _context(sight: Sight, name: str) -> Iterator[tuple[str, View]]:
    yield f"{name}, refused", View(((str(sight.refused or ""), ()),))
    sections = {section.layer: section for section in sight.context.sections}
    for layer in SECTIONS:
        messages = sections[layer].messages if layer in sections else ()
        pieces = tuple(
            (f"{m.role} {m.principal}: {m.text}", (*m.verbatim, *m.derived_from)) for m in messages
        )
        yield f"{name}, {layer}", View(pieces)
    # Order, counts, ids and ranks: whatever else a caller is given.
    yield f"{name}, as a whole", View(((repr(sight.context.ranked()), ()),))


def _tools(world: World, who: str, text: str) -> Iterator[tuple[str, View]]:
    offered = tuple(world.memory.tools(who))
    yield "list of tools", View(((repr(offered), ()),))
    for tool in offered:
        if tool.reads:
            try:
                said = world.memory.call_tool(tool.name, json.dumps(arguments(tool, text)), who)
            except Exception as error:  # noqa: BLE001 - a stranger's code: what it raises is seen
                said = f"{type(error).__name__}: {error}"
            yield f"answer of {tool.name}", View(((said, ()),))


def _told(event: Happening) -> str:
    if isinstance(event, Turn):
        said = event.heard[-1].text if event.heard else "nothing"
        return f"said at turn {event.number} by {event.who}: {said[:60]!r}"
    if isinstance(event, Forgotten):
        return f"{event.who} asks to forget {', '.join(event.sources) or 'something'}"
    if isinstance(event, Granted):
        verb = "takes back" if event.revoked else "shares"
        return f"{event.owner} {verb} {', '.join(event.sources) or 'all'}"
    return "time passes"


def _ids(event: Happening) -> tuple[str, ...]:
    if isinstance(event, Turn):
        return tuple(m.id for m in (*event.heard, *event.reply))
    return () if isinstance(event, Elapse) else event.sources


def _turns(happened: Sequence[Happening]) -> list[Turn]:
    return [event for event in happened if isinstance(event, Turn)]
