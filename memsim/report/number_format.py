"""Format numbers: shares without a leading zero, tokens in k, nothing as n/a."""

from __future__ import annotations

UNSCORED = "n/a"
"""Shown where nothing was measured, instead of a zero."""


def share(value: float | None) -> str:
    """A number from 0 to 1 with two digits, such as `.91` or `1.00`.

    A share that is not quite 1 or 0 never looks as if it were.
    """
    if value is None:
        return UNSCORED
    if 0.995 <= value < 1:
        return ".99"
    if 0 < value < 0.005:
        return "<.01"
    return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def answered(value: float | None, *, unread: bool) -> str:
    """A share of answers; `n/a (reader)` where the reader is the limit."""
    return f"{UNSCORED} (reader)" if unread and value is None else share(value)


def interval(low: float | None, high: float | None) -> str:
    """An interval of shares, such as `[.87 .94]`."""
    if low is None or high is None:
        return ""
    return f"[{_edge(low)} {_edge(high)}]"


def _edge(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def tokens(value: float | None) -> str:
    """Tokens, such as `212` or `31.2k`; k is 1,024, as in budgets."""
    if value is None:
        return UNSCORED
    if value < 1000:
        return f"{value:.0f}"
    return f"{value / 1024:.1f}k" if value < 1_000_000 else f"{value / 1_048_576:.1f}M"


def budget(value: int) -> str:
    """A budget as ids write it: `4k` for 4096, plain otherwise."""
    return f"{value // 1024}k" if value and value % 1024 == 0 else str(value)


def count(value: int | None) -> str:
    """A whole number with thousands parted by commas."""
    return UNSCORED if value is None else f"{value:,}"


def milliseconds(value: float) -> str:
    """A short duration given in milliseconds, such as `4 µs`, `1.3 ms`, `250 ms` or `2.1 s`."""
    if value < 1:
        return f"{value * 1000:.2g} µs" if value < 0.1 else f"{value * 1000:.0f} µs"
    if value < 1000:
        return f"{value:.2g} ms" if value < 10 else f"{value:.0f} ms"
    return f"{value / 1000:.1f} s"


def seconds(value: float) -> str:
    """A duration, such as `0.4 s`, `41 s` or `3 min 20 s`."""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02d} s"


def plural(number: int, noun: str, several: str = "") -> str:
    """A count and its noun: `1 probe`, `2 probes`."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
