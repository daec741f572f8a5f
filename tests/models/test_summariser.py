"""Summaries: chosen sentences, a hard limit, and where each line comes from."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memsim.language.text import split_head
from memsim.message import Message, Tokenizer, composed, load_tokenizer, said
from memsim.models import Reply, Request, provenance
from memsim.models.offline.model import OfflineModel

CHAT = (
    said("user", "Hi there! How are you?", id="m1"),
    said("assistant", "Fine, thanks! What can I do for you?", id="m2"),
    said("user", "My order number is A-17. Yesterday I moved to Oslo.", id="m3"),
    said("assistant", "Great, noted!", id="m4"),
    said("user", "We decided to ship on 3 June. The weather was nice.", id="m5"),
)


@pytest.fixture(params=["o200k_base", "chars/4"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """An exact tokenizer and an estimate."""
    return load_tokenizer(request.param)


def summarise(
    *messages: Message, previous: str = "", limit: int | None = None, tokenizer: str = "chars/4"
) -> Reply:
    """A summary of messages."""
    model = OfflineModel(load_tokenizer(tokenizer))
    return model.complete(
        Request(task="summarise", messages=messages, previous=previous, max_tokens=limit)
    )


def test_what_says_something_is_kept_in_order_with_speaker_and_day() -> None:
    """Small talk and questions go; who says `I`, and when `yesterday` was, stays."""
    assert summarise(*CHAT).text.splitlines() == [
        "user: My order number is A-17.",
        "[2026-01-05] user: Yesterday I moved to Oslo.",
        "user: We decided to ship on 3 June.",
    ]


@pytest.mark.parametrize("limit", [0, 1, 3, 5, 8, 13, 21, 34, 55])
def test_the_limit_holds(limit: int, tokenizer: Tokenizer) -> None:
    """A summary never has more tokens than it may."""
    model = OfflineModel(tokenizer)

    reply = model.complete(Request(task="summarise", messages=CHAT, max_tokens=limit))

    assert tokenizer.count(reply.text) <= limit
    assert reply.usage.output == tokenizer.count(reply.text)


class Superadditive:
    """A tokenizer for which lines cost more together than apart."""

    name = "superadditive"

    def count(self, text: str) -> int:
        """Words, and one for each pair of lines."""
        lines = text.rstrip("\n").count("\n") + 1
        return len(text.split()) + lines * (lines - 1)


@pytest.mark.parametrize("limit", range(0, 40, 3))
def test_the_limit_holds_for_the_text_as_a_whole(limit: int) -> None:
    """Though every line was measured alone."""
    tokenizer = Superadditive()
    reply = OfflineModel(tokenizer).complete(
        Request(task="summarise", messages=CHAT, max_tokens=limit)
    )

    assert tokenizer.count(reply.text) <= limit


def test_the_most_telling_is_kept_last() -> None:
    """Under pressure the decision outlives the rest."""
    assert summarise(*CHAT, limit=10).text == "user: We decided to ship on 3 June."


def test_something_is_kept_where_anything_fits() -> None:
    """If no line fits, the beginning of the best one does."""
    text = "The extraordinarily complicated internationalisation framework requires maintenance"

    kept = summarise(said("user", text, id="m1"), limit=5).text

    assert kept
    assert text.startswith(kept)


def test_only_small_talk_is_still_summarised() -> None:
    """Where nothing says anything, what there is is better than nothing."""
    assert summarise(said("user", "Hi!", id="m1")).text == "Hi!"


def test_nothing_gives_nothing() -> None:
    """No messages, no earlier summary, no text."""
    assert summarise().text == ""
    assert summarise(said("user", " \n ", id="m1")).text == ""


def test_repetition_is_kept_once() -> None:
    """A sentence that was said twice is one line, from both messages."""
    twice = [said("user", "The port is 8443.", id=f"m{n}") for n in (1, 2)]

    reply = summarise(*twice)

    assert reply.text == "The port is 8443."
    assert reply.line_sources == (("m1", "m2"),)


def test_what_is_said_in_other_words_makes_room() -> None:
    """A second sentence of the same words is not worth its tokens."""
    said_so = ("The port of the gateway is 8443.", "So the gateway has port 8443 then.")
    other = "The budget is 800 euros."
    messages = [said("user", text, id=f"m{n}") for n, text in enumerate((*said_so, other))]

    lines = summarise(*messages, limit=40).text.splitlines()

    assert len(lines) == 2
    assert other in lines


def test_sources_are_those_of_the_lines() -> None:
    """Each line names its message; a line carried on names none."""
    reply = summarise(*CHAT[2:], previous="The budget is 800 euros.")

    assert reply.text.splitlines()[0] == "The budget is 800 euros."
    assert reply.line_sources == ((), ("m3",), ("m3",), ("m5",))
    assert reply.sources == ("m3", "m5")


def test_provenance_survives_any_number_of_rounds() -> None:
    """A strategy that keeps the origins knows them for lines carried on again and again."""
    origins: dict[str, tuple[str, ...]] = {}
    previous = ""
    for turn in range(1, 30):
        message = said("user", f"My locker number {turn} has the code {turn * 37}.", id=f"m{turn}")
        reply = summarise(message, previous=previous, limit=60)
        origins = provenance(reply, origins) or {}
        previous = reply.text

    assert list(origins) == previous.splitlines()
    assert [(f"m{line.split()[4]}",) for line in origins] == list(origins.values())


def test_a_line_that_is_said_again_has_both_origins() -> None:
    """What was carried on and is repeated came from both."""
    first = summarise(said("user", "The port is 8443.", id="m1"))
    origins = provenance(first, {}) or {}

    second = summarise(said("user", "The port is 8443.", id="m2"), previous=first.text)

    assert provenance(second, origins) == {"The port is 8443.": ("m1", "m2")}


def test_a_model_that_cannot_say_gives_no_provenance() -> None:
    """Live models name no sources."""
    assert provenance(Reply(text="The port is 8443."), {}) is None


def test_sources_of_another_number_of_lines_are_no_provenance() -> None:
    """Of which line they are cannot be told, and a wrong origin is worse than none."""
    assert provenance(Reply(text="One.\nTwo.", line_sources=(("m1",),)), {}) is None


def test_a_line_is_one_line_whatever_the_name_of_who_said_it_holds() -> None:
    """Else its sources were another line's."""
    message = said("user", "I live in Oslo.", id="m1", principal="eve\u2028\r\nb\n")

    reply = summarise(message)

    assert ("eve  b: I live in Oslo.", (("m1",),)) == (reply.text, reply.line_sources)


