"""Embedders: a packaged static model by default, a hashing one for tests, and a cache.

The vector of a text depends on the text alone, not on its batch, on threads or on the order of
additions. So every embedder sums text by text, and all sums are taken in one fixed order.
"""

from __future__ import annotations

import zlib
from array import array
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from memsim.errors import ModelError
from memsim.language.text import words
from memsim.models import is_by_word
from memsim.models.model_ref import DEFAULT_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memsim.models import Embedder, Vectors


REMEMBERED = 1 << 15
"""Number of vectors that `CachedEmbedder` keeps; 32 MB at 256 dimensions."""

_WORDS = 1 << 14
"""Number of words whose tokens are cached, because the tokenizer takes most of the time."""

_WORD = 64
"""Maximum length of a word whose tokens are cached."""

_TOGETHER = 256
"""Number of vectors that are scaled together."""

_UNIT = 1e-3


class HashEmbedder:
    """Feature hashing of words and of their letter trigrams, without a model."""

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self.dimension = dimension

    @property
    def name(self) -> str:
        """`hash`, with the dimension if it is not 256."""
        usual = self.dimension == DEFAULT_DIMENSION
        return "hash" if usual else f"hash:dim={self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension); zeros for a text without words."""
        import numpy as np

        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            counts = np.zeros(self.dimension)
            for feature in _features(text):
                hashed = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
                counts[hashed % self.dimension] += 1.0 if hashed & 0x8000_0000 else -1.0
            found[row] = unit_vector(counts)
        return found


def _features(text: str) -> Iterator[str]:
    for word in words(text):
        yield word
        padded = f"<{word}>"
        yield from (padded[n : n + 3] for n in range(len(padded) - 2))


def unit_vector(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector scaled to length 1; zeros stay zeros. Raises `OverflowError` as `unit_vectors`."""
    found: NDArray[np.float64] = unit_vectors(vector[None])[0]
    return found


def unit_vectors(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors scaled to length 1, shape (n, dimension); zeros stay zeros.

    Raises `OverflowError` if the length of one is no number that a float holds.
    """
    import numpy as np

    # Halves are added to each other: a sum along rows has another order on other processors.
    with np.errstate(over="ignore"):
        squares = vectors * vectors
        while (width := squares.shape[1]) > 1:
            half = width // 2
            added = squares[:, :half] + squares[:, half : 2 * half]
            if width % 2:
                added[:, 0] += squares[:, -1]
            squares = added
    if np.isinf(squares).any():
        raise OverflowError("a vector is too long to be scaled")
    lengths = np.sqrt(squares)
    return vectors / np.where(lengths > 0, lengths, 1.0)


class WordLlamaEmbedder:
    """The static model in the wordllama package; nothing is downloaded.

    It is a mean of vectors of words (`by_word`), so that a word costs next to nothing.

    Args:
        dimension: 64, 128 or 256.

    Raises:
        ModelError: the package is missing or incomplete.
    """

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self.dimension = dimension
        self.by_word = True
        self._tokens, self._table = _packaged(dimension)

    @property
    def name(self) -> str:
        """`wordllama`, with the dimension if it is not 256."""
        usual = self.dimension == DEFAULT_DIMENSION
        return "wordllama" if usual else f"wordllama:dim={self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension); an empty text gives zeros."""
        import numpy as np

        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TOGETHER):
            part = texts[start : start + _TOGETHER]
            sums = np.zeros((len(part), self.dimension))
            for text, total in zip(part, sums, strict=True):
                # The package pools padded batches; here each text is embedded alone.
                tokens = self._tokens(text) if text.strip() else ()
                if len(tokens):
                    np.add.reduce(self._table[tokens], axis=0, dtype=np.float64, out=total)
            found[start : start + len(part)] = unit_vectors(sums)
        return found


def _packaged(dimension: int) -> tuple[Callable[[str], NDArray[np.intc]], NDArray[np.float32]]:
    import numpy as np

    loaded = _load_wordllama(dimension)
    tokenizer, table = loaded.tokenizer, loaded.embedding
    tokenizer.no_padding()
    tokenizer.no_truncation()
    last = len(table) - 1

    def whole(text: str) -> bytes:
        # Bytes, because the garbage collector would search a tuple for each word.
        encoded = tokenizer.encode(text, add_special_tokens=False).ids
        return array("i", [min(token, last) for token in encoded]).tobytes()

    word = lru_cache(maxsize=_WORDS)(whole)

    def tokens(text: str) -> NDArray[np.intc]:
        if text.isascii() and len(text) <= _WORD and " " not in text and "<" not in text:
            return np.frombuffer(word(text), np.intc)  # as below, at once
        encodable = text.encode("utf-8", "replace").decode()
        found = bytearray()
        for piece in _pieces(encodable):
            parts = piece.split(" ")
            if _alone(piece, parts):
                for part in parts:
                    found += word(part) if len(part) <= _WORD else whole(part)
            else:
                found += whole(piece)
        return np.frombuffer(found, np.intc)

    return tokens, table


