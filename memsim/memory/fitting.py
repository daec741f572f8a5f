"""A context that keeps to its budget, for memories whose parts do not watch it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.context import Context
from memsim.errors import BudgetUnsatisfiable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.context import ContextBuilder, Section


def fitted(build: ContextBuilder, context: Context, budget: int) -> Context:
    """A context of at most so many tokens; the window keeps half of these if it needs them.

    Args:
        build: makes sections.
        context: in which every layer stands once.
        budget: in tokens.

    Raises:
        BudgetUnsatisfiable: what never gives way is over the budget.
    """
    if context.tokens <= budget:
        return context
    window = _of(s for s in context.sections if s.layer == "window")
    rest = _of(s for s in context.sections if s.layer != "window")
    firm = build.fit(rest, 0)[0].tokens
    half = min(budget // 2, budget - firm)
    window, _ = build.fit(window, max(budget - rest.tokens, half, 0))
    rest, _ = build.fit(rest, max(budget - window.tokens, 0))
    left = {s.layer: s for s in (*window.sections, *rest.sections)}
    sections = [left[s.layer] for s in context.sections if s.layer in left]
    if rest.tokens + window.tokens > max(budget, 0):
        raise BudgetUnsatisfiable("system", rest.tokens + window.tokens, budget)
    return Context(sections=tuple(sections), ranking=context.ranking)


def _of(sections: Iterable[Section]) -> Context:
    return Context(sections=tuple(sections))
