"""Failures of a model, an embedder or a disk: they are reported, or nothing is lost by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.testing.fresh_process import HOME, Disk, play_in
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.views import found_messages
from memsim.testing.worlds import Trial, World, embedder

if TYPE_CHECKING:
    from memsim.models import Embedder, Vectors


@holds(24, "a call fails => the error is raised or logged, or every message is found as without it")
def failures_lose_nothing(trial: Trial) -> int:
    """A model or embedder that fails loses no message, unless the memory says so.

    Each message is asked for by its own words, in a budget with room for everything. Fails, for
    example, where an exception of the model is swallowed, and its messages are dropped.

    To mend it, drop messages only after the call has succeeded, or let its error through.
    """
    if not trial.one_of(5, 1):
        return 0
    case = replace(trial.case, behaviour="good", budget=max(trial.case.budget, 400))
    there = found_messages(trial.played(case), case)
    if not there:
        return 0
    seen = 0
    failing = _Failing()
    for cause, world in (
        ("a model that raises", World(trial.subject, replace(case, behaviour="raising"))),
        ("an embedder that fails", World(trial.subject, case, embed=lambda: failing)),
    ):
        failing.works = False
        try:
            world.play(case.events)
            failing.works = True
            if world.over:
                continue  # it was said
            named = {i for e in world.transcript.ends for s in e.events for i in _given_up(s)}
            # What is held on a surface is not lost, though nothing may lead to it now.
            held = world.held() if "surfaces" in trial.subject.claims.has else frozenset()
            lost = sorted(there - found_messages(world, case) - named - held)
        finally:
            world.close()
        seen += 1
        if lost:
            raise Violation(f"because of {cause}, {lost[:3]} are lost without a word")
    return seen


def _given_up(event: object) -> Sequence[str]:
    kind, sources = getattr(event, "kind", ""), getattr(event, "sources", ())
    return () if kind == "compaction" else sources


@holds(53, "a write fails => the error is raised, or every message is found as without it")
def failed_writes_are_told(trial: Trial) -> int:
    """A disk that is full for a while loses no message, unless the memory says so.

    Fails, for example, where an error of the file system is swallowed, and the message with it.

    To mend it, let errors of the disk through, or write again later.
    """
    if not trial.one_of(12, 3):
        return 0
    case = replace(trial.case, behaviour="good", budget=max(trial.case.budget, 400))
    found = [play_in(trial.subject.ref, (HOME,), (case,), disk=disk)[0].found for disk in _DISKS]
    lost = sorted(set(found[0]) - set(found[1]))
    if lost:
        raise Violation(f"because of a disk that is full, {lost[:3]} are lost without a word")
    return len(found[0])


_DISKS: tuple[Disk, ...] = ("good", "full")


@dataclass(slots=True)
class _Failing:
    """An embedder of which every third call fails, until it works again."""

    name: str = "hash"
    dimension: int = 0
    works: bool = False
    _calls: int = 0
    _real: Embedder | None = None

    def __post_init__(self) -> None:
        self._real = embedder()
        self.name, self.dimension = self._real.name, self._real.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts.

        Raises:
            ModelError: at every third call.
        """
        self._calls += 1
        if (self._calls % 3 == 0 and not self.works) or self._real is None:
            raise ModelError("the embedder does not answer")
        return self._real.embed(texts)
