"""Opens a provider's model or embedder: recordings first, the network only where that is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.errors import RefError
from memsim.models.cassette import CassetteError
from memsim.models.cassette.recorder import Recorder
from memsim.models.cassette.shelf import Shelf, ignore_unfinished, tape_path
from memsim.models.cassette.vectors import RecordedEmbedder, vectors_path
from memsim.models.live.model import Account, LiveModel
from memsim.models.live.pricing import listed, price_of
from memsim.models.live.provider import LiteLLM
from memsim.models.live.retrying import Retrying
from memsim.models.live.spending import Ledger, Purse
from memsim.models.refs import LiveRef, read_embedder, read_judge, read_model

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.models import Embedder, Model
    from memsim.models.access import Access
    from memsim.models.live import Asker
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
    ref: LiveRef, access: Access, *, case: str, repeat: int, seed: int, role: str = ""
) -> Iterator[Opened]:
    """A provider's model, for as long as a case is played.

    Args:
        ref: which model.
        access: whether it may be asked, and where recordings lie.
        case: the case's id.
        repeat: of the case.
        seed: of the waits between attempts.
        role: what the model is asked as, where the case asks it as something else besides; keeps
            the recordings apart.

    Raises:
        CassetteError: recordings are damaged or cannot be written.
    """
    account = Account()
    asked_as = f"{role} {ref.shown}".strip()
    path = tape_path(access.folder, asked_as, case) if access.folder else None
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
            raise RefError(unpriced(ref.model))
        ledger = Ledger(access.ledger)
        provider = Purse(provider, price=price, ledger=ledger, cap=access.cap)
    return Retrying(provider, seed=seed)


def unpriced(model: str) -> str:
    """Why a cap cannot be kept with a model."""
    return (
        f"--max-cost: no price of {model} is known; give a model's dollars for a million tokens of"
        f" input and output with its name, as in {model}:price=0.15/0.60"
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


def check_live(model: str, embedder: str, access: Access, judge: str = "") -> None:
    """Refuse, before anything is played, what could not be asked in the end.

    Args:
        model: the model's ref.
        embedder: the embedder's ref.
        access: whether providers may be asked.
        judge: the judge's ref; empty for none.

    Raises:
        RefError: a provider is unknown, its key is absent, or a cap cannot be kept.
        CassetteError: the folder of the recordings cannot be written.
    """
    if access.mode == "none":
        return
    prices = {}
    if isinstance(ref := read_model(model), LiveRef):
        prices[ref.model] = price_of(ref)
    if judge and isinstance(ref := read_judge(judge).model, LiveRef):
        prices[ref.model] = price_of(ref)
    if (named := read_embedder(embedder)).kind == "litellm":
        prices[named.name] = listed(named.name)
    if access.cap is not None:
        for name in (name for name, price in prices.items() if price is None):
            raise RefError(unpriced(name))
    if access.mode != "live":
        if access.folder is None:
            raise CassetteError("there is no folder for recordings")
        ignore_unfinished(access.folder)
    from memsim.models.live.access import check_keys

    for name in prices:
        check_keys(name)


# -- embedders


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    """An embedder for a whole process, and the account of what it came to.

    Attributes:
        keep: puts what is new into the recordings, for good.
    """

    embedder: Embedder
    account: Account
    keep: Callable[[], None]


def open_embedder(ref: str, access: Access) -> OpenedEmbedder:
    """The embedder that a ref names; one of a provider as a run may come by its answers.

    Args:
        ref: what names it.
        access: whether a provider may be asked, and where recordings lie.

    Raises:
        RefError: the ref names no embedder.
        ModelError: it cannot be loaded.
    """
    from memsim.models.embedding import CachedEmbedder, load_embedder
    from memsim.models.live.embedding import DryEmbedder, LiteLLMEmbedder

    named, account = read_embedder(ref), Account()
    if named.kind != "litellm":
        return OpenedEmbedder(load_embedder(ref), account, _nothing)
    if access.dry:
        return OpenedEmbedder(CachedEmbedder(DryEmbedder(named.name, account)), account, _nothing)
    ledger = Ledger(access.ledger) if access.ledger else None
    live = LiteLLMEmbedder(named.name, account=account, ledger=ledger, cap=access.cap)
    if access.mode == "live" or access.folder is None:
        return OpenedEmbedder(CachedEmbedder(live), account, _nothing)
    path = vectors_path(access.folder, live.name)
    recorded = RecordedEmbedder(live, path, access.mode, _shown(path, access))
    return OpenedEmbedder(CachedEmbedder(recorded), account, recorded.keep)


def _nothing() -> None:
    """There is nothing to keep."""
