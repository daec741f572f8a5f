"""Makes a strategy once before anything is played: what it refuses is told at once."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from memsim.clock import Clock
from memsim.discovery.loading import prepare
from memsim.errors import ModelError, RefError
from memsim.memory.stores.opening import addresses
from memsim.strategy import Environment
from memsim.tokens import CharsOverFour, TokenCounter

if TYPE_CHECKING:
    from memsim.discovery.project import Project
    from memsim.discovery.refs import StrategyRef
    from memsim.models import Reply, Request

_BUDGET = 4096


class _Absent:
    """Stands where a model or embedder would be, for a constructor that should not need one yet."""

    name = "absent"

    def complete(self, request: Request) -> Reply:
        raise ModelError("nothing is played yet")


def _nothing() -> NoReturn:
    raise ModelError("nothing is played yet")


def try_parameters(ref: StrategyRef, project: Project | None = None) -> None:
    """Refuse a ref whose parameters its strategy refuses.

    Whatever else goes wrong is left to the case: that is the strategy's fault and not the user's.

    Raises:
        RefError: the strategy's constructor raised a ValueError.
    """
    if not ref.params:
        return
    try:
        make = prepare(ref, project)
    except RefError:
        return
    env = Environment(
        clock=Clock(),
        model=_Absent(),
        counter=TokenCounter(CharsOverFour()),
        embed=_nothing,
        folder=_nothing,
        budget=_BUDGET,
        services=addresses(os.environ),
    )
    try:
        strategy = make(env)
    except RefError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - a stranger's constructor may raise anything
        return
    with suppress(Exception):
        strategy.close()
