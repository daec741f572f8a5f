"""The rolling summary: what is merged, when, once, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.errors import ModelError
from memsim.models import Reply, Request
from memsim.scenario.script import Turn
from memsim.strategy import Event, Forget, Strategy
from tests.strategies.conversations import (
    ask,
    conversations,
    held,
    messages_of,
    play,
    probes,
    saved,
    shown,
    strategy,
    talk,
)

Turns = tuple[Turn, ...]
SMALL = "rolling_summary:keep=60,summary=80"
TALK = talk(*(f"My parcel number {n} goes to house {n * 7} in Oslo." for n in range(12)))
PIN = "The pin is 1234."


class Recorder:
    """Sums up in lines of its own, and remembers what it was given.

    Args:
        tells: what it can say of its sources: nothing, which messages, or which for each line.
        text: what it writes instead.
    """

    name = "recorder"

    def __init__(
        self,
        tells: Literal["nothing", "messages", "lines"] = "lines",
        text: Callable[[Request], str] | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self._tells = tells
        self._text = text

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        ids = tuple(m.id for m in request.messages)
        lines = [*request.previous.splitlines()[-2:], f"Up to {ids[-1]}."]
        text = "\n".join(lines) if self._text is None else self._text(request)
        by_line = tuple(ids if line == lines[-1] else () for line in lines)
        return Reply(
            text=text,
            sources=None if self._tells == "nothing" else ids,
            line_sources=by_line if self._tells == "lines" and self._text is None else None,
        )

    @property
    def given(self) -> Counter[str]:
        """How often it was given each message."""
        return Counter(m.id for request in self.requests for m in request.messages)


def window_of(memory: Strategy) -> list[str]:
    """Ids of what is still verbatim."""
    return [i for s in memory.surfaces() if s.tier == "window" for i in s.sources]


@pytest.mark.parametrize("scope", ["shared", "principal"])
@settings(max_examples=40)
@given(turns=conversations(), keep=st.integers(1, 400))
def test_each_message_is_verbatim_or_was_summed_up_once(
    scope: str, turns: Turns, keep: int
) -> None:
    """Nothing is lost between window and summary, and nothing is told twice."""
    model = Recorder()
    memory = strategy(f"rolling_summary:keep={keep},summary=200,scope={scope}", model=model)

    play(memory, turns)

    expected = Counter(m.id for m in messages_of(turns))
    assert expected == model.given + Counter(window_of(memory))


@settings(max_examples=30)
@given(turns=conversations(), keep=st.integers(20, 400))
def test_what_is_summed_up_is_the_oldest(turns: Turns, keep: int) -> None:
    """Messages go into the summary in the order in which they were said, pairs whole."""
    model = Recorder()
    memory = strategy(f"rolling_summary:keep={keep},summary=200", model=model)

    play(memory, turns)

    merged = [m.id for request in model.requests for m in request.messages]
    assert [m.id for m in messages_of(turns)] == merged + window_of(memory)
    for request in model.requests:
        calls = {c for m in request.messages for c in m.calls}
        assert {r for m in request.messages for r in m.results} <= calls


@settings(max_examples=30)
@given(turns=conversations(), keep=st.integers(20, 400))
def test_no_more_than_the_limit_stays_verbatim(turns: Turns, keep: int) -> None:
    """After each turn at most `keep` tokens are verbatim, but for what must stay together."""
    memory = strategy(f"rolling_summary:keep={keep},summary=200", model=Recorder())

    for turn in turns:
        play(memory, (turn,))
        verbatim = [m for m in messages_of(turns) if m.id in set(window_of(memory))]
        one_turn = {m.turn for m in verbatim[:-1]} | {turn.number}
        assert memory.env.build.tokens(verbatim) <= keep or len(one_turn) <= 2


REFUSED: dict[str, Callable[[Request], str]] = {
    "empty": lambda _: "",
    "blank": lambda _: " \n\t ",
    "signs": lambda _: "?!... ---",
    "garbage": lambda _: "Parcel \x00\x07\ufffd",
    "longer": lambda request: " ".join(f"{m.text} {m.text} and more" for m in request.messages),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_an_unfit_summary_changes_nothing(fault: str) -> None:
    """What the model wrote is refused, told in the trace, and the messages stay."""
    events: list[Event] = []
    memory = strategy(SMALL, model=Recorder(text=REFUSED[fault]), log=events.append)

    play(memory, TALK)

    assert [m.id for m in messages_of(TALK)] == window_of(memory)
    assert {"compaction-refused"} == {e.kind for e in events}
    assert all(e.detail and e.before == e.after for e in events)
    context = memory.context(ask(memory, budget=8192))
    assert {m.id for m in messages_of(TALK)} == context.verbatim


@pytest.mark.parametrize("fault", REFUSED)
def test_an_unfit_summary_leaves_the_earlier_one(fault: str) -> None:
    """The summary so far survives a model that fails later, and what is new stays verbatim."""
    memory = strategy(SMALL, model=Recorder())
    play(memory, TALK[:6])
    memory.env.model = Recorder(text=REFUSED[fault])
    before = [(s.tier, s.text, s.sources) for s in memory.surfaces()]

    play(memory, TALK[6:])

    after = [(s.tier, s.text, s.sources) for s in memory.surfaces()]
    assert before == after[: len(before)]
    assert [m.id for m in messages_of(TALK[6:])] == window_of(memory)[-len(TALK[6:]) * 2 :]


def test_a_failing_model_leaves_the_state_as_it_was() -> None:
    """A model's error is raised, and nothing was lost to it."""

    def fail(_: Request) -> str:
        raise ModelError("out of order")

    memory = strategy(SMALL, model=Recorder())
    play(memory, TALK[:6])
    memory.env.model = Recorder(text=fail)
    for message in messages_of(TALK[6:]):
        memory.observe(message)
    before = saved(memory)

    with pytest.raises(ModelError, match="out of order"):
        memory.end_turn()

    assert before == saved(memory)


