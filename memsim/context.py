"""Contexts: what the model is sent, as labelled sections of messages with tokens and provenance.

A date line `[2023-05-08]` opens the first message of each day in a section. Agent frameworks do the
same so that the model can reason about time. The line counts like any other text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from memsim.errors import BudgetUnsatisfiable
from memsim.fast_dataclass import fast_init
from memsim.message import Message, Text, ToolResult, paired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date

    from memsim.message import Block, TokenCounter


# Blocks of composed text: escaping keeps the content from closing or forging a block.


TAGS = (
    "summary",
    "recall",
    "recalled",
    "memory",
    "long_term_memory",
    "offloaded",
    "compressed",
    "plan_aware_hint",
)
"""Names of the blocks that memories compose."""

MARKS = ("compacted", "shortened", "summary", "truncated")
"""Words in square brackets that open a block of a memory."""

COMMENTS = ("CONTEXT_OFFLOAD",)
"""Words that open a comment with a reference."""

_TAGS = "|".join(sorted(TAGS, key=len, reverse=True))
_MARKS = "|".join(MARKS)
_COMMENTS = "|".join(COMMENTS)
_DELIMITER = re.compile(
    rf"<(?P<t>\\*)(?=\s*/?\s*(?:{_TAGS})(?![A-Za-z0-9_]))"
    rf"|<(?P<c>\\*)(?=!--\s*(?:{_COMMENTS}))"
    rf"|\[(?P<m>\\*)(?=\s*(?:{_MARKS})(?![A-Za-z0-9_]))",
    re.IGNORECASE,
)


def escaped(text: str) -> str:
    """The text with every block delimiter escaped."""
    return _DELIMITER.sub(lambda m: m[0] + "\\", text)


def unescaped(text: str) -> str:
    """The original of a text that `escaped` returned."""
    return _DELIMITER.sub(lambda m: m[0].removesuffix("\\"), text)


def defused(block: Block) -> Block:
    """The block with its text escaped; a tool call stays unchanged."""
    if isinstance(block, Text | ToolResult):
        return replace(block, text=escaped(block.text))
    return block


def fenced(tag: str, text: str) -> str:
    """A text in a block of that name.

    Raises:
        ValueError: there is no such block, so its content could close it.
    """
    if tag not in TAGS:
        raise ValueError(f"unknown block {tag!r}; known blocks are {', '.join(TAGS)}")
    return f"<{tag}>\n{escaped(text)}\n</{tag}>"


def content(tag: str, block: str) -> str | None:
    """The text inside a block of `fenced`; None if it is no such block."""
    inner = block.removeprefix(f"<{tag}>\n").removesuffix(f"\n</{tag}>")
    return unescaped(inner) if fenced(tag, unescaped(inner)) == block else None


SectionName = str
"""The name of a section: one of `SECTIONS`, or a name of the strategy's own."""
SECTIONS: tuple[SectionName, ...] = (
    "system",
    "core",
    "summary",
    "recalled",
    "working",
    "window",
    "tools",
    "query",
)
"""The sections that most memories have, in the order of tables and plots."""
LONGEST_NAME = 40
"""Characters that the name of a section may have."""

TRIMMED_FIRST: tuple[SectionName, ...] = ("window", "recalled", "working", "summary", "tools")
"""Sections that are cut if a context is over its budget: in this order, oldest message first.

Those with a name of the strategy's own follow, as they stand in the context.
"""
NEVER_TRIMMED = frozenset(SECTIONS) - frozenset(TRIMMED_FIRST)
"""Sections that are never cut."""

_PARTS: Mapping[SectionName, str] = {"system": "system", "core": "pins", "query": "input"}
"""What `BudgetUnsatisfiable` calls the sections that are never cut."""


def in_order(names: Iterable[SectionName]) -> list[SectionName]:
    """Sort names of sections: the known ones as in `SECTIONS`, then a strategy's own by name."""
    found = set(names)
    return [n for n in SECTIONS if n in found] + sorted(found.difference(SECTIONS))


