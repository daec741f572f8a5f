"""Find the strategy that a check was asked for, without the library that generates cases."""

from __future__ import annotations

from memsim.discovery.loader import load_strategy, prepare, resolve
from memsim.discovery.strategy_ref import snake_case
from memsim.testing.claims import claims_of
from memsim.testing.worlds import Subject


def subject_of(ref: str) -> Subject:
    """The strategy of a ref, with its claims.

    Raises:
        RefError: it means nothing.
    """
    resolved = resolve(ref)
    kind = load_strategy(resolved)
    make = prepare(resolved)
    claims = claims_of(kind, snake_case(kind.__name__), dict(resolved.params))
    return Subject(ref=ref, make=make, claims=claims)
