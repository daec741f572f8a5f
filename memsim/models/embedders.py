"""Texts to vectors: a packaged static model by default, a hashing one for tests, litellm's by name.

A text's vector depends on the text alone: not on what it is embedded with, not on threads, not on
the order of additions. So every embedder works text by text, adds in one fixed order, and
normalises by an exactly rounded sum.
"""

from __future__ import annotations

import math
import zlib
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from memsim.errors import ModelError
from memsim.language.text import words
from memsim.models.model_ref import DEFAULT_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memsim.models import Embedder, Vectors


REMEMBERED = 1 << 15
"""Vectors that `CachedEmbedder` keeps; 32 MB at 256 dimensions."""

_WORDS = 1 << 14
"""Words whose tokens are kept: the tokenizer takes longer than all the rest of embedding."""

_WORD = 64
"""Characters of a word above which its tokens are not kept."""

_UNIT = 1e-3


class HashEmbedder:
    """Feature hashing of words and of their runs of three letters: no model, and no meaning.

    Args:
        dimension: length of each vector.
    """

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self.dimension = dimension

    @property
    def name(self) -> str:
        """`hash`, with the dimension where it is not 256."""
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
    """A vector of the same direction and of length 1; zeros stay zeros."""
    # Exactly rounded, so that no machine's way of adding shows in the last bit.
    length = math.sqrt(math.fsum((vector * vector).tolist()))
    return vector / length if length else vector


class WordLlamaEmbedder:
    """The static model that the wordllama package carries; nothing is fetched.

    Args:
        dimension: 64, 128 or 256.

    Raises:
        ModelError: the package is absent or incomplete.
    """

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self.dimension = dimension
        self._tokens, self._table = _packaged(dimension)

    @property
    def name(self) -> str:
        """`wordllama`, with the dimension where it is not 256."""
        usual = self.dimension == DEFAULT_DIMENSION
        return "wordllama" if usual else f"wordllama:dim={self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension); an empty text gives zeros."""
        import numpy as np

        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            # The package pools whole batches, padded to the longest: here each text stands alone.
            tokens = self._tokens(text) if text.strip() else []
            if tokens:
                found[row] = unit_vector(self._table[tokens].sum(axis=0, dtype=np.float64))
        return found


def _packaged(dimension: int) -> tuple[Callable[[str], list[int]], NDArray[np.float32]]:
    loaded = _load_wordllama(dimension)
    tokenizer, table = loaded.tokenizer, loaded.embedding
    tokenizer.no_padding()
    tokenizer.no_truncation()
    last = len(table) - 1

    def whole(text: str) -> tuple[int, ...]:
        encoded = tokenizer.encode(text, add_special_tokens=False).ids
        return tuple(min(token, last) for token in encoded)

    word = lru_cache(maxsize=_WORDS)(whole)

    def tokens(text: str) -> list[int]:
        encodable = text.encode("utf-8", "replace").decode()
        found: list[int] = []
        for piece in _pieces(encodable):
            parts = piece.split(" ")
            if _alone(piece, parts):
                for part in parts:
                    found += word(part) if len(part) <= _WORD else whole(part)
            else:
                found += whole(piece)
        return found

    return tokens, table


def _alone(piece: str, parts: list[str]) -> bool:
    """Whether each of its parts gives the tokens that it gives within the piece.

    No token of the model reaches over a blank, which it writes as U+2581, except one of blanks
    alone; and those that stand for more than themselves begin with `<`.
    """
    return "" not in parts and "<" not in piece and "\u2581" not in piece


def _pieces(text: str, size: int = 8192) -> Iterator[str]:
    # The tokenizer takes a text as one word, and slows down on very long ones.
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
            # The wheel's own folder: the package looks for its tokenizer elsewhere, then on the
            # network.
            cache_dir=Path(wordllama.__file__).parent,
            disable_download=True,
            trunc_dim=None if dimension == DEFAULT_DIMENSION else dimension,
        )
    except (ImportError, OSError, ValueError) as error:
        raise ModelError(f"the embedder wordllama cannot be loaded: {error}") from error
    finally:
        # Importing it configures the root logger, which is the program's and not a library's to
        # configure.
        root.handlers[:] = handlers
        root.setLevel(level)
    return found


class CachedEmbedder:
    """An embedder that remembers what it embedded, and checks it once.

    Args:
        embedder: what embeds the texts that are not remembered, all in one call.
        remembered: vectors to keep; the longest unused go first.
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

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension).

        Raises:
            ModelError: the embedder failed, or gave vectors that are not finite, not of unit length
                or of another dimension.
        """
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        new: dict[str, NDArray[np.float32]] = {}
        if missing:
            rows = check_vectors(self._embedder, self._embedder.embed(missing), len(missing))
            new = dict(zip(missing, rows, strict=True))
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vector = new.get(text)
            found[row] = self._recalled(text) if vector is None else vector
        self._keep(new)
        return found

    def _recalled(self, text: str) -> NDArray[np.float32]:
        self._known.move_to_end(text)
        return self._known[text]

    def _keep(self, new: dict[str, NDArray[np.float32]]) -> None:
        self._known.update((text, row.copy()) for text, row in new.items())
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)


def check_vectors(embedder: Embedder, vectors: Vectors, rows: int) -> Vectors:
    """The vectors, once they are what an embedder has to give.

    Raises:
        ModelError: they are not finite, not of unit length (or zero), or of another shape.
    """
    import numpy as np

    if vectors.shape != (rows, embedder.dimension):
        wanted = (rows, embedder.dimension)
        raise ModelError(f"{embedder.name} gave vectors of shape {vectors.shape}, not {wanted}")
    if not np.isfinite(vectors).all():
        raise ModelError(f"{embedder.name} gave vectors that are not finite")
    # numpy's own `isclose` takes longer than everything else here together.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if not ((np.abs(lengths - 1.0) <= _UNIT) | (lengths == 0.0)).all():
        raise ModelError(f"{embedder.name} gave vectors that are not of unit length")
    return vectors
