"""Every probe type: the file `match_NAME.py` compares answers to probes with `match: NAME`.

A new type needs one new file, with a function that compares an answer with one expected text::

    def match(probe: Probe, expected: str, answer: str) -> AnswerMatch:
        right = answer.startswith(expected)
        return AnswerMatch(right=right, share=float(right))

With several expected texts the best match counts, unless the file says `NEEDS_EVERY = True`.
Answers above `length_limit` are wrong, unless the file says `ANY_LENGTH = True`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memsim.scenario.script import Probe
    from memsim.scoring.answer_match import AnswerMatch


class ProbeType(NamedTuple):
    """How answers to one type of probe are compared.

    Attributes:
        match: compares an answer with one expected text.
        any_length: whether long answers are compared as well.
        needs_every: whether an answer has to give every expected text.
    """

    match: Callable[[Probe, str, str], AnswerMatch]
    any_length: bool
    needs_every: bool


@lru_cache(maxsize=64)
def probe_type(name: str) -> ProbeType:
    """The probe type of a name; its file is imported on first use."""
    module = importlib.import_module(f"{__name__}.match_{name}")
    return ProbeType(
        match=module.match,
        any_length=getattr(module, "ANY_LENGTH", False),
        needs_every=getattr(module, "NEEDS_EVERY", False),
    )


@lru_cache(maxsize=64)
def needs_every(name: str) -> bool:
    """Whether a type of probe needs every expected text; False for a type that is not known."""
    known = {found.name for found in pkgutil.iter_modules(__path__)}
    return f"match_{name}" in known and probe_type(name).needs_every
