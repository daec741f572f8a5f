"""A provider's embedder: asked in batches, recorded once for a model, never mixed with another."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memsim.errors import ModelError, UnrecordedCall
from memsim.models.cassette import CassetteError, RecordMode
from memsim.models.cassette.embedder_recordings import RecordedEmbedder, vectors_path
from memsim.models.embedders import HashEmbedder
from memsim.models.live.cost_limit import OutOfMoney, SpendingLedger
from memsim.models.live.provider_embedder import BATCH, LiteLLMEmbedder, batches
from memsim.models.model_access import CallAccount, ModelAccess
from memsim.models.provider_models import open_embedder
from tests.doubles.fake_provider import Provider, faults, no_fault, providing

if TYPE_CHECKING:
    from memsim.models import Vectors

MODEL = "openai/text-embedding-3-small"


class Counted(HashEmbedder):
    """An embedder that remembers what it was asked."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As any other, in a while: whoever does not wait for it asks as well."""
        self.asked += texts
        threading.Event().wait(0.02)
        return super().embed(texts)


def opened(folder: Path, mode: RecordMode, embedder: Counted | None = None) -> RecordedEmbedder:
    """An embedder over recordings in a folder."""
    real = embedder or Counted()
    return RecordedEmbedder(real, vectors_path(folder, real.name), mode, "cassettes/v.jsonl")


def test_vectors_are_recorded_once_and_replayed_to_the_bit(tmp_path: Path) -> None:
    """In any order, with blanks and repetitions between them."""
    real = Counted()
    first = opened(tmp_path, "new", real)
    live = first.embed(["a kettle", "", "a pan", "a kettle"])
    first.keep()
    again = opened(tmp_path, "none")

    assert ["a kettle", "a pan"] == real.asked
    assert live[[2, 1, 0]].tobytes() == again.embed(["a pan", "", "a kettle"]).tobytes()
    assert 16 == again.dimension


def test_new_asks_for_what_is_missing_and_rewrite_for_everything(tmp_path: Path) -> None:
    """Each once."""
    for mode, texts, asked in (
        ("new", ["a", "b"], ["a", "b"]),
        ("new", ["b", "c"], ["c"]),
        ("rewrite", ["b", "b", "c"], ["b", "c"]),
        ("none", ["a", "b", "c"], []),
    ):
        real = Counted()
        embedder = opened(tmp_path, mode, real)  # type: ignore[arg-type]
        embedder.embed(texts)
        embedder.embed(texts)
        embedder.keep()

        assert asked == real.asked


def test_a_miss_names_the_text_and_the_file(tmp_path: Path) -> None:
    """And it is none that a memory could cope with."""
    with pytest.raises(
        UnrecordedCall, match=r"of 2 texts is not recorded: there is no cassettes/v\.jsonl"
    ):
        opened(tmp_path, "none").embed(["a", "b"])
    with pytest.raises(UnrecordedCall, match="the first is 'dimension'"):
        _ = opened(tmp_path, "none").dimension


def test_the_file_does_not_depend_on_who_came_first(tmp_path: Path) -> None:
    """Two of them at once ask once, and leave the same bytes behind as one alone."""
    real, texts = Counted(), [f"text {n}" for n in range(8)]
    pair = [opened(tmp_path / "two", "new", real) for _ in range(2)]
    threads = [
        threading.Thread(target=e.embed, args=(texts[:: 1 - 2 * n],)) for n, e in enumerate(pair)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for embedder in pair:
        embedder.keep()
    alone = opened(tmp_path / "one", "new")
    alone.embed(texts)
    alone.keep()

    files = [vectors_path(tmp_path / n, alone.name).read_bytes() for n in ("one", "two")]
    assert files[0] == files[1]
    assert sorted(texts) == sorted(real.asked)


def test_what_was_paid_for_survives_a_kill(tmp_path: Path) -> None:
    """Whole lines count, half a line does not."""
    opened(tmp_path, "new").embed(["a", "b"])
    new = vectors_path(tmp_path, Counted().name).with_name(".vectors.part")
    new.write_bytes(new.read_bytes()[:-9])
    real = Counted()
    again = opened(tmp_path, "new", real)
    again.embed(["a", "b"])
    again.keep()

    assert ["b"] == real.asked
    assert not new.exists()
    opened(tmp_path, "none").embed(["a", "b"])


def test_another_dimension_is_refused_and_nothing_is_mixed(tmp_path: Path) -> None:
    """A provider may change a model behind its name."""
    first = opened(tmp_path, "new")
    first.embed(["a"])
    first.keep()

    class Changed(Counted):
        @property
        def name(self) -> str:
            return "hash:dim=16"

    changed = Changed(32)
    embedder = opened(tmp_path, "new", changed)

    with pytest.raises(
        CassetteError, match="vectors of dimension 16, and hash:dim=16 now makes 32"
    ):
        embedder.embed(["b"])


@pytest.mark.parametrize(
    "text",
    ["{}\n", "nothing\n", '{"dimension":16,"embedder":"another","memsim_vectors":1}\n'],
)
def test_a_foreign_file_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    """Never taken for an empty one."""
    path = vectors_path(tmp_path, Counted().name)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CassetteError, match=r"vectors\.jsonl:1: is not a recording"):
        opened(tmp_path, "new").embed(["a"])


