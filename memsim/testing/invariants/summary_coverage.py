"""Coverage: what a summary took in is counted once, and a failure takes nothing."""

from __future__ import annotations

from dataclasses import replace

from memsim.memory.compaction import (
    CompactionState,
    Condense,
    RollingSummary,
    Snippets,
    Spread,
    rejoin,
    spread,
)
from memsim.models import Reply, Request
from memsim.testing.case_tokens import COUNTER
from memsim.testing.check_cases import BAD, Case
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.step_bench import SHORT, Bench, bench, steps
from memsim.testing.invariants.structure import answered
from memsim.testing.worlds import Trial

# Coverage: every message of a log is covered once, by one summary, and never by a failure.


def _rolling(case: Case, batch: int = 1) -> Bench:
    return bench(case, "rolling", RollingSummary(batch=batch, asking=SHORT))


def _places(found: Spread) -> list[int]:
    return sorted((*found.covered, *found.held, *found.pending, *found.retained))


@holds(21, "kappa' >= kappa; 0 <= kappa <= n; clamped on load", on="compaction")
def coverage_is_monotone(case: Case) -> int:
    """What is covered only grows, never beyond the log, and is clamped when it is loaded.

    Fails, for example, where a log that lost its end is loaded, and new messages count as covered.
    """
    tried = _rolling(case)
    state = CompactionState()
    log = tried.history
    for end in range(1, len(log) + 1):
        done = tried.step(state.uncovered(log[:end]), state, tried.means)
        if not state.covered <= done.state.covered <= end:
            raise Violation(
                f"of {end} messages {done.state.covered} are covered after {state.covered}"
            )
        state = done.state
    for length in (0, len(log) // 2):
        if CompactionState.loaded(state.save(), length).covered > length:
            raise Violation(f"loaded for {length} messages, more than these are covered")
    return state.covered


@holds(22, "covered + pending + held + retained = 1..n, disjoint", on="compaction")
def coverage_partitions(case: Case) -> int:
    """Each message is covered, held, pending or in the tail, and in one of these only.

    Fails, for example, where messages between the summary and the window are in neither.
    """
    tried = _rolling(case).run()
    state = CompactionState() if tried.done is None else tried.done.state
    for now in (
        CompactionState(),
        state,
        replace(state, covered=state.covered + 5).clamped(len(tried.history)),
    ):
        found = spread(tried.history, now, tried.keep, COUNTER)
        if _places(found) != list(range(len(tried.history))):
            raise Violation(f"of {len(tried.history)} messages, {_places(found)} are accounted for")
    return len(tried.history)


@holds(23, "sends(i) per successful cover of i <= 1", on="compaction")
def covered_once(case: Case) -> int:
    """What a summary has taken in is not sent to the model again.

    Fails, for example, where each summary is made of the whole history.
    """
    tried = _rolling(case, batch=2)
    state, covered = CompactionState(), list[str]()
    for end in range(1, len(tried.history) + 1):
        asked = len(tried.model.requests)
        done = tried.step(state.uncovered(tried.history[:end]), state, tried.means)
        if done.changed:
            covered += [m.id for m in tried.model.requests[asked].messages]
        state = done.state
    twice = sorted({i for i in covered if covered.count(i) > 1})
    if twice:
        raise Violation(f"{twice[:3]} were summarised twice")
    return len(covered)


@holds(24, "L fails => (H', S, kappa) = (H, S, kappa), counted", on="compaction")
def failures_change_nothing(case: Case) -> int:
    """A model that fails, or writes no summary, leaves history and state, and is counted.

    Fails, for example, where an empty text is taken for a summary of nothing.
    """
    if case.behaviour not in {*BAD, "raising"}:
        return 0
    seen = 0
    for step in (RollingSummary(asking=SHORT), Condense(asking=SHORT)):
        tried = bench(case, step.name, step).run()
        if tried.done is None or not tried.model.written:
            continue
        seen += 1
        done = tried.done
        kept = (done.history, done.state.summary, done.state.covered)
        if kept != (tried.history, CompactionState().summary, 0):
            raise Violation(f"{step.name}: a summary that is {case.behaviour} changes something")
        if done.state.failures != 1:
            raise Violation(f"{step.name}: {done.state.failures} failures are counted, not 1")
    return seen


@holds(25, "fallback(H) is a function of H", on="compaction")
def fallback_is_deterministic(case: Case) -> int:
    """A text without a model is the same, however the model failed.

    Fails, for example, where the fallback tells the time.
    """
    step = Condense(asking=SHORT, fallback=Snippets())
    made = [
        bench(replace(case, behaviour=behaviour), step.name, step).run().done
        for behaviour in ("raising", "empty", "raising")
    ]
    if len({done.history if done else () for done in made}) != 1:
        raise Violation("the same history has two fallbacks")
    return sum(1 for done in made if done and done.changed)


@holds(26, "flush(stream(H)) = flush(bulk(H)): the same left, the same covered", on="compaction")
def batch_is_stream(case: Case) -> int:
    """One by one or in bulk: after a flush the same is covered, and the same is left.

    A result that comes turns after its call is left out of this. Fails, for example, where a
    batch's remainder is covered only in one of the two ways.
    """
    tried = _rolling(case, batch=3)
    log, state = tried.history, CompactionState()
    if case.behaviour != "good" or any(log[a].turn != log[b].turn for a, b in answered(log)):
        return 0
    refused = False
    for end in range(1, len(log) + 1):
        done = tried.step(state.uncovered(log[:end]), state, tried.means)
        refused = refused or done.outcome.kind in {"refused", "failed"}
        state = done.state
    flush = RollingSummary(batch=3, asking=SHORT).flush()
    one = flush(state.uncovered(log), state, tried.means)
    bulk = flush(log, CompactionState(), tried.means)
    if refused or {one.outcome.kind, bulk.outcome.kind} & {"refused", "failed"}:
        return 0
    if one.history != bulk.history or _covered(one.state) != _covered(bulk.state):
        raise Violation(
            f"one by one {len(_covered(one.state))} are covered, and in bulk"
            f" {len(_covered(bulk.state))}"
        )
    return one.state.covered


def _covered(state: CompactionState) -> set[int]:
    return {*range(state.covered)} - {*state.held}


@holds(27, "H + D during C: D in H', D not in kappa'", on="compaction")
def late_messages_are_not_lost(case: Case) -> int:
    """Messages that come while a model works stand behind what it leaves, and are not covered.

    Fails, for example, where the history is replaced by what was compacted 120 seconds ago.
    """
    half = len(case.messages) // 2
    seen = 0
    for name, step in steps(case.budget).items():
        tried = bench(case, name, step)
        late = tried.history[half:]
        tried.history = tried.history[:half]
        tried.run()
        if tried.done is None:
            continue
        joined = rejoin(tried.done, tried.history, (*tried.history, *late))
        seen += len(late)
        if joined.history != (*tried.done.history, *late) or joined.state.covered > half:
            raise Violation(f"{name}: what came meanwhile is lost, or counts as covered")
    return seen


class _Cancelled(BaseException):
    pass


class _Cancelling:
    name = "cancelled"

    def complete(self, request: Request) -> Reply:
        raise _Cancelled


@holds(28, "cancelled at any await: state = before, or = after", on="compaction")
def cancellation_changes_nothing(case: Case) -> int:
    """Who stops waiting for a model finds history and state as they were.

    Fails, for example, where the messages are taken out before the summary is there.
    """
    seen = 0
    for name, step in steps(case.budget).items():
        tried = bench(case, name, step)
        before, state = tuple(tried.history), CompactionState()
        saved = state.save()
        means = replace(tried.means, model=_Cancelling())
        try:
            tried.step(tried.history, state, means)
        except _Cancelled:
            seen += 1
        else:
            continue
        if tried.history != before or state.save() != saved:
            raise Violation(f"{name}: cancelled, it leaves something changed")
    return seen


@holds(
    24,
    "L fails or writes no summary => S, kappa unchanged, uncovered messages still present",
    "surfaces",
)
def failure_keeps_state(trial: Trial) -> int:
    """A model that writes no summary makes nothing disappear.

    Fails, for example, where an empty reply is taken for a summary, and its messages are gone.
    """
    if trial.case.behaviour not in BAD:
        return 0
    seen = 0
    for ended in trial.transcript.ends:
        # What a strategy compacts without a model is no failure of one.
        if not ended.bad or ended.bad != ended.requests:
            continue
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
