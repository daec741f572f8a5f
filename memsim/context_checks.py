"""Repairs of a context that any memory needs: call pairs, authority, the question, the budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.context import Context
from memsim.errors import BudgetUnsatisfiable
from memsim.message import paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memsim.context import ContextBuilder, Section
    from memsim.message import Message


# If a text is in a context twice, the message itself gets the credit, not its quotation.


def credit_once(section: Section, other: Section) -> Section:
    """Remove from a section the credit for messages that another section holds verbatim.

    Composed messages list such messages under `derived_from` instead of `quotes`.

    Args:
        section: the section to correct.
        other: the section that holds the messages verbatim.
    """
    there = frozenset(other.verbatim)
    messages = tuple(_without(m, there) if m.composed else m for m in section.messages)
    return replace(section, messages=messages)


def _without(message: Message, there: frozenset[str]) -> Message:
    twice = tuple(i for i in message.quotes if i in there)
    return replace(
        message,
        quotes=tuple(i for i in message.quotes if i not in there),
        derived_from=tuple(dict.fromkeys((*message.derived_from, *twice))),
    )


# Keep a context within its budget, for memories whose parts do not check it.


def fit_context(build: ContextBuilder, context: Context, budget: int) -> Context:
    """Build a context within a budget; the window keeps half of the budget if it needs it.

    Args:
        build: makes sections.
        context: the context; each layer occurs once.
        budget: in tokens.

    Raises:
        BudgetUnsatisfiable: the sections that are never cut exceed the budget.
    """
    if context.tokens <= budget:
        return context
    window = _of(s for s in context.sections if s.layer == "window")
    rest = _of(s for s in context.sections if s.layer != "window")
    firm = build.cut(rest, 0)[0].tokens
    half = min(budget // 2, budget - firm)
    window, _ = build.cut(window, max(budget - rest.tokens, half, 0))
    rest, _ = build.cut(rest, max(budget - window.tokens, 0))
    left = {s.layer: s for s in (*window.sections, *rest.sections)}
    sections = [left[s.layer] for s in context.sections if s.layer in left]
    if rest.tokens + window.tokens > max(budget, 0):
        raise BudgetUnsatisfiable("system", rest.tokens + window.tokens, budget)
    return replace(context, sections=tuple(sections), rank=None)


def _of(sections: Iterable[Section]) -> Context:
    return Context(sections=tuple(sections))


def repair_context(
    build: ContextBuilder, context: Context, budget: int, *, said: Iterable[Message] = ()
) -> Context:
    """Remove unpaired tool messages, and lower composed messages to the role of their sources.

    Args:
        build: makes sections.
        context: the context; each layer occurs once.
        budget: in tokens.
        said: the messages of this turn; none of them is shortened.

    Raises:
        BudgetUnsatisfiable: the sections that are never cut exceed the budget.
    """
    whole = {m.id: m for m in said}
    spoken = [_only(build, s, [_spoken(m, whole) for m in s.messages]) for s in context.sections]
    fits = fit_context(build, replace(context, sections=tuple(spoken)), budget)
    # Sections are cut one by one, so that a call can lose its result in another section.
    whole_pairs = {id(m) for m in paired(tuple(m for s in fits.sections for m in s.messages))}
    kept = [_only(build, s, [m for m in s.messages if id(m) in whole_pairs]) for s in fits.sections]
    return replace(fits, sections=tuple(s for s in kept if s.messages))


def _only(build: ContextBuilder, section: Section, messages: Sequence[Message]) -> Section:
    same = tuple(messages) == section.messages
    return section if same else build.section(section.layer, messages)


def _spoken(message: Message, said: Mapping[str, Message]) -> Message:
    original = said.get(message.id)
    if original is not None and not _whole(message, original):
        return original
    if message.composed and message.role == "system" and (message.quotes or message.derived_from):
        return replace(message, role="user")
    return message


def _whole(message: Message, original: Message) -> bool:
    # An empty text is part of every text, so `quotes` must name it as well.
    quoted = original.id in message.quotes and original.text in message.text
    return quoted or message == original
