"""Embedders: vectors that depend on the text alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memsim.errors import ModelError, RefError
from memsim.models import Embedder, embedders
from memsim.models.embedders import CachedEmbedder, HashEmbedder, WordLlamaEmbedder
from memsim.models.live.provider_embedder import LiteLLMEmbedder
from memsim.models.registry import load_embedder

if TYPE_CHECKING:
    from memsim.models import Vectors

TEXTS = (
    "I adopted a cat.",
    "My kitten is called Mio.",
    "The deployment failed at 03:12 with exit code 137.",
    "x",
    "",
    "Zoë's café \U0001f469\u200d\U0001f467",
    "我的狗叫小白",
    "word " * 300,
    "\ud800 lone",
    "  \n\t ",
)
REFS = (
    "hash",
    "hash:dim=16",
    "hash:dim=1000",
    "wordllama",
    "wordllama:dim=64",
    "wordllama:dim=128",
)


@pytest.fixture(scope="module", params=REFS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Each packaged embedder, without a cache."""
    ref, _, dimension = request.param.partition(":dim=")
    made = HashEmbedder if ref == "hash" else WordLlamaEmbedder
    return made(int(dimension or 256))


def test_vectors_are_unit_float32_rows(embedder: Embedder) -> None:
    """One row a text, of the promised length; zeros for a text without words."""
    found = embedder.embed(TEXTS)
    lengths = np.linalg.norm(found.astype(np.float64), axis=1)

    assert (found.shape, str(found.dtype)) == ((len(TEXTS), embedder.dimension), "float32")
    assert np.isfinite(found).all()
    assert [bool(text.strip()) for text in TEXTS] == [bool(length) for length in lengths]
    assert np.allclose(lengths[lengths > 0], 1.0, atol=1e-6)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    """The shape is kept."""
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_vector_is_the_same_in_any_company(embedder: Embedder) -> None:
    """One by one, in a batch, in another order, twice: bit for bit."""
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    crowded = embedder.embed([*TEXTS * 9, "and a much longer text " * 40])[: len(TEXTS)]

    assert together.tobytes() == alone.tobytes() == backwards.tobytes() == crowded.tobytes()


def test_a_name_is_the_ref(embedder: Embedder) -> None:
    """What is stored with an index makes the same embedder again."""
    again = load_embedder(embedder.name)

    assert (again.name, again.dimension) == (embedder.name, embedder.dimension)
    assert isinstance(again, Embedder)


@pytest.mark.parametrize("ref", ["hash", "wordllama"])
def test_threads_and_hash_seed_do_not_show(ref: str) -> None:
    """Another process with other settings gives the same bytes."""
    code = (
        "import hashlib\n"
        "from memsim.models.registry import load_embedder\n"
        f"texts = ['I adopted a cat.', 'word ' * 500, 'Zo\\u00eb']\n"
        f"print(hashlib.sha256(load_embedder({ref!r}).embed(texts).tobytes()).hexdigest())\n"
    )
    settings_of = (
        {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        {"PYTHONHASHSEED": "5", "OMP_NUM_THREADS": "4", "TOKENIZERS_PARALLELISM": "true"},
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": ":".join(sys.path), **env},
            capture_output=True,
            check=True,
        ).stdout
        for env in settings_of
    }

    assert len(digests) == 1


_BLANKS = st.text(st.sampled_from("  ab\u2581<s/>\u00e9\U0001f469\n\t\x00."), max_size=40)


@given(text=st.one_of(st.text(max_size=40), _BLANKS))
@example("word " * 3000)
@example("one <s> two")
@settings(max_examples=200, deadline=None)
def test_words_that_are_known_change_no_vector(text: str) -> None:
    """A text has the tokens that the tokenizer cuts it into, the pieces of a long one apart."""
    model = _wordllama()
    encodable = text.encode("utf-8", "replace").decode()
    pieces = embedders._pieces(encodable)
    tokens = [t for p in pieces for t in model.tokenizer.encode(p, add_special_tokens=False).ids]
    sums = model.embedding[tokens if text.strip() else []].sum(axis=0, dtype=np.float64)

    found = _known_words().embed([text])

    assert embedders.unit_vector(sums).astype(np.float32).tobytes() == found.tobytes()


def test_no_token_reaches_over_a_blank() -> None:
    """Which is why the words of a text can be cut into tokens one by one."""
    vocabulary = json.loads(cast("Any", _wordllama().tokenizer).to_str())["model"]["vocab"]

    assert not [token for token in vocabulary if "\u2581" in token.lstrip("\u2581")]


