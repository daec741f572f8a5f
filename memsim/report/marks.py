"""The signs that tables are made of, with plain ASCII ones for terminals that have no others."""

from __future__ import annotations

from dataclasses import dataclass

LETTERS = "abcdefghijklmnoprstuvwxyz"
"""Row letters: those that have a superscript, so without q."""

_RAISED = dict(zip(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """One set of signs.

    Attributes:
        failed: before a row that broke a bound.
        control: in place of the letter of a row that only marks a floor or a ceiling.
        dot: between the parts of a line.
        minus, times, at_least, at_most, dots, dash: as their names say.
    """

    failed: str
    control: str
    dot: str
    minus: str
    times: str
    at_least: str
    at_most: str
    dots: str
    dash: str
    raised: bool

    def superscript(self, letters: tuple[str, ...]) -> str:
        """Row letters as they stand behind a number; empty for none."""
        if not letters:
            return ""
        if self.raised and all(len(name) == 1 for name in letters):
            return "".join(_RAISED[name] for name in letters)
        joined = "".join(letters) if all(len(n) == 1 for n in letters) else ",".join(letters)
        return f"^{joined}"


UNICODE = Marks(
    failed="✗",
    control="·",
    dot="·",
    minus="−",  # noqa: RUF001 - the minus sign is what is meant
    times="×",
    at_least="≥",
    at_most="≤",
    dots="…",
    dash="–",
    raised=True,
)
ASCII = Marks(
    failed="x",
    control=".",
    dot="-",
    minus="-",
    times="x",
    at_least=">=",
    at_most="<=",
    dots="...",
    dash="-",
    raised=False,
)


def row_letter(place: int) -> str:
    """The letter of the row at a place counted from 0: a to z without q, then aa, ab and so on."""
    letters = ""
    place += 1
    while place > 0:
        place, rest = divmod(place - 1, len(LETTERS))
        letters = LETTERS[rest] + letters
    return letters
