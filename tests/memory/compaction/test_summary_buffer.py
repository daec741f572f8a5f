"""The rolling summary: nothing is lost without leave, and every line knows where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.context import ContextBuilder
from memsim.errors import ModelError, StateError
from memsim.memory.compaction.outcome import text_fault
from memsim.memory.compaction.plan import KeepRule
from memsim.memory.compaction.prompt import SummaryRequest
from memsim.memory.compaction.rolling_summary import RollingSummary
from memsim.memory.compaction.step import Compaction, CompactionState, Means
from memsim.memory.compaction.summary import Summary, SummaryLine
from memsim.memory.history.summary_buffer import HEADER, SummaryBuffer
from memsim.message import (
    EPOCH,
    Message,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    load_tokenizer,
    said,
)
from memsim.models import Model, Reply, Request
from memsim.models.offline.model import OfflineModel

counter = TokenCounter(load_tokenizer("o200k_base"))
offline = OfflineModel(counter)


@dataclass
class Fixed:
    """A model that gives one reply, and keeps what it was asked."""

    reply: Reply = field(default_factory=Reply)
    asked: list[Request] = field(default_factory=list)
    name = "fixed"

    def complete(self, request: Request) -> Reply:
        """The reply."""
        self.asked.append(request)
        return self.reply


class Failing:
    """A model that is not there."""

    name = "failing"

    def complete(self, request: Request) -> Reply:
        """Fails."""
        raise ModelError("no answer")


def talk(count: int, principal: str = "user") -> tuple[Message, ...]:
    """Messages with facts in them."""
    return tuple(
        said(
            "user",
            f"I moved box number {n} to Oslo on {n + 1} May and paid {n}00 euros for it.",
            id=f"m{n}",
            principal=principal,
            time=EPOCH + timedelta(hours=n),
        )
        for n in range(count)
    )


def rolled(
    history: tuple[Message, ...], state: Summary, *, model: Model, keep: int, limit: int
) -> Compaction:
    """A rolling summary of all that is more than may stay."""
    kept = KeepRule(tokens=keep, current=False)
    means = Means(counter=counter, now=EPOCH, model=model, keep=kept)
    return RollingSummary(asking=SummaryRequest(limit=limit))(
        history, CompactionState(summary=state), means
    )


def buffer_of(messages: tuple[Message, ...], model: Model, keep: int = 100) -> SummaryBuffer:
    """A buffer in which each message was a turn."""
    buffer = SummaryBuffer(counter, keep=keep, limit=160)
    for message in messages:
        buffer.window.add(message)
        buffer.compact(model, message.time)
    return buffer


def test_the_oldest_messages_are_merged_into_the_summary() -> None:
    """What is taken out is the shortest beginning that leaves no more than may stay."""
    history = talk(8)
    done = rolled(history, Summary(), model=offline, keep=90, limit=120)
    taken = history[: len(history) - len(done.history)]

    assert done.history == history[len(taken) :]
    assert ContextBuilder(counter).tokens(done.history) <= 90
    assert ContextBuilder(counter).tokens(history[len(taken) - 1 :]) > 90
    assert tuple(m.id for m in taken) == done.outcome.sources
    assert counter.text(done.state.summary.text) <= 120
    assert done.outcome.after < done.outcome.before
    assert set(done.state.summary.sources) <= {m.id for m in taken}


def test_every_line_is_in_a_message_that_it_names() -> None:
    """However often a line was carried on, its sources are the messages that it stands in."""
    history = talk(30)
    texts = {m.id: m.text for m in history}
    buffer = buffer_of(history, offline)

    assert buffer.summary.compactions > 5
    for line in buffer.summary.lines:
        assert line.sources
        words = line.text.removeprefix("[").split(": ", 1)[-1]
        assert all(words in texts[source] for source in line.sources)


def test_enough_room_is_no_reason_to_compact() -> None:
    """Without a need the model is not asked."""
    model = Fixed()
    done = rolled(talk(3), Summary(), model=model, keep=900, limit=100)

    assert "nothing" == done.outcome.kind
    assert talk(3) == done.history
    assert [] == model.asked


def test_the_newest_group_is_never_taken() -> None:
    """A tool call and its large result stay verbatim while they are the latest."""
    call = Message(id="c", role="assistant", blocks=(ToolUse(id="1", name="look", arguments="{}"),))
    result = Message(id="r", role="tool", blocks=(ToolResult(id="1", text="row " * 500),))
    history = (*talk(2), call, result)
    done = rolled(history, Summary(), model=offline, keep=50, limit=60)

    assert (call, result) == done.history


@pytest.mark.parametrize(
    "text",
    ["", " \n\t ", "\x00\x01", "���", "...", "a\x00b", "\ud800", "long " * 4000],
    ids=["empty", "blank", "control", "replacement", "no word", "a null", "surrogate", "grown"],
)
def test_a_summary_that_is_none_is_refused(text: str) -> None:
    """History and state stay what they were, and the outcome says why."""
    state = Summary(lines=(SummaryLine("It rained.", ("m99",)),))
    done = rolled(talk(8), state, model=Fixed(Reply(text=text)), keep=90, limit=99)

    assert talk(8) == done.history
    assert state == done.state.summary
    assert done.outcome.kind == "refused"
    assert done.outcome.detail
    assert done.outcome.before == done.outcome.after


def test_what_is_refused_is_tried_again_with_what_came_since() -> None:
    """No message is lost between two attempts."""
    model = Fixed()
    buffer = buffer_of(talk(8), model)
    assert talk(8) == tuple(buffer.window)
    assert len(model.asked) > 1
    assert model.asked[-2].messages == model.asked[-1].messages[: len(model.asked[-2].messages)]
    done = buffer.compact(offline, EPOCH)

    assert done is not None
    assert done.kind == "compaction"
    assert buffer.window.tokens <= 100


def test_a_model_that_fails_changes_nothing() -> None:
    """The failure is told, and everything is as it was before."""
    buffer = SummaryBuffer(counter, keep=50, limit=100)
    for message in talk(5):
        buffer.window.add(message)
    with pytest.raises(ModelError):
        buffer.compact(Failing(), EPOCH)

    assert talk(5) == tuple(buffer.window)
    assert Summary() == buffer.summary


@pytest.mark.parametrize(("tokens", "fit"), [(9, True), (10, False), (11, False)])
def test_a_summary_is_shorter_than_what_it_replaces(tokens: int, fit: bool) -> None:
    """As long as that is no progress, and would be made again and again."""
    assert fit == (text_fault("It rained.", tokens, 10) == "")


def test_a_model_that_cannot_tell_its_lines_apart_is_taken_at_its_word() -> None:
    """New lines come from all that it names, and perhaps from what the old summary came from."""
    reply = Reply(text="It rained.\n\nThe box is in Oslo.", sources=("m0", "m1"))
    state = Summary(lines=(SummaryLine("It rained.", ("m99",)),))
    done = rolled(talk(8), state, model=Fixed(reply), keep=90, limit=99)

    told = SummaryLine("The box is in Oslo.", ("m0", "m1"), perhaps=("m99",))
    expected = (SummaryLine("It rained.", ("m99",)), told)
    assert expected == done.state.summary.lines


def test_a_model_that_names_nothing_gives_lines_of_unknown_origin() -> None:
    """What nobody vouches for is credited to nobody, and still forgotten with any of it."""
    done = rolled(
        talk(8),
        Summary(),
        model=Fixed(Reply(text="It rained.")),
        keep=90,
        limit=99,
    )

    assert (
        SummaryLine("It rained.", (), perhaps=("m0", "m1", "m2", "m3", "m4")),
    ) == done.state.summary.lines
    assert () == done.state.summary.without(["m2"]).lines


@given(st.integers(0, 700))
def test_sections_keep_to_the_budget(budget: int) -> None:
    """The summary gives way from its oldest line, then the window from its oldest message."""
    buffer = buffer_of(talk(20), offline)
    sections = buffer.sections(budget)

    assert sum(s.tokens for s in sections) <= budget
    for section in sections:
        assert ContextBuilder(counter).tokens(section.messages) == section.tokens
    lines = tuple(line.text for line in buffer.summary.lines)
    for section in sections:
        if section.layer == "summary":
            shown = tuple(section.messages[0].text.splitlines()[1:])
            assert shown == lines[len(lines) - len(shown) :]
            assert section.messages[0].text.startswith(HEADER)


def test_a_saved_buffer_is_the_same_buffer() -> None:
    """Summary, provenance and window come back."""
    buffer = buffer_of(talk(20), offline)
    again = SummaryBuffer(counter, keep=100, limit=160)
    again.load(buffer.save())

    assert buffer.summary == again.summary
    assert buffer.sections(500) == again.sections(500)
    with pytest.raises(StateError):
        SummaryBuffer(counter, keep=1, limit=1).load({"lines": 3})


def test_forgetting_takes_the_lines_that_were_made_from_it() -> None:
    """A principal's own messages go, in the summary too; another's stay."""
    buffer = buffer_of(talk(20), offline)
    line = buffer.summary.lines[0]
    assert () == buffer.remove(line.sources, "somebody else")
    assert line in buffer.summary.lines
    assert line.sources == buffer.remove(line.sources, "user")

    assert line not in buffer.summary.lines
    assert set(line.sources).isdisjoint(buffer.summary.owners)
    assert set(line.sources).isdisjoint(buffer.own("user"))


def test_what_is_whose_is_known_after_compaction() -> None:
    """A message's owner is remembered as long as a line of it is."""
    buffer = buffer_of((*talk(12, "ana"), said("user", "Hello there.", id="b0")), offline)

    assert set(buffer.summary.owners) == set(buffer.summary.sources)
    assert {"ana"} == set(buffer.summary.owners.values())
    assert {"b0"} == set(buffer.own("user"))


def test_a_message_of_blocks_is_summarised_as_its_text() -> None:
    """A text and a call in one message are one source."""
    both = Message(
        id="both",
        role="assistant",
        blocks=(
            Text("I booked the Oslo train for 9 May."),
            ToolUse(id="1", name="x", arguments="{}"),
        ),
    )
    answer = Message(id="answer", role="tool", blocks=(ToolResult(id="1", text="done"),))
    done = rolled(
        (both, answer, *talk(3)),
        Summary(),
        model=offline,
        keep=70,
        limit=90,
    )

    assert ("both", "answer") == done.outcome.sources[:2]
