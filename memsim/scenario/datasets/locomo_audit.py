"""Reads a public audit of LoCoMo's questions: which gold answers and which citations are wrong.

The file is a list of findings::

    [{"question_id": "locomo_0_qa17", "question": "...", "error_type": "WRONG_CITATION",
      "correct_evidence": ["D1:14"], ...}, ...]

`locomo_0` is the first conversation of the file that was audited, which need not be the first of
ours: findings are given to the conversation that has those very questions at those places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.errors import ScenarioError
from memsim.scenario.datasets.json_file import JsonObject, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_QUESTION_ID = re.compile(r"locomo_(\d+)_qa(\d+)")
_CITATION = "WRONG_CITATION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the audit says of one question.

    Attributes:
        citation: the citation is wrong and the gold answer right; otherwise the gold answer is
            wrong.
        evidence: the citation that would be right.
    """

    citation: bool
    evidence: tuple[str, ...]


Audit = dict[tuple[str, int], Finding]
"""Findings by conversation and place of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    place: int
    question: str
    finding: Finding


def read_audit(path: Path, questions: Mapping[str, Sequence[str]]) -> Audit:
    """The findings of an audit file.

    Findings of conversations that are not here are left out.

    Raises:
        ScenarioError: the file is missing, not JSON, or not of this schema, or none of it is about
            these conversations.
    """
    audit: Audit = {}
    for lines in _by_conversation(path).values():
        name = _whose(lines, questions)
        if name is not None:
            audit.update({(name, line.place): line.finding for line in lines})
    if not audit:
        raise ScenarioError("audits none of these conversations", path=path)
    return audit


def _by_conversation(path: Path) -> dict[str, list[_Line]]:
    value = read_json(path)
    if not isinstance(value, list):
        raise ScenarioError("not a list of findings", path=path)
    found: dict[str, list[_Line]] = {}
    seen: set[str] = set()
    for n, item in enumerate(value, start=1):
        entry = JsonObject(path, f"finding {n}", item)
        name = entry.text("question_id")
        match = _QUESTION_ID.fullmatch(name)
        if match is None:
            entry.reject(f"has {name!r} as 'question_id', not locomo_<n>_qa<m>")
        entry.check_distinct("question_id", name, seen)
        found.setdefault(match[1], []).append(_line(entry, int(match[2])))
    return found


def _line(entry: JsonObject, place: int) -> _Line:
    citation = entry.text("error_type") == _CITATION
    evidence = tuple(entry.texts("correct_evidence")) if "correct_evidence" in entry else ()
    finding = Finding(citation=citation, evidence=evidence)
    return _Line(place=place, question=entry.text("question"), finding=finding)


def _whose(lines: Iterable[_Line], questions: Mapping[str, Sequence[str]]) -> str | None:
    for name, asked in questions.items():
        if all(dict(enumerate(asked)).get(line.place) == line.question for line in lines):
            return name
    return None