def test_a_rolling_summary_fades() -> None:
    """Facts are lost little by little, the oldest of equals first, and never all at once."""
    previous, survivors = "", []
    for turn in range(40):
        fact = f"My box {turn} in the cellar holds item number {turn * 37}."
        previous = summarise(said("user", fact, id=f"m{turn}"), previous=previous, limit=120).text
        survivors.append({int(line.split()[3]) for line in previous.splitlines()})

    lost = [len(before - after) for before, after in pairwise(survivors)]
    assert max(lost) <= 2
    assert 39 in survivors[-1]
    assert min(survivors[-1]) > 20


def test_lines_of_a_composed_message_keep_their_heads() -> None:
    """A remembered line is not given a second speaker."""
    memory = composed("system", "[2023-05-08] Ane: I paint on Mondays.", id="r1")

    assert summarise(memory).text == "[2023-05-08] Ane: I paint on Mondays."


def test_the_reader_understands_a_summary() -> None:
    """What a summary keeps can be asked for, dates included."""
    model = OfflineModel(load_tokenizer("chars/4"))
    memory = composed("system", summarise(*CHAT).text, id="s")

    def ask(question: str) -> str:
        return model.complete(Request(task="answer", messages=(memory,), question=question)).text

    assert ask("When did I move to Oslo?") == "4 January 2026"
    assert ask("What is my order number?") == "A-17"


def test_a_speaker_is_named_as_the_reader_reads_it() -> None:
    """A line's head is one that can be split off again."""
    (line,) = summarise(said("user", "I paint.", id="m1", principal="Mary Ann")).text.splitlines()

    assert split_head(line) == ("I paint.", "Mary Ann", None)
