"""What holds for the offline model whatever it is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.language.lexicon import MONTHS, SEASONS, WEEKDAYS
from memsim.language.text import fold, split_head
from memsim.message import Message, Role, composed, load_tokenizer, said
from memsim.models import IDK, Model, Request, Task, provenance
from memsim.models.offline.judge import read_verdict
from memsim.models.offline.reader import ANSWER_WORDS
from memsim.models.registry import load_model

NOW = datetime(2023, 9, 1, 9, 0, tzinfo=UTC)
DATE_WORDS = frozenset(
    {"the", "a", "of", "before", "after", "week", "weeks", "weekend", "weekends", "ago"}
    | {"day", "days", "month", "months", "year", "years"}
    | {*MONTHS, *WEEKDAYS, *SEASONS}
)

ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")
READING: tuple[Task, ...] = ("answer", "summarise", "extract")

_SUBJECTS = ("My dog", "My sister", "The deadline", "Our server", "Ane", "Order A-17", "I", "We")
_VERBS = ("is", "is called", "moved to", "costs", "likes", "was", "decided on", "is not", "has")
_THINGS = (
    *("Pepper", "Oslo", "48.20 EUR", "three cats", "blue", "3 June", "yesterday", "last Friday"),
    *(
        "a red tram",
        "five years ago",
        "Mondays at 6:45",
        "db-7",
        "next month",
        "never",
        "小白",
        "\U0001f600",
    ),
)
_ENDS = (".", "!", "?", "", "\n", ", and so on.", "。")
sentences = st.builds(
    "{} {} {}{}".format,
    st.sampled_from(_SUBJECTS),
    st.sampled_from(_VERBS),
    st.sampled_from(_THINGS),
    st.sampled_from(_ENDS),
)
texts = st.lists(sentences | st.text(max_size=40), max_size=5).map(" ".join)
questions = st.builds(
    "{} {} {}?".format,
    st.sampled_from(
        ("When", "Where", "What", "Who", "How many", "How long ago", "Is", "Which colour")
    ),
    st.sampled_from(("is", "did", "does", "has", "are")),
    st.sampled_from((*(s.lower() for s in _SUBJECTS), "Ane's dog called", "my cat's name")),
) | st.text(max_size=60)


@st.composite
def messages(draw: st.DrawFn) -> tuple[Message, ...]:
    """A few messages of any role and day, composed ones among them."""
    made = []
    for n, text in enumerate(draw(st.lists(texts, max_size=6))):
        time = NOW - timedelta(days=draw(st.integers(0, 400)))
        role = draw(st.sampled_from(ROLES))
        if draw(st.booleans()):
            made.append(said(role, text, id=f"m{n}", time=time, principal="Ane"))
        else:
            made.append(composed(role, f"[{time:%Y-%m-%d}] Ane: {text}", id=f"c{n}", time=time))
    return tuple(made)


@pytest.fixture(scope="module")
def model() -> Model:
    """The model over an exact tokenizer."""
    return load_model("offline", "o200k_base")


def tokens(text: str) -> set[str]:
    """The bare words of a text."""
    return set(re.findall(r"\w+", fold(text)))


@given(context=messages(), question=questions)
def test_the_reader_says_nothing_of_its_own(
    model: Model, context: tuple[Message, ...], question: str
) -> None:
    """Its words are in the context or the question, or tell a date that follows from them."""
    request = Request(task="answer", messages=context, question=question, now=NOW)
    reply = model.complete(request)
    known = tokens(question).union(*(tokens(m.text) for m in context))

    new = tokens(reply.text) - known - {"yes", "no"} - DATE_WORDS
    assert reply.text == IDK or {word for word in new if not word.isdecimal()} == set()
    assert len(reply.text.split()) <= ANSWER_WORDS
    assert set(reply.sources or ()) <= {m.id for m in context}
    assert model.complete(request) == reply


@given(context=messages(), previous=texts, limit=st.none() | st.integers(-3, 200))
def test_a_summary_is_chosen_and_never_too_long(
    model: Model, context: tuple[Message, ...], previous: str, limit: int | None
) -> None:
    """Each line is the earlier summary's or part of its sources; the limit holds; it is pure."""
    request = Request(task="summarise", messages=context, previous=previous, max_tokens=limit)
    reply = model.complete(request)
    by_id = {m.id: m.text for m in context}
    old = {line.strip() for line in previous.splitlines()}

    assert load_tokenizer("o200k_base").count(reply.text) <= max(0, limit or 256)
    assert reply.line_sources is not None
    for line, sources in zip(reply.text.splitlines(), reply.line_sources, strict=True):
        if sources:
            assert all(split_head(line)[0] in by_id[i] or line in by_id[i] for i in sources)
        else:
            assert any(
                line in earlier or split_head(earlier)[0].startswith(line) for earlier in old
            )
    assert provenance(reply, {}) is not None
    assert model.complete(request) == reply


