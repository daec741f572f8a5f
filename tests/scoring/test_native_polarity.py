"""Answers in other languages: abstentions, denials and outdated values, as in English."""

# ruff: noqa: RUF001 - sentences in many scripts

from __future__ import annotations

import time

import pytest

from memsim.scenario import Probe
from memsim.scoring.answer_match import match_sequence, match_words
from memsim.scoring.answer_score import judge_answer
from memsim.scoring.answer_text import read_words
from memsim.scoring.polarity import abstains, denied
from tests.language.sentences import SENTENCES
from tests.scoring.native_answers import ANSWERS, NEGATIVE_FACTS

LOST = Probe(id="p", ask="?", unanswerable=True)


def test_not_knowing_is_an_abstention_in_any_language(subtests: pytest.Subtests) -> None:
    """Whoever says so in Korean or Turkish has not invented an answer."""
    for language, each in ANSWERS.items():
        with subtests.test(language=language):
            for answer in each.unknown.splitlines():
                assert abstains(answer), answer
                assert "ABSTAINED" == judge_answer(LOST, answer).outcome
                assert not match_words(each.value, answer, "?").right


def test_a_denied_value_is_not_given_in_any_language(subtests: pytest.Subtests) -> None:
    """`nicht in Berlin` is no more the answer Berlin than `not in Berlin` is."""
    for language, each in ANSWERS.items():
        with subtests.test(language=language):
            for answer in each.denying.splitlines():
                assert not match_words(each.value, answer, "?").right, answer
                assert not match_sequence(each.value, answer).right, answer
                assert not abstains(answer), answer


def test_a_value_beside_a_denied_one_is_given(subtests: pytest.Subtests) -> None:
    """A denial reaches as far as its contrast, and words that only look like one deny nothing."""
    for language, each in ANSWERS.items():
        with subtests.test(language=language):
            for answer in each.giving.splitlines():
                assert match_words(each.value, answer, "?").right, answer
                assert match_sequence(each.value, answer).right, answer
                assert not abstains(answer), answer


def test_plain_sentences_deny_nothing(subtests: pytest.Subtests) -> None:
    """No word of one language is taken for the denial of another."""
    for code, each in SENTENCES.items():
        with subtests.test(language=code):
            for said in (each.said, each.decoy_said, each.number_said):
                assert frozenset() == denied(read_words(said)), said
                assert not abstains(said), said


@pytest.mark.parametrize(
    ("expected", "old", "answer", "outcome"),
    [
        ("Leipzig", "Dresden", "Früher in Dresden, jetzt in Leipzig.", "PASS"),
        ("Lyon", "Lille", "Auparavant à Lille, maintenant à Lyon.", "PASS"),
        ("Sevilla", "Segovia", "Antes era en Segovia, ahora es en Sevilla.", "PASS"),
        ("Москва", "Казань", "Раньше в Казани, теперь в Москве.", "PASS"),
        ("Ankara", "İzmir", "Önceden İzmir'de, şimdi Ankara'da.", "PASS"),
        ("上海", "北京", "之前在北京，现在在上海。", "PASS"),
        ("大阪", "京都", "以前は京都でしたが、今は大阪です。", "PASS"),
        ("서울", "부산", "이전에는 부산이었고, 지금은 서울입니다.", "PASS"),
        ("दिल्ली", "मुंबई", "पहले मुंबई में, अब दिल्ली में।", "PASS"),
        ("Leipzig", "Dresden", "In Dresden oder in Leipzig.", "MIXED"),
        ("Leipzig", "Dresden", "Nicht in Leipzig, sondern in Dresden.", "STALE"),
        ("서울", "부산", "서울이 아니라 부산입니다.", "STALE"),
        ("大阪", "京都", "大阪ではなく京都です。", "STALE"),
    ],
)
def test_an_outdated_value_is_told_from_the_current_one(
    expected: str, old: str, answer: str, outcome: str
) -> None:
    """Words such as `früher`, and denials, count beside the value that they are of."""
    probe = Probe(id="p", ask="?", expect=(expected,), forbid=(old,))

    assert outcome == judge_answer(probe, answer).outcome


@pytest.mark.parametrize(
    ("answer", "silent"),
    [
        ("Ich weiß es nicht genau, aber ich glaube, in Berlin.", False),
        ("No estoy seguro, pero creo que en Sevilla.", False),
        ("잘 모르겠지만, 아마 서울일 것 같아요.", False),
        ("よくわかりませんが、たぶん大阪です。", False),
        ("Sie hat keine Haustiere.", False),
        ("No tiene coche.", False),
        ("Он не курит.", False),
        ("彼女は肉を食べません。", False),
        ("그녀는 고기를 먹지 않습니다.", False),
        ("Unbekannt", True),
        ("不明", True),
    ],
)
def test_a_guess_and_a_negative_fact_are_answers(answer: str, silent: bool) -> None:
    """In other languages as in English."""
    assert silent == abstains(answer)


def test_negative_facts_are_answers() -> None:
    """Who says that someone has no car, or speaks no French, knows it."""
    assert [] == [fact for fact in NEGATIVE_FACTS.splitlines() if abstains(fact)]


def test_not_knowing_is_no_verdict() -> None:
    """`I don't know` answers no question for yes or no."""
    probe = Probe(id="p", ask="Would she move back?", expect=("Likely no, she would not",))

    assert "MISS" == judge_answer(probe, "I don't know.").outcome
    assert "PASS" == judge_answer(probe, "She would not move back.").outcome


@pytest.mark.parametrize("text", ["nicht " * 5_000, "ß keine information " * 2_000, "没有" * 5_000])
def test_hostile_answers_cost_no_time(text: str) -> None:
    """No phrase reads a text twice from each of its words."""
    began = time.process_time()

    abstains(text)
    denied(read_words(text))

    assert time.process_time() - began < 3.0
