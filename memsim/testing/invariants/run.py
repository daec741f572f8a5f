"""Runs: the same again is the same, and one case leaves nothing behind for another."""

from __future__ import annotations

from memsim.testing.cases import Turn
from memsim.testing.registry import Violation, holds
from memsim.testing.worlds import Transcript, Trial


def _bytes(transcript: Transcript) -> list[str]:
    return [repr((s.query, s.context, str(s.refused))) for s in transcript.sights if s.delivered]


@holds(
    58,
    "run",
    on="strategy",
    formal="same seed, same case => same bytes",
    needs=("context",),
)
def determinism(trial: Trial) -> int:
    """Two instances that are told the same show the same, byte for byte.

    Fails, for example, where a set is listed in the order of its hashes, or the clock on the wall
    is asked.
    """
    expected = _bytes(trial.transcript)
    world = trial.played()
    actual = _bytes(world.transcript)
    if expected != actual:
        raise Violation("told the same once more, it shows something else")
    if "save" in trial.subject.claims.has and not trial.main.over:
        query = [s for s in trial.transcript.sights if not s.delivered]
        for sight in query:
            world.ask(sight.query.text, sight.query.principal)
        if not world.over and trial.main.saved() != world.saved():
            raise Violation("told the same once more, it saves something else")
    return len(expected)


@holds(
    60,
    "run",
    on="strategy",
    formal="verdicts(case) do not depend on which cases were played before or beside it",
    needs=("context",),
)
def isolation_between_cases(trial: Trial) -> int:
    """Another case that is played beside it, in the same process, changes nothing.

    Fails, for example, where messages are kept in a list of the class and not of the instance.
    """
    expected = _bytes(trial.transcript)
    world, beside = trial.world(), trial.world()
    events = trial.case.events
    for event, other in zip(events, reversed(events), strict=True):
        world.play((event,))
        if isinstance(other, Turn) and not beside.over:
            beside.play((other,))
        if world.over:
            break
    if _bytes(world.transcript) != expected:
        raise Violation("with another case beside it, it shows something else")
    return len(expected)
