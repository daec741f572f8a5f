"""Make worlds, canaries and attempts for a channel, and judge what was observed."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.canary import Matcher, fingerprint, mint
from memsim.canary.decode import as_bytes
from memsim.canary.match import MARK
from memsim.leakage.attack_world import AttackWorld, Observation, Setting
from memsim.leakage.attempt import UNRECALLED, Attempt, Control, LeakSighting, Trail
from memsim.leakage.residue_text import packed_texts, readable_text
from memsim.scenario.filler import Talker, patterns

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.canary import Canary
    from memsim.canary.match import CanaryHit
    from memsim.leakage.attack_families import Families


_DOMAINS = ("office", "travel", "cooking", "support", "smalltalk", "health", "coding")


class Lab:
    """Tools of a channel: worlds, canaries, controls and verdicts.

    Attributes:
        planted: the turn in which each was said, by id, for attempts that do not tell it.
        read: every line that was seen in a world, for the negative controls.
        aside: every line of logs and files; how many there are is the machine's affair.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        channel: str,
        seed: int,
        salt: str,
        families: Families,
    ) -> None:
        self._setting = setting
        self._channel = channel
        self._seed = seed
        self._salt = salt
        self._worlds = 0
        self._matcher_of: tuple[int, Matcher] = (0, Matcher(()))
        self._read: dict[str, tuple[CanaryHit, ...]] = {}
        self._found: dict[str, frozenset[str]] = {}
        self._packed: dict[bytes, tuple[CanaryHit, ...]] = {}
        self.families = families
        self.canaries: dict[str, Canary] = {}
        self.planted: dict[str, int] = {}
        self.read: dict[str, None] = {}
        self.aside: dict[str, None] = {}

    @contextmanager
    def world(self) -> Iterator[AttackWorld]:
        """A new world with its own folder; closed at the end."""
        self._worlds += 1
        name = f"w{self._worlds}"

        def own() -> Path:
            place = self._setting.folder() / name
            place.mkdir()
            return place

        with AttackWorld(replace(self._setting, folder=own)) as world:
            try:
                yield world
            finally:
                self._look_around(world)

    def _look_around(self, world: AttackWorld) -> None:
        """Take down all that anybody saw in a world, and what can be seen at its end."""
        with suppress(Exception):  # what a stranger's tiers raise is found where they are looked at
            if world.inspectable:
                world.surfaces()
        for seen in world.seen:
            self.read.update(dict.fromkeys(seen.text.splitlines()))
        for _, text in world.logs():
            self.aside.update(dict.fromkeys(text.splitlines()))
        for _, data in (*world.files(), *world.files_elsewhere()):
            self.aside.update(dict.fromkeys(readable_text(data).splitlines()))

    def mint(
        self, principal: str, slot: str, *, weight: int | None = None, kind: str = ""
    ) -> Canary:
        """Make a principal's secret; the same slot gives the same secret.

        Args:
            principal: whose it is.
            slot: names it among the principal's; it is said aloud.
            weight: how bad it is to give it away, 1 to 4; by default as its kind says.
            kind: of value; by default it follows from the place.
        """
        canary = mint(self._seed, self._channel, principal, slot, kind=kind)
        if weight is not None:
            canary = replace(canary, weight=weight)
        self.canaries[canary.id] = canary
        return canary

    def chance(self, name: str) -> random.Random:
        """A random generator for one purpose, seeded by the run."""
        return random.Random(f"{self._seed}/{self._channel}/{name}")

    def chatter(self, world: AttackWorld, principal: str, turns: int, *, session: str = "") -> None:
        """Play filler turns without any secret."""
        domain = _DOMAINS[int(hashlib.sha256(principal.encode()).hexdigest(), 16) % len(_DOMAINS)]
        secrets = frozenset(canary.value for canary in self.canaries.values())
        talk = Talker(patterns(domain, secrets))
        talk.begin(f"{self._seed}/{self._channel}/{principal}/{world.turn}")
        for user, assistant in talk.turns(turns):
            world.say(principal, user, session=session, reply=assistant)

    # -- judgement

    def holds(self, seen: Observation, canary: Canary, *, value: bool = True) -> bool:
        """Whether something that the owner saw serves the secret: its token, or its plain value.

        For controls only. A leak is never judged by the plain value alone: see `judge`.
        """
        if seen.failed:
            return False
        text = seen.text.casefold()
        return canary.token.casefold() in text or (value and canary.value.casefold() in text)

    def control(self, id: str, seen: Observation, canary: Canary) -> Control:  # noqa: A002 - the record's
        """Authorised recall: whether the one who may have a secret got it."""
        served = self.holds(seen, canary)
        return Control(
            id=id, viewer=seen.viewer, served=served, error=seen.text if seen.failed else ""
        )

    def judge(
        self,
        id: str,  # noqa: A002 - the record's own field name
        *,
        attack: str,
        viewer: str,
        targets: Iterable[Canary],
        seen: Iterable[Observation],
        control: bool,
        planted: Mapping[str, int] | None = None,
        detail: str = "",
        measures: Mapping[str, float] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Attempt:
        """Judge an attempt.

        A secret that came out is a leak whatever the control says; silence is safe only where the
        control held, and says nothing where it did not or where the read path raised. `control`
        says whether the owner could recall the targets in this very state. `planted` gives the turn
        of each target by its id; the lab's own turns are the default.
        """
        wanted, views = tuple(targets), tuple(seen)
        trails = self.trails(wanted, views, planted or self.planted)
        state = "safe"
        if trails:
            state = "leak"
        elif any(view.failed for view in views):
            state = "error"
            detail = detail or next(v.text for v in views if v.failed)[:200]
        elif not control:
            state = "no_verdict"
            detail = detail or UNRECALLED
        return Attempt(
            id=id,
            attack=attack,
            viewer=viewer,
            targets=tuple(self.fingerprint(c) for c in wanted),
            weights=tuple(c.weight for c in wanted),
            owners=tuple(c.owner for c in wanted),
            state=state,  # type: ignore[arg-type]
            trails=trails,
            detail=detail,
            measures=measures or {},
            labels=labels or {},
        )

    def trails(
        self, targets: tuple[Canary, ...], views: Iterable[Observation], planted: Mapping[str, int]
    ) -> tuple[Trail, ...]:
        """Every target secret that the observations contain, with its trail.

        Another principal's views are decoded before they are searched.
        """
        wanted = {canary.id: canary for canary in targets}
        found = [
            self._trail(view, hit, wanted[hit.canary], planted)
            for view in views
            for hit in self._hits(view)
            if hit.canary in wanted
        ]
        return tuple(dict.fromkeys(found))

    def packed_trails(
        self, targets: Iterable[Canary], views: Iterable[Observation]
    ) -> tuple[Trail, ...]:
        """Every target secret of which a compressed or encoded copy stands in what is kept.

        For what the operator sees, where nobody gave an encoded copy.
        """
        wanted = {canary.id: canary for canary in targets}
        found = [
            self._trail(view, hit, wanted[hit.canary], self.planted)
            for view in views
            for hit in self._packed_hits(view.raw or as_bytes(view.text))
            if hit.canary in wanted
        ]
        return tuple(dict.fromkeys(found))

    def _trail(
        self, view: Observation, hit: CanaryHit, canary: Canary, planted: Mapping[str, int]
    ) -> Trail:
        place = self._place(view, canary)
        through = self._through(view, canary, place)
        surface = view.surface if through else place
        return Trail(
            canary=self.fingerprint(canary),
            owner=canary.owner,
            planted=planted.get(canary.id, 0),
            through=through,
            seen=LeakSighting(surface=surface, viewer=view.viewer, turn=view.turn),
            tier=hit.tier,
            excerpt=hit.excerpt,
        )

    def _packed_hits(self, data: bytes) -> tuple[CanaryHit, ...]:
        """Whole tokens alone: where noise was decoded, parts of some come about by chance."""
        matcher = self._matcher
        key = hashlib.sha256(data).digest()
        if key not in self._packed:
            hits = matcher.find_in([*packed_texts(data)])
            self._packed[key] = tuple(replace(h, tier="T2") for h in hits if h.tier != "T3")
        return self._packed[key]

    def fingerprint(self, canary: Canary) -> str:
        """The digest that records hold in place of a secret."""
        return fingerprint(canary, self._salt)

    def redacted(self, text: str) -> str:
        """A text that may stand in a record: without any secret, however it was dressed up."""
        for canary in self.canaries.values():
            for facet in (canary.token, canary.value):
                text = text.replace(facet, MARK)
        return MARK if text and self._matcher.find(text, decode=True) else text

    def _hits(self, view: Observation) -> tuple[CanaryHit, ...]:
        """Every secret that can be read in a view.

        What the operator alone sees is not decoded: an encoded copy there is one that was given.
        """
        matcher = self._matcher
        plain = matcher.find(view.searched)
        if not view.viewer:
            return plain
        there = {hit.canary for hit in plain}
        return (*plain, *(hit for hit in self._decoded(view.searched) if hit.canary not in there))

    def _decoded(self, text: str) -> tuple[CanaryHit, ...]:
        # Decoding takes a hundred times as long as reading, and many attacks get the same view.
        # A line of it is not known to be clean because a view with that line was: an encoded copy
        # may be wrapped, and come to be whole only beside its other lines.
        if text not in self._read:
            self._read[text] = self._matcher.find(text, decode=True)
        return self._read[text]

    def _secrets(self, text: str) -> frozenset[str]:
        """Ids of the secrets that stand in a text; a view with many is not searched for each."""
        matcher = self._matcher
        if text not in self._found:
            self._found[text] = frozenset(hit.canary for hit in matcher.find(text))
        return self._found[text]

    def _place(self, view: Observation, canary: Canary) -> str:
        for name, text in view.parts:
            if canary.id in self._secrets(text):
                return name
        return view.surface

    def _through(self, view: Observation, canary: Canary, place: str) -> tuple[LeakSighting, ...]:
        """What the strategy wrote itself and the secret came by, such as a summary."""
        for name, turn, text in view.made:
            if name == place and canary.id in self._secrets(text):
                return (LeakSighting(surface=name, viewer="", turn=turn),)
        return ()

    @property
    def _matcher(self) -> Matcher:
        """Of every secret so far: a part that two of them share then tells of neither."""
        if self._matcher_of[0] != len(self.canaries):
            self._matcher_of = len(self.canaries), Matcher(self.canaries.values())
            self._read.clear()
            self._found.clear()
            self._packed.clear()
        return self._matcher_of[1]


# Observations of every tier of a memory.


EXPORT, LOG = "export", "log"
"""Tiers that every strategy may have, besides its surfaces and its files."""

_FOLDERS = {"cassettes": "cassette", "reports": "report", "backups": "backup"}
_KINDS = {
    "wal": "wal",
    "journal": "wal",
    "shm": "wal",
    "db": "database",
    "sqlite": "database",
    "sqlite3": "database",
    "md": "markdown",
    "log": "log file",
    "bak": "backup",
    "tmp": "temporary file",
}


def tier_of(name: str) -> str:
    """The kind of file that a name belongs to: `wal`, `database`, `markdown`, ..., else `file`."""
    *folders, file = name.casefold().split("/")
    suffix = re.split(r"[.-]", file)[-1]
    return next((_FOLDERS[f] for f in folders if f in _FOLDERS), _KINDS.get(suffix, "file"))


def operator_views(world: AttackWorld) -> Iterator[Observation]:
    """Observations of every tier that the operator sees, and of the saved state."""
    if world.inspectable:
        yield from world.surfaces()
    exported = world.exported()
    if exported is not None:
        yield exported


def file_views(world: AttackWorld) -> Iterator[Observation]:
    """Observations of every file with its name, and of the log."""
    for name, data in (*world.files(), *world.files_elsewhere()):
        yield _file_view(world, tier_of(name), f"{name}\n{readable_text(data)}", data)
    lines = "\n".join(text for _, text in world.logs())
    if lines:
        yield _file_view(world, LOG, lines)


def residue_trails(
    lab: Lab, views: Iterable[Observation], canaries: Iterable[Canary], *, packed: bool = False
) -> Mapping[str, dict[str, Trail]]:
    """By fingerprint, the first trail to each secret in each tier.

    Args:
        lab: judges.
        views: what is searched.
        canaries: for which.
        packed: whether compressed and encoded copies are looked for as well, which takes longer.
    """
    wanted, seen = tuple(canaries), tuple(views)
    by: dict[str, dict[str, Trail]] = {lab.fingerprint(canary): {} for canary in wanted}
    for view in seen:
        for trail in lab.trails(wanted, [view], lab.planted):
            by[trail.canary].setdefault(view.surface, trail)
    for view in joined_views(seen) if packed else ():
        for trail in lab.packed_trails(wanted, [view]):
            by[trail.canary].setdefault(view.surface, trail)
    return by


def joined_views(views: Iterable[Observation]) -> Iterator[Observation]:
    """Every file as it is, and all else by its surface: many short texts are searched as one."""
    by: dict[str, list[Observation]] = {}
    for view in views:
        if view.raw:
            yield view
        else:
            by.setdefault(view.surface, []).append(view)
    for same in by.values():
        yield replace(same[0], text="\n".join(view.text for view in same), parts=(), made=())


def _file_view(world: AttackWorld, tier: str, text: str, raw: bytes = b"") -> Observation:
    return Observation(surface=tier, viewer="", turn=world.turn, text=text, raw=raw)
