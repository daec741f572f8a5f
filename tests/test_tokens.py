"""Token counts: exact ones offline, an estimate, and what is remembered."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import RefError
from memsim.message import (
    ENCODINGS,
    MESSAGE_OVERHEAD,
    CharsOverFour,
    Message,
    Text,
    TokenCounter,
    Tokenizer,
    ToolUse,
    load_tokenizer,
    said,
)

NAMES = (*ENCODINGS, "chars/4")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("o200k_base", 4), ("cl100k_base", 4), ("p50k_base", 4), ("chars/4", 4)],
)
def test_a_sentence_has_its_tokens(name: str, expected: int) -> None:
    """As the encoding's own documentation counts; nothing is fetched, for tests have no network."""
    assert load_tokenizer(name).count("hello world, hi") == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_is_called_what_it_is_asked_for_by(name: str) -> None:
    """And is made only once."""
    tokenizer = load_tokenizer(name)

    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.name == name
    assert load_tokenizer(name) is tokenizer
    assert tokenizer.count("") == 0


@pytest.mark.parametrize(
    ("name", "hint"), [("o200k", "o200k_base"), ("chars/3", "chars/4"), ("gpt2", None)]
)
def test_an_unknown_tokenizer_is_refused_with_a_hint(name: str, hint: str | None) -> None:
    """The message names those that there are."""
    with pytest.raises(RefError, match="known tokenizers are cl100k_base, o200k_base") as refused:
        load_tokenizer(name)

    assert refused.value.hint == hint


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_the_estimate_rounds_up(length: int, expected: int) -> None:
    """Characters over four; a started four is a token."""
    assert CharsOverFour().count("x" * length) == expected


@pytest.mark.parametrize("name", ENCODINGS)
def test_control_tokens_are_plain_text(name: str) -> None:
    """A user may write what looks like a control token: it is neither refused nor obeyed."""
    assert load_tokenizer(name).count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["\ud800", "\x00", "\U0001f469\u200d\U0001f467", "ـ", "我的狗"])
def test_any_character_can_be_counted(name: str, text: str) -> None:
    """Lone surrogates and control characters too."""
    assert load_tokenizer(name).count(text) >= 1


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("piece", [" ", "a", "\n", "."])
def test_a_megabyte_of_one_character_can_be_counted(name: str, piece: str) -> None:
    """What is too much for the encoding's pattern at once is counted in parts."""
    assert 0 < load_tokenizer(name).count(piece * 1_000_000) < 1_000_000


def test_counting_imports_neither_litellm_nor_the_network() -> None:
    """Only the encodings that litellm ships are read; importing it takes seconds."""
    code = (
        "import sys\n"
        "from memsim.message import load_tokenizer\n"
        "assert 'tiktoken' not in sys.modules\n"
        "load_tokenizer('o200k_base').count('hello')\n"
        "print('litellm' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "False"


class Slow:
    """A tokenizer that keeps account of what it is asked."""

    name = "slow"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        """As many tokens as characters."""
        self.asked.append(text)
        return len(text)


def test_a_text_is_counted_once() -> None:
    """A window is counted at every turn; its messages are not."""
    slow = Slow()
    counter = TokenCounter(slow)

    assert [counter.text("abc"), counter.text("abc")] == [3, 3]
    assert slow.asked == ["abc"]
    assert counter.name == "slow"


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By characters, so that a long history does not grow the memory; counts stay right."""
    monkeypatch.setattr("memsim.message._REMEMBERED", 100)
    slow = Slow()
    counter = TokenCounter(slow)

    counts = [counter.text(f"{n:010}") for n in (*range(50), *range(50))]

    assert counts == [10] * 100
    assert len(counter._known) <= 10


def test_a_message_costs_its_text_and_its_frame() -> None:
    """Tool calls are text as well: name and arguments."""
    counter = TokenCounter(Slow())
    call = ToolUse(id="c1", name="search", arguments="{}")
    message = Message(id="m2", role="assistant", blocks=(Text("ok"), call))

    assert counter.message(said("user", "abc", id="m1")) == 3 + MESSAGE_OVERHEAD
    assert counter.message(message) == len("ok\nsearch({})") + MESSAGE_OVERHEAD


@given(st.lists(st.text(max_size=20), max_size=8))
def test_messages_cost_what_each_does(texts: list[str]) -> None:
    """The whole is the sum of its parts."""
    counter = TokenCounter(load_tokenizer("o200k_base"))
    messages = [said("user", text, id=f"m{n}") for n, text in enumerate(texts)]

    assert counter.messages(messages) == sum(map(counter.message, messages))