@cache
def _known_words() -> WordLlamaEmbedder:
    return WordLlamaEmbedder(64)


@cache
def _wordllama() -> embedders._WordLlama:
    loaded = embedders._load_wordllama(64)
    loaded.tokenizer.no_padding()
    loaded.tokenizer.no_truncation()
    return loaded


def test_meaning_is_near() -> None:
    """The packaged model brings paraphrases together, which hashing cannot."""
    cat, kitten, deployment = WordLlamaEmbedder().embed(TEXTS[:3])

    assert cat @ kitten > 2 * abs(cat @ deployment)


def test_spelling_is_near() -> None:
    """Hashing brings slips and forms of a word together."""
    one, slip, other = HashEmbedder().embed(["deployment failed", "deploymnt failed", "a red bus"])

    assert one @ slip > 0.5 > one @ other


def test_hashing_is_the_same_for_ever() -> None:
    """An index that was stored can be read by a later version."""
    found = HashEmbedder(16).embed(["I adopted a cat."])

    assert found.nonzero()[1].tolist() == [1, 3, 7, 8, 10, 11, 13, 15]
    assert np.allclose(found[found != 0] / 0.26726, [1, 2, 1, 2, -1, -1, 1, -1], atol=1e-4)


def test_loading_leaves_logging_alone() -> None:
    """The package configures the root logger when it is imported; that does not last."""
    code = (
        "import logging\n"
        "from memsim.models.embedders import WordLlamaEmbedder\n"
        "WordLlamaEmbedder(64)\n"
        "print(logging.getLogger().handlers, logging.getLogger().level == logging.WARNING)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[] True"


def test_a_package_that_is_absent_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, not an ImportError in the middle of a case."""
    monkeypatch.setitem(sys.modules, "wordllama", None)

    with pytest.raises(ModelError, match="wordllama cannot be loaded"):
        WordLlamaEmbedder()


class Double:
    """An embedder that counts what it is asked, and gives what it is told."""

    name = "double"
    dimension = 2

    def __init__(self, row: Sequence[float] = (1.0, 0.0), width: int = 2) -> None:
        self.asked: list[list[str]] = []
        self._row = row
        self._width = width

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The same row for every text."""
        self.asked.append(list(texts))
        found = np.zeros((len(texts), self._width), dtype=np.float32)
        found[:, : len(self._row)] = self._row
        return found


def test_the_cache_asks_once_for_what_it_lacks() -> None:
    """All missing texts in one call, each once."""
    double = Double()
    cached = CachedEmbedder(double)

    first = cached.embed(["a", "b", "a"])
    second = cached.embed(["b", "c"])

    assert double.asked == [["a", "b"], ["c"]]
    assert (first.shape, second.shape) == ((3, 2), (2, 2))
    assert (cached.name, cached.dimension) == ("double", 2)


def test_the_cache_is_bounded() -> None:
    """The longest unused goes first."""
    double = Double()
    cached = CachedEmbedder(double, remembered=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])

    assert double.asked == [["a"], ["b"], ["c"], ["b"]]


def test_a_batch_larger_than_the_cache_is_whole() -> None:
    """Bounds never cost a row."""
    cached = CachedEmbedder(HashEmbedder(16), remembered=3)
    texts = [f"text {n % 7}" for n in range(40)]

    assert cached.embed(texts).tobytes() == HashEmbedder(16).embed(texts).tobytes()


def test_what_the_cache_gives_can_be_changed() -> None:
    """A caller that scales its vectors does not spoil the next one's."""
    cached = CachedEmbedder(Double())
    cached.embed(["a"])[:] = 7.0

    assert cached.embed(["a"]).tolist() == [[1.0, 0.0]]


class Wide(Double):
    """An embedder that gives numbers of twice the size."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed(texts).astype(np.float64)


def test_the_cache_gives_numbers_of_one_size() -> None:
    """Whatever the embedder gives, new and known ones alike."""
    cached = CachedEmbedder(Wide())

    assert ["float32"] * 3 == [str(cached.embed(t).dtype) for t in (["a"], ["a", "b"], [])]


@pytest.mark.parametrize(
    ("double", "said"),
    [
        (Double((float("nan"), 0.0)), "not finite"),
        (Double((float("inf"), 0.0)), "not finite"),
        (Double((3.0, 4.0)), "not of unit length"),
        (Double((1.0, 0.0), width=3), "of shape"),
    ],
)
def test_vectors_are_checked(double: Double, said: str) -> None:
    """What is not a unit vector of the right length never reaches an index."""
    with pytest.raises(ModelError, match=said):
        CachedEmbedder(double).embed(["a"])


def test_zero_vectors_are_allowed() -> None:
    """A text without words has no direction."""
    assert CachedEmbedder(Double((0.0, 0.0))).embed([""]).tolist() == [[0.0, 0.0]]


class FakeLiteLLM:
    """litellm's module as far as it is used."""

    def __init__(
        self, rows: list[list[float]] | None = None, error: Exception | None = None
    ) -> None:
        self.calls: list[dict[str, Any]] = []
        self._rows = rows
        self._error = error

    def embedding(self, **call: Any) -> SimpleNamespace:  # noqa: ANN401 - as litellm's own
        """Answer with the rows given, or one for each text."""
        self.calls.append(call)
        if self._error:
            raise self._error
        rows = self._rows or [[3.0, 4.0]] * len(call["input"])
        return SimpleNamespace(data=[{"embedding": row} for row in rows])


