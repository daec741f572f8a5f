"""Check a strategy in a process of its own, away from the invariants, the cases and the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from memsim.discovery.loader import resolve
from memsim.strategy_process.host_process import IsolatedStrategies
from memsim.testing.claims import Claims
from memsim.testing.worlds import Subject

if TYPE_CHECKING:
    from memsim.discovery.strategy_ref import StrategyRef
    from memsim.strategy import Environment, Strategy

PROBE = "memsim.testing.strategy_probe"


class SubjectProcess:
    """A process in which a subject's strategies are made; another one after its end.

    Args:
        ref: of the strategy.
        guarded: files and folders that it has no business with.
        interpreter: variables of the environment that the process starts with.
        begin: is called with each process before a strategy is made in it.
    """

    def __init__(
        self,
        ref: StrategyRef,
        guarded: Sequence[Path],
        *,
        interpreter: Mapping[str, str] | None = None,
        begin: Callable[[IsolatedStrategies], object] = lambda _: None,
    ) -> None:
        self._ref = ref
        self._guarded = guarded
        self._interpreter = interpreter
        self._begin = begin
        self._breaches: dict[str, None] = {}
        self._running: IsolatedStrategies | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def breach(self) -> str:
        """What makes every result invalid; complete at the end."""
        return "; ".join(self._breaches)

    @property
    def running(self) -> IsolatedStrategies:
        """The process, started if there is none."""
        if self._running is not None and self._running.dead:
            self._end()
        if self._running is None:
            self._running = IsolatedStrategies(
                self._ref,
                self._guarded,
                offline=True,
                probe=PROBE,
                interpreter=self._interpreter,
                recounts=False,  # that is an invariant
            ).__enter__()
            self._begin(self._running)
        return self._running

    def make(self, env: Environment) -> Strategy:
        """A strategy in the process."""
        return self.running.make(env)

    def _end(self) -> None:
        if self._running is not None:
            self._running.__exit__()
            for breach in (self._running.breach, self._running.fault):
                if breach:
                    self._breaches[breach] = None
            self._running = None


@dataclass(slots=True)
class IsolatedCheck:
    """The strategies under check that have processes of their own.

    Attributes:
        guarded: what each has to keep off, by its ref.
        breaches: what makes results invalid.
    """

    guarded: dict[str, Sequence[Path]] = field(default_factory=dict)
    processes: list[SubjectProcess] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)


_CHECK = IsolatedCheck()


@contextmanager
def isolated_subject(ref: str, guarded: Sequence[Path]) -> Iterator[Subject]:
    """The strategy of a ref in a process of its own, with its claims.

    Raises:
        RefError: it means nothing.
    """
    resolved = resolve(ref)
    _CHECK.breaches.clear()
    with ExitStack() as stack:
        process = stack.enter_context(SubjectProcess(resolved, guarded))
        claims = Claims(**process.running.probe("claims"))
        _CHECK.guarded[ref] = guarded
        _CHECK.processes.append(process)
        try:
            yield Subject(ref=ref, make=process.make, claims=claims)
        finally:
            _CHECK.processes.remove(process)
            del _CHECK.guarded[ref]
            stack.close()
            note_breach(process.breach)


def guarded_of(ref: str) -> Sequence[Path] | None:
    """What an isolated strategy under check has to keep off; None where it is not isolated."""
    return _CHECK.guarded.get(ref)


def note_breach(breach: str) -> None:
    """Note what a strategy under check was seen to do that makes its results invalid."""
    if breach and breach not in _CHECK.breaches:
        _CHECK.breaches.append(breach)


def breach() -> str:
    """What was noted since the last subject was begun; complete when it has ended."""
    return "; ".join(_CHECK.breaches)


def calls_in_processes(work: Callable[[], object]) -> int | None:
    """How many functions strategies in their processes call for some work; None without any."""
    running = [process.running for process in _CHECK.processes]
    if not running:
        return None
    for process in running:
        process.probe("count_calls")
    work()
    return sum(int(p.probe("calls_counted")) for p in running if not p.dead)
