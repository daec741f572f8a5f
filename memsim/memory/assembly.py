"""Puts the parts of a memory together: what each layer, tier and step of a turn stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.context import ContextBuilder
from memsim.memory.acl import Permissions
from memsim.memory.backlog import Backlog
from memsim.memory.composing import Composer
from memsim.memory.conversations import Conversations
from memsim.memory.forgetting import Tiers
from memsim.memory.identity import Identity
from memsim.memory.keeping import Keeping, Part
from memsim.memory.layers.core import Core
from memsim.memory.layers.episodic import Episodic
from memsim.memory.layers.long_term import LongTerm
from memsim.memory.layers.semantic import Semantic
from memsim.memory.layers.workspace import WorkspaceLayer
from memsim.memory.learning import Learner
from memsim.memory.ledger import InjectionLedger
from memsim.memory.offloaded import Offloaded
from memsim.memory.recalling import Recaller
from memsim.memory.session import Session
from memsim.memory.thinning import Thinning
from memsim.memory.timeline import Timeline
from memsim.memory.turns import Turns
from memsim.memory.vault import Vault
from memsim.memory.working import WorkingMemory

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from memsim.memory.compaction.blobs import Blobs
    from memsim.memory.entry import Entry, Layer
    from memsim.memory.happening import Tell
    from memsim.memory.options import MemoryOptions
    from memsim.memory.stores import Store
    from memsim.models import Embedder, Model
    from memsim.tokens import TokenCounter

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
        tell: Tell,
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
        self.backlog = Backlog()
        self.core = Core(self.vault)
        self.episodic = Episodic(self.vault, applied, counter.text)
        self.semantic = Semantic(self.vault, self.timeline.succeed)
        self.long_term = LongTerm(self.vault)
        self.working = working or WorkingMemory()
        self.ledger = ledger or InjectionLedger()
        self.workspace = WorkspaceLayer(self.vault, workspace, now) if workspace else None
        self.offloaded = Offloaded(blobs)
        self.conversations = Conversations(_sessions(counter, options, budget, self.offloaded))
        self.identity = Identity(
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
        self.tiers = Tiers(
            vault=self.vault,
            backlog=self.backlog,
            conversations=self.conversations,
            working=self.working,
            workspace=self.workspace,
        )

    def _keeping(self, counter: TokenCounter) -> Keeping:
        parts: dict[str, Part] = {
            "conversations": self.conversations,
            OFFLOADED: self.offloaded,
            "permissions": self.permissions,
            "working": self.working,
            "ledger": self.ledger,
        }
        if self.workspace is not None:
            parts |= {"workspace": self.workspace, "noted": self.workspace.noted}
        return Keeping(
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
        tell: Tell,
    ) -> Turns:
        return Turns(
            backlog=self.backlog,
            vault=self.vault,
            episodic=self.episodic,
            learner=Learner(model, self.semantic, self.episodic, counter.text, tell),
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
    counter: TokenCounter, options: MemoryOptions, budget: int, offloaded: Offloaded
) -> Callable[[str], Session]:
    """How a conversation of a name begins."""
    room = int(budget * options.window_share)
    thinning = Thinning(
        counter=counter,
        room=room,
        offload=options.offload,
        shorten=options.shorten,
        deduplicate=options.deduplicate,
    )
    return lambda name: Session(
        counter,
        messages=options.window,
        keep=room if options.summary else None,
        limit=int(budget * options.summary_share),
        share=options.summary_share / options.history_share,
        thinning=thinning,
        blobs=offloaded.of(name),
    )
