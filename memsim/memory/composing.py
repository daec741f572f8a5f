"""What a model is sent: the pinned, the pages, the summary, the recalled, notes, the latest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memsim.context import Context, ContextBuilder, Section
from memsim.errors import BudgetUnsatisfiable
from memsim.memory.clipping import clipped
from memsim.memory.conversation import Conversation
from memsim.memory.layers.entities import named
from memsim.memory.working import ENTITIES
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memsim.memory.acl import Permissions, Where
    from memsim.memory.conversations import Conversations
    from memsim.memory.layers.core import Core
    from memsim.memory.layers.workspace import WorkspaceLayer
    from memsim.memory.ledger import InjectionLedger
    from memsim.memory.options import MemoryOptions
    from memsim.memory.recalling import Recaller
    from memsim.memory.state import JSON
    from memsim.memory.working import WorkingMemory
    from memsim.memory.workspace import Page
    from memsim.message import Message

NOTES = "Notes for this conversation:"
NOTES_SHARE = 0.125
"""Share of a budget that working memory's notes may take; of longer ones, beginning and end."""

PAGES_SHARE = 0.25
"""Share of a budget that the pages on who the agent is and whom it serves may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a context is asked for.

    Attributes:
        text: the message or question, which is not part of the context.
        principal: who asks.
        session: in which conversation.
        budget: tokens that the context may have.
        now: when.
        turn: names what is composed.
    """

    text: str
    principal: str
    session: str
    budget: int
    now: datetime
    turn: int


class Composer:
    """Puts contexts together; nothing that it does can be seen later.

    Args:
        build: makes sections.
        core: what always stands in a context.
        conversations: the latest messages.
        working: notes.
        recaller: finds what is earlier.
        ledger: what a conversation was given already.
        workspace: the pages of each principal; None where there are none.
        permissions: who takes part in which conversation; None where everybody sees everything.
        options: which parts there are, and how large.
    """

    def __init__(
        self,
        build: ContextBuilder,
        *,
        core: Core,
        conversations: Conversations,
        working: WorkingMemory,
        recaller: Recaller,
        ledger: InjectionLedger,
        workspace: WorkspaceLayer | None,
        permissions: Permissions | None,
        options: MemoryOptions,
    ) -> None:
        self._build = build
        self._ledger = ledger
        self._core = core
        self._conversations = conversations
        self._working = working
        self._recaller = recaller
        self._workspace = workspace
        self._permissions = permissions
        self._options = options

    def compose(self, question: Question, where: Where) -> Context:
        """The context for a question.

        Args:
            question: what is asked.
            where: what may be recalled.

        Raises:
            BudgetUnsatisfiable: what is pinned does not fit.
            StoreError: a page of the workspace cannot be read.
        """
        pinned = self._core.messages(question.principal)
        core = self._build.section("core", pinned)
        room = question.budget - core.tokens
        if room < 0:
            raise BudgetUnsatisfiable("pins", core.tokens, question.budget)
        pages, pieces = self._pages(question, min(room, int(question.budget * PAGES_SHARE)))
        if pages.messages:
            core = self._build.section("core", (*pinned, *pages.messages))
            room -= pages.tokens
        notes = self._notes(question, min(room, int(question.budget * NOTES_SHARE)))
        room -= notes.tokens
        share = self._options.history_share
        history = self._history(question, min(room, int(question.budget * share)))
        room -= sum(s.tokens for s in history)
        summary = tuple(s for s in history if s.layer == "summary")
        window = tuple(s for s in history if s.layer != "summary")
        if not self._options.recall or self._options.mode == "agent":
            return self._build.context(core, *summary, notes, *window)
        recalled = self._recaller.recall(
            question.text,
            where,
            visible=[
                *(i for s in history for i in s.verbatim),
                *self._given(question),
                *pieces,
            ],
            beside=[m for s in history for m in s.messages if not m.composed],
            budget=min(room, int(question.budget * self._options.recall_share)),
            now=question.now,
            turn=question.turn,
        )
        return self._build.context(
            core, *summary, recalled.section, notes, *window, ranking=recalled.ranking
        )

    def may_see(self, principal: str, session: str) -> bool:
        """Whether a principal may see the latest messages of a conversation."""
        if not principal:
            return False
        return self._permissions is None or self._permissions.may_follow(principal, session)

    def _history(self, question: Question, budget: int) -> tuple[Section, ...]:
        current = self._conversations.get(question.session)
        if current is None or not self.may_see(question.principal, question.session):
            return ()
        return current.sections(budget, question.now)

    def _given(self, question: Question) -> list[str]:
        if not self._options.once:
            return []
        of = Conversation(question.principal, question.session)
        return self._ledger.injected(of, question.now)

    def _pages(self, question: Question, budget: int) -> tuple[Section, Sequence[str]]:
        """The asker's own pages as far as they fit, and ids of the entries that stand in them."""
        nothing, limit = self._build.section("core", ()), None
        if self._workspace is None:
            return nothing, ()
        while pages := self._workspace.standing(question.principal, limit):
            section = self._build.section("core", [_shown(p, question.now) for p in pages])
            if section.tokens <= budget:
                return section, self._workspace.pieces(question.principal, pages)
            limit = sum(len(p.text) for p in pages) * budget // section.tokens
        return nothing, ()

    def _notes(self, question: Question, budget: int) -> Section:
        of = Conversation(question.principal, question.session)
        fields = self._working.peek(of, question.now)
        if not fields:
            return self._build.section("working", ())
        text = "\n".join((NOTES, *(_noted(name, value) for name, value in fields.items())))
        message = composed("user", text, id=f"working:{question.session}", time=question.now)
        section = self._build.section("working", (message,))
        if section.tokens <= budget:
            return section
        return clipped([message], self._build.counter, budget, "working")


def _noted(name: str, value: JSON) -> str:
    if name == ENTITIES and isinstance(value, list):
        entities = [entity for entity in value if isinstance(entity, dict)]
        if entities and len(entities) == len(value):
            return f"{name}: {named(entities)}"
    return f"{name}: {value}"


def _shown(page: Page, now: datetime) -> Message:
    # As whoever asks: a page is theirs, and speaks with no more authority than they have.
    length = len(page.text)
    cut = f", the first {length:,} of {length + page.omitted:,} characters" if page.omitted else ""
    text = f"{page.name}{cut}:\n{page.text}"
    return composed("user", text, id=f"workspace:{page.name}", time=now)