def _alone(piece: str, parts: list[str]) -> bool:
    """Whether each part has the same tokens alone as within the piece.

    No token of the model crosses a blank, which it writes as U+2581, except a token of blanks.
    Special tokens begin with `<`.
    """
    return "" not in parts and "<" not in piece and "\u2581" not in piece


def _pieces(text: str, size: int = 8192) -> Iterator[str]:
    # The tokenizer treats a text as one word, and is slow on long ones.
    start = 0
    while len(text) - start > size:
        cut = text.rfind(" ", start, start + size)
        cut = cut if cut > start else start + size
        yield text[start:cut]
        start = cut
    yield text[start:]


class _WordLlama(Protocol):
    tokenizer: _Tokenizer
    embedding: NDArray[np.float32]


class _Tokenizer(Protocol):
    def no_padding(self) -> None: ...
    def no_truncation(self) -> None: ...
    def encode(self, text: str, *, add_special_tokens: bool) -> _Encoded: ...


class _Encoded(Protocol):
    ids: list[int]


def _load_wordllama(dimension: int) -> _WordLlama:
    import logging
    from pathlib import Path

    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        import wordllama

        found: _WordLlama = wordllama.WordLlama.load(
            # The folder of the package: else it looks elsewhere for its tokenizer, then on the
            # network.
            cache_dir=Path(wordllama.__file__).parent,
            disable_download=True,
            trunc_dim=None if dimension == DEFAULT_DIMENSION else dimension,
        )
    except (ImportError, OSError, ValueError) as error:
        raise ModelError(f"the embedder wordllama cannot be loaded: {error}") from error
    finally:
        # Its import configures the root logger, which only a program should
        # configure.
        root.handlers[:] = handlers
        root.setLevel(level)
    return found


class CachedEmbedder:
    """An embedder with a cache, which checks each new vector once.

    Args:
        embedder: embeds the texts that are not cached, all in one call.
        remembered: number of vectors to keep; the least recently used are dropped first.
    """

    def __init__(self, embedder: Embedder, remembered: int = REMEMBERED) -> None:
        self._embedder = embedder
        self._remembered = max(1, remembered)
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def name(self) -> str:
        """The embedder's own name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The embedder's own dimension."""
        return self._embedder.dimension

    @property
    def by_word(self) -> bool:
        """Whether the embedder is a mean of vectors of words."""
        return is_by_word(self._embedder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension).

        Raises:
            ModelError: the embedder failed, or returned vectors that are not finite, not of unit
                length or of another dimension.
        """
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        new: dict[str, NDArray[np.float32]] = {}
        if missing:
            rows = check_vectors(self._embedder, self._embedder.embed(missing), len(missing))
            new = dict(zip(missing, rows, strict=True))
        vectors = [np.empty(0, dtype=np.float32)]
        known, use = self._known, self._known.move_to_end
        for text in texts:
            vector = new.get(text)
            if vector is None:
                vector = known[text]
                use(text)
            vectors.append(vector)
        self._keep(new)
        found = np.concatenate(vectors, dtype=np.float32, casting="same_kind")
        return found.reshape(len(texts), self.dimension)

    def _keep(self, new: dict[str, NDArray[np.float32]]) -> None:
        self._known.update((text, row.copy()) for text, row in new.items())
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)


def check_vectors(embedder: Embedder, vectors: Vectors, rows: int) -> Vectors:
    """Check the vectors of an embedder and return them.

    Raises:
        ModelError: they are not finite, not of unit length (or zero), or of another shape.
    """
    import numpy as np

    if vectors.shape != (rows, embedder.dimension):
        wanted = (rows, embedder.dimension)
        raise ModelError(f"{embedder.name} returned vectors of shape {vectors.shape}, not {wanted}")
    if not np.isfinite(vectors).all():
        raise ModelError(f"{embedder.name} returned vectors that are not finite")
    # numpy's `isclose` takes longer than the rest of this function.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if not ((np.abs(lengths - 1.0) <= _UNIT) | (lengths == 0.0)).all():
        raise ModelError(f"{embedder.name} returned vectors that are not of unit length")
    return vectors
