"""Credit: which messages a text of a foreign memory came from."""

from __future__ import annotations

import pytest

from memsim.adapters.credit import CreditIndex, ForeignText, SourceCredit
from memsim.message import said

SAID = {
    "m1": "My order is A-17 and it goes to Oslo.",
    "m2": "Please call me at the harbour office before noon.",
    "m3": "Noted.",
    "m4": "The invoice says 4812 crowns.",
    "m5": "我的订单要送到奥斯陆的港口。",
    "m6": "Please call me at the harbour office before noon.",
}
QUOTED = SourceCredit(quotes=("m1",))
CASES: dict[str, tuple[ForeignText, SourceCredit]] = {
    "the message": (ForeignText(text=SAID["m1"]), QUOTED),
    "with a speaker": (ForeignText(text=f"ana: {SAID['m1']}"), QUOTED),
    "other blanks": (ForeignText(text="My order is A-17\n  and it goes to Oslo."), QUOTED),
    "said twice": (ForeignText(text=SAID["m2"]), SourceCredit(quotes=("m2", "m6"))),
    "two messages": (
        ForeignText(text=f"{SAID['m1']}\n{SAID['m4']}"),
        SourceCredit(quotes=("m1", "m4")),
    ),
    "a part": (ForeignText(text="the harbour office before"), SourceCredit(excerpts=("m2", "m6"))),
    "an identifier": (ForeignText(text="Ana waits for A-17."), SourceCredit(derived_from=("m1",))),
    "a number": (ForeignText(text="She pays 4812."), SourceCredit(derived_from=("m4",))),
    "another script": (
        ForeignText(text="订单要送到奥斯陆的港口。"),
        SourceCredit(excerpts=("m5",)),
    ),
    "ids and words": (
        ForeignText(text="Her order ships north.", sources=("m1",)),
        SourceCredit(derived_from=("m1",)),
    ),
    "ids and the text": (
        ForeignText(text=SAID["m2"], sources=("m6",)),
        SourceCredit(quotes=("m6",)),
    ),
    "ids without a word": (ForeignText(text="Blue whales sing.", sources=("m4",)), SourceCredit()),
    "an unknown id": (ForeignText(text=SAID["m1"], sources=("x9",)), QUOTED),
    "nothing that tells": (ForeignText(text="She is fond of tea."), SourceCredit()),
    "no text": (ForeignText(text=" "), SourceCredit()),
}


def index() -> CreditIndex:
    """The messages of `SAID`."""
    made = CreditIndex()
    for name, text in SAID.items():
        made.add(said("user", text, id=name))
    return made


def test_texts_are_credited(subtests: pytest.Subtests) -> None:
    """By ids, then by exact text, then by rare anchors."""
    messages = index()
    for name, (found, credit) in CASES.items():
        with subtests.test(text=name):
            assert messages.of(found) == credit


def test_what_is_removed_gets_no_credit() -> None:
    """And its twin still does."""
    messages = index()
    messages.remove(["m1", "m2", "unknown"])

    assert messages.of(ForeignText(text=SAID["m1"])) == SourceCredit()
    assert messages.of(ForeignText(text="Ana waits for A-17.")) == SourceCredit()
    assert messages.of(ForeignText(text=SAID["m2"])) == SourceCredit(quotes=("m6",))
    assert "m1" not in messages


def test_a_frequent_anchor_tells_nothing() -> None:
    """A name that many messages have is none that is meant."""
    messages = CreditIndex()
    for number in range(4):
        messages.add(said("user", f"Then Ludmila went to place {'abcd'[number]}.", id=str(number)))

    assert messages.of(ForeignText(text="It was Ludmila.")) == SourceCredit()