def test_batches_keep_the_order() -> None:
    """And neither hold too many texts nor too long ones."""
    texts = [str(n) for n in range(2 * BATCH + 1)]

    assert texts == [text for batch in batches(texts) for text in batch]
    assert [BATCH, BATCH, 1] == [len(batch) for batch in batches(texts)]
    assert [1, 1] == [len(batch) for batch in batches(["x" * 100_000] * 2)]


# -- over HTTP


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """A provider on this machine, where litellm looks for OpenAI's."""
    with pytest.MonkeyPatch.context() as patch, providing() as made:
        patch.setenv("OPENAI_API_KEY", "none-that-opens-anything")
        patch.setenv("OPENAI_BASE_URL", made.url)
        yield made
        made.fault = no_fault


def test_a_provider_is_asked_through_litellm(provider: Provider, tmp_path: Path) -> None:
    """After a storm as on a calm day: unit vectors, in the order of the texts, paid for once."""
    provider.fault = faults("429-after", "503")
    waits: list[float] = []
    account = CallAccount()
    ledger = SpendingLedger(tmp_path / "spent")
    embedder = LiteLLMEmbedder(MODEL, account=account, ledger=ledger, cap=1.0, wait=waits.append)
    found = embedder.embed(["a kettle", " ", "a pan"])

    assert (3, 8) == found.shape
    assert np.allclose(np.linalg.norm(found, axis=1), [1, 0, 1])
    assert embedder.embed(["a pan"]).tobytes() == found[2:].tobytes()
    assert (2, 4) == (len(waits), len(provider.asked))
    assert 2 == account.spent.asked
    assert pytest.approx(account.spent.cost, abs=2e-9) == ledger.spent > 0


def test_an_embedder_keeps_to_the_cap(provider: Provider, tmp_path: Path) -> None:
    """No text is sent that could pass it."""
    provider.asked.clear()
    embedder = LiteLLMEmbedder(MODEL, ledger=SpendingLedger(tmp_path / "spent"), cap=1e-9)

    with pytest.raises(OutOfMoney):
        embedder.embed(["a kettle"])

    assert [] == provider.asked


def test_a_wrong_key_is_no_vector(provider: Provider) -> None:
    """It is told at once."""
    provider.asked.clear()
    provider.fault = faults("unauthorised")

    with pytest.raises(ModelError, match=r"litellm/openai/text-embedding-3-small: .* 401"):
        LiteLLMEmbedder(MODEL).embed(["a"])

    assert 1 == len(provider.asked)


def test_nobody_is_asked_unless_that_is_asked_for(provider: Provider, tmp_path: Path) -> None:
    """Replaying asks nobody, a dry run only counts, live records nothing."""
    provider.asked.clear()
    provider.fault = no_fault
    folder = tmp_path / "cassettes"
    none = open_embedder(MODEL, ModelAccess(folder=folder))
    dry = open_embedder(MODEL, ModelAccess(folder=folder, dry=True))
    with pytest.raises(UnrecordedCall):
        none.embedder.embed(["a"])
    dry.embedder.embed(["a kettle"])

    assert [] == provider.asked
    assert (1, 8) == (dry.account.spent.asked, dry.account.spent.input)
    assert 0 < dry.account.spent.cost

    open_embedder(MODEL, ModelAccess(mode="live", folder=folder)).embedder.embed(["a"])

    assert 1 == len(provider.asked)
    assert not folder.exists()
