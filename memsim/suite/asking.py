"""The model that a case asks, and what becomes of the case where nobody answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from memsim.errors import ModelError
from memsim.models.access import NO_ACCESS, NOTHING, Access
from memsim.models.cassette import Missed
from memsim.models.refs import LiveRef, is_live, read_model
from memsim.suite.cases import CaseOutcome, CaseSpec, blank_result
from memsim.suite.limit import OutOfTime

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.config import Settings
    from memsim.discovery import Project
    from memsim.models import Model
    from memsim.models.access import Spent
    from memsim.models.opening import Opened
    from memsim.tokens import TokenCounter


def access_of(settings: Settings, project: Project, *, ledger: Path | None = None) -> Access:
    """How a run with these settings may come by a provider's answers.

    Args:
        settings: the run's.
        project: whose folder of recordings it is.
        ledger: the file that tells what was spent.
    """
    if not is_live(settings.model):
        return NO_ACCESS
    folder = project.base / settings.cassettes
    return Access(
        mode=settings.record,
        folder=folder,
        shown=project.show(folder),
        cap=settings.max_cost,
        ledger=ledger,
    )


def asking(
    spec: CaseSpec, counter: TokenCounter, play: Callable[[Model], CaseOutcome]
) -> CaseOutcome:
    """Play a case with the model that it names; what fails is told in the outcome.

    Args:
        spec: the case.
        counter: token counts.
        play: plays it.
    """
    if not is_live(spec.model):
        return _tried(spec, lambda: play(_offline(spec.model, counter, spec.seed)))
    from memsim.models.live.spending import OutOfMoney

    opened: Opened | None = None
    try:
        with _opened(spec, counter) as opened:
            outcome = _tried(spec, partial(play, opened.model))
    except Missed as missed:
        outcome = failed(spec, str(missed))
    except OutOfMoney as end:
        outcome = replace(failed(spec, str(end)), unpaid=str(end))
    spent = opened.account.spent if opened else NOTHING
    return _marked(replace(outcome, spent=spent), spent)


def _tried(spec: CaseSpec, play: Callable[[], CaseOutcome]) -> CaseOutcome:
    try:
        return play()
    except ModelError as error:
        return failed(spec, str(error))
    except OutOfTime:
        return failed(spec, f"took longer than the {spec.timeout:g} s that a case may take")


@contextmanager
def _opened(spec: CaseSpec, counter: TokenCounter) -> Iterator[Opened]:
    from memsim.models.opening import open_dry, open_live

    ref = read_model(spec.model)
    assert isinstance(ref, LiveRef)  # noqa: S101 - it is live
    if spec.access.dry:
        yield open_dry(ref, tokenizer=counter, seed=spec.seed, budget=spec.budget)
        return
    with open_live(ref, spec.access, case=spec.id, repeat=spec.repeat, seed=spec.seed) as opened:
        yield opened


def _marked(outcome: CaseOutcome, spent: Spent) -> CaseOutcome:
    """A case in which calls were never answered was not measured, whoever coped with it."""
    if not spent.failed or outcome.result.state != "scored":
        return outcome
    made = len(spent.failed) + spent.asked + spent.replayed
    said = f"{len(spent.failed)} of {made} model calls were never answered: {spent.failed[0]}"
    return replace(outcome, result=replace(outcome.result, state="error", error=_line(said)))


def failed(spec: CaseSpec, said: str) -> CaseOutcome:
    """The outcome of a case of which nothing was measured."""
    return CaseOutcome(result=blank_result(spec, state="error", error=_line(said)))


def _line(said: str) -> str:
    return " ".join(said.split())


@lru_cache(maxsize=8)
def _offline(ref: str, counter: TokenCounter, seed: int) -> Model:
    from memsim.models.loading import load_model

    return load_model(ref, counter, seed)