def test_what_was_refused_is_tried_again() -> None:
    """The next turn asks anew, with all that still waits."""
    memory = strategy(SMALL, model=Recorder(text=REFUSED["empty"]))
    play(memory, TALK[:6])
    model = Recorder()
    memory.env.model = model

    play(memory, TALK[6:7])

    assert "m1" == model.requests[0].messages[0].id
    assert Counter(m.id for m in messages_of(TALK[:7])) == model.given + Counter(window_of(memory))


def test_probes_cost_no_summary() -> None:
    """Two hundred questions on the way ask the model no more often than none."""

    def calls(asked: int) -> tuple[int, str]:
        def probe(memory: Strategy, step: int) -> None:
            for number in range(asked if step == 20 else 0):
                memory.context(ask(memory, f"question {number}"))

        model = Recorder()
        memory = strategy(SMALL, model=model)
        play(memory, TALK, between=probe)
        return len(model.requests), saved(memory)

    assert calls(0) == calls(200)
    assert calls(0)[0] > 1


def test_asking_does_not_sum_up() -> None:
    """What a turn's end is to merge is still verbatim when a question comes before it."""
    model = Recorder()
    memory = strategy(SMALL, model=model)
    for message in messages_of(TALK):
        memory.observe(message)

    memory.context(ask(memory))

    assert not model.requests
    assert [m.id for m in messages_of(TALK)] == window_of(memory)


def test_the_summary_keeps_to_its_limit() -> None:
    """With the offline model, header included, and of at most half a context."""
    memory = strategy("rolling_summary:keep=60,summary=50")
    play(memory, TALK)

    [summary] = [s for s in memory.context(ask(memory)).sections if s.layer == "summary"]

    assert 0 < summary.tokens <= 50
    for budget in (64, 80, 100):
        sections = memory.context(ask(memory, budget=budget)).sections
        assert all(s.tokens <= budget // 2 for s in sections if s.layer == "summary")


def test_a_line_is_forgotten_with_the_message_it_was_made_from() -> None:
    """Nothing of a forgotten message stays in the summary, and other lines do."""
    memory = strategy(SMALL)
    play(memory, TALK)
    lines = [s for s in memory.surfaces() if s.tier == "summary"]
    source = lines[0].sources[0]

    outcome = memory.forget(Forget(principal="ana", text="that parcel", sources=(source,)))

    assert source in outcome.removed
    assert source not in held(memory)
    texts = [s.text for s in memory.surfaces() if s.tier == "summary"]
    assert lines[0].text not in texts
    assert texts == [line.text for line in lines if source not in line.sources]
    assert all(source not in shown(c) for c in probes(memory, TALK))


def test_a_restart_keeps_where_lines_are_from() -> None:
    """After it, forgetting still finds the lines."""
    memory, restarted = strategy(SMALL), strategy(SMALL)
    play(memory, TALK)
    restarted.load(json.loads(saved(memory)))
    source = next(s for s in memory.surfaces() if s.tier == "summary").sources[0]

    outcome = restarted.forget(Forget(principal="ana", text="", sources=(source,)))

    assert source in outcome.removed
    assert source not in held(restarted)


def rewriting(request: Request) -> str:
    """One line, reworded each time, that carries the pin on from wherever it stood."""
    whole = request.previous + " ".join(m.text for m in request.messages)
    pin = "pin 1234, " if "1234" in whole else ""
    return f"They told of {pin}{len(request.messages)} more things up to {request.messages[-1].id}."


@pytest.mark.parametrize("tells", ["messages", "nothing"])
def test_a_reworded_line_is_forgotten_with_what_it_once_came_from(
    tells: Literal["messages", "nothing"],
) -> None:
    """A model that cannot tell its lines apart does not save a secret from being erased."""
    memory = strategy(SMALL, model=Recorder(tells, rewriting))
    play(memory, (*talk(PIN), *renumbered(TALK)))
    assert any("1234" in s.text for s in memory.surfaces())
    assert "m1" not in window_of(memory)

    memory.forget(Forget(principal="ana", text="forget my pin", sources=("m1", "m2")))

    assert not any("1234" in s.text for s in memory.surfaces())


def renumbered(turns: Turns) -> Turns:
    """The conversation as it goes on after one turn."""
    texts = [turn.heard[0].text for turn in turns]
    return talk("", *texts)[1:]


def test_each_line_of_a_message_tells_what_to_forget() -> None:
    """A request in words finds a message that the summary tells of in two lines, by either."""
    memory = strategy("rolling_summary:keep=40,summary=200")
    play(memory, talk("My cat is called Biscuit. My order number is A-17.", *"ab", PIN, PIN * 3))
    told = [s.sources for s in memory.surfaces() if "Biscuit" in s.text and s.tier == "summary"]

    outcome = memory.forget(Forget(principal="ana", text="forget my cat Biscuit"))

    assert told == [outcome.removed]
