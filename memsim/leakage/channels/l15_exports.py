"""L15: exports, file names and memsim's own records must not contain a secret.

A strategy's own files and the state that its operator saves are its store, and hold what it holds:
they are searched after an erasure, by L7. An artefact is what leaves it: what another principal is
shown as an export, what that principal finds when the state is taken over elsewhere, what the
files are called, and the lines that a run of channels itself writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memsim.leakage.attack_steps import leaked, storing_tools, tell
from memsim.leakage.attack_world import Observation
from memsim.leakage.attempt import finding_record
from memsim.leakage.channel import Channel, fit_for_records
from memsim.leakage.tool_calls import arguments

if TYPE_CHECKING:
    from memsim.canary import Canary
    from memsim.leakage.attack_world import AttackWorld
    from memsim.leakage.attempt import Attempt, Finding
    from memsim.leakage.lab import Lab

OWNER, OTHER = "ana", "ben"
SHOWN, TAKEN, TWICE, NAMES, RECORDS = (
    "shown",
    "taken over",
    "taken over twice",
    "names of files",
    "records",
)


@dataclass(slots=True, kw_only=True)
class ExportLeak:
    """What can be had of a world by each way.

    Attributes:
        views: by way, and by secret where one was asked for; under an empty id what is the same
            for all of them.
        held: ids of the secrets that their owner could recall, by way.
    """

    views: dict[str, dict[str, list[Observation]]] = field(default_factory=dict)
    held: dict[str, set[str]] = field(default_factory=dict)

    def of(self, way: str, canary: Canary) -> list[Observation]:
        """Everything that was seen by a way of a secret."""
        views = self.views[way]
        return [*views.get(canary.id, ()), *views.get("", ())]


class Exports(Channel):
    """A world of secrets at a time, whose artefacts are made once and searched for each of them."""

    id = "L15"

    def play_world(self, lab: Lab, number: int, places: range) -> Iterator[Finding]:
        """Plant, export and search; see `Channel`."""
        with lab.world() as world:
            canaries = self._plant(lab, world, number, max(2, len(places) // 3))
            told: list[Finding] = []
            held = set()
            for canary in canaries:
                seen = world.ask(OWNER, canary.question)
                told.append(lab.control(f"{number + 1}/{canary.slot}", seen, canary))
                if lab.holds(seen, canary):
                    held.add(canary.id)
            yield from told
            found = _found(lab, world, canaries, held)
            ways = list(found.views)
            for n, place in enumerate(places[:-1]):
                canary = canaries[n % len(canaries)]
                way = ways[(n + n // len(canaries)) % len(ways)]
                attempt = self._attempt(lab, found, canary, way, place)
                told.append(attempt)
                yield attempt
            yield self._own(lab, world, canaries, held, places[-1], told)

    def _plant(self, lab: Lab, world: AttackWorld, number: int, secrets: int) -> list[Canary]:
        """Tell secrets among talk of both; where keys name something, one holds the secret."""
        slots, gap = self.header.texts("slots"), self.header.number("between")
        canaries = [
            lab.mint(OWNER, f"{slots[n % len(slots)]} {n + 1}-{number + 1}") for n in range(secrets)
        ]
        for canary in canaries:
            tell(lab, world, canary)
            for tool in storing_tools(world, OWNER):
                sent = arguments(tool, canary.statement, number=1)
                world.call(OWNER, tool.name, {**sent, "key": f"code {canary.token}"})
            lab.chatter(world, OWNER, gap)
            lab.chatter(world, OTHER, 1)
        return canaries

    def _attempt(
        self, lab: Lab, found: ExportLeak, canary: Canary, way: str, place: int
    ) -> Attempt:
        attempt = lab.judge(
            f"{place + 1}-{way.replace(' ', '-')}/{canary.slot}",
            attack="export-import",
            viewer="" if way == NAMES else OTHER,
            targets=[canary],
            seen=found.of(way, canary),
            control=canary.id in found.held[way],
            labels={"artefact": way},
        )
        if way != NAMES or attempt.state == "leak":
            return attempt
        packed = lab.packed_trails([canary], found.of(way, canary))
        return replace(leaked(attempt, "encoded"), trails=packed) if packed else attempt

    def _own(
        self,
        lab: Lab,
        world: AttackWorld,
        canaries: Sequence[Canary],
        held: set[str],
        place: int,
        told: Sequence[Finding],
    ) -> Attempt:
        """The lines that this very world adds to the run's records."""
        lines = (json.dumps(finding_record(fit_for_records(f, lab)), default=dict) for f in told)
        view = Observation(surface="report", viewer="", turn=world.turn, text="\n".join(lines))
        attempt = lab.judge(
            f"{place + 1}-{RECORDS}",
            attack="export-import",
            viewer="",
            targets=canaries,
            seen=[view],
            control=bool(held),
            labels={"artefact": RECORDS},
        )
        return attempt if attempt.state != "leak" else replace(attempt, detail="of memsim's own")


def _found(lab: Lab, world: AttackWorld, canaries: Sequence[Canary], held: set[str]) -> ExportLeak:
    found = ExportLeak()

    def note(way: str, views: dict[str, list[Observation]], had: set[str]) -> None:
        found.views[way], found.held[way] = views, had

    names = "\n".join(name for name, _ in world.files())
    view = Observation(surface="file", viewer="", turn=world.turn, text=names)
    note(NAMES, {"": [view]}, held)
    if world.inspectable:
        note(SHOWN, {"": list(world.surfaces(OTHER))}, held)
    saved = world.exported()
    if saved is None:
        return found
    with lab.world() as other:
        other.skip(world.turn)
        for way in (TAKEN, TWICE):
            other.restore(saved.text)
            asked = {c.id: [other.ask(OTHER, c.question)] for c in canaries}
            asked[""] = list(other.surfaces(OTHER)) if other.inspectable else []
            had = {c.id for c in canaries if lab.holds(other.ask(OWNER, c.question), c)}
            note(way, asked, had)
    return found


CHANNEL = Exports()
