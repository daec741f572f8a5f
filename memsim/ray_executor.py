"""Play cases on a Ray cluster: the one of this machine, or one at an address.

Each processor of the cluster has an actor that plays a short queue of cases in order, and every
outcome is heard by itself. So it is known which case a dead actor played: that one is `lost`. Ray
never tries a case again.
"""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memsim.case_queue import (
    STARTS,
    Begin,
    CaseQueue,
    Outcomes,
    PlayCase,
    WorkerError,
    WorkersKilledError,
    begin_unheard,
    lost_outcome,
)
from memsim.errors import UsageError
from memsim.package_versions import versions_here
from memsim.ray_connection import RayConnection, connected
from memsim.ray_worker import CasePlayer, NodeReport
from memsim.shipped_files import Packer
from memsim.worker_process import CaseError

if TYPE_CHECKING:
    from memsim.suite.cases import CaseOutcome, CaseSpec

_LOOK = 1.0
"""Seconds without an outcome after which the head is looked at."""


@dataclass(frozen=True, slots=True)
class RayPool:
    """Plays cases on a Ray cluster.

    Attributes:
        address: `ray` for a cluster on this machine, made for this run; or `ray://host:port`.
        begin: is told the key of each case when an actor has come to it.
    """

    address: str
    begin: Begin = begin_unheard

    def run(self, specs: Sequence[CaseSpec], play: PlayCase) -> Outcomes:
        """Play the cases, each by the next free actor."""
        if not specs:
            return
        _check_access(self.address, specs)
        with connected(self.address) as cluster:
            crew = _Crew(cluster, specs, play, self.begin)
            try:
                yield from crew.outcomes()
            except cluster.ray.exceptions.RayError:
                cluster.check_head()
                raise
            finally:
                crew.dismiss()


def _check_access(address: str, specs: Sequence[CaseSpec]) -> None:
    # A file on this machine cannot be written by a node: its answers would be paid and forgotten.
    for spec in specs if address != "ray" else ():
        if spec.access.ledger is not None:
            raise UsageError(f"--max-cost cannot be kept on other machines: not with -j {address}")
        if spec.access.mode in {"new", "rewrite"}:
            raise UsageError(f"other machines cannot record: no --record with -j {address}")


@dataclass(slots=True, eq=False)
class _Player:
    actor: Any
    hello: Any
    node: str = ""
    playing: deque[tuple[int, Any]] = field(default_factory=deque)

    @property
    def next_news(self) -> Any:  # noqa: ANN401 - a reference of Ray
        """What it will say next."""
        return self.hello if self.hello is not None else self.playing[0][1]


class _Crew:
    """The actors, the cases that each plays, and the remaining cases."""

    def __init__(
        self, cluster: RayConnection, specs: Sequence[CaseSpec], play: PlayCase, begin: Begin
    ) -> None:
        self._cluster = cluster
        self._specs = specs
        self._play = play
        self._begin = begin
        self._pending = CaseQueue(specs)
        self._packer = Packer(cluster.ray.put)
        self._players: list[_Player] = []
        self._killed_at_start = 0

    def outcomes(self) -> Iterator[tuple[int, CaseOutcome]]:
        while self._pending or any(p.playing for p in self._players):
            self._staff()
            waited = {p.next_news: p for p in self._players if p.playing or p.hello is not None}
            done, _ = self._cluster.ray.wait([*waited], num_returns=1, timeout=_LOOK)
            for news in done:
                heard = self._hear(waited[news])
                if heard is not None:
                    yield heard

    def _staff(self) -> None:
        playing = sum(1 for p in self._players if p.playing)
        most = min(self._cluster.processors(), len(self._pending) + playing)
        while len(self._players) < most:
            self._players.append(self._hire())
        for player in self._players:
            if player.hello is None and not player.playing and self._pending:
                self._assign(player)

    def _hire(self) -> _Player:
        self._cluster.check_head()
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        actor = self._cluster.ray.remote(CasePlayer).options(**options).remote(self._play)
        return _Player(actor, actor.report.remote())

    def _assign(self, player: _Player) -> None:
        for place in self._pending.take(len(self._players)):
            spec = self._specs[place]
            sent = self._packer.pack(spec)
            stored = {name: self._packer.stored[name] for name in sent.fingerprints}
            player.playing.append((place, player.actor.play.remote(spec, sent, stored)))
        self._begin(self._specs[player.playing[0][0]].key)

    def _hear(self, player: _Player) -> tuple[int, CaseOutcome] | None:
        errors = self._cluster.ray.exceptions
        try:
            said = self._cluster.ray.get(player.next_news)
        except errors.RayTaskError as error:
            raise WorkerError(str(error)) from None
        except errors.RayError as error:
            self._cluster.check_head()  # it may have died, and its actors with it
            if player.hello is not None or isinstance(error, errors.RayActorError):
                return self._lose(player, error)
            return self._lost(player, error)  # it was played, and its records died with their node
        if isinstance(said, NodeReport):
            self._welcome(player, said)
            return None
        if isinstance(said, CaseError):
            raise said.error or WorkerError(said.trace)
        played, _ = player.playing.popleft()
        if player.playing:
            self._begin(self._specs[player.playing[0][0]].key)
        return played, said.outcome

    def _welcome(self, player: _Player, report: NodeReport) -> None:
        """Take an actor into service, unless other versions would make other numbers there."""
        here = NodeReport("", versions_here(), platform.system())
        pairs = {name: (report.versions.get(name), found) for name, found in here.versions.items()}
        pairs["platform"] = (report.platform, here.platform)
        for name, (there, found) in pairs.items():
            if there != found:
                node = f"the Ray node {report.address}"
                raise UsageError(f"{node} has {name} {there}, and this machine {found}")
        player.hello, player.node = None, report.address
        self._killed_at_start = 0

    def _lose(self, player: _Player, error: Exception) -> tuple[int, CaseOutcome] | None:
        self._players.remove(player)
        with suppress(Exception):  # it may be dead, or its node
            self._cluster.ray.kill(player.actor)
        if player.hello is not None:
            self._check_start(error)
            return None
        # Cases are played and heard in order: the first unheard one was being played.
        lost = self._lost(player, error)
        self._pending.give_back([place for place, _ in player.playing])
        return lost

    def _lost(self, player: _Player, error: Exception) -> tuple[int, CaseOutcome]:
        place, _ = player.playing.popleft()
        cause = f"{type(error).__name__} on the Ray node {player.node}"
        return place, lost_outcome(self._specs[place], cause)

    def _check_start(self, error: Exception) -> None:
        if "creation task" in str(error):  # it raised, and would again
            raise WorkerError(f"a Ray actor could not start: {error}")
        self._killed_at_start += 1
        if self._killed_at_start >= STARTS:
            raise WorkersKilledError(
                f"{STARTS} Ray actors in a row were killed while they started"
            ) from error

    def dismiss(self) -> None:
        idle = [p.actor for p in self._players if p.hello is None and not p.playing]
        if idle:
            with suppress(Exception):  # the head may be gone
                closed = [actor.close.remote() for actor in idle]
                self._cluster.ray.wait(closed, num_returns=len(closed), timeout=_LOOK)
        for player in self._players:
            with suppress(Exception):  # the head may be gone
                self._cluster.ray.kill(player.actor)
        self._players.clear()
