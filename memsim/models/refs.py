"""Names of models and embedders, as `name:param=value` or `litellm/provider/model`."""

from __future__ import annotations

import math
from typing import NamedTuple

from memsim.errors import RefError, nearest

WORDLLAMA_DIMENSIONS = (64, 128, 256)
HASH_DIMENSIONS = (16, 4096)
"""Smallest and largest dimension of the hashing embedder."""

DEFAULT_DIMENSION = 256
LITELLM = "litellm/"

_EMBEDDERS = ("hash", "wordllama", LITELLM + "<model>")


class EmbedderRef(NamedTuple):
    """An embedder's name and dimension; litellm's has its model id for name and 0 for dimension."""

    kind: str
    name: str
    dimension: int


class ModelRef(NamedTuple):
    """The offline model's parameters."""

    miss: float


def read_model(ref: str) -> ModelRef:
    """The model that a ref names.

    Raises:
        RefError: it names none.
    """
    name, parameters = _parted(ref)
    if name != "offline":
        raise RefError(
            f"no model is called {ref!r}: there is `offline`, and live models, which are named"
            " provider/model, are not available in this version",
            hint=nearest(name, ["offline"]),
        )
    return ModelRef(_share(_only(parameters, "miss", ref), ref) if parameters else 0.0)


def read_embedder(ref: str) -> EmbedderRef:
    """The embedder that a ref names.

    Raises:
        RefError: it names none.
    """
    if ref.startswith(LITELLM) and ref != LITELLM:
        return EmbedderRef("litellm", ref.removeprefix(LITELLM), 0)
    name, parameters = _parted(ref)
    if name not in {"hash", "wordllama"}:
        known = ", ".join(_EMBEDDERS)
        raise RefError(
            f"no embedder is called {ref!r}; there are {known}", hint=nearest(name, _EMBEDDERS)
        )
    if not parameters:
        return EmbedderRef(name, name, DEFAULT_DIMENSION)
    dimension = _dimension(_only(parameters, "dim", ref), name, ref)
    shown = name if dimension == DEFAULT_DIMENSION else f"{name}:dim={dimension}"
    return EmbedderRef(name, shown, dimension)


def _parted(ref: str) -> tuple[str, dict[str, str]]:
    name, colon, rest = ref.partition(":")
    if not colon:
        return name, {}
    pairs = [part.partition("=") for part in rest.split(",")]
    if any(not key.strip() or not equals for key, equals, _ in pairs):
        raise RefError(f"{ref!r} is not written name:param=value")
    if len({key.strip() for key, _, _ in pairs}) < len(pairs):
        raise RefError(f"{ref!r} gives a parameter twice")
    return name, {key.strip(): value.strip() for key, _, value in pairs}


def _only(parameters: dict[str, str], wanted: str, ref: str) -> str:
    unknown = sorted(parameters.keys() - {wanted})
    if unknown:
        raise RefError(
            f"{ref!r}: there is no parameter {unknown[0]!r}, only {wanted}",
            hint=nearest(unknown[0], [wanted]),
        )
    return parameters[wanted]


def _share(text: str, ref: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise RefError(f"{ref!r}: miss is a share between 0 and 1")
    return value


def _dimension(text: str, name: str, ref: str) -> int:
    value = int(text) if text.isdecimal() and len(text) < 6 else -1
    if name == "wordllama" and value not in WORDLLAMA_DIMENSIONS:
        raise RefError(f"{ref!r}: dim is one of {', '.join(map(str, WORDLLAMA_DIMENSIONS))}")
    low, high = HASH_DIMENSIONS
    if not low <= value <= high:
        raise RefError(f"{ref!r}: dim is a whole number between {low} and {high}")
    return value
