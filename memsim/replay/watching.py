"""What must hold of every context that is sent, watched while a case is played.

A measurement that goes on after one of these broke would measure something else. What a strategy
breaks is its error, and ends its case; what only this harness can break is a bug of ours, which
stops the run. That asking changes nothing is held elsewhere, by asking again. What cannot be seen
on a context, such as who may see what, is for `memsim check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.context import TRIMMED_FIRST
from memsim.errors import StrategyError

if TYPE_CHECKING:
    from memsim.context import Context
    from memsim.message import Message

_GIVES_WAY = frozenset(TRIMMED_FIRST)


class Broken(AssertionError):  # noqa: N818 - it is the harness that is
    """The harness broke its own promise; the message says which."""


def watch_shown(context: Context) -> None:
    """Tokens are a number of things: with fewer than none, every budget can be kept.

    Raises:
        StrategyError: a section has less than no tokens.
    """
    for section in context.sections:
        if section.tokens < 0:
            raise StrategyError(f"the section {section.layer} has {section.tokens} tokens")


def watch_fitted(shown: Context, fitted: Context, budget: int) -> None:
    """What is sent keeps to the budget, unless only what is never cut is left of it.

    Nothing is added to it, and nothing that is never cut is missing.

    Raises:
        Broken: one of these does not hold.
    """
    if fitted is shown:
        if shown.tokens > budget:
            raise Broken("a context over its budget was sent as it is")
        return
    if fitted.tokens > budget and any(s.layer in _GIVES_WAY for s in fitted.sections):
        raise Broken("a context was sent over its budget, and could have been cut")
    kept = [s for s in fitted.sections if s.layer not in _GIVES_WAY]
    if kept != [s for s in shown.sections if s.layer not in _GIVES_WAY and s.messages]:
        raise Broken("what is never cut was changed")
    there = {id(m) for s in shown.sections for m in s.messages}
    if not all(id(m) in there for s in fitted.sections for m in s.messages):
        raise Broken("cutting a context added to it")


def watch_sent(messages: tuple[Message, ...]) -> None:
    """Every tool call has its result and every result its call, but for calls still to be answered.

    Raises:
        Broken: a provider would refuse this.
    """
    if not any(m.role == "tool" or m.calls for m in messages):
        return
    called = {c for m in messages for c in m.calls}
    answered = {r for m in messages for r in m.results} | set(messages[-1].calls)
    if called != answered:
        raise Broken("a tool call was sent without its result, or a result without its call")
