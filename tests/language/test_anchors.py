"""What a message can be recognised by."""

from __future__ import annotations

import pytest

from memsim.language.anchors import anchors


def kinds(text: str) -> dict[str, str]:
    return {anchor.key: anchor.kind for anchor in anchors(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My order is HG-4471 now.", {"order": "word", "hg-4471": "identifier"}),
        ("Write to bob@example.org about src/main_test.py", {"bob@example.org": "identifier"}),
        ("It cost $1,700 and then 249.00 more", {"$1,700": "number", "249.00": "number"}),
        ("We met Anna Meier on Monday in May", {"anna meier": "name"}),
        ("Meine Hündin heißt seit gestern Bella", {"hundin": "name", "bella": "name"}),
        ("Nos vemos el miércoles con Ximena", {"ximena": "name"}),
        ("Мы встретили Жучку в среду", {"жучку": "name"}),
        ("我的订单号是AB-1234,书是《红楼梦》", {"ab-1234": "identifier", "红楼梦": "name"}),
        ("型番はCM-200、名前はアリスです", {"cm-200": "identifier", "アリス": "name"}),
    ],
)
def test_values_are_found_in_any_script(text: str, expected: dict[str, str]) -> None:
    """Identifiers, numbers and names, each as a whole."""
    assert expected.items() <= kinds(text).items()


@pytest.mark.parametrize(
    "text",
    [
        "On Monday, on tuesday and in March",
        "Am Mittwoch, im Oktober",
        "le vendredi, en février",
        "el jueves, en agosto",
        "sabato, a luglio",
        "na sexta-feira, em junho",
        "op woensdag, in maart",
        "в пятницу, в январе",
        "that was the 3rd time, as always",
        "pero también ahora mismo",
    ],
)
def test_days_months_and_common_words_are_none(text: str) -> None:
    """They are said all the time, whatever a conversation is about."""
    assert {} == kinds(text)


def test_a_value_within_a_longer_one_is_another() -> None:
    """A-17 is not said by A-170, nor 17 by 1,700, nor Ana by Anastasia."""
    assert kinds("A-170 costs 1,700 says our Anastasia").keys().isdisjoint({"a-17", "17", "ana"})


def test_where_nouns_have_capitals_they_are_words() -> None:
    """A capital marks no name in German."""
    text = (
        "Ich habe gestern mit der Nachbarin über die Heizung im Keller und den Vertrag gesprochen,"
        " weil der Termin im Büro liegt."
    )

    assert {"word"} == set(kinds(text).values())


def test_each_stands_where_it_says() -> None:
    """The places are those of the text, accents and apostrophes included."""
    text = "Então Zoë’s dog saw Ana's 44 cats, naïve straßenbahn K-9"

    assert all(text[a.start : a.end] == a.text for a in anchors(text))
    assert {"zoe", "ana", "44", "k-9"} <= kinds(text).keys()
