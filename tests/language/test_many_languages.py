"""Values in many languages are stated, found, read and scored; wrong values never are."""

# ruff: noqa: RUF001 - sentences in many scripts

from __future__ import annotations

import time
from pathlib import Path

import pytest

from memsim.language.form_search import says_value
from memsim.language.text import index_terms
from memsim.scoring.answer_match import match_sequence, match_words, occurrences, too_long
from memsim.scoring.answer_text import read_words
from memsim.suite.single import run
from tests.language.sentences import NUMBER, SENTENCES, WRONG_NUMBERS, write_script
from tests.language.small_talk import SMALL_TALK


def test_the_languages_are_many_and_of_every_kind() -> None:
    """Agglutinative, clitic, Semitic, Indic, East Asian and unspaced languages are among them."""
    assert len(SENTENCES) >= 40
    assert {"hu", "fi", "tr", "ko", "it", "he", "ar", "hi", "ta", "zh", "ja", "th"} <= set(
        SENTENCES
    )


def test_values_are_given_by_their_forms(subtests: pytest.Subtests) -> None:
    """An inflected name, a bare name and a number in native digits give what is expected."""
    for code, each in SENTENCES.items():
        with subtests.test(language=code):
            for expected, answer in [
                (each.place, each.said),
                (each.place, each.place),
                (each.decoy, each.decoy_said),
                (NUMBER, each.number_said),
            ]:
                assert match_words(expected, answer).right
                assert match_sequence(expected, answer).right
                assert not too_long(answer, [expected])


def test_wrong_values_are_never_given(subtests: pytest.Subtests) -> None:
    """Neither the decoy, nor a place of any other language, nor another number."""
    places = {each.place for each in SENTENCES.values()} | {e.decoy for e in SENTENCES.values()}
    for code, each in SENTENCES.items():
        with subtests.test(language=code):
            for place, said in [(each.place, each.said), (each.decoy, each.decoy_said)]:
                given = {p for p in places if match_words(p, said, each.asked).right}

                assert {place} == given
            for number in WRONG_NUMBERS:
                assert not match_words(number, each.number_said, each.number_asked).right


