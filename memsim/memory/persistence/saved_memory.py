"""A memory in a folder, for products: it goes on where it ended, however it ended.

::

    memory.sqlite3   entries, with their words and vectors, unless a store was given for them
    state.json       conversations, summaries, permissions, working memory, ledger, what goes on,
                     of which messages the lines of notes are, and what tells whether the other
                     files are those that it was written beside
    order.txt        ids of entries in the order in which their messages were said
    audit.jsonl      the audit trail
    audit.head       where it ends, so that a part that was cut off it is missed
    offloaded/       large content of conversations: in a folder for each
    workspace/       its pages, where it has some: in a folder for each principal
    memory.lock      the process that has it open

The state is written when a turn ends, before anything is made of what was said and once more when
all is made; before what an agent notes of a turn is written on a page; when something is forgotten
or a permission changes; and by `keep` and `close`. A process that is killed loses what was said in
the turn since then. What it had begun is finished: what was still to be done with messages is done
with the next turn, and what was still to be forgotten, shared or loaded is forgotten, shared or
loaded when the memory is next opened.

Copies of what was damaged, `*.damaged-*`, are kept until something is forgotten: they may hold that
as well, so that all of them are deleted with it.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memsim.atomic_files import WAIT
from memsim.errors import ModelError, StateError, StoreError
from memsim.memory.codec import JSON, canonical, pack, reading
from memsim.memory.events import EventListener, ignore_event
from memsim.memory.history.working import ReadOnlyWorking
from memsim.memory.ingest_queue import IngestQueue
from memsim.memory.memory import Memory
from memsim.memory.parts import OFFLOADED
from memsim.memory.permissions import require_principal
from memsim.memory.persistence.memory_folder import WORKSPACE, MemoryFolder
from memsim.memory.persistence.memory_settings import SavedSettings
from memsim.memory.state import part_of
from memsim.tokens import TokenCounter, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType

    from memsim.context import Context
    from memsim.memory.deletion import ErasureReport
    from memsim.memory.entry import Entry
    from memsim.memory.options import MemoryOptions
    from memsim.memory.permissions import ReadGrant
    from memsim.memory.state import StatePart
    from memsim.memory.stores import Store
    from memsim.message import Message
    from memsim.models import Embedder, Model


_Begun = tuple[str, list[str]]
"""Whose messages something was begun with, and which."""

_SPARE = 1000
"""Ids of entries that are gone which the order keeps before it is written anew."""


class SavedMemory(Memory):
    """A memory in a folder; `open_memory` opens one. Everything that `Memory` does, and kept.

    It is a context manager, and closed at the end of it.
    """

    def __init__(self, home: MemoryFolder, kept: SavedSettings, **parts: Any) -> None:  # noqa: ANN401 - as Memory
        self._home = home
        self._kept = kept.save()
        self._forgetting: _Begun | None = None
        self._applying: _Begun | None = None
        self._loading: JSON = None
        self._erasing = False
        self._written = ""
        self._placed: list[str] = []
        self._order = home.order()
        if home.readonly:
            parts = {**parts, "working": ReadOnlyWorking()}
        super().__init__(**parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._home.folder

    def keep(self) -> None:
        """Write the state, messages of the present turn among it.

        Raises:
            StoreError: it cannot be written; the one before is there still.
        """
        self._home.said(self._placed)
        self._placed.clear()
        state = self._state()
        text = canonical(state)
        if text != self._written:
            self._home.write(state)
            self._written = text

    def observe(self, message: Message) -> None:
        """A message was said; as `Memory.observe`.

        Raises:
            AccessError: as `Memory.observe`.
            ValueError: it holds a text that cannot be encoded; or as `Memory.observe`.
            StoreError: as `Memory.observe`.
        """
        self._change()
        canonical(pack([message]))
        super().observe(message)

    def end_turn(self, principal: str | None = None) -> None:
        """Record what was said, and keep it; as `Memory.end_turn`.

        Where nothing can be written, nothing was said.
        """
        if self._home.readonly:
            return
        self.keep()
        try:
            super().end_turn(principal)
        finally:
            self.keep()

    def delivered(self, context: Context, *, principal: str, session: str | None = None) -> None:
        """That context was really sent; as `Memory.delivered`. Where only looked at, nothing."""
        if not self._home.readonly:
            super().delivered(context, principal=principal, session=session)

    def forget(self, principal: str, sources: Iterable[str]) -> ErasureReport:
        """Erase messages everywhere, the saved state too; as `Memory.forget`.

        Copies of what was damaged go as well, and are counted as `damaged copies`.

        Raises:
            ValueError: a name cannot be encoded: there is nothing of it; nothing has changed.
            StoreError: it could not be finished; it is when the memory is next opened.
        """
        self._change()
        meant = sorted(set(sources))
        canonical([principal, [*meant]])
        self._forgetting = require_principal(principal), meant
        self.keep()
        erased = self._home.without_copies(super().forget(principal, meant))
        self._forgetting = None
        self.keep()
        return erased

    def forget_key(self, owner: str, key: str) -> ErasureReport:
        """Erase what is kept under a key; as `Memory.forget_key`, and copies as `forget`."""
        erased = super().forget_key(owner, key)
        return self._home.without_copies(erased) if erased.entries else erased

    def elapse(self, now: datetime) -> None:
        """Time has passed; as `Memory.elapse`."""
        self._change()
        try:
            super().elapse(now)
            self._erasing = False
        finally:
            self.keep()

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Let a reader see some messages; as `Memory.share`.

        Raises:
            StoreError: as `forget`; where nothing of it could be written, nothing changes.
        """
        self._change()
        meant = sorted(set(sources))
        with self._changing(owner, meant):
            self.permissions.share(require_principal(owner), require_principal(reader), meant)
        super().share(owner, reader, meant)
        self._applied()

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Take it back; as `Memory.unshare`.

        Raises:
            StoreError: as `share`.
        """
        self._change()
        meant = sorted(set(sources))
        with self._changing(owner, meant):
            self.permissions.unshare(require_principal(owner), require_principal(reader), meant)
        super().unshare(owner, reader, meant)
        self._applied()

    def grant(self, grant: ReadGrant) -> None:
        """Let a reader see a category, or all; as `Memory.grant`.

        Raises:
            StoreError: it could not be written, and nothing changes.
        """
        with self._permitting():
            super().grant(grant)

    def revoke(self, grant: ReadGrant) -> None:
        """Take it back; as `Memory.revoke`."""
        super().revoke(grant)
        self.keep()

    def load(self, saved: Any) -> None:  # noqa: ANN401 - as Memory
        """Take over what `save` gave, in place of the present memory; the audit trail goes on.

        Raises:
            StateError: as `Memory.load`; nothing has changed.
            StoreError: as `Memory.load`.
            ModelError: as `Memory.load`.
        """
        self._change()
        try:
            self._take_over(saved)
        except (StateError, StoreError, ModelError):
            if self._loading is not None:
                self._loading = None
                self.keep()
            raise

    def close(self) -> None:
        """Do what is left to do, keep it, and release the folder; a second call does nothing.

        Raises:
            StoreError: as `Memory.close`; the folder is released all the same.
            ModelError: as `Memory.close`.
        """
        if self._home.closed:
            return
        try:
            self.end_turn()
        finally:
            self.vault.close()
            self._home.close()

    def _change(self) -> None:
        self._home.check_open()

    def _begin(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        # Of a process that is killed on the way, the entries would be others than the state's.
        self._loading = saved
        try:
            self.keep()
        except BaseException:
            self._loading = None
            raise

    def _take_over(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        own = self.audit
        super().load(saved)
        self.audit, self._loading = own, None
        self._home.reorder(self._timeline.order(), self.keep)
        self.keep()

    @contextmanager
    def _permitting(self) -> Iterator[None]:
        """Have permissions stay as they were where they cannot be written."""
        before = self.permissions.save()
        try:
            yield
            self.keep()
        except BaseException:
            self.permissions.load(before)
            raise

    @contextmanager
    def _changing(self, owner: str, sources: list[str]) -> Iterator[None]:
        """Have a permission written before entries follow it, so that they always can."""
        self._applying = owner, sources
        try:
            with self._permitting():
                yield
        except BaseException:
            self._applying = None
            raise

    def _applied(self) -> None:
        self._applying = None
        self.keep()

    def _parts(self) -> list[tuple[str, StatePart]]:
        """What the state holds beside the entries: the others are files already."""
        parts = self._keeping.parts.items()
        return [(name, part) for name, part in parts if name not in {OFFLOADED, WORKSPACE}]

    def _state(self) -> dict[str, JSON]:
        head = self.audit.head()
        return {
            "kept": self._kept,
            "backlog": self._backlog.save(),
            "forgetting": _saved(self._forgetting),
            "applying": _saved(self._applying),
            "loading": self._loading,
            **{name: part.save() for name, part in self._parts()},
            **self._home.marks(held=self._holds()),
            "audit": {
                "salt": self.audit.salt.hex(),
                "number": head.number,
                "hash": head.hash,
                "apart": True,
            },
        }

    def _holds(self) -> bool:
        """Whether the store is known to hold messages, whatever becomes of the process next."""
        going = self._erasing or self._forgetting is not None or self._loading is not None
        return len(self._timeline) > 0 and not going

    def _resume(self, state: Any) -> None:  # noqa: ANN401 - what was read may be anything
        with reading("it is not the state of a memory"):
            parts = [(part, part_of(state, name)) for name, part in self._parts()]
            backlog, loading = IngestQueue.load(state["backlog"]), state.get("loading")
            forgetting, applying = _begun(state["forgetting"]), _begun(state.get("applying"))
            was_open = self.options.acl and not SavedSettings.load(state["kept"]).options.acl
        self._home.recognise(empty=len(self._timeline) == 0)
        if loading is not None and self._home.readonly:
            said = "another memory was being loaded into it: open it once to finish that"
            raise StateError(f"{self.folder}: {said}")
        for part, saved in parts:
            part.load(saved)
        if self._home.readonly:
            return
        self.conversations.tidy()
        self._home.tidy([name for name, _ in self.conversations])
        self._written = canonical(state)
        self._backlog.take_over(backlog)
        if was_open:
            self._close_to_others()
        if loading is not None:
            self._take_over(loading)
        else:
            self._finish(forgetting, applying)
        if was_open:
            self._close_to_others()
            self.keep()
            with suppress(StoreError, ModelError):  # the end of the turn tells of it
                self._turns.admit()

    def _finish(self, forgetting: _Begun | None, applying: _Begun | None) -> None:
        """Do what a process that was killed had begun; until it is done, it stays on record."""
        self._forgetting, self._applying = forgetting, applying
        if applying is not None:
            owner, shared = applying
            self._reapply(owner, frozenset(shared))
            self._applied()
        if forgetting is not None:
            self.forget(*forgetting)
        if len(self._order) > 2 * len(self._timeline.order()) + _SPARE:
            self._home.reorder(self._timeline.order(), self.keep)
            self.keep()

    def _close_to_others(self) -> None:
        """Access control is new: who took part in a conversation is still to be let read it."""
        self._backlog.joined.update(dict.fromkeys(self.permissions.conversations()))

    def _follow(self, principals: Iterable[str]) -> None:
        if not self._home.readonly:
            super()._follow(principals)

    def _restore(self, order: Mapping[str, int]) -> None:
        super()._restore(order or self._order)
        self._placed.clear()

    def _settle(self) -> None:
        self._erasing = True
        # Once their entries are gone, nothing leads to what else is kept of them.
        self.keep()

    def _sourced(self) -> None:
        self.keep()

    def _place(self, entry: Entry) -> None:
        super()._place(entry)
        self._placed.append(entry.id)


def open_memory(
    folder: Path | str,
    *,
    now: Callable[[], datetime],
    model: Model | None = None,
    embedder: Embedder | str | None = None,
    tokenizer: str | None = None,
    options: MemoryOptions | None = None,
    budget: int = 4096,
    workspace: bool = False,
    tell: EventListener = ignore_event,
    wait: float = WAIT,
    readonly: bool = False,
    store: Store | None = None,
) -> SavedMemory:
    """The memory in a folder, as it ended; a new one where there is no folder or it is empty.

    Args:
        folder: where it is. One process has it open at a time, and any number read it.
        now: the present; the memory has no clock of its own.
        model: extracts facts and summarises; the offline model unless told otherwise.
        embedder: it, or its ref; loaded on first use. That which it was saved with, unless told
            otherwise: `wordllama` for a new one. With another one, entries are embedded anew.
        tokenizer: as `embedder`; `o200k_base` for a new one.
        options: its parts and their sizes. Those that it was saved with, unless told otherwise:
            the usual ones for a new one. What was saved with a summary, without one, or with
            access control is opened so.
        budget: tokens that a context usually has.
        workspace: whether it has pages, as `Memory` says, in its folder `workspace`. It has where
            agents have tools, and once it had.
        tell: takes what the memory does of its own accord.
        wait: seconds to wait for another process that has it open.
        readonly: whether it is only looked into, which waits for nobody: what would change it is
            then a `StoreError`. A turn that others have not finished recording is not seen.
        store: where its entries are kept in place of the folder's own file; all else stays in the
            folder, of which it is no part. It is this memory's alone, given anew at each opening,
            and left open: whoever opened it closes it. Of a SQLite store it is known whose it is,
            and whether it is older than the state, as of the folder's own file. Of others it is
            known what kind they are, and that one that holds no message at all is not the one that
            held some: whether what it took lasted is for the store to answer for.

    Raises:
        StateError: the folder holds something else, or was saved with other options; or the state,
            the order or the audit trail is damaged or missing. Of what is damaged, a copy is kept
            beside it. Or its entries are in a store that was not given, or in its own file and one
            was given; or a new one is begun with a store that is not empty.
        StoreError: another process has it open, or the entries are damaged or missing, older than
            the state, or another memory's.
        RefError: a ref names no embedder or tokenizer.
    """
    home = MemoryFolder(Path(folder), readonly=readonly, lent=store)
    try:
        home.hold(wait)
        state = home.read()
        known = SavedSettings() if state is None else SavedSettings.load(_part(state, "kept"))
        chosen = options or known.options
        if state is not None:
            home.compare(chosen, known)
        kept = SavedSettings(
            embedder=_named(embedder) or known.embedder,
            tokenizer=tokenizer or known.tokenizer,
            options=chosen,
            workspace=workspace or known.workspace or chosen.mode != "framework",
        )
        counter = TokenCounter(load_tokenizer(kept.tokenizer))
        memory = SavedMemory(
            home,
            kept,
            store=home.store(new=state is None),
            model=model or _offline(kept.tokenizer),
            counter=counter,
            embed=_embed(embedder or kept.embedder, known=embedder is None),
            now=now,
            options=chosen,
            budget=budget,
            audit=home.audit(state),
            workspace=home.folder / WORKSPACE if kept.workspace else None,
            blobs=home.blobs,
            tell=tell,
        )
    except BaseException:
        home.close()
        raise
    try:
        if state is not None:
            memory._resume(state)  # noqa: SLF001 - of this module
        else:
            memory.keep()
    except BaseException:
        memory.vault.close()
        home.close()
        raise
    return memory


def _begun(saved: Any) -> _Begun | None:  # noqa: ANN401 - what was read may be anything
    if saved is None:
        return None
    principal, sources = saved
    return principal, [*sources]


def _saved(begun: _Begun | None) -> JSON:
    return None if begun is None else [begun[0], [*begun[1]]]


def _part(state: Any, name: str) -> Any:  # noqa: ANN401 - what was read may be anything
    with reading("it is not the state of a memory"):
        return state[name]


def _named(embedder: Embedder | str | None) -> str:
    if embedder is None or isinstance(embedder, str):
        return embedder or ""
    return embedder.name


def _embed(embedder: Embedder | str, *, known: bool) -> Callable[[], Embedder]:
    if not isinstance(embedder, str):
        return lambda: embedder
    if not known:
        from memsim.models.model_ref import read_embedder

        read_embedder(embedder)

    def load() -> Embedder:
        from memsim.models.registry import load_embedder

        return load_embedder(embedder)

    return load


def _offline(tokenizer: str) -> Model:
    from memsim.models.registry import load_model

    return load_model("offline", tokenizer)
