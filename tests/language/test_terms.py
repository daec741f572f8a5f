"""What lexical rankers index."""

# ruff: noqa: RUF001 - words in many scripts

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language.text import index_terms, plain_terms
from tests.language.sentences import SENTENCES


@given(st.text(alphabet=string.printable))
def test_ascii_words_are_what_the_plain_pattern_finds(text: str) -> None:
    """On ASCII, `plain_terms` is one regular expression and nothing else."""
    expected = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())

    assert expected == plain_terms(text)


@given(st.text())
def test_any_text_has_terms_that_are_text(text: str) -> None:
    """Nothing that can be typed makes an analyser fail or give an empty term."""
    assert all(plain_terms(text))
    assert all(index_terms(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We moved to Oslo", "moving"),
        ("John's bicycle", "john"),
        ("Café Zürich", "CAFE ZURICH"),
        ("it’s Ana’s kayak", "ana's kayaks"),
        ("Москва слезам", "москва"),
        ("我住在北京市", "北京"),
        ("東京タワーに行った", "東京"),
        ("ฉันอยู่กรุงเทพ", "กรุงเทพ"),
    ],
)
def test_forms_of_a_word_meet(text: str, other: str) -> None:
    """Case, accents, apostrophes, endings and missing blanks do not hide a word."""
    assert set(index_terms(other)) <= set(index_terms(text))


@pytest.mark.parametrize("code", ["A-17", "NL-48213", "v1.2.3", "10.0.0.7", "E:404", "a_b_9"])
def test_identifiers_stay_whole(code: str) -> None:
    """An identifier finds itself, and not everything that shares a part of it."""
    assert code.lower() in index_terms(f"My order is {code}, please.")
    assert code.lower() not in index_terms(f"My order is not {code[:-1]}8{code[-1]}.")


def test_numbers_are_terms() -> None:
    """A bare number is found."""
    assert "4411" in index_terms("The card ends in 4411.")


def test_stop_words_are_no_terms() -> None:
    """What stands in every sentence finds nothing."""
    assert [] == index_terms("What is it that you are and they were?")


UNLIKE = {"cs", "et", "fi", "lt", "zu"}
"""Names whose consonants or prefixes change, and ASCII sentences that may be English."""


def test_a_name_is_found_in_any_language(subtests: pytest.Subtests) -> None:
    """A sentence shares a term with a question that names its place, and its decoy does not."""
    for code, each in SENTENCES.items():
        with subtests.test(language=code):
            asked = set(index_terms(f"{each.place} – {each.asked}"))
            right, wrong = index_terms(each.said), index_terms(each.decoy_said)

            assert asked & set(right)
            if code not in UNLIKE:
                assert len(asked & set(wrong)) < len(asked & set(right))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("회의는 서울에서 열립니다.", "서울"),
        ("Toplantı Ankara'da yapılacak.", "Ankara"),
        ("A találkozó Budapesten lesz.", "Budapest"),
        ("La riunione si tiene all'Aquila.", "Aquila"),
        ("Встреча пройдёт в Москве.", "Москва"),
        ("הפגישה תתקיים בירושלים.", "ירושלים"),
        ("बैठक दिल्ली में होगी।", "दिल्ली"),
        ("ಸಭೆ ಮೈಸೂರಿನಲ್ಲಿ ನಡೆಯಲಿದೆ.", "ಮೈಸೂರು"),
        ("رقم طلبي هو ٧٧٣١.", "7731"),
        ("Моя сім'я живе тут.", "сім'ї"),
        ("Konfransa gedirik, ə.", "Konfrans harada"),
        ("تحتفظ مريم بحقيبتها هنا.", "حقيبة"),
        ("تحتفظ مريم بكتابها هنا.", "كتاب"),
        ("مینا گیتارش را برد.", "گیتار"),
        ("مینا کیفش را برد.", "کیف"),
        ("Ayşe gitarını götürdü.", "gitarı şimdi"),
        ("Kaisa säilyttää kirjaansa.", "kirja täällä"),
        ("Աննան գնաց։", "Աննայի"),
        ("Guðrún geymir það.", "Guðrúnar"),
        ("தன் புத்தகத்தை எடுத்தாள்.", "புத்தகம்"),
        ("తన పుస్తకాన్ని ఉంచుతుంది.", "పుస్తకం"),
        ("హైదరాబాదుపురానికి తీసుకెళ్లింది.", "హైదరాబాదుపురం"),
        ("Itziarrek bere poltsa gorde du.", "Non dago orain Itziarren liburua?"),
        ("Klara drži torbu.", "Klarina škola"),
        ("Весна држи торбу.", "Веснина"),
        ("Karin hoiab oma kotti siin.", "Kus on nüüd kott?"),
    ],
)
def test_a_name_finds_its_inflected_form(text: str, other: str) -> None:
    """Particles, endings, prefixes and native digits do not hide a name from a lone query."""
    assert not set(index_terms(other)).isdisjoint(index_terms(text))


@pytest.mark.parametrize(
    "text",
    [
        "Bruna Duo, sage green: 6 in stock, depot Malmö, week 19, copper none",
        "In how many days is the earliest slot at Grønnøy?",
        "That’s “fine”… €40 \U0001f600",
    ],
)
def test_english_terms_are_stems_alone(text: str) -> None:
    """A name with an accent, quotes and pictures do not make an English text another."""
    assert len(index_terms(text)) <= len(plain_terms(text))
