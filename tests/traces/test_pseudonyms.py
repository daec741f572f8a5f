"""Pseudonyms: the same thing has the same stand-in, and nothing of it is left in any encoding."""

from __future__ import annotations

import pytest

from memsim.traces.pseudonyms.identities import Identities
from memsim.traces.pseudonyms.replacement import Pseudonyms
from memsim.traces.pseudonyms.stand_ins import is_iban
from tests.canary.encodings import ENCODINGS, MISSED

CODE = "G5BR-HJ9Z-W798"
PLANTED = [e.messages(CODE) for e in ENCODINGS if e.tier != MISSED]


def _made(texts: list[str], *people: str) -> Pseudonyms:
    identities = Identities()
    for person in people:
        identities.meet(person)
    for text in texts:
        identities.learn(text)
    identities.settle()
    return Pseudonyms(identities, b"k" * 32, len)


def test_the_same_thing_has_the_same_stand_in() -> None:
    """In any case, with a suffix, joined to others; common words only with a capital."""
    texts = [
        "I met Melanie Kowalczyk with Will. Melanies code is HG-4471, or hg4471, or 4471.",
        "Will you ask, will you? AnaKowalczyk, MELANIE and melanie.",
    ]
    made = " ".join(_made(texts, "Will", "ana").texts(texts))
    first, last, will, *_ = made.split()[2:3] + made.split()[3:4] + made.split()[5:6]

    assert not {"melanie", "kowalczyk", "4471", "hg"} & set(made.lower().replace("-", " ").split())
    assert 1 == made.count(first.upper()) == made.count(first.lower())
    assert 2 == made.count(last)
    assert f"{will.rstrip('.')} you ask, will you?" in made


def test_forms_are_kept_and_dates_and_amounts_stay() -> None:
    """Check digits are right where they were, and a link stays one."""
    text = "DE89 3704 0044 0532 0130 00, https://acme.com/a?b=1, ana@acme.com, +49 170 5550142"
    plain = "On 2023-05-08 at 10:30am the 5th 5-year-old paid $5,000 for 10km in mid-2022."
    made = _made([text, plain]).texts([text, plain])
    iban, link, mail, phone = made[0].split(", ")

    assert is_iban(iban.replace(" ", ""))
    assert link.startswith("https://")
    assert link.split("/")[2] == mail.partition("@")[2] != "acme.com"
    assert [3, 3, 7] == [*map(len, phone.split())]
    assert plain == made[1]


@pytest.mark.parametrize("planted", PLANTED, ids=[e.name for e in ENCODINGS if e.tier != MISSED])
def test_nothing_is_left_in_any_encoding(planted: list[str]) -> None:
    """The search finds it before, and not after."""
    texts = [f"The code is {CODE}.", *planted]
    pseudonyms = _made(texts[:1])
    made = pseudonyms.texts(texts)

    assert [*pseudonyms.residue(planted)]
    assert [] == [*pseudonyms.residue(made)]


def test_ordinary_words_are_no_disguise() -> None:
    """A name counts as a whole, also in disguise."""
    text = "It is due to bias, said the tobias-like man."
    pseudonyms = _made(["So Tobias came, and Tobias went, and then Tobias slept."])

    assert "due to bias" in pseudonyms.text(text)
    assert "T o b i a s" not in pseudonyms.text("It was T o b i a s.")


def test_words_that_are_mostly_written_small_stay_small() -> None:
    """They are a name only with a capital, wherever a long text is cut to be decoded."""
    small = "Our gardener helps other gardeners. " * 500
    texts = ["We met the Gardener Nora Gardener.", small, small[5:]]
    pseudonyms = _made(texts, "nora")

    assert texts[1:] == pseudonyms.texts(texts)[1:]
    assert [] == [*pseudonyms.residue(pseudonyms.texts(texts))]
    assert "Gardener" not in pseudonyms.text(texts[0])


def test_months_and_weekdays_are_no_names() -> None:
    """Also where they stand in what looks like a name."""
    texts = ["We met on 6October, on Oct6th and with Nora Berg.", "It was in October 2022."]

    assert texts[1] == _made(texts).text(texts[1])


def test_a_name_of_two_parts_is_found_in_one() -> None:
    """Also where its first part alone is a name."""
    pseudonyms = _made(["I wrote to Nora Krzcnv Grfmtb today, and Krzcnv wrote back."])

    for joined in ("NORAKRZCNVGRFMTB", "norakrzcnvgrfmtb", "N o r a K r z c n v G r f m t b"):
        made = pseudonyms.text(f"The key is {joined}.")
        assert joined not in made
        assert [*pseudonyms.residue([f"The key is {joined}."])]
        assert [] == [*pseudonyms.residue([made])]
