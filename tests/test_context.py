"""Contexts: tokens add up, trimming spares what must stay, providers get legal message lists."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.context import SECTIONS, TRIMMED_FIRST, Context, ContextBuilder, SectionName
from memsim.errors import BudgetUnsatisfiable
from memsim.message import (
    EPOCH,
    Message,
    Text,
    TokenCounter,
    ToolResult,
    ToolUse,
    composed,
    load_tokenizer,
    paired,
    said,
)
from memsim.strategy import Memo

build = ContextBuilder(TokenCounter(load_tokenizer("chars/4")))


def message(number: int, text: str = "four", day: int = 0) -> Message:
    return said("user", text, id=f"m{number}", time=EPOCH + timedelta(days=day))


def call(number: int) -> Message:
    use = ToolUse(id=f"c{number}", name="look", arguments="{}")
    return Message(id=f"call{number}", role="assistant", blocks=(Text("wait"), use))


def result(number: int) -> Message:
    answer = ToolResult(id=f"c{number}", text="seen")
    return Message(id=f"result{number}", role="tool", blocks=(answer,))


def test_a_section_counts_its_date_lines() -> None:
    """Each day's first message carries a date, and the date costs tokens."""
    one_day = build.section("window", [message(1), message(2)])
    two_days = build.section("window", [message(1), message(2, day=1)])

    date_line = len("[2026-01-05]\n") // 4 + 1
    assert date_line == two_days.tokens - one_day.tokens


def test_what_a_provider_gets_opens_each_day_with_its_date() -> None:
    """The date stands before the first message of a day and not before the second."""
    context = build.context(build.section("window", [message(1), message(2), message(3, day=1)]))

    expected = ["[2026-01-05]\nfour", "four", "[2026-01-06]\nfour"]
    assert expected == [m.text for m in context.messages()]


def test_the_tokens_of_a_section_are_those_of_what_a_provider_gets() -> None:
    """Counting is of the text that is sent, not of some other rendering."""
    messages = [message(1), message(2, "some more words", day=1), message(3, "last", day=1)]
    context = build.context(build.section("window", messages))

    counted = sum(build.counter.text(m.text) + 4 for m in context.messages())
    assert abs(counted - context.tokens) <= len(messages)


def test_empty_sections_are_left_out() -> None:
    """A section without messages is no section."""
    context = build.context(build.section("core", []), build.section("window", [message(1)]))

    assert [s.layer for s in context.sections] == ["window"]


def test_provenance_tells_words_from_paraphrase() -> None:
    """Quotes are verbatim, what was made from a message is derived."""
    recall = composed("system", "four", id="r", quotes=("m1",))
    summary = composed("system", "a number", id="s", derived_from=("m2",))
    context = build.context(
        build.section("summary", [summary]),
        build.section("recalled", [recall]),
        build.section("window", [message(3)]),
    )

    assert frozenset({"m1", "m3"}) == context.verbatim
    assert frozenset({"m2"}) == context.derived


@given(
    lengths=st.lists(st.integers(0, 80), max_size=12),
    budget=st.integers(0, 200),
    layers=st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=4),
)
def test_fitting_never_exceeds_the_budget_unless_what_must_stay_does(
    lengths: list[int], budget: int, layers: list[SectionName]
) -> None:
    """Only system, core and query may keep a context over its budget; nothing is cut needlessly."""
    messages = [message(n, "x" * length) for n, length in enumerate(lengths)]
    context = build.context(*(build.section(layer, messages) for layer in layers))

    fitted, cut = build.cut(context, budget)

    fixed = sum(s.tokens for s in context.sections if s.layer not in TRIMMED_FIRST)
    if fixed <= budget:
        assert (fitted, cut) == build.fit(context, budget)
    assert fitted.tokens <= max(budget, fixed)
    assert bool(cut) == (context.tokens > budget and context.tokens > fixed)
    kept = sum(len(s.messages) for s in fitted.sections)
    assert kept + len(cut) == sum(len(s.messages) for s in context.sections)


def test_fitting_cuts_the_oldest_of_the_window_first() -> None:
    """The newest words outlive the oldest."""
    context = build.context(build.section("window", [message(n, "x" * 40) for n in range(5)]))

    fitted, cut = build.fit(context, 40)

    assert [m.id for m in cut] == ["m0", "m1", "m2"]
    assert fitted.verbatim == frozenset({"m3", "m4"})


@pytest.mark.parametrize(
    ("layer", "part"), [("system", "system"), ("core", "pins"), ("query", "input")]
)
def test_what_must_stay_and_does_not_fit_is_an_error(layer: SectionName, part: str) -> None:
    """The error names the largest part that stays, what is needed and what there is."""
    firm = build.section(layer, [message(0, "x" * 40)])
    context = build.context(firm, build.section("window", [message(1)]))

    with pytest.raises(BudgetUnsatisfiable) as caught:
        build.fit(context, firm.tokens - 1)

    error = caught.value
    assert (part, firm.tokens, firm.tokens - 1) == (error.part, error.tokens, error.budget)
    assert frozenset({"m0"}) == build.fit(context, firm.tokens)[0].verbatim


def test_fitting_keeps_tool_calls_with_their_results() -> None:
    """A cut that parts a call from its result takes the orphan too."""
    section = build.section("window", [message(0), call(1), result(1), message(2)])
    without_call = section.tokens - 20

    fitted, _ = build.fit(build.context(section), without_call)

    assert fitted.messages() == paired(fitted.messages())
    assert {"call1", "result1"} & {m.id for m in fitted.messages()} in (
        set(),
        {"call1", "result1"},
    )


def test_orphans_never_reach_a_provider() -> None:
    """A result without its call, and a call that was never answered, are left out."""
    context = build.context(build.section("window", [result(1), call(2), message(3)]))

    assert [m.id for m in context.messages()] == ["m3"]


def test_a_call_answered_in_part_goes_with_its_results() -> None:
    """Parallel calls are sent whole or not at all."""
    uses = tuple(ToolUse(id=f"c{n}", name="look", arguments="{}") for n in (1, 2))
    both = Message(id="both", role="assistant", blocks=uses)
    context = build.context(build.section("window", [both, result(1), message(3)]))

    assert [m.id for m in context.messages()] == ["m3"]


def test_the_newest_call_may_wait_for_its_result() -> None:
    """A call in the last message is not an orphan yet."""
    context = build.context(build.section("window", [message(1), call(2)]))

    assert [m.id for m in context.messages()] == ["m1", "call2"]


def test_an_empty_context_has_no_tokens() -> None:
    """Nothing costs nothing."""
    assert Context().tokens == 0
    assert Context().messages() == ()


def test_a_memo_computes_once_per_revision_and_key() -> None:
    """Two hundred probes at one point cost one computation, and a new revision another."""
    memo = Memo()
    computed: list[str] = []

    def compute(word: str) -> str:
        computed.append(word)
        return word

    for revision, key in [(1, "a"), (1, "a"), (1, "b"), (2, "a"), (2, "a")]:
        memo.get(revision, key, lambda key=key: compute(key))  # type: ignore[misc]

    assert ["a", "b", "a"] == computed
