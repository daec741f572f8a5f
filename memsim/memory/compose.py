"""What a model is sent: the pinned, the pages, the summary, the recalled, notes, the latest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memsim.context import Context, ContextBuilder, Section
from memsim.errors import BudgetUnsatisfiable
from memsim.memory.entry import Conversation, Entry
from memsim.memory.history.shorten import clip_messages
from memsim.memory.history.working_memory import ENTITIES
from memsim.memory.layers.entities import describe_entities
from memsim.message import composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from memsim.memory.codec import JSON
    from memsim.memory.history.conversations import Conversations
    from memsim.memory.history.working_memory import WorkingMemory
    from memsim.memory.layers.pages import Page
    from memsim.memory.layers.workspace import WorkspaceLayer
    from memsim.memory.ledger import InjectionLedger
    from memsim.memory.options import MemoryOptions
    from memsim.memory.permissions import Permissions, Where
    from memsim.memory.recall.search import Recaller
    from memsim.memory.vault import Vault
    from memsim.message import Message


# Core memory: who the agent and its users are, and the rules that always hold.


CoreKind = Literal["identity", "profile", "fact", "rule"]
KINDS: tuple[CoreKind, ...] = ("identity", "rule", "profile", "fact")
"""In the order in which a context shows them."""

_KIND, _ROLE = "kind", "role"


class Core:
    """The core layer of every principal."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def pin(
        self,
        owner: str,
        key: str,
        text: str,
        *,
        now: datetime,
        kind: CoreKind = "fact",
        role: Literal["user", "system"] = "user",
        sources: tuple[str, ...] = (),
        public: bool = False,
    ) -> Entry:
        """Keep a text in every context from now on.

        Under a key that is taken it stands in the place of the text before, among the others too.

        Args:
            owner: whose it is.
            key: the name to unpin it by.
            text: kept byte for byte.
            now: when it is pinned.
            kind: what it is.
            role: who it speaks as: `system` only for what whoever runs the agent wrote, never for
                what was said in a conversation.
            sources: ids of the messages that it came from.
            public: whether it is in everybody's contexts, as an agent's identity is.

        Raises:
            ValueError: the text is blank or cannot be encoded, or the key is empty.
            StoreError: the store failed.
        """
        if not text.strip():
            raise ValueError("what is pinned is blank")
        before = self._vault.own(owner, "core", key)
        entry = Entry(
            key=key,
            text=text,
            owner=owner,
            layer="core",
            category="core",
            created=now if before is None else before.created,
            updated=now,
            pinned=True,
            visibility="public" if public else "private",
            sources=sources,
            attributes=((_KIND, kind), (_ROLE, role)),
        )
        self._vault.put([entry])
        return entry

    def pin_rule(self, message: Message) -> Entry:
        """Pin a system message as a rule, for the principal on whose behalf it was said alone.

        Raises `ValueError` and `StoreError` as `pin`.
        """
        return self.pin(
            message.principal,
            message.id,
            message.text,
            now=message.time,
            kind="rule",
            role="system",
            sources=(message.id,),
        )

    def unpin(self, owner: str, key: str) -> bool:
        """Take a text out of core memory; whether it was there."""
        entry = self._vault.own(owner, "core", key)
        return entry is not None and self._vault.erase([entry.id]) > 0

    def entries(self, principal: str) -> Iterator[Entry]:
        """What a principal's contexts always hold, in the order in which they show it."""
        where = self._vault.where(principal, layers=("core",))
        yield from sorted(self._vault.each(where), key=_order)

    def messages(self, principal: str) -> tuple[Message, ...]:
        """The same as messages, each entry one of its own."""
        return tuple(
            composed(
                "system" if dict(e.attributes).get(_ROLE) == "system" else "user",
                e.text,
                id=f"core:{e.id}",
                quotes=e.sources,
                time=e.updated,
                principal=e.owner,
            )
            for e in self.entries(principal)
        )


