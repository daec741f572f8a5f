"""The rolling summary covers every message once, keeps count of them, and loses none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.memory.compaction import (
    Chain,
    Compaction,
    CompactionState,
    Gate,
    KeepRule,
    MergeAdjacent,
    RollingSummary,
    Spread,
    SummaryRequest,
    Trigger,
    compact,
    spread,
    summary_message,
)
from memsim.message import Message, Text
from tests.memory.compaction.histories import (
    BAD,
    Counting,
    Failing,
    Script,
    cases,
    counter,
    histories,
    keeps,
    means,
    offline,
    talk,
)

COGTRIX = KeepRule(last=25, current=False, pairs=False)
SHORT = SummaryRequest(limit=60)


def places(found: Spread) -> list[int]:
    """Every place in a spread, however often."""
    return sorted((*found.covered, *found.held, *found.pending, *found.retained))


def streamed(
    log: tuple[Message, ...], step: RollingSummary, keep: KeepRule
) -> tuple[CompactionState, Counting]:
    """The state after each message of a log was added and the step was tried."""
    state, model = CompactionState(), Counting()
    for end in range(1, len(log) + 1):
        state = step(state.uncovered(log[:end]), state, means(keep, model)).state
    return state, model


def test_the_published_example_is_split_as_published() -> None:
    """Of 80 messages, 1 to 44 are covered, 45 to 55 are pending and 56 to 80 stay."""
    found = spread(talk(80), CompactionState(covered=44), COGTRIX, counter)

    assert tuple(range(44)) == found.covered
    assert tuple(range(44, 55)) == found.pending
    assert tuple(range(55, 80)) == found.retained
    assert () == found.held


def test_pairs_of_messages_are_covered_on_the_published_schedule() -> None:
    """Two at a time with a window of 25: first at 36 messages, then at 46 and 56."""
    log, state, at = talk(60), CompactionState(), []
    for end in range(2, 61, 2):
        step = RollingSummary(batch=10, gate=Gate())
        done = step(state.uncovered(log[:end]), state, means(COGTRIX))
        if done.changed:
            at.append((end, state.covered, done.state.covered))
        state = done.state

    assert [(36, 0, 11), (46, 11, 21), (56, 21, 31)] == at


@settings(max_examples=60)
@given(case=cases(), covered=st.integers(0, 20))
def test_every_place_is_in_exactly_one_part(
    case: tuple[tuple[Message, ...], KeepRule], covered: int
) -> None:
    """Covered, held, pending and retained part the log: no gap and no overlap, at every length."""
    log, keep = case
    state = CompactionState(covered=covered).clamped(len(log))
    assert list(range(len(log))) == places(spread(log, state, keep, counter))
    done = RollingSummary(asking=SHORT)(state.uncovered(log), state, means(keep))
    after = spread(log, done.state, keep, counter)

    assert list(range(len(log))) == places(after)
    assert done.state.uncovered(log) == done.history
    assert len(log) >= done.state.covered >= state.covered
    if done.changed:
        assert {log[p].id for p in after.covered} >= set(done.outcome.sources)
        assert () == after.pending


@settings(max_examples=40)
@given(case=cases())
def test_one_by_one_is_as_in_bulk(case: tuple[tuple[Message, ...], KeepRule]) -> None:
    """After a flush the same is covered, and the same is left, however the messages came."""
    log, keep = case
    keep = replace(keep, tokens=None)
    step = RollingSummary(batch=3, asking=SHORT)
    state, _ = streamed(log, step, keep)
    flush = step.flush()
    one = flush(state.uncovered(log), state, means(keep))
    bulk = flush(log, CompactionState(), means(keep))
    refused = {"refused", "failed"}
    if one.outcome.kind in refused or bulk.outcome.kind in refused or state.failures:
        return

    # How far the state says it came may differ by messages at its end that are held verbatim.
    assert spread(log, one.state, keep, counter) == spread(log, bulk.state, keep, counter)
    assert one.history == bulk.history


@settings(max_examples=40)
@given(case=cases())
def test_a_message_is_summarised_at_most_once(case: tuple[tuple[Message, ...], KeepRule]) -> None:
    """What a summary has taken in is never sent to the model again."""
    log, keep = case
    step, state, covered = RollingSummary(batch=2, asking=SHORT), CompactionState(), list[str]()
    for end in range(1, len(log) + 1):
        model = Counting()
        done = step(state.uncovered(log[:end]), state, means(keep, model))
        if done.changed:
            covered.extend(m.id for m in model.asked[0].messages)
        assert len(model.asked) <= 1
        state = done.state

    assert len(covered) == len(set(covered))


def test_what_was_covered_is_not_sent_again() -> None:
    """Each message of a long log is in exactly one successful request."""
    state, model = streamed(talk(80), RollingSummary(batch=10), COGTRIX)
    sent = [m.id for request in model.asked for m in request.messages]

    assert [f"m{n}" for n in range(50)] == sent
    assert 50 == state.covered
    assert 5 == len(model.asked)
    assert all(request.previous for request in model.asked[1:])


def test_coverage_is_clamped_to_the_log() -> None:
    """A log that was cut since is covered as far as it goes, and works on."""
    state = CompactionState(covered=44, held=(3, 40))
    loaded = CompactionState.loaded(state.save(), log=30)

    assert (30, (3,)) == (loaded.covered, loaded.held)
    assert (talk(80)[3], *talk(80)[30:40]) == loaded.uncovered(talk(80)[:40])


def test_pins_are_held_back_until_they_are_let_go() -> None:
    """A pinned message older than the tail stays; unpinned, it is in the next batch, once."""
    log = talk(40)
    model = Counting()
    pinned = KeepRule(last=10, pins=frozenset({"m2", "m5"}))
    done = RollingSummary()(log[:30], CompactionState(), means(pinned, model))
    assert ("m2", "m5") == tuple(m.id for m in done.history[:2])
    assert (2, 5) == done.state.held
    assert 20 == done.state.covered
    loose = KeepRule(last=10, pins=frozenset({"m5"}))
    history = done.state.uncovered(log)
    again = RollingSummary()(history, done.state, means(loose, model))
    sent = [m.id for request in model.asked for m in request.messages]

    assert len(sent) == len(set(sent))
    assert sorted(sent, key=lambda i: int(i[1:])) == [f"m{n}" for n in range(30) if n != 5]
    assert (5,) == again.state.held
    assert ("m5", "m30") == (again.history[0].id, again.history[1].id)


def test_too_few_messages_wait() -> None:
    """Nine of ten are no batch, ten are."""
    step = RollingSummary(batch=10)
    assert not step(talk(34), CompactionState(), means(COGTRIX)).changed
    assert step(talk(35), CompactionState(), means(COGTRIX)).changed


@pytest.mark.parametrize(
    ("messages", "length", "opens"),
    [(3, 1666, False), (4, 1, True), (3, 1667, True), (1, 4999, False), (1, 5000, True)],
)
def test_either_threshold_opens_the_gate(messages: int, length: int, opens: bool) -> None:
    """Only what is short of both is left for later."""
    script = Script()
    for _ in range(messages):
        script.add("user", Text("x" * length))
    script.tools(["y" * 9000] * 12)
    script.add("assistant", Text("  "))

    assert opens == Gate().opens(tuple(script.made))


def test_a_failure_is_tried_again_when_there_is_more() -> None:
    """The next batch has what failed and what came since; nothing was marked as covered."""
    log, step = talk(50), RollingSummary(batch=10)
    failed = step(log[:36], CompactionState(), means(COGTRIX, Failing()))
    assert (0, 1) == (failed.state.covered, failed.state.failures)
    model = Counting()
    same = step(failed.history, failed.state, means(COGTRIX, model))
    assert [] == model.asked
    assert "nothing has come" in same.outcome.detail
    more = step(log[:37], same.state, means(COGTRIX, model))

    assert [f"m{n}" for n in range(12)] == [m.id for m in model.asked[0].messages]
    assert (12, 0) == (more.state.covered, more.state.failures)


def test_the_summary_counts_for_the_trigger() -> None:
    """What is measured is what there is after the last compaction, not what there was."""
    step, work = RollingSummary(asking=SHORT), means(KeepRule(last=8))
    trigger = Trigger(tokens=600)
    history: tuple[Message, ...] = ()
    state, done = CompactionState(), list[Compaction]()
    for message in talk(120):
        history = (*history, message)
        result = compact(history, state, trigger=trigger, step=step, means=work)
        history, state = result.history, result.state
        if result.changed:
            done.append(result)

    assert 4 <= len(done) <= 10
    assert all(result.outcome.before > 600 for result in done)
    assert all(result.outcome.after < 600 for result in done)


def test_the_summary_is_shown_as_the_user_said_it() -> None:
    """By default a summary of users has no more to say than a user."""
    done = RollingSummary()(talk(30), CompactionState(), means(KeepRule(last=4)))
    message = summary_message(done.state)
    assert message is not None
    assert ("user", True) == (message.role, message.composed)
    assert done.state.summary.sources == message.derived_from
    assert "assistant" == _role(done.state, "least")
    assert "system" == _role(done.state, "system")
    assert "assistant" == _role(replace(done.state, voices=("assistant", "tool")), "user")
    assert summary_message(CompactionState()) is None


def _role(state: CompactionState, voice: str) -> str:
    message = summary_message(state, voice)  # type: ignore[arg-type]
    assert message is not None
    return message.role


@settings(max_examples=60)
@given(log=histories(20), data=st.data())
def test_a_long_run_loses_nothing(log: tuple[Message, ...], data: st.DataObject) -> None:
    """Through failures, changing pins, saving and loading: each message is covered or there."""
    state, gone = CompactionState(), set[str]()
    failing = st.sampled_from([offline, offline, *BAD.values()])
    for end in range(1, len(log) + 1):
        keep = data.draw(keeps(log[:end]))
        step = RollingSummary(batch=data.draw(st.integers(1, 4)), asking=SHORT)
        history = state.uncovered(log[:end])
        before = state
        done = step(history, state, means(keep, data.draw(failing)))
        state = CompactionState.loaded(json.loads(json.dumps(done.state.save())))
        found = spread(log[:end], state, keep, counter)
        if done.changed:
            assert gone.isdisjoint(done.outcome.sources)
            gone.update(done.outcome.sources)

        assert list(range(end)) == places(found)
        assert done.history == state.uncovered(log[:end])
        assert gone == {m.id for m in log[:end]} - {m.id for m in done.history}
        assert gone == {log[p].id for p in range(end)} - {
            log[p].id for p in (*found.held, *found.pending, *found.retained)
        }
        assert before.covered <= state.covered <= end
        assert len(state.summary.lines) >= bool(gone)


def test_a_merged_message_is_summarised_as_those_it_quotes() -> None:
    """Lines come from originals, and whose these were is known."""
    script = Script()
    for n in range(12):
        script.add("user", Text(f"I moved box {n} to Oslo on {n + 1} May."), principal="ana")
    script.add("user", Text("Thanks."))
    steps = Chain(steps=(MergeAdjacent(last=2), RollingSummary(asking=SHORT, last=1)))
    done = steps(tuple(script.made), CompactionState(), means())

    assert ["compaction", "compaction"] == [o.kind for o in done.outcome.steps]
    assert len(done.state.summary.sources) > 1
    assert set(done.state.summary.sources) <= {f"m{n}" for n in range(12)}
    assert {"ana"} == {done.state.summary.owners[i] for i in done.state.summary.sources}