@given(context=messages(), limit=st.none() | st.integers(0, 60))
def test_facts_are_quoted(model: Model, context: tuple[Message, ...], limit: int | None) -> None:
    """Each fact is a sentence of the messages that it names."""
    reply = model.complete(Request(task="extract", messages=context, max_tokens=limit))
    by_id = {m.id: m.text for m in context}

    assert limit is None or load_tokenizer("o200k_base").count(reply.text) <= limit
    for line, sources in zip(reply.text.splitlines(), reply.line_sources or (), strict=True):
        assert sources
        assert all(split_head(line)[0] in by_id[i] or line in by_id[i] for i in sources)


@given(given_answer=texts, expected=texts)
def test_the_judge_always_decides(model: Model, given_answer: str, expected: str) -> None:
    """Right or wrong, and right where an answer is what was expected."""
    request = Request(task="judge", given=given_answer, expected=expected)
    same = Request(task="judge", given=expected, expected=expected)

    assert read_verdict(model.complete(request).text) is not None
    assert read_verdict(model.complete(same).text) is True


@given(context=messages())
def test_the_agent_always_does_something(model: Model, context: tuple[Message, ...]) -> None:
    """Words or calls, never neither."""
    reply = model.complete(Request(task="act", messages=context))

    assert reply.text or reply.tool_calls


_PIECES = {
    "prose": "My dog is called Rex, and yesterday he went to Oslo for 3 days! ",
    "letters": "a",
    "stops": ".",
    "questions": "?",
    "blanks": " ",
    "lines": "x\n",
    "codes": "a-1-",
    "numbers": "1,111,",
    "words for numbers": "one ",
    "quotes": '"a":',
    "names": "Anna, ",
    "heads": "[2023-05-08] a: ",
    "unspaced": "我的狗",
    "families": "\U0001f469\u200d\U0001f467",
    "combining": "\u0301",
    "right to left": "مرحبا ",
}


@pytest.mark.parametrize("piece", _PIECES.values(), ids=_PIECES)
def test_a_huge_message_is_read(piece: str) -> None:
    """One huge message, of text that patterns could stumble over, is only long.

    What took a time that grows with the square of the length would not end.
    """
    size = 1_000_000 if piece == _PIECES["prose"] else 200_000
    text = piece * (size // len(piece.encode()))
    model = load_model("offline", "chars/4")
    message = said("user", text, id="m")

    for task in READING:
        reply = model.complete(
            Request(
                task=task,
                messages=(message,),
                question="What is my dog called?",
                max_tokens=100,
            )
        )
        assert len(reply.text) <= 1000


@pytest.mark.parametrize("piece", ["one ", "1,111,", "last Friday, not Rex. "])
def test_a_huge_answer_is_judged(piece: str) -> None:
    """As an answer too."""
    given_answer = piece * (300_000 // len(piece))
    request = Request(task="judge", given=given_answer, expected="Rex on 3 June")

    assert read_verdict(load_model("offline", "chars/4").complete(request).text) is False


@settings(max_examples=30)
@given(context=messages(), question=questions, order=st.randoms(use_true_random=False))
def test_what_was_asked_before_does_not_matter(
    model: Model, context: tuple[Message, ...], question: str, order: object
) -> None:
    """A fresh model and a used one agree."""
    request = Request(task="answer", messages=context, question=question, now=NOW)

    assert load_model("offline", "o200k_base").complete(request) == model.complete(request)
