"""A small LoCoMo file of our own making: two people, three sessions, every kind of question."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def line(speaker: str, dia_id: str, text: str, **more: object) -> dict[str, object]:
    """One utterance."""
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


def question(category: int, ask: str, *evidence: str, **more: object) -> dict[str, object]:
    """One question."""
    return {"question": ask, "category": category, "evidence": list(evidence), **more}


def conversation(name: str = "conv-7") -> dict[str, Any]:
    """Two people who talk about a boat."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ida",
            "speaker_b": "Odd",
            "session_10_date_time": "12:30 pm on 1 June, 2023",
            "session_10": [
                line("Odd", "D10:1", "I sold it for 300."),
                line("Ida", "D10:2", "We sailed to Moss yesterday."),
                line("Odd", "D10:3", "", blip_caption="a harbour"),
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                line("Ida", "D1:1", "I bought a boat called Tern."),
                line("Odd", "D1:2", "Look at mine!", blip_caption="a green boat", img_url=["x"]),
            ],
            "session_2_date_time": "12:05 am on 9 May, 2023",
            "session_2": [],
            "session_11_date_time": "12:30 pm on 2 June, 2023",
        },
        "qa": [
            question(4, "What is Ida's boat called?", "D1:1", answer="Tern"),
            question(2, "When did Ida sail to Moss?", "D:10:02", answer="31 May 2023"),
            question(1, "Who has a boat?", "D1:1; D1:2", "D1:1", answer="Ida, Odd"),
            question(3, "Would Odd like a kayak?", "D", "D4:4", answer="Likely; he likes water"),
            question(4, "What did Odd get for it?", "D10:1", "D9:9", answer=300),
            question(5, "What is Odd's boat called?", "D1:1", adversarial_answer="Tern"),
            question(5, "Is Tern Odd's?", "D1:1", adversarial_answer="Yes", answer="No"),
            question(4, "Where is Odd?", answer="here"),
        ],
    }


def finding(place: int, ask: str, kind: str, *evidence: str, first: int = 0) -> dict[str, object]:
    """One finding of an audit."""
    return {
        "question_id": f"locomo_{first}_qa{place}",
        "question": ask,
        "error_type": kind,
        "correct_evidence": list(evidence),
    }


def findings() -> list[dict[str, object]]:
    """An audit of a larger file, in which ours is the fourth conversation."""
    return [
        finding(0, "Some other question?", "HALLUCINATION", first=0),
        finding(0, "What is Ida's boat called?", "WRONG_CITATION", "D1:2", first=3),
        finding(4, "What did Odd get for it?", "TEMPORAL_ERROR", "D1:1", first=3),
    ]


@pytest.fixture
def conversations() -> list[dict[str, Any]]:
    """What the file holds, to be spoilt at will."""
    return [conversation()]


@pytest.fixture
def audit() -> list[dict[str, Any]]:
    """What its audit holds."""
    return findings()


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes a value as a JSON file and returns its path."""

    def write(value: object, name: str = "locomo-small.json") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write