def _order(entry: Entry) -> tuple[int, datetime, str]:
    kind = dict(entry.attributes).get(_KIND)
    return KINDS.index(kind) if kind in KINDS else len(KINDS), entry.created, entry.id


NOTES = "Notes for this conversation:"
NOTES_SHARE = 0.125
"""Share of a budget that working memory's notes may take; of longer ones, beginning and end."""

PAGES_SHARE = 0.25
"""Share of a budget that the pages on who the agent is and whom it serves may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is asked for."""

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
        self._history_share = options.history_share

    def compose(self, question: ContextRequest, where: Where) -> Context:
        """The context for a question.

        Raises `BudgetUnsatisfiable` if what is pinned does not fit, or `StoreError` if a page of
        the workspace cannot be read.
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
        history = self._history(question, min(room, int(question.budget * self._history_share)))
        room -= sum(s.tokens for s in history)
        summary = tuple(s for s in history if s.layer == "summary")
        window = tuple(s for s in history if s.layer != "summary")
        if not self._options.recall or self._options.mode == "agent":
            return self._build.context(core, *summary, notes, *window)
        recalled = self._recaller.recall(
            question.text,
            where,
            asker=question.principal,
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
            core,
            *summary,
            recalled.section,
            notes,
            *window,
            ranking=recalled.ranking,
            confidence=recalled.confidence,
        )

    def delivered(self, context: Context, of: Conversation, now: datetime) -> None:
        """Note that a context was sent in a conversation: what was used lasts longer.

        Under `once` the ledger has its recalled items from now on.
        """
        layers = {section.layer: section for section in context.sections}
        self._conversations.touch(of.session, now)
        if "working" in layers:
            self._working.get(of, now)
        if self._options.once and "recalled" in layers:
            for item in layers["recalled"].items:
                claim = self._ledger.claim(of, item, now)
                if claim is not None:
                    self._ledger.mark(claim, now)

    def may_see(self, principal: str, session: str) -> bool:
        """Whether a principal may see the latest messages of a conversation."""
        if not principal:
            return False
        return self._permissions is None or self._permissions.may_follow(principal, session)

    def _history(self, question: ContextRequest, budget: int) -> tuple[Section, ...]:
        current = self._conversations.get(question.session)
        if current is None or not self.may_see(question.principal, question.session):
            return ()
        return current.sections(budget, question.now, question.text)

    def _given(self, question: ContextRequest) -> list[str]:
        if not self._options.once:
            return []
        of = Conversation(question.principal, question.session)
        return self._ledger.injected(of, question.now)

    def _pages(self, question: ContextRequest, budget: int) -> tuple[Section, Sequence[str]]:
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

    def _notes(self, question: ContextRequest, budget: int) -> Section:
        of = Conversation(question.principal, question.session)
        fields = self._working.peek(of, question.now)
        if not fields:
            return self._build.section("working", ())
        text = "\n".join((NOTES, *(_noted(name, value) for name, value in fields.items())))
        message = composed("user", text, id=f"working:{question.session}", time=question.now)
        section = self._build.section("working", (message,))
        if section.tokens <= budget:
            return section
        return clip_messages([message], self._build.counter, budget, "working")


def _noted(name: str, value: JSON) -> str:
    if name == ENTITIES and isinstance(value, list):
        entities = [entity for entity in value if isinstance(entity, dict)]
        if entities and len(entities) == len(value):
            return f"{name}: {describe_entities(entities)}"
    return f"{name}: {value}"


def _shown(page: Page, now: datetime) -> Message:
    # As whoever asks: a page is theirs, and speaks with no more authority than they have.
    length = len(page.text)
    cut = f", the first {length:,} of {length + page.omitted:,} characters" if page.omitted else ""
    text = f"{page.name}{cut}:\n{page.text}"
    return composed("user", text, id=f"workspace:{page.name}", time=now)
