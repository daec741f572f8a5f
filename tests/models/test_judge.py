"""The judge by rule: does an answer state what was expected?"""

from __future__ import annotations

import pytest

from memsim.message import load_tokenizer
from memsim.models import IDK, Request
from memsim.models.offline.judge import judge, read_verdict, states_expected
from memsim.models.offline.model import OfflineModel


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
    assert states_expected(given, expected)


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
    assert not states_expected(given, expected)


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("In Oslo.", True),
        ("The capital of Norway.", True),
        ("In Bergen.", False),
        ("Oslo, not Bergen.", True),
        ("Oslo, and Bergen.", False),
        ("", False),
    ],
)
def test_the_model_gives_a_verdict(given: str, right: bool) -> None:
    """Right is what states one of the expected answers, and none that is outdated."""
    model = OfflineModel(load_tokenizer("chars/4"))
    request = Request(
        task="judge",
        question="Where?",
        expected="Oslo\ncapital of Norway",
        outdated="Bergen",
        given=given,
    )

    assert right is read_verdict(model.complete(request).text)


def test_what_is_no_longer_so_may_be_a_part_of_what_is() -> None:
    """An outdated value inside the expected one makes no right answer wrong."""
    request = Request(task="judge", expected="Oslo harbour", outdated="Oslo", given="Oslo harbour.")

    assert read_verdict(judge(request))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"verdict": "right"}', True),
        (' {"verdict":"wrong"}\n', False),
        ('```json\n{"verdict": "right"}\n```', True),
    ],
)
def test_a_verdict_is_one_object(text: str, verdict: bool) -> None:
    """Blanks around it and a fence of Markdown change nothing."""
    assert verdict is read_verdict(text)


def test_anything_else_is_no_verdict(subtests: pytest.Subtests) -> None:
    """Least of all a right one."""
    for text in [
        "",
        "right",
        "yes",
        "null",
        "true",
        "[]",
        "{}",
        '["verdict", "right"]',
        '[["verdict", "right"]]',
        '{"verdict": "Right"}',
        '{"verdict": true}',
        '{"verdict": ["right"]}',
        '{"verdict": {"right": 1}}',
        '{"verdict": "right", "why": "it is"}',
        '{"verdict": "wrong", "verdict": "right"}',
        'The verdict is {"verdict": "right"}',
        '{"verdict": "right"} {"verdict": "right"}',
        '{"verdict": "right"',
        '{"Verdict": "right"}',
        "[" * 100_000,
        '{"verdict": "right"}' + " " * 2_000 + ".",
    ]:
        with subtests.test(text=text):
            assert read_verdict(text) is None
