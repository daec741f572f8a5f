"""Parse refs of models, embedders and judges: `name:param=value` or `litellm/provider/model`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from memsim.errors import RefError, nearest

WORDLLAMA_DIMENSIONS = (64, 128, 256)
HASH_DIMENSIONS = (16, 4096)
"""Smallest and largest dimension of the hashing embedder."""

DEFAULT_DIMENSION = 256
LITELLM = "litellm/"

MINILM_DIMENSION = 384
_EMBEDDERS = ("hash", "minilm", "wordllama", LITELLM + "<model>")


class EmbedderRef(NamedTuple):
    """An embedder's name and dimension; for litellm, its model id and 0."""

    kind: str
    name: str
    dimension: int


class ModelRef(NamedTuple):
    """The offline model's parameters."""

    miss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRef:
    """A model of a provider, and its parameters.

    Attributes:
        model: litellm's id of it, such as `openai/gpt-4o-mini`.
        price: dollars for a million tokens of input and of output; None for the listed price.
    """

    model: str
    temperature: float = 0.0
    max_tokens: int | None = None
    price: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """The ref with its parameters that are not defaults."""
        said = [
            f"temperature={self.temperature:g}" if self.temperature else "",
            f"max_tokens={self.max_tokens}" if self.max_tokens else "",
            "price={:g}/{:g}".format(*self.price) if self.price else "",
        ]
        given = ",".join(part for part in said if part)
        return f"{self.model}:{given}" if given else self.model


DRAWS = 3
"""Default number of opinions of a judge on each answer."""

MOST_DRAWS = 99


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRef:
    """A judge of answers, and the number of its opinions.

    Attributes:
        draws: number of opinions, which is odd: the majority decides.
    """

    model: ModelRef | LiveRef
    name: str
    draws: int = DRAWS

    @property
    def label(self) -> str:
        """The ref with its parameters that are not defaults."""
        if self.draws == DRAWS:
            return self.name
        joint = "," if ":" in self.name and "=" in self.name.rpartition(":")[2] else ":"
        return f"{self.name}{joint}draws={self.draws}"


def is_live(ref: str) -> bool:
    """Whether a ref names a model of a provider: those have a slash in their name."""
    return "/" in ref.partition("=")[0]


def asks_provider(model: str, embedder: str, judge: str = "") -> bool:
    """Whether one of the refs needs a provider, or recordings of its answers."""
    return is_live(model) or embedder.startswith(LITELLM) or is_live(judge)


def read_judge(ref: str) -> JudgeRef:
    """Parse the ref of a judge: a model's ref, with an optional number of `draws`.

    Raises:
        RefError: it is invalid.
    """
    bare, draws = _without_draws(ref)
    try:
        model = read_model(bare)
    except RefError as error:
        raise RefError(f"judge: {error.message}", hint=error.hint) from None
    if isinstance(model, LiveRef):
        return JudgeRef(model=model, name=model.label, draws=draws)
    if model.miss:
        raise RefError(f"judge: {ref!r}: the offline judge misses nothing: it is `offline`")
    return JudgeRef(model=model, name="offline", draws=draws)


def _without_draws(ref: str) -> tuple[str, int]:
    head, _, tail = ref.rpartition(":")
    pairs = [part.partition("=") for part in tail.split(",")] if head else []
    said = [value.strip() for key, _, value in pairs if key.strip() == "draws"]
    if not said:
        return ref, DRAWS
    draws = int(said[0]) if said[0].isdecimal() and len(said[0]) < 4 else 0
    if len(said) > 1 or draws % 2 == 0 or draws > MOST_DRAWS:
        raise RefError(f"judge: {ref!r}: draws must be an odd whole number from 1 to {MOST_DRAWS}")
    rest = ",".join("".join(pair) for pair in pairs if pair[0].strip() != "draws")
    return f"{head}:{rest}" if rest else head, draws


def read_model(ref: str) -> ModelRef | LiveRef:
    """Parse the ref of a model.

    Raises:
        RefError: it is invalid.
    """
    if is_live(ref):
        return _live(ref)
    name, parameters = _parted(ref)
    if name != "offline":
        raise RefError(
            f"no model is called {ref!r}: there is `offline`, and live models are named"
            " provider/model, such as openai/gpt-4o-mini",
            hint=nearest(name, ["offline"]),
        )
    return ModelRef(_share(_only(parameters, "miss", ref), ref) if parameters else 0.0)


def _live(ref: str) -> LiveRef:
    # Model ids can contain colons, as in `ollama/llama3:8b`, but parameters contain an `=`.
    model, colon, tail = ref.rpartition(":")
    if not colon or "=" not in tail:
        model, tail = ref, ""
    if not all(part.strip() and part == part.strip() for part in model.split("/")):
        raise RefError(f"{ref!r} must be written as provider/model")
    given = _parted(f"{model.replace(':', ' ')}:{tail}")[1] if tail else {}
    for name in sorted(given.keys() - {"temperature", "max_tokens", "price"}):
        known = ("temperature", "max_tokens", "price")
        raise RefError(
            f"{ref!r}: there is no parameter {name!r}, only {', '.join(known)}",
            hint=nearest(name, known),
        )
    return LiveRef(
        model=model,
        temperature=_heat(given.get("temperature", "0"), ref),
        max_tokens=_length(given["max_tokens"], ref) if "max_tokens" in given else None,
        price=_price(given["price"], ref) if "price" in given else None,
    )


def _heat(text: str, ref: str) -> float:
    value = _number(text)
    if not 0.0 <= value <= 2.0:
        raise RefError(f"{ref!r}: temperature must be a number between 0 and 2")
    return value


def _length(text: str, ref: str) -> int:
    value = int(text) if text.isdecimal() and len(text) < 8 else 0
    if value < 1:
        raise RefError(f"{ref!r}: max_tokens must be a whole number above 0")
    return value


def _price(text: str, ref: str) -> tuple[float, float]:
    given, _, made = text.partition("/")
    prices = (_number(given), _number(made))
    if not all(0.0 <= price < 1e6 for price in prices):
        raise RefError(
            f"{ref!r}: price must be dollars for a million tokens, as in price=0.15/0.60"
        )
    return prices


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_embedder(ref: str) -> EmbedderRef:
    """Parse the ref of an embedder.

    Raises:
        RefError: it is invalid.
    """
    if ref.startswith(LITELLM) and ref != LITELLM:
        return EmbedderRef("litellm", ref.removeprefix(LITELLM), 0)
    name, parameters = _parted(ref)
    if ref == "minilm":
        return EmbedderRef(ref, ref, MINILM_DIMENSION)
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
        raise RefError(f"{ref!r} must be written as name:param=value")
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
    value = _number(text)
    if not 0.0 <= value <= 1.0:
        raise RefError(f"{ref!r}: miss must be a share between 0 and 1")
    return value


def _dimension(text: str, name: str, ref: str) -> int:
    value = int(text) if text.isdecimal() and len(text) < 6 else -1
    if name == "wordllama" and value not in WORDLLAMA_DIMENSIONS:
        raise RefError(f"{ref!r}: dim must be one of {', '.join(map(str, WORDLLAMA_DIMENSIONS))}")
    low, high = HASH_DIMENSIONS
    if not low <= value <= high:
        raise RefError(f"{ref!r}: dim must be a whole number between {low} and {high}")
    return value
