"""Sentences that say that something was said before, in ten languages."""

# ruff: noqa: RUF001 - letters of other scripts stand where they are meant

from __future__ import annotations

import pytest

from memsim.language.corrections import CORRECTIONS, correction

SAID = {
    "en": (
        "No, I said Tuesday.",
        "As I told you, the code is 17.",
        "I’ve already told you my address.",
        "Again, the order is A-17.",
        "That is not what I asked for.",
    ),
    "de": (
        "Wie gesagt, es ist K-99.",
        "Das habe ich dir doch schon gesagt.",
        "Nein, ich sagte Dienstag.",
        "Hast du das schon wieder vergessen?",
    ),
    "fr": (
        "Comme je vous l'ai déjà dit, c'est A-17.",
        "Je te l’ai déjà dit.",
        "Non, j'ai dit mardi.",
        "Je répète : le code est 17.",
    ),
    "es": (
        "Como ya te dije, es A-17.",
        "Ya te lo dije.",
        "No, dije martes.",
        "Te repito el código.",
    ),
    "it": (
        "Come ti ho già detto, è A-17.",
        "Te l'ho già detto.",
        "No, ho detto martedì.",
        "Ripeto: A-17.",
    ),
    "pt": (
        "Como eu já disse, é A-17.",
        "Eu já te falei isso.",
        "Não, eu disse terça.",
        "Mais uma vez, A-17.",
    ),
    "nl": (
        "Zoals ik al zei, het is A-17.",
        "Dat heb ik je toch al gezegd.",
        "Nee, ik zei dinsdag.",
        "Nogmaals, het is A-17.",
    ),
    "ru": (
        "Как я уже говорил, это А-17.",
        "Я же тебе уже говорила.",
        "Нет, я сказал вторник.",
        "Повторяю: А-17.",
    ),
    "zh": (
        "我已经说过了,是A-17。",
        "我刚才告诉过你地址。",
        "不,我说的是星期二。",
        "我再说一遍,A-17。",
    ),
    "ja": (
        "さっき言いましたが、A-17です。",
        "前にもお伝えしたとおりです。",
        "いいえ、火曜日と言いました。",
    ),
}
PLAIN = (
    "No, that is fine.",
    "She said it would rain again tomorrow.",
    "I said hello to my neighbour.",
    "Können Sie mir noch einmal helfen?",
    "Er hat gesagt, dass es regnet.",
    "Il a dit que tout allait bien.",
    "Ella dijo que vendría otra vez.",
    "Ha detto che arriva domani.",
    "Ele disse que vem amanhã.",
    "Hij zei dat het regent.",
    "Он сказал, что придёт завтра.",
    "他说明天会下雨。",
    "彼は明日来ると言っていました。",
)


def test_every_language_is_tried() -> None:
    """The table and this test name the same ten."""
    assert len(CORRECTIONS) == 10
    assert CORRECTIONS.keys() == SAID.keys()


@pytest.mark.parametrize("language", SAID)
def test_a_correction_is_recognised(language: str) -> None:
    """Each in its own language."""
    for text in SAID[language]:
        found = correction(text)
        assert found is not None, text
        assert language == found.language, text


@pytest.mark.parametrize("text", PLAIN)
def test_what_corrects_nothing_is_left_alone(text: str) -> None:
    """Others may have said things, and plain talk goes on."""
    assert correction(text) is None
