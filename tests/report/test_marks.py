"""Signs, and what stands for them in ASCII."""

from __future__ import annotations

from memsim.report.layout import ASCII, LETTERS, UNICODE, row_letter


def test_rows_are_lettered_without_q() -> None:
    """There is no raised q; after z come pairs."""
    first = [row_letter(place) for place in range(len(LETTERS) + 2)]

    assert first == [*"abcdefghijklmnoprstuvwxyz", "aa", "ab"]


def test_superscripts_are_raised_letters() -> None:
    """Each letter that a row beats, raised."""
    assert UNICODE.superscript(("b", "c")) == "ᵇᶜ"
    assert UNICODE.superscript(()) == ""


def test_superscripts_in_ascii_follow_a_caret() -> None:
    """A terminal without superscripts still says who is beaten."""
    assert ASCII.superscript(("b", "c")) == "^bc"


def test_letters_of_several_signs_are_parted() -> None:
    """`aa` must not be read as a twice."""
    assert UNICODE.superscript(("b", "aa")) == "^b,aa"


def test_ascii_signs_are_ascii() -> None:
    """Nothing in the plain set needs more than seven bits."""
    signs = [getattr(ASCII, name) for name in ASCII.__slots__ if name != "raised"]

    assert all(sign.isascii() for sign in signs)
