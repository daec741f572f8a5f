"""Words, stems and sentences, in any script."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.language import graphemes
from memsim.language.text import (
    SENTENCE_LIMIT,
    content,
    fold,
    read_head,
    sentences,
    speaker_label,
    split_head,
    stem,
    whole,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I LIKE Tea", ["i", "like", "tea"]),
        ("don't", ["don't"]),
        ("Don\u2019t", ["don't"]),
        ("hand-painted", ["hand", "painted"]),
        ("ticket A-17 and db-7", ["a-17", "db-7", "ticket", "and"]),
        ("v2.3.1 at eu-west-4b", ["v2.3.1", "eu-west-4b", "at"]),
        ("user_id", ["user", "id"]),
        ("Zoë, café", ["zoe", "cafe"]),
        ("Straße", ["strasse"]),
        ("", []),
        ("\u00a0…!", []),
    ],
)
def test_words_are_folded_and_codes_stay_whole(text: str, expected: list[str]) -> None:
    """Case, accents and quotes do not part words; an identifier is one word."""
    assert words(text) == expected


def test_scripts_without_spaces_are_read_in_pairs() -> None:
    """Two neighbouring characters are the unit, and question words are none of them."""
    assert words("我的狗叫小白") == ["狗叫", "叫小", "小白"]
    assert words("狗叫什么") == ["狗叫"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("moving", "moved"), ("children", "child"), ("went", "go"), ("colour", "color")],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Regular and irregular forms meet."""
    assert stem(one) == stem(other)


def test_a_possessive_is_the_word_itself() -> None:
    """The owner of something is found by name."""
    assert stem("melanie's") == stem("melanie")


def test_content_leaves_stop_words_out() -> None:
    """What carries no content is not compared."""
    assert content("What is the name of my dog?") == ["name", "dog"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Ask Dr. Okafor. He knows.", ["Ask Dr. Okafor.", "He knows."]),
        ("It costs 3.50 euros. Fine.", ["It costs 3.50 euros.", "Fine."]),
        ("J. Smith came. We left.", ["J. Smith came.", "We left."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("今天下雨。我在家\uff01", ["今天下雨。", "我在家\uff01"]),
        ("no end", ["no end"]),
        ("   ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(line: str, expected: list[str]) -> None:
    """Abbreviations, initials and decimals end none."""
    assert sentences(line) == expected


def test_endless_text_is_cut() -> None:
    """Text without punctuation is cut at blanks, so that no sentence is ever long."""
    found = sentences("word " * 1000)

    assert max(map(len, found)) <= SENTENCE_LIMIT
    assert " ".join(found).split() == ["word"] * 1000


FAMILY = "\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1f3\U0001f1f4"


@pytest.mark.parametrize("unit", [FAMILY, "e\u0301", "\U0001f44d\U0001f3fd", FLAG])
def test_a_cut_splits_no_character(unit: str) -> None:
    """A character of several code points is kept or left as one."""
    text = "x" + unit * 4

    places = {whole(text, stop) for stop in range(1, len(text))}

    assert {(place - 1) % len(unit) for place in places if place > 1} <= {0}


def test_cutting_endless_text_splits_no_character() -> None:
    """That holds for sentences too."""
    assert all(piece.startswith("\U0001f469") for piece in sentences(FAMILY * 500))


def test_endless_marks_are_cut_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut looks no further back than its sentence begins, or the time would grow as a square."""
    looked = 0

    def joined(_: str, __: int) -> bool:
        nonlocal looked
        looked += 1
        return True

    monkeypatch.setattr(graphemes, "_joined", joined)
    line = "\u0301" * SENTENCE_LIMIT * 20

    assert "".join(sentences(line)) == line
    assert looked <= len(line)


@given(st.text())
def test_sentences_lose_nothing_but_blanks(line: str) -> None:
    """Every sentence is a part of the line, in order, and together they are all of it."""
    found = sentences(line)

    assert "".join("".join(found).split()) == "".join(line.split())
    assert all(sentence in line for sentence in found)


@given(st.text())
def test_folding_is_settled(text: str) -> None:
    """Folded words are words of the folded text."""
    assert words(fold(text)) == words(fold(fold(text)))


@pytest.mark.parametrize(
    ("line", "who"),
    [
        ("Ana Pérez: hola", "Ana Pérez"),
        ("Émile Zola: bonjour", "Émile Zola"),
        ("Ana Šimić: bok", "Ana Šimić"),
        ("[2023-05-08] Анна Иванова: привет", "Анна Иванова"),
        ("Νίκος Παππάς: γεια", "Νίκος Παππάς"),
        ("Аня сказала: привет", ""),
        ("Ana said: hello", ""),
    ],
)
def test_a_speaker_may_have_a_name_in_any_script(line: str, who: str) -> None:
    """Its second word begins with a capital letter of that script."""
    assert who == split_head(line)[1]


@pytest.mark.parametrize(
    ("role", "principal", "label", "who"),
    [
        ("user", "ana", "ana", "ana"),
        ("user", "Mary Ann", "Mary Ann", "Mary Ann"),
        ("user", "user", "user", "user"),
        ("assistant", "ana", "assistant to ana", "assistant"),
        ("assistant", "maria del mar", "assistant to maria del mar", "assistant"),
        ("assistant", "user", "assistant", "assistant"),
        ("tool", "ana", "tool for ana", "tool"),
        ("tool", "user", "tool", "tool"),
        ("system", "ana", "system", "system"),
    ],
)
def test_a_label_names_role_and_principal(role: str, principal: str, label: str, who: str) -> None:
    """And the head of a line is read back as the role of who is no user."""
    assert label == speaker_label(role, principal)
    line = f"[2026-01-05] {label}: I booked the inn."
    assert ("I booked the inn.", who, date(2026, 1, 5)) == split_head(line)


def test_a_summary_is_no_word_of_its_owner() -> None:
    """Its lines name their own speakers."""
    line = "[2026-01-05] summary for ana: assistant: I booked the inn."

    assert ("assistant: I booked the inn.", "memory", date(2026, 1, 5)) == split_head(line)


def test_a_head_says_since_when_a_line_does_not_hold() -> None:
    """Wholly or in part, beside the day on which it was said."""
    for way in ("replaced", "partly replaced"):
        head = read_head(f"[2026-01-05, {way} 2026-02-01] ana: I booked the inn.")

        assert ("ana", date(2026, 1, 5), date(2026, 2, 1)) == (head.who, head.day, head.replaced)


def test_no_name_is_read_as_a_role() -> None:
    """Labels of different speakers differ, whatever users call themselves."""
    names = ["ana", "user", "assistant", "assistant to ana", "tool for ana", "tool", "user tool"]
    pairs = [(role, name) for role in ("user", "assistant", "tool") for name in names]

    assert len(pairs) == len({speaker_label(*pair) for pair in pairs})
