"""Published designs, built from the parts with options: what they are known to do, they do here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.memory.compaction import (
    Chain,
    Compaction,
    CompactionState,
    Condense,
    Gate,
    KeepRule,
    MergeAdjacent,
    Offload,
    RollingSummary,
    Snippets,
    SummaryInput,
    SummaryRequest,
    Target,
    Trigger,
    Trim,
    compact,
)
from memsim.memory.compaction.condense import current_round, earlier_rounds, tool_runs
from memsim.message import Message, Text, said
from memsim.models import Model
from tests.memory.compaction.histories import BAD, Counting, Saying, Script, counter, means, talk

# AgenticX 0.3.5: more than 20 messages or 48,000 characters; the last 8 stay, whatever they are.
AGENTICX_KEEP = KeepRule(last=8, system=False, current=False, pairs=False)
AGENTICX = Condense(
    form="[compacted] {count} messages:\n{text}",
    voice="system",
    escape=False,
    fallback=Snippets(last=12, each=160, total=700, joiner="\uff1b"),
)
AGENTICX_TRIGGER = Trigger(messages=20, characters=48_000)
PROSE = Saying("Boxes were moved to Oslo.")


def agenticx(history: tuple[Message, ...], model: Model = PROSE) -> Compaction:
    """What AgenticX does with a history."""
    work = means(AGENTICX_KEEP, model)
    return compact(history, CompactionState(), trigger=AGENTICX_TRIGGER, step=AGENTICX, means=work)


@pytest.mark.parametrize(("count", "compacted"), [(20, 0), (21, 13), (60, 52)])
def test_agenticx_compacts_all_but_the_last_eight(count: int, compacted: int) -> None:
    """20 messages stay; of 21 it compacts 13, of 60 it compacts 52, and 9 are left."""
    done = agenticx(talk(count))

    assert compacted == len(done.outcome.sources)
    assert (9 if compacted else count) == len(done.history)
    if compacted:
        text = f"[compacted] {compacted} messages:\nBoxes were moved to Oslo."
        assert ("system", text) == (done.history[0].role, done.history[0].text)


def test_agenticx_leaves_two_large_messages_alone() -> None:
    """Characters trigger it, and there is nothing before the last eight."""
    history = (said("user", "x" * 50_000, id="a"), said("user", "y" * 50_000, id="b"))

    assert history == agenticx(history).history


def test_agenticx_compacts_its_own_summary_like_any_message() -> None:
    """9 and 5 more are too few, 20 more are 26 compacted messages."""
    first = agenticx(talk(60))
    more = tuple(said("user", f"And box {n} went to Bergen.", id=f"n{n}") for n in range(25))
    assert not agenticx((*first.history, *more[:5])).changed
    again = compact(
        (*first.history, *more),
        first.state,
        trigger=AGENTICX_TRIGGER,
        step=AGENTICX,
        means=means(AGENTICX_KEEP, PROSE),
    )

    assert (26, 9) == (len(again.outcome.sources), len(again.history))


@pytest.mark.parametrize("name", ["empty", "raising"])
def test_agenticx_falls_back_to_snippets(name: str) -> None:
    """The last twelve of what is compacted, 160 characters each and 700 in all."""
    done = agenticx(talk(60), BAD[name])
    text = done.history[0].text.partition("\n")[2]

    assert text.startswith("[user] I moved box number 40 to Oslo")
    assert len(text) == 700
    assert done.changed


def test_agenticx_may_part_a_call_from_its_result() -> None:
    """Its tail may begin with a result; ours takes the call along."""
    script = Script()
    for n in range(17):
        script.add("user", Text(f"Where is box {n}, please, and what is in it?"))
    script.tools(["row"])
    for n in range(7):
        script.add("user", Text(f"And box {n}?"))
    done = agenticx(tuple(script.made))
    closed = AGENTICX(tuple(script.made), CompactionState(), means(KeepRule(last=8), PROSE))

    assert ("tool", 9) == (done.history[1].role, len(done.history))
    assert ("assistant", 10) == (closed.history[1].role, len(closed.history))


# AgentScope 1.0.12: one strategy a time, the first that changes something.
def agentscope(tokens: int = 5000) -> Chain:
    """AgentScope's strategies, gentlest first; the last two do without the tail's protection."""
    form = "{text}\n{reference}"
    return Chain(
        steps=(
            Condense(
                select=tool_runs(more_than=6),
                least=tokens,
                regions=5,
                form=form,
                voice="assistant",
                offload=True,
                name="tools",
            ),
            Offload(answered=True, name="offload, protected"),
            Offload(answered=True, last=0, name="offload"),
            Condense(
                select=earlier_rounds,
                least=tokens,
                form=form,
                voice="assistant",
                offload=True,
                last=0,
                name="rounds",
            ),
            Condense(
                select=current_round,
                form=form,
                voice="assistant",
                offload=True,
                last=0,
                name="current round",
            ),
        ),
        first=True,
    )


def test_agentscope_goes_from_gentle_to_rough() -> None:
    """Tools first, large content then, whole rounds last; each time one, and all can be read."""
    script = Script()
    script.add("user", Text("Find the boxes."))
    for n in range(12):
        script.tools([f"row {n} " * 500])
    script.add("assistant", Text("They are in Oslo. " * 300))
    script.add("user", Text("Thanks."))
    for n in range(3):
        script.tools([f"row {n} " * 20])
    history, state, names = tuple(script.made), CompactionState(), []
    work = means(KeepRule(last=4), PROSE)
    for _ in range(6):
        done = agentscope(tokens=500)(history, state, work)
        history, state = done.history, done.state
        names.append(done.outcome.steps[-1].step if done.changed else "")

    assert ["tools", "rounds"] == names[:2]
    assert "" in names
    assert ["m0", "m26"] == [m.id for m in history if m.role == "user"]
    assert work.blobs is not None
    assert len(work.blobs.digests()) >= 2


def test_agentscope_offloads_large_content_with_and_without_protection() -> None:
    """The tail is protected first, and offloaded where that was not enough."""
    big = said("user", "word " * 3000, id="big")
    history = (big, *talk(2), *(said("user", f"Box {n}?", id=f"q{n}") for n in range(3)))
    work = means(KeepRule(last=6), PROSE)
    steps = agentscope().steps[1:3]
    done = Chain(steps=steps, first=True)(history, CompactionState(), work)

    assert ["nothing", "compaction"] == [o.kind for o in done.outcome.steps]
    assert ("big",) == done.outcome.sources


def test_agentscope_as_documented_merges_summarises_and_offloads() -> None:
    """30 messages or 0.3 of the window; the last 10 stay."""
    step = Chain(steps=(MergeAdjacent(), RollingSummary(), Offload()), to=Trigger(messages=30))
    work = means(KeepRule(last=10))
    trigger = Trigger(messages=30)
    assert not compact(talk(30), CompactionState(), trigger=trigger, step=step, means=work).changed
    done = compact(talk(50), CompactionState(), trigger=trigger, step=step, means=work)

    assert ["merge adjacent", "rolling summary"] == [o.step for o in done.outcome.steps]
    assert 10 == len(done.history)


# Cogtrix 0.2.9: a window of 25, batches of 10, and a summary that a failure leaves as it was.
COGTRIX = RollingSummary(batch=10, gate=Gate(messages=4, characters=5000), shown=SummaryInput())


def test_cogtrix_keeps_its_summary_through_a_failure() -> None:
    """The promise, that its code breaks: summary and index stay, and nothing is lost."""
    keep = KeepRule(last=25, current=False, pairs=False)
    done = COGTRIX(talk(36), CompactionState(), means(keep))
    assert 11 == done.state.covered
    history = (*done.history, *talk(47)[36:])
    failed = COGTRIX(history, done.state, means(keep, BAD["raising"]))

    assert (done.state.summary, 11) == (failed.state.summary, failed.state.covered)
    assert history == failed.history
    model = Counting()
    after = COGTRIX((*failed.history, *talk(48)[47:]), failed.state, means(keep, model))
    assert [f"m{n}" for n in range(11, 23)] == [m.id for m in model.asked[0].messages]
    assert 23 == after.state.covered
    assert counter.messages(after.history) < counter.messages(history)


# PRX: at most 50 messages; what is older than the last 20 as a summary of at most 2,000 characters.
PRX = Chain(
    steps=(
        Condense(
            shown=SummaryInput(total=12_000),
            asking=SummaryRequest(limit=800),
            form="[Compaction summary]\n{text}",
            longest=2000,
            last=20,
        ),
        Trim(to=Target(messages=50)),
    ),
    to=Target(messages=50),
)


def test_prx_keeps_twenty_and_a_summary() -> None:
    """50 messages are left alone; of 51 the last 20 stay, behind a summary that is cut."""
    model = Counting(Saying("The boxes were moved from place to place. " * 60))
    work = means(KeepRule(current=False, pairs=False), model)
    assert not PRX(talk(50), CompactionState(), work).changed
    history = tuple(replace(m, blocks=(Text(m.text * 20),)) for m in talk(51))
    done = PRX(history, CompactionState(), work)

    assert (21, 1) == (len(done.history), done.outcome.calls)
    assert 2000 == len(done.history[0].text.partition("\n")[2])
    assert sum(len(m.text) for m in model.asked[0].messages) <= 12_000
    assert "m30" == model.asked[0].messages[-1].id


def test_prx_trims_where_the_model_is_not_there() -> None:
    """The oldest go without a summary; 50 stay."""
    done = PRX(talk(80), CompactionState(), means(KeepRule(), BAD["raising"]))

    assert talk(80)[30:] == done.history
    assert ["failed", "compaction"] == [o.kind for o in done.outcome.steps]
    assert 1 == done.state.failures
