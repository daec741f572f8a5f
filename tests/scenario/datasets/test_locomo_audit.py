"""LoCoMo's audit: findings go to the questions that they are about, and bad files are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsim.errors import ScenarioError
from memsim.scenario.datasets.locomo_audit import Finding, read_audit

Write = Callable[..., Path]
QUESTIONS = {"conv-6": ["Else?"], "conv-7": ["What is Ida's boat called?", "", "", "", "What did"]}


def test_findings_are_keyed_by_conversation_and_place(
    written: Write, audit: list[dict[str, Any]]
) -> None:
    """Those of conversations that are not here are left out."""
    audit[2]["question"] = "What did"

    assert {
        ("conv-7", 0): Finding(citation=True, evidence=("D1:2",)),
        ("conv-7", 4): Finding(citation=False, evidence=("D1:1",)),
    } == read_audit(written(audit), QUESTIONS)


def test_one_question_that_differs_is_another_conversation(
    written: Write, audit: list[dict[str, Any]]
) -> None:
    """All findings of a conversation have to fit, and an audit of nothing here is a mistake."""
    with pytest.raises(ScenarioError, match="audits none of these conversations"):
        read_audit(written(audit), QUESTIONS)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "not a list of findings"),
        ([], "audits none of these conversations"),
        ([1], "finding 1 is a whole number, not an object"),
        ([{}], "finding 1 has no 'question_id'"),
        ([{"question_id": "q1"}], "has 'q1' as 'question_id', not locomo_<n>_qa<m>"),
        ([{"question_id": "locomo_0_qa1"}], "finding 1 has no 'error_type'"),
        ([{"question_id": "locomo_0_qa1", "error_type": "X"}], "finding 1 has no 'question'"),
        (
            [{"question_id": "locomo_0_qa1", "error_type": "X", "question": "?"}] * 2,
            "finding 2 has the 'question_id' 'locomo_0_qa1' of another",
        ),
    ],
)
def test_a_bad_audit_is_refused(written: Write, value: object, problem: str) -> None:
    """With the file and the finding."""
    path = written(value, "audit-errors.json")
    with pytest.raises(ScenarioError) as caught:
        read_audit(path, QUESTIONS)

    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
