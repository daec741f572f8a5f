"""Scenarios that tell codes and ask for every one of them at the end."""

from __future__ import annotations

from collections.abc import Iterable

CITIES = (
    *("Oslo", "Lima", "Cairo", "Quito", "Delhi", "Tunis"),
    *("Hanoi", "Dakar", "Sofia", "Accra", "Minsk", "Seoul"),
)


def lockers(cities: Iterable[str] = CITIES, name: str = "lockers") -> str:
    """A scenario that tells a locker's code for each city, and asks for every one at its end."""
    codes = {city: f"{city[:2].upper()}-{40 + place}" for place, city in enumerate(cities)}
    lines = ["memsim: 1", f"name: {name}", "turns:"]
    for city, code in codes.items():
        lines += [
            f"  - user: My locker code for {city} is {code}.",
            f"    facts: {{{city.lower()}: {code}}}",
            "  - assistant: Noted.",
        ]
    lines.append("probes:")
    for city, code in codes.items():
        ask = f"What is my locker code for {city}?"
        lines.append(f"  {city.lower()}: {{after: end, ask: '{ask}', expect: {code}}}")
    return "\n".join(lines) + "\n"
