"""What holds of every step of a compaction, whatever the history and whatever must stay of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.errors import BudgetUnsatisfiable
from memsim.memory.compaction import (
    Chain,
    Compaction,
    CompactionState,
    CompactionStep,
    Condense,
    Deduplicate,
    KeepRule,
    MergeAdjacent,
    Offload,
    RollingSummary,
    ShortenResults,
    Size,
    Snippets,
    SummaryRequest,
    Target,
    Trim,
    compact,
    plan,
    rejoin,
    summary_message,
)
from memsim.memory.compaction.condense import AUTHORITY, current_round, earlier_rounds, tool_runs
from memsim.message import Message, Role, Text, ToolResult, ToolUse
from tests.memory.compaction.histories import (
    BAD,
    Counting,
    Script,
    builder,
    cases,
    counter,
    histories,
    kept_as_they_are,
    means,
    parted,
    tail_of,
    talk,
    unpaired,
)

SHORT = SummaryRequest(limit=60)
STEPS: dict[str, CompactionStep] = {
    "trim": Trim(to=Target(tokens=60), firm=False),
    "merge": MergeAdjacent(),
    "condense": Condense(asking=SHORT),
    "condense tools": Condense(select=tool_runs(more_than=1), asking=SHORT, regions=9),
    "condense rounds": Condense(select=earlier_rounds, asking=SHORT, regions=9, offload=True),
    "condense round": Condense(select=current_round, asking=SHORT),
    "without a model": Condense(asking=SHORT, fallback=Snippets()),
    "rolling": RollingSummary(asking=SHORT),
    "offload": Offload(over=150, preview=20),
    "shorten": ShortenResults(over=150, head=20, tail=20),
    "deduplicate": Deduplicate(least=1),
}
STEPS["chain"] = Chain(steps=tuple(STEPS.values()), to=Target(tokens=40))

SLOW_STEPS = [pytest.mark.variants]
"""The chain takes all of them; each by itself is tried by the slow tests."""
every_step = pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, id=name, marks=[] if name in {"condense", "chain"} else SLOW_STEPS)
        for name, step in STEPS.items()
    ],
)
some = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
Case = tuple[tuple[Message, ...], KeepRule]


@every_step
@some
@given(case=cases())
def test_what_must_stay_stays_byte_for_byte(step: CompactionStep, case: Case) -> None:
    """Rules, pins, the input and the latest messages are in the history as they were."""
    history, keep = case
    done = step(history, CompactionState(), means(keep))

    assert [m for m in done.history if m in kept_as_they_are(history, keep)] == list(
        kept_as_they_are(history, keep)
    )
    tail = tail_of(history, keep)
    assert tail == done.history[len(done.history) - len(tail) :]
    assert len(tail) >= min(keep.last, len(history))


@every_step
@some
@given(case=cases())
def test_calls_and_results_stay_together(step: CompactionStep, case: Case) -> None:
    """No call loses its result, no result its call, and nothing comes between them."""
    history, keep = case
    done = step(history, CompactionState(), means(keep))

    assert unpaired(done.history) == unpaired(history) & {c for m in done.history for c in m.calls}
    assert parted(done.history) == []
    if history and history[-1].calls:  # the results are still to come
        assert history[-1] == done.history[-1]


@every_step
def test_a_call_that_waits_for_its_result_stays(step: CompactionStep) -> None:
    """Some results of the latest calls may be there already; an older call was given up."""
    script = Script(list(talk(12)))
    script.add("assistant", ToolUse(id="old", name="look", arguments="{}"))
    script.made.extend(replace(m, id=f"n{m.id}") for m in talk(12))
    script.add("assistant", *(ToolUse(id=c, name="look", arguments="{}") for c in "ab"))
    script.add("tool", ToolResult(id="a", text="row " * 300))
    history = tuple(script.made)
    done = step(history, CompactionState(), means(KeepRule(current=False)))

    assert history[-2:] == done.history[-2:]
    assert plan(history, KeepRule(current=False), counter).start == len(history) - 2


@every_step
@some
@given(case=cases())
def test_nothing_is_invented_and_nothing_changes_places(step: CompactionStep, case: Case) -> None:
    """Ids are those there were, in their order; what a step composed says what it is made from."""
    history, keep = case
    done = step(history, CompactionState(), means(keep))
    ids = [m.id for m in history]
    left = [m.id for m in done.history if m.id in ids]

    assert [i for i in ids if i in set(left)] == left
    for message in done.history:
        if message not in history:
            assert message.composed
            assert {*message.quotes, *message.derived_from} <= set(ids)
            assert message.id in ids or message.id in done.state.behind
    assert set(done.outcome.sources) <= set(ids)


@every_step
@some
@given(case=cases())
def test_a_step_makes_progress_or_says_why_not(step: CompactionStep, case: Case) -> None:
    """There are fewer tokens, or all is as it was and there is a reason."""
    history, keep = case
    done = step(history, CompactionState(), means(keep))
    size = Size.of(done.history, counter, done.state.summary).tokens

    assert builder.tokens(history) == done.outcome.before
    assert size == done.outcome.after
    if done.changed:
        assert done.outcome.after < done.outcome.before
        assert done.outcome.sources
    else:
        assert done.outcome.detail
        assert history == done.history
        assert CompactionState().summary == done.state.summary
        assert done.state.covered == 0


@every_step
@some
@given(case=cases())
def test_a_second_time_does_nothing(step: CompactionStep, case: Case) -> None:
    """Without a new message no model is asked, and the history is the same, byte for byte."""
    history, keep = case
    model = Counting()
    work = means(keep, model)
    done = step(history, CompactionState(), work)
    asked = len(model.asked)
    again = step(done.history, done.state, work)

    assert done.history == again.history
    assert asked == len(model.asked)


@every_step
@some
@given(case=cases())
def test_arguments_are_never_changed(step: CompactionStep, case: Case) -> None:
    """Whatever happens on the way, history and state are there to go back to."""
    history, keep = case
    before, state = tuple(history), CompactionState()
    saved = state.save()
    step(history, state, means(keep))

    assert before == history
    assert saved == state.save()


@every_step
@some
@given(case=cases())
def test_a_summary_never_speaks_above_its_sources(step: CompactionStep, case: Case) -> None:
    """Nothing composed has a role above every source's, and none is a system message."""
    history, keep = case
    done = step(history, CompactionState(), means(keep))
    roles = {m.id: m.role for m in history}
    summary = summary_message(done.state)
    for message in (*done.history, *([] if summary is None else [summary])):
        if message.composed and message.derived_from:
            behind = done.state.behind.get(message.id, done.outcome.sources)
            sources = {roles[i] for i in (*behind, *message.derived_from)}
            assert AUTHORITY[message.role] <= max(AUTHORITY[r] for r in sources)
            assert message.role != "system"


