"""The reader on published conversations: better with the evidence alone than with everything."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memsim.language.text import stem, words
from memsim.message import Message, composed
from memsim.models import IDK, Request
from memsim.models.offline.reader import read_answer

ADVERSARIAL = 5
ENOUGH = 0.6
"""Share of the gold answer's words with which it is taken for given."""


class Asked(NamedTuple):
    """A question, what is right, and what it is asked about."""

    category: int
    question: str
    gold: str
    evidence: tuple[Message, ...]
    whole: tuple[Message, ...]


@pytest.fixture(scope="module")
def questions(data_dir: Path) -> list[Asked]:
    """The questions whose evidence is known."""
    folder = data_dir / "locomo"
    (path,) = folder.glob("locomo-*.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    return [asked for conversation in found for asked in _asked(conversation)]


def _asked(conversation: dict[str, Any]) -> Iterator[Asked]:
    lines = {turn["dia_id"]: line for turn, line in _lines(conversation["conversation"])}
    whole = tuple(lines.values())
    for qa in conversation["qa"]:
        ids = re.findall(r"D\d+:\d+", " ".join(map(str, qa.get("evidence", ()))))
        evidence = tuple(line for key, line in lines.items() if key in ids)
        if evidence:
            gold = str(qa.get("answer", ""))
            yield Asked(qa["category"], qa["question"], gold, evidence, whole)


def _lines(talk: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Message]]:
    numbers = sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        written = talk[f"session_{number}_date_time"].rpartition(" on ")[2]
        day = datetime.strptime(f"{written} +0000", "%d %B, %Y %z").date()
        for turn in talk[f"session_{number}"]:
            text = f"[{day}] {turn['speaker']}: {turn['text']}"
            if "blip_caption" in turn:
                text += f" [shares {turn['blip_caption']}]"
            yield turn, composed("user", text, id=turn["dia_id"])


def said(asked: Asked, context: tuple[Message, ...]) -> str:
    """What the reader answers."""
    return read_answer(Request(task="answer", messages=context, question=asked.question)).text


def right(asked: Asked, given: str) -> bool:
    """Whether an answer holds most of the gold answer's words."""
    gold, held = (Counter(map(stem, words(text))) for text in (asked.gold, given))
    return (gold & held).total() >= ENOUGH * gold.total()


def test_the_reader_reads(questions: list[Asked]) -> None:
    """Most is answered from the evidence, less from whole conversations, but not much less."""
    asked = [q for q in questions if q.category != ADVERSARIAL]

    oracle = sum(right(q, said(q, q.evidence)) for q in asked) / len(asked)
    whole = sum(right(q, said(q, q.whole)) for q in asked) / len(asked)

    assert oracle >= 0.58
    assert whole >= 0.35
    assert oracle - whole >= 0.1


def test_the_reader_does_not_mix_people_up(questions: list[Asked]) -> None:
    """Asked about one speaker what only the other did, it often says that it does not know."""
    swapped = [q for q in questions if q.category == ADVERSARIAL]

    unanswered = sum(said(q, q.evidence).startswith((IDK, "No:")) for q in swapped)

    assert unanswered / len(swapped) >= 0.6


def test_the_reader_knows_nothing_of_other_conversations(questions: list[Asked]) -> None:
    """Asked about one conversation with another's evidence, it is hardly ever right."""
    asked = [q for q in questions if q.category not in {ADVERSARIAL, 3}]
    shifted = zip(asked, asked[len(asked) // 2 :] + asked[: len(asked) // 2], strict=True)

    lucky = sum(right(q, said(q, other.evidence)) for q, other in shifted)

    assert lucky / len(asked) <= 0.03
