"""What stands in a context twice is credited once, and what is too much gives way."""

from __future__ import annotations

import pytest

from memsim.context import ContextBuilder
from memsim.context_checks import credit_once, fit_context
from memsim.errors import BudgetUnsatisfiable
from memsim.message import TokenCounter, composed, load_tokenizer, said

BUILD = ContextBuilder(TokenCounter(load_tokenizer("chars/4")))
KIWI = said("user", "My parrot is called Kiwi.", id="m1")


def test_what_the_window_holds_is_not_quoted_as_well() -> None:
    """It is told as what the other message was made from, so that nothing loses its origin."""
    window = BUILD.section("window", [KIWI])
    told = composed("system", KIWI.text, id="x", quotes=("m1", "m0"), derived_from=("m9",))
    recalled = credit_once(BUILD.section("recalled", [told]), window)
    assert ("m0",) == recalled.verbatim
    assert ("m9", "m1") == recalled.derived
    assert ("m1",) == credit_once(BUILD.section("recalled", [told]), recalled).verbatim


def test_the_window_keeps_half_of_a_budget_that_is_too_small() -> None:
    """The latest message stays, and the rest gives way to it."""
    long = composed("system", "word " * 200, id="x")
    context = BUILD.context(BUILD.section("recalled", [long]), BUILD.section("window", [KIWI]))
    small = fit_context(BUILD, context, 60)
    assert ["window"] == [s.layer for s in small.sections]
    assert context is fit_context(BUILD, context, context.tokens)


def test_what_never_gives_way_is_said_to_be_too_much() -> None:
    """A budget below the system prompt is nobody's to keep."""
    long = composed("system", "word " * 200, id="x")
    context = BUILD.context(BUILD.section("system", [long]), BUILD.section("window", [KIWI]))
    with pytest.raises(BudgetUnsatisfiable):
        fit_context(BUILD, context, 60)