@some
@given(case=cases(), budget=st.integers(0, 600))
def test_a_trimmed_history_is_within_its_budget_or_says_what_is_in_the_way(
    case: Case, budget: int
) -> None:
    """Never a silent overflow: a typed error names the part."""
    history, keep = case
    done, error = _trimmed(history, keep, budget)
    if done is not None:
        assert builder.tokens(done.history) <= budget
    if error is not None:
        assert error.part in {"system", "pins", "tail", "input"}
        assert error.tokens > error.budget
        must = {*kept_as_they_are(history, keep), *tail_of(history, keep)}
        least = builder.tokens(m for m in history if m in must)
        # Partners of pinned calls must stay too, so only without tools is this all that must.
        assert least > budget or any(m.results or m.calls for m in history)


def _trimmed(
    history: tuple[Message, ...], keep: KeepRule, budget: int
) -> tuple[Compaction | None, BudgetUnsatisfiable | None]:
    try:
        return Trim(to=Target(tokens=budget))(history, CompactionState(), means(keep)), None
    except BudgetUnsatisfiable as error:
        return None, error


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("retries", [0, 2])
@some
@given(case=cases())
def test_a_bad_model_changes_nothing_but_the_count(name: str, retries: int, case: Case) -> None:
    """Summary, coverage and history are as they were; the failure is counted; calls are bounded."""
    history, keep = case
    for step in (
        RollingSummary(asking=SummaryRequest(limit=100, retries=retries)),
        Condense(asking=SummaryRequest(limit=100, retries=retries)),
    ):
        model = Counting(BAD[name])
        done = step(history, CompactionState(), means(keep, model))

        assert len(model.asked) <= 1 + retries
        assert len(model.asked) == done.outcome.calls
        assert history == done.history
        assert done.outcome.kind in {"failed", "refused", "nothing"}
        if model.asked:
            assert done.state.failures == 1
            assert done.outcome.kind != "nothing"
            assert done.outcome.sources
        assert (CompactionState().summary, 0, ()) == (
            done.state.summary,
            done.state.covered,
            done.state.held,
        )
        step(done.history, done.state, means(keep, model))
        assert len(model.asked) <= 1 + retries