def test_memories_are_told_apart_in_every_language(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Who sees the evidence gives the newest value, and who sees nothing answers no question."""
    for code, each in SENTENCES.items():
        with subtests.test(language=code):
            script = write_script(tmp_path / f"{code}.yaml", each)

            assert ["PASS", "PASS"] == [probe["outcome"] for probe in run(script, "oracle").probes]
            assert ["MISS", "MISS"] == [p["outcome"] for p in run(script, "no_memory").probes]


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_a_long_talk_hides_no_language(code: str, tmp_path: Path) -> None:
    """The same over sixty turns of English talk."""
    script = write_script(tmp_path / "long.yaml", SENTENCES[code], turns=57)

    assert 1.0 == run(script, "oracle").recall
    assert 0.0 == run(script, "no_memory").recall


def test_talk_in_a_language_hides_nothing_of_it(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Words decide where a small embedder reads a script letter by letter."""
    for code in ("ar", "te"):
        with subtests.test(language=code):
            talk = SMALL_TALK[code].split("|")
            script = write_script(tmp_path / f"{code}.yaml", SENTENCES[code], turns=57, talk=talk)

            assert 1.0 == run(script, "hybrid", budget="1k").recall


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("5 March 2026", "会议在2026年3月5日举行。"),
        ("5 March 2026", "회의는 2026년 3월 5일에 열립니다."),
        ("2026-03-05", "Das Treffen ist am 5. März 2026."),
        ("2026-03-05", "La réunion a lieu le 5 mars 2026."),
        ("2026-03-05", "Встреча пройдёт 5 марта 2026 года."),
        ("2026-03-05", "Spotkanie odbędzie się 5 marca 2026."),
        ("2026-03-05", "A találkozó 2026. március 5-én lesz."),
        ("2026-03-05", "Kokous pidetään 5. maaliskuuta 2026."),
        ("2026-03-05", "Toplantı 5 Mart 2026'da yapılacak."),
        ("2026-03-05", "الاجتماع في ٥ مارس ٢٠٢٦."),
        ("2026-03-05", "הפגישה ב-5 במרץ 2026."),
        ("2026-03-05", "बैठक ५ मार्च २०२६ को होगी।"),
        ("2026-03-05", "การประชุมวันที่ 5 มีนาคม 2569"),
        ("2026-03-05", "Cuộc họp vào ngày 5 tháng 3 năm 2026."),
        ("2026-03", "Η συνάντηση γίνεται τον Μάρτιο 2026."),
        ("5 марта 2026", "The meeting is on 5 March 2026."),
        ("2026年3月5日", "5. März 2026"),
        ("15:30", "会議は15時30分に始まります。"),
        ("1250000.50", "Der Betrag ist 1.250.000,50 Euro für uns."),
        ("12.5", "La température est de 12,5 degrés."),
        ("1250", "Le prix était de 1\u202f250 euros."),
        ("100000", "मूल्य 1,00,000 रुपये है।"),
        ("7731", "Tilausnumeroni on 7731:ssä, älä huoli."),
        ("7731", "Sipariş 7731'dir."),
        ("7731", "ההזמנה ב-7731 בוטלה."),
        ("Gəncə", "Görüş Gəncədə keçiriləcək."),
        ("Эрдэнэт", "Уулзалт Эрдэнэтэд болно."),
        ("पुणे", "बैठक पुण्यात होईल."),
        ("തൃശൂർ", "യോഗം തൃശൂരിൽ നടക്കും."),
        ("ගාල්ල", "රැස්වීම ගාල්ලේදී පැවැත්වේ."),
        ("2026-03-05", "Anjuman 2026-yil 5-martda bo\u2018ladi."),
        ("2026-03-05", "Хурал 2026 оны 3 дугаар сарын 5-нд болно."),
        ("2026-03-05", "Канферэнцыя адбудзецца 5 сакавіка 2026 года."),
        ("2026-03-05", "ກອງປະຊຸມວັນທີ 5 ມີນາ 2026"),
        ("2026-03-05", "પરિષદ ૫ માર્ચ ૨૦૨૬ ના રોજ છે."),
        ("2026-03-05", "Ang kumperensya ay sa ika-5 ng Marso 2026."),
        ("2026-03-05", "Mae'r gynhadledd ar 5 Mawrth 2026."),
        ("नागपूर", "परिषद नागपुरात भरणार आहे."),
        ("Farg\u2018ona", "Anjuman Farg\u2018onada o\u2018tadi."),
        ("Чойбалсан", "Хурал Чойбалсангийн төвд болно."),
        ("Egilsstaðir", "Ráðstefnan er á Egilsstöðum."),
        ("Gaillimh", "Tá an chomhdháil i nGaillimh."),
        ("Каракол", "Конференция Караколдо өтөт."),
        ("ਪਟਿਆਲਾ", "ਕਾਨਫਰੰਸ ਪਟਿਆਲੇ ਵਿੱਚ ਹੋਵੇਗੀ।"),
        ("வேலூர்", "அவள் தன் பையை வேலூருக்குக் கொண்டு சென்றாள்."),
        ("கோவை", "அவன் கோவையைப் பார்த்தான்."),
        ("കോഴിക്കോട്", "കോഴിക്കോട്ടെ സമ്മേളനം വലുതാണ്."),
        ("Хуҷанд", "Хуҷандро мебинем, конфронс он ҷост."),
    ],
)
def test_values_are_read_in_native_forms(expected: str, answer: str) -> None:
    """Months by name, eras, digits, grouping, decimal marks and rarer endings."""
    assert match_words(expected, answer).right


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("2026-03-06", "会议在2026年3月5日举行。"),
        ("2026-04-05", "Встреча пройдёт 5 марта 2026 года."),
        ("2026-03-06", "Anjuman 2026-yil 5-martda bo\u2018ladi."),
        ("2026-05-03", "Хурал 2026 оны 3 дугаар сарын 5-нд болно."),
        ("नागोठणे", "परिषद नागपुरात भरणार आहे."),
        ("Каракол", "Конференция Кара-Балтада өтөт."),
        ("Gaoth", "Tá an chomhdháil i nGaillimh."),
        ("北海道", "北海路に住んでいます。"),
        ("เชียงใหม่", "การประชุมจัดที่เชียงราย"),
        ("12.5", "La température est de 125 degrés."),
        ("서울", "저는 서울대공원역을 좋아합니다."),
        ("Oslo", "We are in Oslofjord, which you know."),
        ("car", "He worries about her career."),
    ],
)
def test_what_is_alike_is_not_the_same(expected: str, answer: str) -> None:
    """Another day, a name that begins alike, and English words with endings are wrong."""
    assert not match_words(expected, answer).right
    assert not occurrences(read_words(expected), read_words(answer))


@pytest.mark.parametrize(
    "text", ["1.234," * 5_000, "5 mä " * 5_000, "서울에서" * 5_000, "7月" * 5_000, "'" * 20_000]
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    """No pattern reads a text twice from each of its characters."""
    began = time.process_time()

    read_words(f"é {text}")
    index_terms(f"é {text}")
    says_value(f"é {text}", "서울 7731")

    assert time.process_time() - began < 3.0
