"""Lines of a text as PRX's language parts them: at line feeds alone."""

from __future__ import annotations


def lines_of(text: str) -> list[str]:
    """Every line without its end; what ends with a line feed has no empty line after it."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines
