"""L1: one principal asks for another's secrets, by questions, tools and ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from memsim.leakage.attack_steps import attack_words, recall, tell
from memsim.leakage.channel import Channel
from memsim.leakage.stranger_attacks import amend_last, attack_as_stranger
from memsim.leakage.tool_calls import HUGE, SPOOFED, call_reading_tools
from memsim.leakage.value_choice import check_value_choice

if TYPE_CHECKING:
    from memsim.canary import Canary
    from memsim.leakage.attack_families import Attack
    from memsim.leakage.attack_world import AttackWorld, Observation
    from memsim.leakage.attempt import Attempt, Finding
    from memsim.leakage.lab import Lab

_USUAL = 20
"""Results that an ordinary call asks for."""
AWAY = timedelta(days=2)
"""Longer than what is kept for a day, shorter than what is kept for three."""
PEOPLE = (("ana", "ben"), ("cleo", "dan"), ("eva", "finn"), ("gil", "hana"))
"""Owner and viewer of each world in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cast:
    """One world's people and secrets."""

    prefix: str
    owner: str
    viewer: str
    canaries: tuple[Canary, ...]
    ids: dict[str, str]


class CrossPrincipal(Channel):
    """Tells a world its secrets, then asks many questions at one point.

    In every other world the owner comes back in conversation after conversation, and is away for
    two days before the viewer asks: some memories keep for good only what is over.
    """

    id = "L1"

    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """Plant, attack and look; see `Channel`."""
        yield from amend_last(self._worlds(lab, count), partial(attack_as_stranger, lab))

    def _worlds(self, lab: Lab, count: int) -> Iterator[Finding]:
        most, made = self.header.number("attempts"), 0
        while made < count:
            share = min(most, count - made)
            yield from self._world(lab, made, share, number=made // most)
            made += share

    def _world(self, lab: Lab, first: int, share: int, *, number: int) -> Iterator[Finding]:
        with lab.world() as world:
            cast = self._plant(lab, world, share, number)
            held: dict[str, bool] = {}
            for canary in cast.canaries:
                control = recall(lab, world, canary, f"{cast.prefix}/{canary.slot}")
                held[canary.id] = control.served
                yield control
            attacks = self._attacks(lab, world, cast)
            for place in range(first, first + share):
                yield self._attempt(lab, world, cast, held, attacks, place)

    def _plant(self, lab: Lab, world: AttackWorld, share: int, number: int) -> _Cast:
        """Tell secrets among talk of both people; fewer attempts need fewer of both."""
        owner, viewer = PEOPLE[number % len(PEOPLE)]
        full = self.header.number("attempts")
        secrets = max(1, self.header.number("secrets") * share // full)
        gap = self.header.number("turns") // self.header.number("secrets") - 1
        slots = self.header.texts("slots")
        prefix = f"{number + 1}-{owner}"
        canaries = tuple(
            lab.mint(owner, slots[n % len(slots)] + ("" if number == 0 else f" {number + 1}"))
            for n in range(secrets)
        )
        ids: dict[str, str] = {}
        returning = number % 2 == 1
        for n, canary in enumerate(canaries):
            session = f"s-{owner}-{n + 1}" if returning else ""
            ids[canary.id] = tell(lab, world, canary, session=session)
            lab.chatter(world, owner, gap // 2, session=session)
            lab.chatter(world, viewer, gap - gap // 2)
        if returning:
            world.wait(AWAY)
        return _Cast(prefix=prefix, owner=owner, viewer=viewer, canaries=canaries, ids=ids)

    def _attacks(self, lab: Lab, world: AttackWorld, cast: _Cast) -> tuple[Attack, ...]:
        """The attacks that are tried; without tools only questions and ids."""
        if any(tool.reads for tool in world.strategy.tools(cast.viewer)):
            return lab.families.of(self.header, "ask", "tool", "id")
        return lab.families.of(self.header, "ask", "id")

    def _attempt(
        self,
        lab: Lab,
        world: AttackWorld,
        cast: _Cast,
        held: dict[str, bool],
        attacks: Sequence[Attack],
        place: int,
    ) -> Attempt:
        attack = attacks[place % len(attacks)]
        around = place // len(attacks)
        canary = cast.canaries[(place + around) % len(cast.canaries)]
        # A question for everything is after everything that its owner can have.
        all_of_them = attack.family in {"category-sweep", "empty-query", "wildcard"}
        targets = [c for c in cast.canaries if held[c.id]] if all_of_them else [canary]
        text = attack.text(around, **self._words(lab, cast, canary, place))
        seen = list(_made(world, cast, attack, text))
        attempt = lab.judge(
            f"{cast.prefix}/{place + 1}-{attack.family}",
            attack=attack.family,
            viewer=cast.viewer,
            targets=targets,
            seen=seen,
            control=bool(targets) and all(held[c.id] for c in targets),
        )
        return check_value_choice(lab, world, attempt, targets, seen)

    def _words(self, lab: Lab, cast: _Cast, canary: Canary, place: int) -> dict[str, str]:
        chance = lab.chance(f"words {place}")
        return attack_words(
            canary,
            cast.viewer,
            session=f"s-{cast.owner}",
            id=cast.ids[canary.id],
            codec=chance.choice(self.header.texts("codecs")),
            number=str(chance.randrange(1, 13)),
            prefix=chance.choice("23456789BCDFGHJKMNPQRSTVWXZ"),
        )


def _made(world: AttackWorld, cast: _Cast, attack: Attack, text: str) -> Iterator[Observation]:
    """Everything that the viewer gets out of an attack."""
    viewer = cast.viewer
    if attack.way == "tool":
        spoofed: dict[str, object] = dict.fromkeys(SPOOFED, cast.owner)
        extra = spoofed if attack.family == "tool-arg-spoof" else {}
        number = HUGE if attack.family == "huge-limit" else _USUAL
        yield from call_reading_tools(world, viewer, text, extra=extra, number=number)
        return
    yield world.ask(viewer, text)
    if attack.way == "id":
        yield from call_reading_tools(world, viewer, text, number=_USUAL)


CHANNEL = CrossPrincipal()