def faked(monkeypatch: pytest.MonkeyPatch, fake: FakeLiteLLM) -> LiteLLMEmbedder:
    """Litellm's embedder over a fake module."""
    monkeypatch.setitem(sys.modules, "litellm", fake)
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    return LiteLLMEmbedder("some/model")


def test_litellm_is_asked_for_what_has_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers refuse empty texts; those are zeros without asking. Vectors are normalised."""
    fake = FakeLiteLLM()
    embedder = faked(monkeypatch, fake)

    found = embedder.embed(["a", " ", "b"])

    assert np.allclose(found, [[0.6, 0.8], [0.0, 0.0], [0.6, 0.8]])
    assert [("some/model", ["a", "b"])] == [(c["model"], c["input"]) for c in fake.calls]
    assert (embedder.name, embedder.dimension) == ("litellm/some/model", 2)
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


def test_litellms_dimension_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first text is embedded, one short one tells."""
    fake = FakeLiteLLM()
    embedder = faked(monkeypatch, fake)

    assert [embedder.dimension, embedder.dimension] == [2, 2]
    assert len(fake.calls) == 1
    assert embedder.embed([]).shape == (0, 2)
    assert embedder.embed([""]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("fake", "said"),
    [
        (
            FakeLiteLLM(error=RuntimeError("no key\nfor you")),
            "some/model: RuntimeError: no key$",
        ),
        (FakeLiteLLM(rows=[[1.0], [1.0]]), "a wrong number or dimension"),
        (FakeLiteLLM(rows=[[]]), "a wrong number or dimension"),
    ],
)
def test_a_provider_that_fails_is_a_model_error(
    fake: FakeLiteLLM, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, whatever the provider raised or gave."""
    with pytest.raises(ModelError, match=said):
        faked(monkeypatch, fake).embed(["a"])


def test_a_provider_that_gives_no_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a number is not a vector."""
    embedder = faked(monkeypatch, FakeLiteLLM(rows=[[float("nan"), 1.0]]))

    with pytest.raises(ModelError, match="not finite"):
        embedder.embed(["a"])


def test_vectors_that_come_in_another_order_are_put_in_that_of_the_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their index tells; one text's vector must never stand for another's."""
    embedder = faked(monkeypatch, FakeLiteLLM())
    data = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    monkeypatch.setattr(embedder, "_reply", lambda _: SimpleNamespace(data=data))

    assert embedder.embed(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_vector_without_a_direction_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with words has one: nothing is ever found by zeros."""
    with pytest.raises(ModelError, match="returned a zero vector"):
        faked(monkeypatch, FakeLiteLLM(rows=[[0.0, 0.0]])).embed(["a"])


def test_a_vector_too_long_to_be_scaled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its squares are numbers, and their sum is none: scaled, it would be zeros."""
    with pytest.raises(ModelError, match="returned a vector that is too long"):
        faked(monkeypatch, FakeLiteLLM(rows=[[1.2e154] * 4])).embed(["a"])


def test_a_ref_loads_the_embedder_it_names() -> None:
    """And nothing else; litellm itself is not imported for it."""
    assert ["hash", "wordllama:dim=64", "litellm/a/b"] == [
        load_embedder(ref).name for ref in ("hash", "wordllama:dim=64", "litellm/a/b")
    ]
    with pytest.raises(RefError, match="did you mean 'hash'"):
        load_embedder("hahs")


@settings(max_examples=40)
@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_can_be_embedded(texts: list[str]) -> None:
    """In any script and of any characters, alone or together."""
    for made in (HashEmbedder(64), load_embedder("wordllama:dim=64")):
        together = made.embed(texts)
        alone = [made.embed([text])[0].tobytes() for text in texts]

        assert [row.tobytes() for row in together] == alone
