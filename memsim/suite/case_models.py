"""Open the models of a case, and mark the case when a model does not answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NoReturn

from memsim.errors import ModelError, UnrecordedCall, UsageError
from memsim.models.model_access import (
    NO_ACCESS,
    NO_SPENDING,
    CallAccount,
    CaseModel,
    ModelAccess,
    RunEmbedder,
    add_spending,
)
from memsim.models.model_ref import LiveRef, asks_provider, read_embedder, read_model
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result
from memsim.suite.judgement import judge_of

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.config import Settings
    from memsim.discovery.project import Project
    from memsim.message import TokenCounter
    from memsim.models import Embedder, Model
    from memsim.models.model_access import Spending
    from memsim.suite.judgement import Judge

# Ends a case that takes too long, wherever in a strategy's code it is.

_AGAIN = 1.0
"""Seconds until the next reminder, for a strategy that hangs in its `close` as well."""


class OutOfTime(BaseException):
    """The case took longer than its time limit."""


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raise `OutOfTime` in the block after so many seconds; never for 0.

    Raises:
        UsageError: this system, or this thread, has no timer for it.
    """
    return _timed(seconds) if seconds else _ENDLESS


_ENDLESS = nullcontext()


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        raise UsageError("a case's time can only be limited in a main thread and on Unix")
    before = signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _end(_number: int, _frame: object) -> NoReturn:
    raise OutOfTime


def access_of(settings: Settings, project: Project, *, ledger: Path | None = None) -> ModelAccess:
    """Whether a run replays, records or asks a provider."""
    if not asks_provider(settings.model, settings.embedder, settings.judge):
        return NO_ACCESS
    folder = project.base / settings.cassettes
    return ModelAccess(
        mode=settings.record,
        folder=folder,
        folder_label=project.show(folder),
        cap=settings.max_cost,
        ledger=ledger,
    )


def play_with_models(
    spec: CaseSpec, counter: TokenCounter, play: Callable[[Model, Judge | None], CaseOutcome]
) -> CaseOutcome:
    """Play a case with its model and judge; errors are recorded in the outcome."""
    if not asks_provider(spec.model, spec.embedder, spec.judge):
        with judge_of(spec, counter) as judge:
            return _tried(spec, lambda: play(_offline(spec.model, counter, spec.seed), judge))
    from memsim.models.live.cost_limit import OutOfMoney

    opened: CaseModel | None = None
    judge = None
    vectors = _embedding(spec.embedder, spec.access)
    before = vectors.account.spent
    try:
        with _opened(spec, counter) as opened, judge_of(spec, counter) as judge:
            outcome = _whole(_tried(spec, partial(play, opened.model, judge)))
    except _Broken as broken:
        outcome = broken.outcome
    except UnrecordedCall as missed:
        outcome = failed_outcome(spec, str(missed))
    except OutOfMoney as end:
        outcome = replace(failed_outcome(spec, str(end)), unpaid=str(end))
    finally:
        vectors.keep()
    spent = add_spending(
        opened.account.spent if opened else NO_SPENDING, vectors.account.spent, before
    )
    # Where it was the judge that never answered, the case was measured, and is only not judged.
    asked = replace(judge.spent, failed=()) if judge else NO_SPENDING
    return _marked(replace(outcome, spent=add_spending(spent, asked)), spent)


class _Broken(Exception):  # noqa: N818 - it carries an outcome past what keeps recordings
    """A case was not played to its end: what it asked is not all that it asks."""

    def __init__(self, outcome: CaseOutcome) -> None:
        super().__init__(outcome.result.error)
        self.outcome = outcome


def _whole(outcome: CaseOutcome) -> CaseOutcome:
    if outcome.result.state == "error":
        raise _Broken(outcome)
    return outcome


def _tried(spec: CaseSpec, play: Callable[[], CaseOutcome]) -> CaseOutcome:
    try:
        return play()
    except ModelError as error:
        return failed_outcome(spec, str(error))
    except OutOfTime:
        return failed_outcome(spec, f"took longer than the {spec.timeout:g} s that a case may take")


@contextmanager
def _opened(spec: CaseSpec, counter: TokenCounter) -> Iterator[CaseModel]:
    ref = read_model(spec.model)
    if not isinstance(ref, LiveRef):
        yield CaseModel(_offline(spec.model, counter, spec.seed), CallAccount())
        return
    from memsim.models.provider_models import open_dry, open_live

    if spec.access.dry:
        yield open_dry(ref, tokenizer=counter, seed=spec.seed, budget=spec.budget)
        return
    with open_live(ref, spec.access, case=spec.id, repeat=spec.repeat, seed=spec.seed) as opened:
        yield opened


def _marked(outcome: CaseOutcome, spent: Spending) -> CaseOutcome:
    """A case in which calls were never answered was not measured, whoever coped with it."""
    if not spent.failed or outcome.result.state != "scored":
        return outcome
    made = len(spent.failed) + spent.asked + spent.replayed
    said = f"{len(spent.failed)} of {made} model calls were never answered: {spent.failed[0]}"
    return replace(outcome, result=replace(outcome.result, state="error", error=_line(said)))


def failed_outcome(spec: CaseSpec, said: str) -> CaseOutcome:
    """The outcome of a case in which nothing was measured."""
    return CaseOutcome(result=blank_result(spec, state="error", error=_line(said)))


def _line(said: str) -> str:
    return " ".join(said.split())


def embedder_of(spec: CaseSpec) -> Embedder:
    """The embedder that a case names; the same one for every case of a process.

    Raises:
        ModelError: it cannot be loaded.
    """
    return _embedding(spec.embedder, spec.access).embedder


@lru_cache(maxsize=8)
def _embedding(ref: str, access: ModelAccess) -> RunEmbedder:
    named = read_embedder(ref)
    if named.kind == "litellm":
        from memsim.models.provider_models import open_embedder

        return open_embedder(named.name, access)
    from memsim.models.registry import load_embedder

    return RunEmbedder(load_embedder(ref), CallAccount())


@lru_cache(maxsize=8)
def _offline(ref: str, counter: TokenCounter, seed: int) -> Model:
    from memsim.models.registry import load_model

    return load_model(ref, counter, seed)
