"""Open models and embedders of providers.

They use recordings first, and the network only if the run allows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.errors import RefError
from memsim.models.cassette import CassetteError
from memsim.models.cassette.call_recorder import CallRecorder
from memsim.models.cassette.case_recordings import CaseRecordings, ignore_unfinished, tape_path
from memsim.models.cassette.embedder_recordings import RecordedEmbedder, vectors_path
from memsim.models.embedders import CachedEmbedder
from memsim.models.live.cost_limit import CostLimitClient, SpendingLedger, listed_price, price_of
from memsim.models.live.litellm_client import LiteLLM
from memsim.models.live.model import LiveModel
from memsim.models.live.retry import RetryClient
from memsim.models.model_access import CallAccount, CaseModel, RunEmbedder
from memsim.models.model_ref import LiveRef, read_embedder, read_judge, read_model

if TYPE_CHECKING:
    from pathlib import Path

    from memsim.message import TokenCounter
    from memsim.models.live import ModelClient
    from memsim.models.model_access import ModelAccess

_KEYS = ("_API_KEY", "_TOKEN", "_SECRET", "_KEY", "_PASSWORD")
_SHORTEST = 8


@contextmanager
def open_live(
    ref: LiveRef, access: ModelAccess, *, case: str, repeat: int, seed: int, role: str = ""
) -> Iterator[CaseModel]:
    """Open a live model for one case; `role` keeps recordings of a case's several roles apart.

    Raises:
        CassetteError: recordings are damaged or cannot be written.
    """
    account = CallAccount()
    asked_as = f"{role} {ref.label}".strip()
    path = tape_path(access.folder, asked_as, case) if access.folder else None
    if path is not None and access.folder is not None and access.mode in {"new", "rewrite"}:
        ignore_unfinished(access.folder)
    shelf = CaseRecordings(path, case=case, model=ref.label, repeat=repeat, mode=access.mode)
    recorder = CallRecorder(
        shelf,
        lambda: _live(ref, access, seed),
        account,
        place=_place(path, access),
        secrets=environment_secrets(os.environ),
    )
    complete = False
    try:
        yield CaseModel(LiveModel(ref, recorder, account), account)
        complete = not account.spent.failed
    finally:
        shelf.close(complete=complete)


def open_dry(ref: LiveRef, *, tokenizer: TokenCounter, seed: int, budget: int) -> CaseModel:
    """Open the offline stand-in of a live model, which estimates costs."""
    from memsim.models.live.dry_run import DryModel
    from memsim.models.registry import load_model

    account = CallAccount()
    stand_in = load_model("offline", tokenizer, seed)
    price = price_of(ref)
    model = DryModel(ref, stand_in, price=price, counter=tokenizer, budget=budget, account=account)
    return CaseModel(model, account)


def _place(path: Path | None, access: ModelAccess) -> str:
    if path is None or access.folder is None:
        return "recording"
    return (
        f"{access.folder_label or access.folder.name}/{path.relative_to(access.folder).as_posix()}"
    )


def _live(ref: LiveRef, access: ModelAccess, seed: int) -> ModelClient:
    provider: ModelClient = _provider(ref)
    if access.cap is not None:
        price = price_of(ref)
        if price is None or access.ledger is None:
            raise RefError(no_price_message(ref.model))
        ledger = SpendingLedger(access.ledger)
        provider = CostLimitClient(provider, price=price, ledger=ledger, cap=access.cap)
    return RetryClient(provider, seed=seed)


def no_price_message(model: str) -> str:
    """The error text for a cost limit on a model without a known price."""
    return (
        f"--max-cost: no price of {model} is known; give a model's dollars for a million tokens of"
        f" input and output with its name, as in {model}:price=0.15/0.60"
    )


@lru_cache(maxsize=8)
def _provider(ref: LiveRef) -> LiteLLM:
    return LiteLLM(price_of(ref))


def environment_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of environment variables with names of keys; no recording may contain one."""
    found = {
        value.strip()
        for name, value in environ.items()
        if name.upper().endswith(_KEYS) and len(value.strip()) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def check_live(model: str, embedder: str, access: ModelAccess, judge: str = "") -> None:
    """Check before a run that its live models can be called.

    Raises:
        RefError: a provider is unknown, its key is missing, or a cost limit cannot be kept.
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
        prices[named.name] = listed_price(named.name)
    if access.cap is not None:
        for name in (name for name, price in prices.items() if price is None):
            raise RefError(no_price_message(name))
    if access.mode != "live":
        if access.folder is None:
            raise CassetteError("there is no folder for recordings")
        ignore_unfinished(access.folder)
    from memsim.models.live.litellm_client import check_keys

    for name in prices:
        check_keys(name)


def open_embedder(name: str, access: ModelAccess) -> RunEmbedder:
    """Open the embedder `litellm:name`; it uses recordings as the run allows.

    Raises:
        ModelError: it cannot be loaded.
    """
    from memsim.models.live.provider_embedder import DryEmbedder, LiteLLMEmbedder

    account = CallAccount()
    if access.dry:
        return RunEmbedder(CachedEmbedder(DryEmbedder(name, account)), account)
    ledger = SpendingLedger(access.ledger) if access.ledger else None
    live = LiteLLMEmbedder(name, account=account, ledger=ledger, cap=access.cap)
    if access.mode == "live" or access.folder is None:
        return RunEmbedder(CachedEmbedder(live), account)
    path = vectors_path(access.folder, live.name)
    recorded = RecordedEmbedder(live, path, access.mode, _place(path, access))
    return RunEmbedder(CachedEmbedder(recorded), account, recorded.keep)
