"""Coverage: what a summary took in is counted once, and a failure takes nothing."""

from __future__ import annotations

from memsim.testing.cases import BAD
from memsim.testing.registry import Violation, holds
from memsim.testing.worlds import Trial


@holds(
    24,
    "coverage",
    on="strategy",
    formal="L fails or writes no summary => S, kappa unchanged, uncovered messages still present",
    needs=("surfaces",),
)
def failure_keeps_state(trial: Trial) -> int:
    """A model that writes no summary makes nothing disappear.

    Fails, for example, where an empty reply is taken for a summary, and its messages are gone.
    """
    if trial.case.behaviour not in BAD:
        return 0
    seen = 0
    for ended in trial.transcript.ends:
        seen += ended.requests
        eaten = {
            source
            for event in ended.events
            if event.kind == "compaction"
            for source in event.sources
        }
        gone = eaten - (ended.held or frozenset())
        if gone:
            raise Violation(
                f"after {ended.said} messages a summary that is {trial.case.behaviour} took the"
                f" place of {sorted(gone)[:3]}"
            )
    return seen
