"""Bounds on a case's metrics: a scenario's `expect:`, `[tool.memsim.expect]`, `--fail-under`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from memsim.errors import ConfigError, nearest
from memsim.scoring.metrics import Metric

_BOUND = re.compile(r"^\s*(>=|<=|==|>|<)?\s*(\S+)\s*$")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a metric must be.

    Attributes:
        sign: `>=`, `<=`, `==`, `>` or `<`.
        place: where it was said, such as `support.yaml:41`.
    """

    metric: str
    sign: str
    value: float
    place: str = ""

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"

    def holds(self, value: float) -> bool:
        """Whether a measured value keeps the bound."""
        return _SIGNS[self.sign](value, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectFailure:
    """A bound that was not kept.

    Attributes:
        value: what was measured; None when the metric could not be.
        place: where the bound was said.
    """

    metric: str
    bound: str
    value: float | None
    place: str = ""


def parse_bound(
    metric: str,
    text: str,
    known: Mapping[str, Metric],
    *,
    path: str | None = None,
    line: int | None = None,
) -> Bound:
    """A bound such as `>= 0.80`; a bare number is the least, or the most where lower is better.

    Args:
        metric: which metric.
        text: the bound.
        known: every metric there is.
        path: the file that says it.
        line: its line there.

    Raises:
        ConfigError: there is no such metric, or the text is not a bound.
    """
    names = sorted(known)
    if metric not in names:
        message = f"there is no metric {metric!r}"
        raise ConfigError(message, path=path, line=line, hint=nearest(metric, names))
    found = _BOUND.match(text)
    value = _finite(found[2]) if found else None
    if found is None or value is None:
        message = f"{metric}: a bound is written like '>= 0.8' or '<= 4096', not {text!r}"
        raise ConfigError(message, path=path, line=line)
    place = f"{path}:{line}" if path and line else path or ""
    bare = "<=" if known[metric].better == "lower" else ">="
    return Bound(metric=metric, sign=found[1] or bare, value=value, place=place)


def _finite(text: str) -> float | None:
    if "_" in text:
        return None
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return number / 100 if percent else number


def check_expectations(
    metrics: Mapping[str, float | None], expect: Iterable[Bound]
) -> tuple[ExpectFailure, ...]:
    """The bounds that a case does not keep.

    A metric that was not measured keeps no bound: its failure has the value None.
    """
    failures = []
    for bound in expect:
        value = metrics.get(bound.metric)
        if value is None or not bound.holds(value):
            failures.append(
                ExpectFailure(metric=bound.metric, bound=str(bound), value=value, place=bound.place)
            )
    return tuple(failures)
