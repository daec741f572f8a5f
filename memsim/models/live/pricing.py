"""What a model's tokens cost, from the list that litellm ships: no network, and no import of it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memsim.models.refs import LiveRef

_LIST = "model_prices_and_context_window_backup.json"
_ABOVE = re.compile(r"(input|output)_cost_per_token_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars a token.

    Attributes:
        above: dearer prices of long calls: from how many input tokens on, input, output.
    """

    input: float
    output: float
    above: tuple[tuple[int, float, float], ...] = ()

    def cost(self, read: int, written: int) -> float:
        """Dollars for so many tokens of input and output."""
        given, made = self.input, self.output
        for limit, dearer_input, dearer_output in self.above:
            if read > limit:
                given, made = dearer_input, dearer_output
        return round(read * given + written * made, 12)


def price_of(ref: LiveRef) -> Price | None:
    """A price: the one that the ref gives, else the listed one; None where there is none."""
    if ref.price is not None:
        given, made = ref.price
        return Price(input=given / 1e6, output=made / 1e6)
    return listed(ref.model)


def listed(model: str) -> Price | None:
    """The listed price of litellm's id of a model; None where there is none."""
    known = _listed()
    names = (model, model.partition("/")[2])
    entry = next((known[name] for name in names if name in known), None)
    return None if entry is None else _read(entry)


def _read(entry: Mapping[str, Any]) -> Price | None:
    given = _dollars(entry.get("input_cost_per_token"))
    made = _dollars(entry.get("output_cost_per_token", 0.0))
    if given is None or made is None:
        return None
    dearer: dict[int, dict[str, float]] = {}
    for key, value in entry.items():
        if (found := _ABOVE.fullmatch(key)) and (dollars := _dollars(value)) is not None:
            dearer.setdefault(int(found[2]) * 1000, {})[found[1]] = dollars
    above = ((n, p.get("input", given), p.get("output", made)) for n, p in sorted(dearer.items()))
    return Price(input=given, output=made, above=tuple(above))


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


@lru_cache(maxsize=1)
def _listed() -> Mapping[str, Mapping[str, Any]]:
    # litellm is located, not imported: that takes seconds.
    spec = PathFinder.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return {}
    path = Path(spec.submodule_search_locations[0]) / _LIST
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
