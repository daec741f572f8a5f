"""Processes: a memory shows the same in any of them, shares nothing, and leaves nothing behind."""

from __future__ import annotations

from memsim.testing.check_cases import Case
from memsim.testing.fresh_process import AWAY, CAUSES, HOME, ProcessSetting, play_in
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.isolation import said_otherwise
from memsim.testing.views import difference
from memsim.testing.worlds import Trial


@holds(58, "same case, other hash seed, clock, time zone, folder, chance => same bytes")
def same_in_any_process(trial: Trial) -> int:
    """In another process, with another hash seed, clock and time zone, a memory shows the same.

    Fails, for example, where a set of words is listed in the order of its hashes, or the clock on
    the wall is read when the module is imported.

    To mend it, sort what comes out of a set, and take time and chance from `env.clock` and
    `env.random` alone.
    """
    if not trial.one_of(4, 0):
        return 0
    ref, cases = trial.subject.ref, (trial.case,)
    (home,), (away,) = play_in(ref, (HOME,), cases), play_in(ref, (_away(trial.case),), cases)
    told = difference(home.views[0], away.views[0])
    if told:
        raise Violation(f"another process shows something else{_cause(trial)}: {told}")
    return 1


def _away(case: Case) -> ProcessSetting:
    return AWAY[len(case.messages) % len(AWAY)]


def _cause(trial: Trial) -> str:
    for told, surroundings in CAUSES.items():
        home, other = play_in(trial.subject.ref, (HOME, surroundings), (trial.case,))
        if difference(home.views[0], other.views[0]):
            return f", because of {told}"
    return ""


@holds(60, "obs(i, played beside j) = obs(i), for all instances i, j of one class")
def instances_share_nothing(trial: Trial) -> int:
    """Two instances in one process show what each shows alone, turn by turn.

    Fails, for example, where contexts are cached in a dictionary of the class.

    To mend it, keep everything in attributes of the instance, made in `__init__`.
    """
    if not trial.one_of(12, 0):
        return 0
    case, other = trial.case, said_otherwise(trial.case)
    (alone,) = play_in(trial.subject.ref, (HOME,), (case,))
    # What one overwrites shows in whoever was first, and what one finds in whoever was second.
    for place in (0, 1) if trial.number is None else (trial.number // 12 % 2,):
        pair = (other, case) if place else (case, other)
        (together,) = play_in(trial.subject.ref, (HOME,), pair)
        told = difference(alone.views[0], together.views[place])
        if told:
            raise Violation(f"beside another instance it shows something else: {told}")
    return 1


@holds(60, "process(after) = process(before)")
def nothing_is_left_behind(trial: Trial) -> int:
    """A memory that was closed leaves no thread, no open file and no setting of the process.

    Fails, for example, where files are written beside the strategy, or the global random numbers
    are seeded.

    To mend it, stop threads and close files in `close`, write only below `env.folder()`, and leave
    settings of the process alone.
    """
    if not trial.one_of(4, 0):
        return 0
    (home,) = play_in(trial.subject.ref, (HOME,), (trial.case,))
    if home.notes:
        raise Violation("; ".join(home.notes[:3]))
    return 1
