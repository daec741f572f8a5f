"""Puts the parts of a memory together: what each layer, tier and step of a turn stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.context import ContextBuilder
from memsim.memory.compaction.blobs import ConversationBlobs
from memsim.memory.compose import Composer, Core
from memsim.memory.deletion import Deletion
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
from memsim.memory.permissions import Permissions
from memsim.memory.recall.search import Recaller
from memsim.memory.recall.timeline import Timeline
from memsim.memory.state import MemoryState, StatePart
from memsim.memory.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.entry import Entry, Layer
    from memsim.memory.events import EventListener
    from memsim.memory.options import MemoryOptions
    from memsim.memory.stores import Store
    from memsim.message import TokenCounter
    from memsim.models import Embedder, Model

OFFLOADED = "offloaded"
"""As what offloaded content is saved."""

SEARCHED: tuple[Layer, ...] = ("episodic", "long_term", "workspace")
"""The layers that a question is put to."""


class Parts:
    """What a memory is made of; of one store, one timeline and one set of permissions.

    Args: as `Memory` is given them, but for
        now: the present, in UTC.
        place: takes an entry that was recorded.

    Raises:
        SchemaError: the store was written by a newer memsim.
        StoreError: the store cannot be read.
    """

    def __init__(
        self,
        store: Store,
        *,
        model: Model,
        counter: TokenCounter,
        embed: Callable[[], Embedder],
        options: MemoryOptions,
        working: WorkingMemory | None,
        ledger: InjectionLedger | None,
        workspace: Path | None,
        blobs: Callable[[str], Blobs] | None,
        budget: int,
        now: Callable[[], datetime],
        place: Callable[[Entry], None],
        tell: EventListener,
    ) -> None:
        self.permissions = Permissions()
        self._applied = applied = self.permissions if options.acl else None
        self.vault = Vault(
            store,
            embed=embed if options.vectors else None,
            permissions=applied,
            embedded=SEARCHED,
        )
        self.timeline = Timeline()
        self.backlog = IngestQueue()
        self.core = Core(self.vault)
        self.episodic = Episodic(self.vault, applied, counter.text)
        self.semantic = Semantic(self.vault, self.timeline.succeed)
        self.long_term = LongTerm(self.vault)
        self.working = working or WorkingMemory()
        self.ledger = ledger or InjectionLedger()
        self.workspace = WorkspaceLayer(self.vault, workspace, now) if workspace else None
        self.offloaded = ConversationBlobs(blobs)
        self.conversations = Conversations(_sessions(counter, options, budget, self.offloaded))
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
        self.turns = self._turns(model, counter, options, place, tell)
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

    def _turns(
        self,
        model: Model,
        counter: TokenCounter,
        options: MemoryOptions,
        place: Callable[[Entry], None],
        tell: EventListener,
    ) -> TurnProcessor:
        return TurnProcessor(
            backlog=self.backlog,
            vault=self.vault,
            episodic=self.episodic,
            learner=FactExtractor(model, self.semantic, self.episodic, counter.text, tell),
            timeline=self.timeline,
            conversations=self.conversations,
            working=self.working,
            permissions=self._applied,
            options=options,
            model=model,
            place=place,
            tell=tell,
        )


def _sessions(
    counter: TokenCounter, options: MemoryOptions, budget: int, offloaded: ConversationBlobs
) -> Callable[[str], SessionHistory]:
    """How a conversation of a name begins."""
    room = int(budget * options.window_share)
    thinning = Shortener(
        counter=counter,
        room=room,
        offload=options.offload,
        shorten=options.shorten,
        deduplicate=options.deduplicate,
    )
    return lambda name: SessionHistory(
        counter,
        messages=options.window,
        keep=room if options.summary else None,
        limit=int(budget * options.summary_share),
        share=options.summary_share / options.history_share,
        thinning=thinning,
        blobs=offloaded.of(name),
    )