def wrong_name(name: object) -> str:
    """Say what is wrong with the name of a section; empty if it may be used."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        return f"the name of a section is {name!r}: give it a word that can be printed"
    if len(name) > LONGEST_NAME:
        return f"the section {name[:LONGEST_NAME]!r}... has a name of {len(name)} characters"
    if name == "absent":
        return "a section is called 'absent', which means that a fact is in none: rename it"
    return ""


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One labelled part of a context.

    Attributes:
        layer: the label.
        messages: its messages, in reading order.
        tokens: their tokens, with date lines and message overhead.
        items: names of the quoted items, as the memory records them: ids of messages, or other
            names; empty if nothing was recalled.
    """

    layer: SectionName
    messages: tuple[Message, ...]
    tokens: int
    items: tuple[str, ...] = field(default=(), compare=False)

    @property
    def verbatim(self) -> tuple[str, ...]:
        """Ids of the original messages whose own words are in the section."""
        return tuple(i for m in self.messages for i in m.verbatim)

    @property
    def derived(self) -> tuple[str, ...]:
        """Ids of the original messages from which a message of the section was derived."""
        return tuple(i for m in self.messages for i in m.derived_from)

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the original messages in the section, verbatim or derived."""
        return self.verbatim + self.derived


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the model is sent.

    Attributes:
        sections: its parts, in reading order, without the query.
        ranking: ids of original messages as a ranker ordered them, best first; empty for strategies
            that do not rank. Scores @k use it.
        rank: makes the ranking, for strategies that need no ranking to build the context. It is
            called when a probe is scored, right after the context was made, and must change
            nothing.
        confidence: how sure the strategy is that what it recalled answers the query, 0 to 1; None
            for strategies that do not say.
    """

    sections: tuple[Section, ...] = ()
    ranking: tuple[str, ...] = ()
    rank: Callable[[], tuple[str, ...]] | None = field(default=None, repr=False, compare=False)
    confidence: float | None = field(default=None, compare=False)

    def ranked(self) -> Context:
        """The same context with its ranking made."""
        return self if self.rank is None else replace(self, ranking=tuple(self.rank()), rank=None)

    @property
    def tokens(self) -> int:
        """Tokens of all sections."""
        return sum(s.tokens for s in self.sections)

    @property
    def verbatim(self) -> frozenset[str]:
        """Ids of the original messages whose own words are in the context."""
        return frozenset(i for s in self.sections for m in s.messages for i in m.verbatim)

    @property
    def derived(self) -> frozenset[str]:
        """Ids of the original messages from which a message of the context was derived."""
        return frozenset(i for s in self.sections for m in s.messages for i in m.derived_from)

    def messages(self) -> tuple[Message, ...]:
        """The messages for a provider: with date lines, and with tool calls paired with results."""
        return paired(tuple(dated(m for s in self.sections for m in s.messages)))

    def text(self) -> str:
        """All messages as one text."""
        return "\n".join(m.text for s in self.sections for m in s.messages)


class ContextBuilder:
    """Builds sections and contexts, and counts tokens once.

    Args:
        counter: the case's token counter.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    def section(self, layer: SectionName, messages: Iterable[Message]) -> Section:
        """A section of these messages, with its tokens."""
        kept = tuple(messages)
        return Section(layer=layer, messages=kept, tokens=self.tokens(kept))

    def tokens(self, messages: Iterable[Message]) -> int:
        """Tokens of consecutive messages, with their date lines."""
        count, dates = self.counter.message, self.counter.text
        total = 0
        last: date | None = None
        for message in messages:
            total += count(message)
            if not message.composed and (day := message.time.date()) != last:
                last = day
                total += dates(date_line(day))
        return total

    def context(
        self, *sections: Section, ranking: tuple[str, ...] = (), confidence: float | None = None
    ) -> Context:
        """A context of these sections, without the empty ones."""
        kept = tuple(s for s in sections if s.messages)
        return Context(sections=kept, ranking=ranking, confidence=confidence)

    def fit(self, context: Context, budget: int) -> tuple[Context, tuple[Message, ...]]:
        """Cut a context to a budget in tokens; return the context and the messages that were cut.

        Whole messages are cut, oldest first, from the sections in `TRIMMED_FIRST`, then from those
        with other names. `system`, `core` and `query` are never cut.

        Raises:
            BudgetUnsatisfiable: the sections that are never cut exceed the budget.
        """
        fitted, cut = self.cut(context, budget)
        if fitted.tokens > max(budget, 0):
            largest = max(fitted.sections, key=lambda section: section.tokens)
            raise BudgetUnsatisfiable(_PARTS[largest.layer], fitted.tokens, budget)
        return fitted, cut

    def cut(self, context: Context, budget: int) -> tuple[Context, tuple[Message, ...]]:
        """Cut a context as `fit` does; the result is over the budget if what stays is larger."""
        if context.tokens <= budget:
            return context, ()
        cut: list[Message] = []
        sections = list(context.sections)
        excess = context.tokens - budget
        own = (s.layer for s in sections if s.layer not in SECTIONS)
        for layer in dict.fromkeys((*TRIMMED_FIRST, *own)):
            for place, section in enumerate(sections):
                if section.layer == layer and excess > 0:
                    sections[place], gone = self._shorten(section, excess)
                    excess -= section.tokens - sections[place].tokens
                    cut.extend(gone)
        kept = tuple(s for s in sections if s.messages)
        return replace(context, sections=kept), tuple(cut)

    def _shorten(self, section: Section, excess: int) -> tuple[Section, tuple[Message, ...]]:
        target = section.tokens - excess
        start, total = len(section.messages), 0
        for place in range(len(section.messages) - 1, -1, -1):
            total += self.counter.message(section.messages[place])
            if total > target:
                break
            start = place
        while start < len(section.messages):
            kept = paired(section.messages[start:])
            if self.tokens(kept) <= target:
                break
            start += 1
        else:
            kept = ()
        ids = {m.id for m in kept}
        gone = tuple(m for m in section.messages if m.id not in ids)
        return self.section(section.layer, kept), gone


@lru_cache(maxsize=4096)
def date_line(day: date) -> str:
    """The line that opens a day."""
    return f"[{day.isoformat()}]\n"


def dated(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with a date line in the first original message of each day."""
    last: date | None = None
    for message in messages:
        day = message.time.date()
        if message.composed or day == last:
            yield message
            continue
        last = day
        blocks = (Text(date_line(day).rstrip("\n")), *message.blocks)
        yield replace(message, blocks=blocks)
