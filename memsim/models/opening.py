"""Opens a provider's model for one case: recordings first, the network only where that is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.errors import RefError
from memsim.models.cassette import CassetteError
from memsim.models.cassette.recorder import Recorder
from memsim.models.cassette.shelf import Shelf, ignore_unfinished, tape_path
from memsim.models.live.model import Account, LiveModel
from memsim.models.live.pricing import price_of
from memsim.models.live.provider import LiteLLM
from memsim.models.live.retrying import Retrying
from memsim.models.live.spending import Ledger, Purse

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.models import Model
    from memsim.models.access import Access
    from memsim.models.live import Asker
    from memsim.models.refs import LiveRef
    from memsim.tokens import TokenCounter

_KEYS = ("_API_KEY", "_TOKEN", "_SECRET", "_KEY", "_PASSWORD")
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Opened:
    """A model for one case, and the account of what its calls came to."""

    model: Model
    account: Account


@contextmanager
def open_live(
    ref: LiveRef, access: Access, *, case: str, repeat: int, seed: int
) -> Iterator[Opened]:
    """A provider's model, for as long as a case is played.

    Args:
        ref: which model.
        access: whether it may be asked, and where recordings lie.
        case: the case's id.
        repeat: of the case.
        seed: of the waits between attempts.

    Raises:
        CassetteError: recordings are damaged or cannot be written.
    """
    account = Account()
    path = tape_path(access.folder, ref.shown, case) if access.folder else None
    if path is not None and access.folder is not None and access.mode in {"new", "rewrite"}:
        ignore_unfinished(access.folder)
    shelf = Shelf(path, case=case, model=ref.shown, repeat=repeat, mode=access.mode)
    recorder = Recorder(
        shelf,
        lambda: _live(ref, access, seed),
        account,
        place=_shown(path, access),
        secrets=own_secrets(os.environ),
    )
    complete = False
    try:
        yield Opened(LiveModel(ref, recorder, account), account)
        complete = not account.spent.failed
    finally:
        shelf.close(complete=complete)


def open_dry(ref: LiveRef, *, tokenizer: TokenCounter, seed: int, budget: int) -> Opened:
    """What stands in for a provider's model where nobody is asked.

    Args:
        ref: which model.
        tokenizer: measures contexts.
        seed: of the model that stands in.
        budget: tokens that a context may use.
    """
    from memsim.models.live.dry import DryModel
    from memsim.models.loading import load_model

    account = Account()
    stand_in = load_model("offline", tokenizer, seed)
    price = price_of(ref)
    model = DryModel(ref, stand_in, price=price, counter=tokenizer, budget=budget, account=account)
    return Opened(model, account)


def _shown(path: Path | None, access: Access) -> str:
    if path is None or access.folder is None:
        return "recording"
    return f"{access.shown or access.folder.name}/{path.relative_to(access.folder).as_posix()}"


def _live(ref: LiveRef, access: Access, seed: int) -> Asker:
    provider: Asker = _provider(ref)
    if access.cap is not None:
        price = price_of(ref)
        if price is None or access.ledger is None:
            raise RefError(unpriced(ref))
        ledger = Ledger(access.ledger)
        provider = Purse(provider, price=price, ledger=ledger, cap=access.cap)
    return Retrying(provider, seed=seed)


def unpriced(ref: LiveRef) -> str:
    """Why a cap cannot be kept with a model."""
    return (
        f"--max-cost: no price of {ref.model} is known; give dollars for a million tokens of input"
        f" and output, as in {ref.model}:price=0.15/0.60"
    )


@lru_cache(maxsize=8)
def _provider(ref: LiveRef) -> LiteLLM:
    return LiteLLM(price_of(ref))


def own_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that are named like keys: no recording may hold one."""
    found = {
        value.strip()
        for name, value in environ.items()
        if name.upper().endswith(_KEYS) and len(value.strip()) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def check_live(ref: LiveRef, access: Access) -> None:
    """Refuse, before anything is played, what could not be asked in the end.

    Raises:
        RefError: the provider is unknown, its key is absent, or a cap cannot be kept.
        CassetteError: the folder of the recordings cannot be written.
    """
    if access.mode == "none":
        return
    if access.cap is not None and price_of(ref) is None:
        raise RefError(unpriced(ref))
    if access.mode != "live":
        if access.folder is None:
            raise CassetteError("there is no folder for recordings")
        ignore_unfinished(access.folder)
    from memsim.models.live.access import check_keys

    check_keys(ref.model)
