"""Facts, one a line, with who stated them."""

from __future__ import annotations

import pytest

from memsim.message import Message, load_tokenizer, said
from memsim.models import Reply, Request
from memsim.models.offline.model import OfflineModel
from memsim.models.offline.statements import sentence
from memsim.models.offline.summariser import states_fact


def extract(*messages: Message, limit: int | None = None) -> Reply:
    """The facts in messages."""
    model = OfflineModel(load_tokenizer("chars/4"))
    return model.complete(Request(task="extract", messages=messages, max_tokens=limit))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Bergen.", True),
        ("My sister works at Equinor.", True),
        ("The staging port is 8443.", True),
        ("We decided to keep the logo.", True),
        ("Order A-17 shipped on 3 June.", True),
        ("Never log customer emails.", True),
        ("Where do I live?", False),
        ("Thanks a lot!", False),
        ("Wow, that's great!", False),
        ("Good morning.", False),
        ("Hi Caroline!", False),
        ("I don't know.", False),
        ("", False),
    ],
)
def test_facts_are_told_from_talk(text: str, *, expected: bool) -> None:
    """What states something about somebody or something is a fact; talk is none."""
    assert states_fact(sentence(text)) is expected


def test_each_fact_is_a_line_with_its_speaker_and_source() -> None:
    """In their order, the day with what needs one."""
    reply = extract(
        said("user", "Hi! I live in Bergen. Where do you live?", id="m1"),
        said("assistant", "Thanks. The office opens at 9.", id="m2"),
        said("user", "Yesterday I sold the car.", id="m3"),
    )

    assert reply.text.splitlines() == [
        "user: I live in Bergen.",
        "assistant: The office opens at 9.",
        "[2026-01-05] user: Yesterday I sold the car.",
    ]
    assert reply.line_sources == (("m1",), ("m2",), ("m3",))


def test_a_fact_stated_twice_is_one_line_from_both() -> None:
    """Repetition adds a source, not a fact."""
    reply = extract(*(said("user", "I live in Bergen.", id=f"m{n}") for n in (1, 2)))

    assert reply.line_sources == (("m1", "m2"),)


def test_a_limit_keeps_the_most_telling() -> None:
    """Where not all may be told, decisions and numbers are."""
    messages = (
        said("user", "I like the wind. We must ship order A-17 before 3 June.", id="m1"),
        said("user", "I saw a bird.", id="m2"),
    )

    reply = extract(*messages, limit=14)

    assert reply.text == "user: We must ship order A-17 before 3 June."


def test_talk_has_no_facts() -> None:
    """Then there is nothing to tell."""
    reply = extract(said("user", "Hi! How are you?", id="m1"))

    assert (reply.text, reply.sources) == ("", ())
