"""Options of the steps that published designs need, which do not look at what comes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsim.memory.compaction import (
    CompactionState,
    Condense,
    KeepRule,
    MergeAdjacent,
    Offload,
    RollingSummary,
    SummaryRequest,
    forget,
)
from memsim.memory.compaction.condense import reworded
from memsim.memory.compaction.offload import joined
from memsim.message import Text, ToolResult, ToolUse, composed
from tests.memory.compaction.histories import BAD, Counting, Saying, Script, means, talk

LOOSE = KeepRule(system=False, current=False, pairs=False)


def test_an_unchecked_model_is_taken_at_its_word() -> None:
    """What is empty, longer or no text replaces the messages all the same, every time."""
    step = Condense(asking=SummaryRequest(checked=False), form="{text}|")
    for name in ("empty", "garbage", "refusing", "longer than the input"):
        model = Counting(BAD[name])
        history = talk(4)
        state = CompactionState()
        for _ in range(2):
            done = step(history, state, means(LOOSE, model))
            history, state = done.history, done.state
        assert 2 == len(model.asked), name
        assert 1 == len(history)


def test_a_share_of_what_is_replaced_bounds_the_summary() -> None:
    """The model is told the lesser of the limit and the share."""
    model = Counting()
    Condense(asking=SummaryRequest(limit=10_000, share=0.3))(
        talk(20), CompactionState(), means(model=model)
    )
    assert 0 < (model.asked[0].max_tokens or 0) < 200
    with pytest.raises(ValueError, match="share is 0"):
        SummaryRequest(share=0)


def test_a_leading_message_is_read_and_kept_but_stays() -> None:
    """The message before a stretch is given to the model, and offloaded with it."""
    model = Counting(Saying("all of it."))
    step = Condense(select=lambda h, p: [(2, 3)], lead=1, offload=True, form="{text}{reference}")
    given = replace(means(LOOSE, model), blobs=means().blobs)
    done = step(talk(6), CompactionState(), given)
    assert ["m1", "m2", "m3"] == [m.id for m in model.asked[0].messages]
    assert ["m0", "m1", "condensed:1", "m4", "m5"] == [m.id for m in done.history]
    assert ("m2", "m3") == done.outcome.sources


def test_stretches_can_be_asked_about_oldest_first() -> None:
    """Places of later stretches move up as earlier ones are replaced."""
    model = Counting(Saying("short."))
    step = Condense(
        select=lambda h, p: [(0, 1), (3, 4)],
        regions=2,
        onwards=True,
        form="{text}",
        label="round",
    )
    done = step(talk(6), CompactionState(), means(LOOSE, model))
    assert [["m0", "m1"], ["m3", "m4"]] == [[m.id for m in r.messages] for r in model.asked]
    assert ["round:1", "m2", "round:2", "m5"] == [m.id for m in done.history]


def test_a_large_result_is_condensed_where_it_stands() -> None:
    """It keeps its id, role and call, and can be forgotten by its own id."""
    script = Script()
    script.add("user", Text("look"))
    script.tools(["row of numbers " * 200])
    history = tuple(script.made)
    step = Condense(
        select=lambda h, p: [(2,)], in_place=True, offload=True, form="{text}{reference}"
    )
    done = step(history, CompactionState(), means(LOOSE, Saying("Only rows.")))
    assert history[2].results == done.history[2].results
    assert done.history[2].text.startswith("Only rows.")
    assert done.history[2].composed
    assert ("m2",) == done.state.behind["m2"]


def test_rewording_keeps_calls_and_one_block_of_words() -> None:
    """Texts beyond the first go; a message of calls alone gets its words in front."""
    told = composed("user", "new", id="x", derived_from=("m0",))
    script = Script()
    call = ToolUse(id="c", name="look", arguments="{}")
    script.add("assistant", Text("a"), call, Text("b"))
    script.add("assistant", call)
    script.add("tool", ToolResult(id="c", text="1"), ToolResult(id="d", text="2"))
    assert [
        (Text("new"), call),
        (Text("new"), call),
        (ToolResult(id="c", text="new"),),
    ] == [reworded(m, told).blocks for m in script.made]


def test_offloading_can_name_its_blob_and_count_a_message_as_a_whole() -> None:
    """Two results that are large together leave one block, whose reference is the design's own."""
    script = Script()
    script.add("tool", ToolResult(id="c", text="x" * 60), ToolResult(id="d", text="y" * 60))
    given = means(LOOSE)
    step = Offload(over=100, preview=5, whole=True, reference=lambda _, n: f"<{n}>")
    done = step(tuple(script.made), CompactionState(), given)
    assert (ToolResult(id="c", text="xxxxx...\n<120>"),) == done.history[0].blocks
    assert (Text("a\nb"),) == joined(composed("user", "a\nb", id="z"))


def test_offloading_takes_composed_messages_and_spares_callers_on_request() -> None:
    """Both are options, and so is the place before which it works."""
    script = Script()
    long = Text("word " * 100)
    script.add("assistant", long, ToolUse(id="c", name="look", arguments="{}"))
    script.add("user", long)
    history = (*script.made, composed("assistant", long.text, id="made"), script.made[1])
    step = Offload(over=100, composed=True, calling=False, until=lambda h: len(h) - 1)
    assert ("m1", "made") == step(history, CompactionState(), means(LOOSE)).outcome.sources


def test_what_saves_no_tokens_is_done_all_the_same_on_request() -> None:
    """Fewer messages can be the point, and so can a stub of its own form."""
    history = tuple(replace(m, role="user") for m in talk(2))
    merged = MergeAdjacent(smaller=False)(history, CompactionState(), means(LOOSE))
    assert 1 == len(merged.history)
    stub = Offload(over=10, preview=10, smaller=False, reference=lambda *_: "<" + "r" * 400 + ">")
    assert 2 == len(stub(history, CompactionState(), means(LOOSE)).outcome.sources)


def test_an_unchecked_rolling_summary_may_grow_but_not_be_blank() -> None:
    """What is longer than what it replaces is taken; what is blank leaves the summary as it was."""
    step = RollingSummary(asking=SummaryRequest(checked=False))
    grown = step(talk(4), CompactionState(), means(LOOSE, Saying("much " * 500)))
    assert grown.changed
    assert 4 == grown.state.covered
    for blank in ("", " \n"):
        left = step(talk(4), grown.state, means(LOOSE, Saying(blank)))
        assert grown.state.summary == left.state.summary
        assert "refused" == left.outcome.kind


def test_a_line_that_is_carried_on_keeps_its_own_sources() -> None:
    """What is condensed again credits what its lines are from, and not all that was ever read."""
    step = Condense(asking=SummaryRequest(limit=60), form="{text}")
    first = step(talk(20), CompactionState(), means(LOOSE))
    later = tuple(replace(m, id=f"n{m.id}") for m in talk(2))
    again = step((*first.history, *later), first.state, means(LOOSE))
    lines = again.state.told["condensed:2"]
    assert again.history[0].text.splitlines() == [line.text for line in lines]
    for line in lines:
        assert 1 == len(line.sources)
    assert {i for line in lines for i in line.sources} == set(again.history[0].derived_from)
    assert again.state == CompactionState.loaded(again.state.save())
    gone = forget(again.history, again.state, [lines[0].sources[0]])
    assert {} == gone.state.told
