"""How sure a memory says it is: whom the best messages speak of, and how much of the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsim.memory.recall.confidence import FoundMessage, confidence
from memsim.suite.single import run
from tests.doubles.two_people import FAIR

QUESTION = "What did Ana paint for the fair?"


def said(principal: str, text: str, *, role: str = "user", relevance: float = 1.0) -> FoundMessage:
    """A message that was found."""
    return FoundMessage(principal=principal, role=role, text=text, relevance=relevance)


def sure(
    *found: FoundMessage, question: str = QUESTION, named: tuple[str, ...] = ("ana",)
) -> float:
    """How sure it is of a question about Ana."""
    return confidence(question, found, named, 0.0)


def test_who_speaks_of_themselves_is_told_from_who_is_spoken_to(
    subtests: pytest.Subtests,
) -> None:
    """The words of the question are in all of them."""
    about_ana = [
        said("ana", "I painted a heron for the fair."),
        said("ben", "I saw that you painted a heron for the fair, Ana."),
        said("ben", "Ana painted a heron for the fair."),
        said("ana", "You painted a heron for the fair.", role="assistant"),
    ]
    about_ben = [
        said("ben", "I painted a heron for the fair."),
        said("ana", "You painted a heron for the fair? Your best one!"),
        said("ben", "My heron for the fair is painted."),
        said("ben", "You painted a heron for the fair.", role="assistant"),
    ]

    for message in about_ana:
        with subtests.test(message.text):
            assert sure(message) > 0.5
    for message in about_ben:
        with subtests.test(message.text):
            assert sure(message) < 0.3


def test_messages_count_by_their_relevance() -> None:
    """One that hardly speaks to the question changes little."""
    own, other = "I painted a heron for the fair.", "For the fair I paint fences."

    best = sure(said("ana", own, relevance=3.0), said("ben", other, relevance=0.5))
    worst = sure(said("ben", other, relevance=3.0), said("ana", own, relevance=0.5))

    assert worst < 0.3 < best


def test_where_nobody_is_named_it_is_never_below_a_half() -> None:
    """The share of the question that one message holds decides above it."""
    held = said("ana", "The staging host is called finch.")
    other = said("ana", "The garden has three apple trees.")

    question = "What is the staging host called?"
    assert sure(held, question=question, named=()) > sure(other, question=question, named=())
    assert sure(other, question=question, named=()) >= 0.5
    assert sure(held, named=("ana", "ben")) >= 0.5


def test_without_any_message_it_is_not_sure_at_all() -> None:
    """Nothing was found, or nothing of it is relevant."""
    assert sure() == 0.0
    assert sure(said("ana", "I will bring the soup.")) == 0.0
    assert sure(said("ana", "I painted a heron.", relevance=0.0)) == 0.0


def test_nothing_is_quoted_of_another_than_who_is_asked_for(tmp_path: Path) -> None:
    """By default; with a bound of 0 the nearest is quoted, whoever it is about."""
    path = tmp_path / "fair.yaml"
    path.write_text(FAIR, encoding="utf-8")

    found = run(path, "layered:acl=off,window=1", embedder="hash")
    always = run(path, "layered:acl=off,window=1,sure=0", embedder="hash")

    assert (found.metrics["recall"], found.metrics["false_answers"]) == (1.0, 0.0)
    assert (always.metrics["recall"], always.metrics["false_answers"]) == (1.0, 1.0)
