"""Passages: long texts in pieces that can be found and quoted apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsim.memory.index.split import passages
from memsim.memory.recall.search import GAP, Recollection, excerpt, quote_section
from memsim.message import EPOCH, Message, TokenCounter, load_tokenizer, said

COUNTER = TokenCounter(load_tokenizer("chars/4"))


def words(text: str) -> int:
    """Words as tokens."""
    return len(text.split())


def test_a_short_text_is_one_passage() -> None:
    """Byte for byte, at the bound too."""
    assert (" a\n\nb c ",) == passages(" a\n\nb c ", words, size=1, long=3)
    assert ("",) == passages("", words)


def test_a_long_text_is_parted_between_lines() -> None:
    """As many whole lines together as fit; blank ones are left out."""
    text = "a b\nc\n\nd e f\ng h i j k\nl"

    assert ("a b\nc", "d e f", "g h i", "j k\nl") == passages(text, words, size=3, long=5)


@given(st.text(st.sampled_from("ab \n\u00e9\u4e2d"), max_size=400), st.integers(1, 9))
def test_nothing_but_blanks_is_lost(text: str, size: int) -> None:
    """And no passage is longer than it may be, but for a word that is."""
    found = passages(text, words, size=size, long=0)

    assert "".join(text.split()) == "".join("".join(found).split())
    assert all(words(part) <= size for part in found)


def test_an_excerpt_marks_what_is_left_out() -> None:
    """Between what is quoted, in the text's order."""
    parts = ("one", "two", "three", "four")

    assert f"one\ntwo\n{GAP}\nfour" == excerpt(parts, [3, 0, 1, 0])


def messages() -> tuple[Message, Message]:
    """One that is quoted in part, and one whole."""
    return (
        said("tool", "noise\nneedle\nnoise", id="m1", principal="ops"),
        said("user", "whole", id="m2", principal="ops"),
    )


def test_what_is_quoted_in_part_is_derived() -> None:
    """Only whole messages stand there in their own words."""
    log, line = messages()
    found = {"m2": (line, None), "m1": (log, "needle")}
    order = {"m1": 1, "m2": 2}.__getitem__
    section = quote_section(
        Recollection(COUNTER),
        found,
        question="needle?",
        budget=200,
        order=order,
        id="recalled:1",
        time=EPOCH,
    )

    (message,) = section.messages
    assert "[2026-01-05] tool for ops: needle\n[2026-01-05] ops: whole" in message.text
    assert (("m2",), ("m1",)) == (message.quotes, message.derived_from)
    assert section.tokens == COUNTER.message(message)


def test_nothing_found_is_an_empty_section() -> None:
    """Of no tokens."""
    section = quote_section(
        Recollection(COUNTER), {}, question="", budget=99, order=len, id="r", time=EPOCH
    )

    assert ((), 0) == (section.messages, section.tokens)
