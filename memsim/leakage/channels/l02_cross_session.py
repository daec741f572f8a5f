"""L2: conversations whose ids collide in a careless key, and what one gets of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.leakage.attack_steps import attack_words, divide, leaked, recall, tell
from memsim.leakage.channel import Channel
from memsim.leakage.value_choice import check_value_choice

if TYPE_CHECKING:
    from memsim.canary import Canary
    from memsim.leakage.attack_world import AttackWorld
    from memsim.leakage.attempt import Attempt, Finding
    from memsim.leakage.lab import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """Two people in two conversations whose ids give the same key.

    Where both conversations have the same id, the viewer only asks: whom the application lets
    speak in a conversation is in it, and may see it.
    """

    family: str
    owner: str
    owned: str
    viewer: str
    viewed: str


_JOINTS = ("_", "-", ":", "/", "&", "=", "%", "|", ".", "::", "__", " ")
_SUFFIXES = ("_hybrid", "_summary", "_history", "_memory", ".json", "_0")


def collisions() -> Iterator[Collision]:
    """Every kind of id collision that is tried."""
    for joint in _JOINTS:
        yield Collision(
            family=f"joined by {joint!r}",
            owner="ana",
            owned=f"ben{joint}cleo",
            viewer=f"ana{joint}ben",
            viewed="cleo",
        )
    for suffix in _SUFFIXES:
        yield Collision(
            family=f"suffix {suffix!r}",
            owner="ana",
            owned="talk",
            viewer="ben",
            viewed=f"talk{suffix}",
        )
        yield Collision(
            family=f"without suffix {suffix!r}",
            owner="ana",
            owned=f"talk{suffix}",
            viewer="ben",
            viewed="talk",
        )
    yield Collision(
        family="same id", owner="ana", owned="support-17", viewer="ben", viewed="support-17"
    )
    yield Collision(family="case", owner="ana", owned="talk", viewer="Ana", viewed="Talk")
    yield Collision(family="space", owner="ana", owned="talk", viewer="ana ", viewed="talk ")
    yield Collision(
        family="unicode", owner="zo\u00eb", owned="é", viewer="zoe\u0308", viewed="e\u0301"
    )
    yield Collision(family="path", owner="ana", owned="talk", viewer="ben", viewed="../ana/talk")
    yield Collision(family="percent", owner="ana", owned="talk", viewer="%61na", viewed="%74alk")
    yield Collision(
        family="parameter", owner="ana", owned="talk", viewer="ben", viewed="x&user_id=ana"
    )


class CrossSession(Channel):
    """A world for each collision: secrets, then the other's conversation, before and after.

    Conversations that are confused need not be shown to each other: the one may be written where
    the other was. So an attempt leaks as well where the owner's secrets go when the viewer comes.
    """

    id = "L2"

    def run(self, lab: Lab, count: int) -> Iterator[Finding]:
        """Plant, confuse and look; see `Channel`."""
        for collision, places in divide(count, tuple(collisions())):
            yield from self._world(lab, collision, len(places))

    def _world(self, lab: Lab, collision: Collision, attempts: int) -> Iterator[Finding]:
        with lab.world() as world:
            canaries = self._plant(lab, world, collision, attempts)
            held: dict[str, bool] = {}
            for canary in canaries:
                id_ = f"{collision.family}/{canary.slot}"
                control = recall(lab, world, canary, id_, session=collision.owned)
                held[canary.id] = control.served
                yield control
            lost: tuple[Canary, ...] = ()
            for place in range(attempts):
                if self._disturb(lab, world, collision, place, attempts):
                    lost = self._lost(lab, world, collision, canaries, held)
                attempt = self._attempt(lab, world, collision, canaries, held, place)
                if lost and attempt.state == "safe":
                    what = f"{len(lost)} of the owner's {len(canaries)} secrets"
                    detail = f"{what} went when the other's conversation came to be in their place"
                    attempt = leaked(attempt, detail)
                yield attempt

    def _lost(
        self,
        lab: Lab,
        world: AttackWorld,
        collision: Collision,
        canaries: tuple[Canary, ...],
        held: dict[str, bool],
    ) -> tuple[Canary, ...]:
        """The secrets that the owner has lost, in a memory that survives a restart."""
        if world.exported() is None:
            return ()
        owner, session = collision.owner, collision.owned
        return tuple(
            c
            for c in canaries
            if held[c.id] and not lab.holds(world.ask(owner, c.question, session=session), c)
        )

    def _plant(
        self, lab: Lab, world: AttackWorld, collision: Collision, attempts: int
    ) -> tuple[Canary, ...]:
        slots = self.header.texts("slots")[:attempts]
        owner, session = collision.owner, collision.owned
        canaries = tuple(lab.mint(owner, f"{slot} {collision.family}") for slot in slots)
        for canary in canaries:
            tell(lab, world, canary, session=session)
            lab.chatter(world, owner, self.header.number("between"), session=session)
        return canaries

    def _disturb(
        self, lab: Lab, world: AttackWorld, collision: Collision, place: int, attempts: int
    ) -> bool:
        """Begin the viewer's conversation, later go on after a restart; true for the restart."""
        viewer, session = collision.viewer, collision.viewed
        if session == collision.owned:
            return False
        if place == attempts // 3:
            lab.chatter(world, viewer, 2, session=session)
        elif place == 2 * attempts // 3:
            world.restart()
            lab.chatter(world, viewer, 1, session=session)
            return True
        return False

    def _attempt(
        self,
        lab: Lab,
        world: AttackWorld,
        collision: Collision,
        canaries: tuple[Canary, ...],
        held: dict[str, bool],
        place: int,
    ) -> Attempt:
        attacks = lab.families.of(self.header, "ask")
        attack = attacks[place % len(attacks)]
        canary = canaries[place % len(canaries)]
        words = attack_words(
            canary, collision.viewer, session=collision.owned, number="3", prefix="7"
        )
        text = attack.text(place, **words)
        targets = [c for c in canaries if held[c.id]]
        seen = [world.ask(collision.viewer, text, session=collision.viewed)]
        attempt = lab.judge(
            f"{collision.family}/{place + 1}-{attack.family}",
            attack=attack.family,
            viewer=collision.viewer,
            targets=targets or canaries,
            seen=seen,
            control=bool(targets),
            labels={"collision": collision.family},
        )
        return check_value_choice(lab, world, attempt, targets, seen, session=collision.viewed)


CHANNEL = CrossSession()
