"""Tries the judge of a session on known answers, once, whoever plays the cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memsim.models.cassette.shelf import held
from memsim.suite.judging import calibrate
from memsim.tokens import TokenCounter, load_tokenizer

if TYPE_CHECKING:
    from memsim.models.access import Access
    from memsim.suite.cases import CaseSpec


def trial_of(specs: Sequence[CaseSpec]) -> Mapping[str, Any]:
    """How the judge of some cases did, as `run.json` has it; empty where they have none.

    Args:
        specs: every case of the session.

    Raises:
        CapReached: the trial would have cost too much.
        RefError: there is no such judge.
        CassetteError: recordings are damaged or cannot be written.
    """
    asking = [spec for spec in specs if spec.judge]
    if not asking:
        return {}
    with _alone(asking[0].access):
        trial = calibrate(asking, TokenCounter(load_tokenizer(asking[0].tokenizer)))
    return trial.record() if trial else {}


@contextmanager
def _alone(access: Access) -> Iterator[None]:
    # Where several processes record, the first one asks, and the others find what it was told.
    if access.folder is None or access.mode not in {"new", "rewrite"}:
        yield
        return
    access.folder.mkdir(parents=True, exist_ok=True)
    with held(access.folder):
        yield
