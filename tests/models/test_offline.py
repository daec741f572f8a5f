"""The offline model as a whole: pure, metered, and able to miss on purpose."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from memsim.errors import ModelError, RefError
from memsim.message import TokenCounter, load_tokenizer, said
from memsim.models import IDK, Model, Request, ToolSpec
from memsim.models.offline.model import OfflineModel
from memsim.models.registry import load_model

CHAT = (
    said("user", "My dog is called Pepper. I moved to Oslo yesterday.", id="m1"),
    said("assistant", "What do you like there?", id="m2"),
    said("user", "The fjord, and the red trams.", id="m3"),
)
TASKS = ("summarise", "extract", "answer", "judge", "act")


def request(task: Any, **more: Any) -> Request:  # noqa: ANN401 - any task, any field
    """A request with something in every field that the task reads."""
    fields = {"question": "What is my dog called?", "expected": "Pepper", "given": "Pepper"}
    return Request(task=task, **{"messages": CHAT, **fields, **more})


@pytest.fixture
def model() -> Model:
    """The model as it is asked for by default."""
    return load_model("offline", "o200k_base")


@pytest.mark.parametrize("task", TASKS)
def test_the_same_request_gets_the_same_reply(task: str, model: Model) -> None:
    """Asked again, asked of another, asked after other questions: nothing is remembered."""
    first = model.complete(request(task))
    for other in TASKS:
        model.complete(request(other, question="Where did I move?", repeat=3))

    assert model.complete(request(task)) == first
    assert load_model("offline", "o200k_base").complete(request(task)) == first


def test_replies_do_not_hang_on_the_hash_seed() -> None:
    """Sets are everywhere in it, and their order must not show."""
    code = (
        "from memsim.models.registry import load_model\n"
        "from memsim.models import Request\n"
        "from memsim.message import said\n"
        "m = load_model('offline', 'chars/4')\n"
        "t = [said('user', f'I put item {n} in box {n * 7 % 5} on shelf {n % 3}.', id=f'm{n}')"
        " for n in range(60)]\n"
        "for task in ('summarise', 'extract', 'answer'):\n"
        "    print(m.complete(Request(task=task, messages=tuple(t), max_tokens=90,"
        " question='Which items are in box 3 on the shelf?')))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }

    assert len(outputs) == 1


def test_usage_is_counted_with_the_tokenizer(model: Model) -> None:
    """Input is what was read, output what was said."""
    count = load_tokenizer("o200k_base").count

    reply = model.complete(Request(task="answer", messages=CHAT, question="What is my dog called?"))

    read = sum(count(m.text) for m in CHAT) + count("What is my dog called?")
    assert (reply.usage.input, reply.usage.output) == (read, count("Pepper"))
    assert reply.cost == 0.0


@pytest.mark.parametrize("limit", [0, 1, 4, 40])
def test_an_answer_may_be_limited(model: Model, limit: int) -> None:
    """In tokens, at whole words."""
    reply = model.complete(request("answer", question="Where did I move?", max_tokens=limit))

    assert reply.usage.output <= limit
    assert "I moved to Oslo yesterday.".startswith(reply.text)


def test_previous_summary_is_read_too(model: Model) -> None:
    """It is part of what the model is given."""
    with_it = model.complete(request("summarise", previous="The port is 8443."))
    without = model.complete(request("summarise"))

    assert with_it.usage.input > without.usage.input


def test_tool_calls_are_output(model: Model) -> None:
    """A reply without words still costs what it calls."""
    store = ToolSpec(name="memory_store", description="", parameters="{}")

    reply = model.complete(request("act", messages=CHAT[:1], tools=(store,)))

    assert (reply.text, len(reply.tool_calls)) == ("", 1)
    assert reply.usage.output > 0


def test_a_counter_can_be_shared() -> None:
    """Whoever counts the same texts need not count them again."""
    counter = TokenCounter(load_tokenizer("chars/4"))
    shared, own = OfflineModel(counter), OfflineModel(load_tokenizer("chars/4"))

    assert shared.complete(request("answer")) == own.complete(request("answer"))


def test_an_unknown_task_is_refused(model: Model) -> None:
    """Rather than answered with nothing."""
    with pytest.raises(ModelError, match="no task 'dream'"):
        model.complete(request("dream"))


def test_the_clock_is_the_requests() -> None:
    """Relative dates are counted from the request's instant, never from today."""
    model = load_model("offline", "chars/4")
    asked = [
        request("answer", question="How long ago did I move to Oslo?", now=now)
        for now in (datetime(2026, 1, 9, tzinfo=UTC), datetime(2027, 1, 9, tzinfo=UTC))
    ]

    assert [model.complete(r).text for r in asked] == ["5 days", "12 months"]


QUESTIONS = [f"What is the code of locker {n}?" for n in range(400)]


def missed(model: Model, repeat: int = 0) -> set[str]:
    """The questions that a model misses, though all are answered in the context."""
    told = tuple(
        said("user", f"The code of locker {n} is {n * 37 + 11}.", id=f"m{n}") for n in range(400)
    )
    return {
        question
        for n, question in enumerate(QUESTIONS)
        if model.complete(
            Request(task="answer", messages=told[n : n + 1], question=question, repeat=repeat)
        ).text
        == IDK
    }


def test_a_reader_without_misses_has_none() -> None:
    """By default what is there is found."""
    assert missed(load_model("offline", "chars/4", seed=3)) == set()


def test_a_reader_misses_its_share() -> None:
    """About as many as asked for."""
    model = load_model("offline:miss=0.25", "chars/4", seed=3)

    assert 0.18 <= len(missed(model)) / len(QUESTIONS) <= 0.32


def test_misses_follow_seed_and_repeat_alone() -> None:
    """The same seed misses the same questions; another seed or repeat others."""
    ref = "offline:miss=0.25"
    first = missed(load_model(ref, "chars/4", seed=3))

    assert missed(load_model(ref, "chars/4", seed=3)) == first
    assert missed(load_model(ref, "chars/4", seed=4)) != first
    assert missed(load_model(ref, "chars/4", seed=3), repeat=1) != first


def test_a_reader_that_misses_all_answers_nothing() -> None:
    """And still summarises, extracts and judges."""
    model = load_model("offline:miss=1", "chars/4")

    assert model.complete(request("answer")).text == IDK
    assert model.complete(request("summarise")).text


@pytest.mark.parametrize("miss", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(miss: float) -> None:
    """Between nothing and all."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        OfflineModel(load_tokenizer("chars/4"), miss=miss)


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("offline", "offline"),
        ("offline:miss=0", "offline"),
        ("offline:miss=0.05", "offline:miss=0.05"),
        ("offline:miss=0.050", "offline:miss=0.05"),
    ],
)
def test_a_model_is_named_by_what_shapes_its_replies(ref: str, name: str) -> None:
    """The name is a ref that gives the same model."""
    assert load_model(ref, "chars/4").name == name
    assert load_model(name, "chars/4").name == name


def test_a_tokenizer_may_be_named_or_given() -> None:
    """A wrong name is refused."""
    assert isinstance(load_model("offline", load_tokenizer("chars/4")), Model)
    with pytest.raises(RefError, match="unknown tokenizer"):
        load_model("offline", "chars/5")
