"""Abstention: saying that one does not know, in many words, and not saying so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.models import IDK
from memsim.scoring.polarity import abstains

SILENT = """\
I do not know the answer.
I'm not sure.
I am not sure about that.
The conversation does not mention it.
Not mentioned in the conversation.
Not mentioned.
No information available
Information not available
There is no information about her car.
I have no record of that.
I don't have any information about your hat.
I do not have that information.
You haven't told me.
You never mentioned your hat.
You did not tell me the colour of your hat.
That was never said.
It was never mentioned.
It is not specified.
That isn't something I was told.
This has not been discussed.
Unknown
unknown.
N/A
I can't find that in our conversation.
I cannot determine this from the context.
I couldn't find any mention of a hat.
Unfortunately, the provided context doesn't include that detail.
It's unclear.
I'm unable to answer that.
There's no mention of a hat in the conversation.
The context does not contain enough information to answer.
Insufficient information.
I have no idea.
I don't recall you telling me that.
Sorry, I don't remember.
The memories do not specify what Ana painted. They only say that Ben painted a sunset.
I don't have the order number.
I wasn't told.
Nobody said.
I can't say.
I cannot tell.
I don't have access to that information.
That information is not available.
Not enough context
We have not talked about that.
I don’t see that in my notes.
It hasn't come up.
My records don't show a hat.
DON'T KNOW
"""
SPOKEN = """\
It is A-17.
Oslo
No
None
Nothing
She has no pets.
He does not have a car.
I'm not sure, but I think it is Oslo.
I don't know for certain. It's blue.
I have no record of that, but it was probably blue.
She didn't go to Paris.
Never
She never gave up.
No, she would not.
Not Bergen, Oslo
She was unable to swim
He lost his memory of the accident
Likely no
It was not available in blue.
They lost the data.
The store had no details on the box
The known answer
"""


def test_an_answer_that_does_not_know(subtests: pytest.Subtests) -> None:
    """Every usual wording is recognised, the offline reader's own first."""
    for answer in [IDK, *SILENT.splitlines()]:
        with subtests.test(answer=answer):
            assert abstains(answer)


def test_an_answer_that_says_something(subtests: pytest.Subtests) -> None:
    """Negative facts, guesses after a doubt, and words that only sound alike are answers."""
    for answer in ["", "   ", *SPOKEN.splitlines()]:
        with subtests.test(answer=answer):
            assert not abstains(answer)


@given(st.text())
def test_any_text_can_be_judged(text: str) -> None:
    """No text breaks it, and blanks around it change nothing."""
    assert abstains(text) == abstains(f"  {text}  ") or len(text) > 1_900


@pytest.mark.parametrize("hostile", ["no " * 50_000, "is not " * 50_000, "a" * 100_000])
def test_long_answers_cost_no_time(hostile: str) -> None:
    """Only the beginning is read: this ends at once or not at all."""
    assert abstains(hostile) in {True, False}
