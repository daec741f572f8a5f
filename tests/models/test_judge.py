"""The judge by rule: does an answer state what was expected?"""

from __future__ import annotations

import pytest

from memsim.models import IDK, Request
from memsim.models.judge import states
from memsim.models.offline import OfflineModel
from memsim.tokens import load_tokenizer


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("She lives in Oslo.", "Oslo"),
        ("Oslo, not Bergen.", "Oslo"),
        ("I have three cats.", "3 cats"),
        ("It was on May 7th, 2023.", "7 May 2023"),
        ("The launch is on 2023-05-07 at noon.", "7 May 2023"),
        ("There are 25 of them", "twenty-five"),
        ("Yes: I sold the car.", "Yes"),
        ("He does not eat pork.", "no pork"),
        ("A-17 it is.", "a-17"),
        ("The bassoon from my grandfather.", "grandfather's bassoon"),
        (IDK, "I do not know."),
        ("", IDK),
        ("...!", "..."),
    ],
)
def test_what_states_it_is_right(given: str, expected: str) -> None:
    """Whatever the order, case, way of writing numbers and dates, and the words around it."""
    assert states(given, expected)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("She lives in Bergen.", "Oslo"),
        ("Not Oslo.", "Oslo"),
        ("She doesn't live in Oslo any more.", "She lives in Oslo"),
        ("I have four cats.", "3 cats"),
        ("It was on May 8th, 2023.", "7 May 2023"),
        ("A-18 it is.", "a-17"),
        ("No: I sold the bike.", "Yes"),
        (IDK, "Oslo"),
        ("Oslo", IDK),
        ("The blue one.", "the large dark green one by the door"),
    ],
)
def test_what_states_something_else_is_wrong(given: str, expected: str) -> None:
    """Another number, date or name, a denial, or no answer."""
    assert not states(given, expected)


@pytest.mark.parametrize(("given", "verdict"), [("In Oslo.", "yes"), ("In Bergen.", "no")])
def test_the_model_says_yes_or_no(given: str, verdict: str) -> None:
    """And nothing else."""
    model = OfflineModel(load_tokenizer("chars/4"))
    request = Request(task="judge", question="Where?", expected="Oslo", given=given)

    assert model.complete(request).text == verdict