@some
@given(case=cases())
def test_a_bad_model_need_not_stop_a_compaction(case: Case) -> None:
    """A fallback is a pure function of the messages, and says that no model wrote it."""
    history, keep = case
    step = Condense(asking=SHORT, fallback=Snippets())
    one = step(history, CompactionState(), means(keep, BAD["raising"]))
    two = step(history, CompactionState(), means(keep, BAD["empty"]))

    assert one.history == two.history
    if one.changed:
        assert one.outcome.detail.startswith("without a model")
        assert one.state.failures == 1


@every_step
@some
@given(case=cases(), more=histories(4))
def test_what_comes_while_it_works_is_not_lost(
    step: CompactionStep, case: Case, more: tuple[Message, ...]
) -> None:
    """Messages that arrive meanwhile stand behind the compacted history, and are not covered."""
    history, keep = case
    late = tuple(m for m in more if m not in history)
    done = step(history, CompactionState(), means(keep))
    joined = rejoin(done, history, (*history, *late))

    assert (*done.history, *late) == joined.history
    assert done.state == joined.state
    assert joined.state.covered <= len(history)
    if history:
        with pytest.raises(ValueError, match="changed"):
            rejoin(done, history, late)


@every_step
@pytest.mark.parametrize("kind", ["none", "one", "system", "tools", "large", "parallel", "empty"])
def test_odd_histories_are_no_exception(step: CompactionStep, kind: str) -> None:
    """Nothing, one, only rules, only tools, one above any budget, 500 calls at once, no words."""
    script = Script()
    if kind == "one":
        script.add("user", Text("Hello."))
    elif kind == "system":
        script.add("system", Text("Be brief."))
        script.add("system", Text("Be kind."))
    elif kind == "tools":
        for _ in range(5):
            script.tools(["a row of numbers " * 20])
    elif kind == "large":
        script.add("user", Text("word " * 100_000))
    elif kind == "parallel":
        script.tools(["row " * 50] * 500)
        script.add("assistant", Text("Done."))
        script.add("user", Text("Thanks."))
    elif kind == "empty":
        roles: tuple[Role, ...] = ("user", "assistant", "user")
        for role in roles:
            script.add(role, Text(""))
        script.add("assistant")
    history = tuple(script.made)
    done = step(history, CompactionState(), means())

    assert unpaired(done.history) == set()
    assert done.outcome.after <= done.outcome.before


@every_step
def test_an_id_may_be_there_twice(step: CompactionStep) -> None:
    """A duplicated id confuses no step: the tail is there, and nothing is said twice more."""
    history = (*talk(6), *talk(6))
    done = step(history, CompactionState(), means(KeepRule(last=3)))

    assert history[-3:] == done.history[-3:]
    assert len(done.history) <= len(history)


@some
@given(case=cases(), tokens=st.integers(0, 300))
def test_a_step_is_taken_only_beyond_the_trigger(case: Case, tokens: int) -> None:
    """Exactly as much is no reason, one more is."""
    history, keep = case
    trigger = Target(tokens=tokens)
    work = means(keep)
    done = compact(history, CompactionState(), trigger=trigger, step=STEPS["chain"], means=work)

    if builder.tokens(history) <= tokens:
        assert history == done.history
        assert done.outcome.detail == "the trigger does not fire"
    else:
        assert done.outcome.detail != "the trigger does not fire"
