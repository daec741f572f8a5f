"""Repetition: retries, second readers and restarts change nothing that a memory shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from memsim.testing.check_cases import Case
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.isolation import said_otherwise
from memsim.testing.relays import AskedOften, EndsTwice, HearsTwice, Relay, Restarts, relayed
from memsim.testing.views import View, difference, view_of
from memsim.testing.worlds import Subject, Trial, World


def _view(subject: Subject, case: Case) -> View:
    world = World(subject, case)
    try:
        world.play(case.events)
        return view_of(world)
    finally:
        world.close()


def _compare(
    trial: Trial, case: Case, told: str, kind: Callable[..., Relay], **given: object
) -> int:
    """Compare the views of a case that is played as it is, and by way of a relay."""
    for subject in _subjects(trial):
        same = subject is trial.subject and case == trial.case
        plain = view_of(trial.again) if same else _view(subject, case)
        found = difference(plain, _view(relayed(subject, kind, **given), case))
        if found:
            raise Violation(f"{told} what it shows: {found}")
    return 1


def _subjects(trial: Trial) -> Iterator[Subject]:
    """The subject, or one that was restarted after its second turn; both in a case of its own."""
    restarted = "save" in trial.subject.claims.has and (trial.number or 0) // 4 % 2 == 1
    if trial.number is None or not restarted:
        yield trial.subject
    if "save" in trial.subject.claims.has and (trial.number is None or restarted):
        yield relayed(trial.subject, Restarts, after=2)


def _calm(case: Case) -> Case:
    # A second attempt after a failure of the model is no repetition.
    return replace(case, behaviour="good")


@holds(17, "end(end(M)) = end(M)")
def turns_end_once(trial: Trial) -> int:
    """A turn that is ended twice, or without a word, is ended once.

    Fails, for example, where each call summarises, counts or stores the latest messages again.

    To mend it, let `end_turn` do nothing where no message came since the last call.
    """
    if not trial.one_of(4, 0):
        return 0
    return _compare(trial, _calm(trial.case), "`end_turn` called twice changes", EndsTwice)


@holds(2, "observe(observe(M, m), m) = observe(M, m), by the id of m")
def messages_are_kept_once(trial: Trial) -> int:
    """A message that is observed again is kept once.

    It is heard twice in a row, and again in the turn in which it was sent. Fails, for example,
    where a retry after a timeout stores a message a second time.

    To mend it, let `observe` return where a message with this id is kept already.
    """
    if not trial.one_of(4, 1):
        return 0
    told = "messages that are observed again change"
    return _compare(trial, _calm(trial.case), told, HearsTwice)


@holds(17, "ask(M) leaves M: what is shown later does not depend on who asked in between")
def questions_change_nothing(trial: Trial) -> int:
    """Questions and looks in between, by anybody, change nothing that is shown later.

    Fails, for example, where `context` marks what it showed as used, or keeps it for `delivered`
    whoever asks next.

    To mend it, let `context` change nothing but `self.memo`, and adopt effects in `delivered`.
    """
    if not trial.one_of(6, 2):
        return 0
    readings = [name for name in ("surfaces", "save") if name in trial.subject.claims.has]
    told = "questions in between change"
    return _compare(trial, _calm(trial.case), told, AskedOften, readings=readings)


@holds(52, "play(M, e1..en) = play(load(save(play(M, e1..ek))), ek+1..en), for all k", "save")
def restarts_change_nothing(trial: Trial) -> int:
    """A memory that is saved and loaded after every turn shows what it shows without that.

    Fails, for example, where grants, sessions or a counter of turns are not saved.

    To mend it, put into `save` everything that `observe`, `end_turn` and `grant` change.
    """
    if not trial.one_of(4, 2):
        return 0
    return _compare(trial, trial.case, "restarts between turns change", Restarts)


@holds(52, "load(s) into a used memory = load(s) into a new one", "save")
def loading_replaces(trial: Trial) -> int:
    """A state that is loaded takes the place of everything that a used memory holds.

    Fails, for example, where the saved messages are added to those that are there, or a cached
    context survives.

    To mend it, let `load` replace every attribute, and clear every cache.
    """
    if not trial.one_of(4, 3) or trial.main.over:
        return 0
    state = trial.main.saved()
    fresh, used = trial.world(), trial.played(said_otherwise(trial.case, "other-"))
    if used.over:
        return 0
    view_of(used)  # what is cached now is of another state
    used.case = trial.case
    for world in (fresh, used):
        world.transcript.sights.clear()
        world.clock.set(trial.main.clock.now())
        world.model.turn = trial.main.model.turn
        world.memory.load(json.loads(state))
    told = difference(view_of(fresh), view_of(used))
    if told:
        raise Violation(f"loaded into a used memory, it shows something else: {told}")
    return 1
