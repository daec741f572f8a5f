"""Puts the parts of a memory together: what each layer, tier and step of a turn stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memsim.context import ContextBuilder
from memsim.memory.audit import AuditTrail
from memsim.memory.compaction.blobs import Blobs, ConversationBlobs
from memsim.memory.compose import Composer, Core
from memsim.memory.deletion import Deletion
from memsim.memory.entry import Entry, Layer
from memsim.memory.events import EventListener, ignore_event
from memsim.memory.fact_extraction import FactExtractor
from memsim.memory.history.conversations import Conversations, SessionHistory
from memsim.memory.history.shorten import Shortener
from memsim.memory.history.working_memory import WorkingMemory
from memsim.memory.ingest_queue import IngestQueue, MessageIdentity, TurnProcessor
from memsim.memory.layers.episodic import Episodic
from memsim.memory.layers.long_term import LongTerm
from memsim.memory.layers.semantic import Semantic
from memsim.memory.layers.workspace import WorkspaceLayer
from memsim.memory.ledger import InjectionLedger
from memsim.memory.options import MemoryOptions
from memsim.memory.permissions import Permissions
from memsim.memory.recall.search import Recaller
from memsim.memory.recall.timeline import Timeline
from memsim.memory.state import MemoryState, StatePart
from memsim.memory.stores import Store
from memsim.memory.vault import Vault
from memsim.message import TokenCounter
from memsim.models import Embedder, Model

OFFLOADED = "offloaded"
"""As what offloaded content is saved."""

SEARCHED: tuple[Layer, ...] = ("episodic", "long_term", "workspace")
"""The layers that a question is put to."""

EMBEDDED: tuple[Layer, ...] = (*SEARCHED, "semantic")
"""The layers that are searched by meaning: a fact leads to the message that states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySetup:
    """What a memory is opened with.

    Attributes:
        store: where entries are kept.
        model: extracts facts and summarises.
        counter: token counts.
        embed: gives the embedder, on first use.
        now: the present, in UTC.
        options: its parts and their sizes.
        working: the working layer; in this process by default.
        ledger: the injection ledger; in this process by default.
        audit: the audit trail; in this process by default.
        workspace: the folder of the workspace layer; None for none. What is written through
            `workspace` and by `note` is found at once. What others write in its files is found from
            the next message, search or end of a turn on. Every context of a principal shows what
            fits of their IDENTITY.md, SOUL.md and USER.md.
        blobs: gives, by the name of a conversation, where what is offloaded from it goes; in this
            process by default.
        budget: tokens that a context usually has; the sizes of summaries follow from it.
        tell: takes the events of what the memory does on its own.
    """

    store: Store
    model: Model
    counter: TokenCounter
    embed: Callable[[], Embedder]
    now: Callable[[], datetime]
    options: MemoryOptions = field(default_factory=MemoryOptions)
    working: WorkingMemory = field(default_factory=WorkingMemory)
    ledger: InjectionLedger = field(default_factory=InjectionLedger)
    audit: AuditTrail = field(default_factory=AuditTrail)
    workspace: Path | None = None
    blobs: Callable[[str], Blobs] | None = None
    budget: int = 4096
    tell: EventListener = ignore_event


class Parts:
    """What a memory is made of; of one store, one timeline and one set of permissions.

    Raises `SchemaError` if the store was written by another memsim, or `StoreError` if the store
    cannot be read.
    """

    def __init__(self, setup: MemorySetup, place: Callable[[Entry], None]) -> None:
        counter, options = setup.counter, setup.options
        self.permissions = Permissions()
        self._applied = applied = self.permissions if options.acl else None
        self.vault = Vault(
            setup.store,
            embed=setup.embed if options.vectors else None,
            permissions=applied,
            embedded=EMBEDDED,
        )
        self.timeline = Timeline()
        self.backlog = IngestQueue()
        self.core = Core(self.vault)
        self.episodic = Episodic(self.vault, applied, counter.text)
        self.semantic = Semantic(self.vault, self.timeline)
        self.long_term = LongTerm(self.vault)
        self.working, self.ledger = setup.working, setup.ledger
        pages = setup.workspace
        self.workspace = WorkspaceLayer(self.vault, pages, setup.now) if pages else None
        self.offloaded = ConversationBlobs(setup.blobs)
        self.conversations = Conversations(_sessions(setup, self.offloaded))
        self.identity = MessageIdentity(
            backlog=self.backlog,
            timeline=self.timeline,
            conversations=self.conversations,
            episodic=self.episodic,
            vault=self.vault,
        )
        self.keeping = self._keeping(counter)
        self.recaller = Recaller(
            self.vault, self.timeline, counter, permissions=applied, options=options
        )
        self.composer = self._composer(counter, options)
        self.turns = self._turns(setup, place)
        self.deletion = Deletion(
            vault=self.vault,
            permissions=self.permissions,
            backlog=self.backlog,
            timeline=self.timeline,
            conversations=self.conversations,
            working=self.working,
            ledger=self.ledger,
            semantic=self.semantic,
            workspace=self.workspace,
            concludes=options.concludes,
        )

    def _keeping(self, counter: TokenCounter) -> MemoryState:
        parts: dict[str, StatePart] = {
            "conversations": self.conversations,
            OFFLOADED: self.offloaded,
            "permissions": self.permissions,
            "working": self.working,
            "ledger": self.ledger,
        }
        if self.workspace is not None:
            parts |= {"workspace": self.workspace, "noted": self.workspace.noted}
        return MemoryState(
            vault=self.vault,
            timeline=self.timeline,
            semantic=self.semantic,
            backlog=self.backlog,
            parts=parts,
            counter=counter,
        )

    def _composer(self, counter: TokenCounter, options: MemoryOptions) -> Composer:
        return Composer(
            ContextBuilder(counter),
            core=self.core,
            conversations=self.conversations,
            working=self.working,
            recaller=self.recaller,
            ledger=self.ledger,
            workspace=self.workspace,
            permissions=self._applied,
            options=options,
        )

    def _turns(self, setup: MemorySetup, place: Callable[[Entry], None]) -> TurnProcessor:
        count, tell = setup.counter.text, setup.tell
        return TurnProcessor(
            backlog=self.backlog,
            vault=self.vault,
            episodic=self.episodic,
            learner=FactExtractor(setup.model, self.semantic, self.episodic, count, tell),
            timeline=self.timeline,
            conversations=self.conversations,
            working=self.working,
            permissions=self._applied,
            options=setup.options,
            model=setup.model,
            place=place,
            tell=tell,
        )


def _sessions(setup: MemorySetup, offloaded: ConversationBlobs) -> Callable[[str], SessionHistory]:
    """How a conversation of a name begins."""
    options, counter = setup.options, setup.counter
    room = int(setup.budget * options.window_share)
    thinning = Shortener(counter=counter, room=room, options=options)
    return lambda name: SessionHistory(
        counter,
        messages=options.window,
        keep=room if options.summary else None,
        limit=int(setup.budget * options.summary_share),
        share=options.summary_share / options.history_share,
        thinning=thinning,
        blobs=offloaded.of(name),
        references=options.mode != "framework",
    )
