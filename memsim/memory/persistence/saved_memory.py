"""A memory in a folder, for products: it goes on where it ended, however it ended.

::

    memory.sqlite3   everything: entries with their words and vectors, conversations, summaries,
                     permissions, working memory, ledger, order, audit trail, large content
    workspace/       its pages, where it has some: in a folder for each principal
    memory.lock      the process that has it open

With a store given, the entries are in that store and everything else is in the file.

A turn, a forgetting, a permission, a load is one transaction: a process that is killed leaves the
state before it or the state after it. What was said in a turn is saved when the turn ends, before
anything is made of it, and what is made of it is one transaction. A process that is killed loses
what was said since the last turn ended; what it had said and not recorded yet is recorded with the
next turn.

Pages and another store are no part of the file. The file says what was begun with them, and that is
finished when the memory is next opened.

Copies of a damaged file, `memory.sqlite3.damaged-*`, are deleted when something is forgotten, as
they may hold that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memsim.context import Context
from memsim.errors import EXPECTED_ERRORS, Attempts, ModelError, StateError, StoreError
from memsim.memory.codec import JSON, canonical, pack, parse, reading
from memsim.memory.deletion import ErasureReport
from memsim.memory.entry import Entry
from memsim.memory.ingest_queue import IngestQueue
from memsim.memory.memory import Memory
from memsim.memory.parts import OFFLOADED, MemorySetup
from memsim.memory.permissions import ReadGrant, Where, require_principal
from memsim.memory.persistence.memory_file import WORKSPACE, MemoryFile
from memsim.memory.persistence.memory_settings import SavedSettings
from memsim.memory.persistence.outline_codec import OutlineCodec
from memsim.memory.persistence.saved_owners import MOST, SavedOwners
from memsim.memory.state import StatePart, part_of
from memsim.message import Message

_MESSAGES = Where(
    reader=None,
    layers=frozenset({"episodic"}),
    categories=frozenset({"conversation"}),
    archived=None,
)
"""All messages."""


class SavedMemory(Memory):
    """A memory in a folder; `open_memory` opens one. Everything that `Memory` does, and saved.

    It is a context manager, and closed at the end of it.
    """

    def __init__(self, file: MemoryFile, settings: SavedSettings, setup: MemorySetup) -> None:
        self._file = file
        self._settings = settings.save()
        self._begun: dict[str, JSON] = {}
        self._erasing = False
        self._stale = False
        self._written: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._placed: list[str] = []
        self._owners: SavedOwners | None = None
        self._setup = setup
        super().__init__(setup)

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
        return self._file.folder

    def keep(self) -> None:
        """Write the state, messages of the present turn among it.

        Raises `StoreError` if it cannot be written; the one before is there still.
        """
        self._change()
        self._save()
        self._saved()

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
        """Record what was said, and save it; as `Memory.end_turn`.

        The messages are saved before anything is made of them. All that is made of them is saved in
        one transaction. Where nothing can be written, nothing was said.
        """
        if not self._file.readonly:
            self._attempt(partial(super().end_turn, principal))

    def delivered(self, context: Context, *, principal: str, session: str | None = None) -> None:
        """That context was really sent: as `Memory.delivered`; nothing where it is only read."""
        if not self._file.readonly:
            super().delivered(context, principal=principal, session=session)

    def forget(self, principal: str, sources: Iterable[str]) -> ErasureReport:
        """Erase messages everywhere, the saved state too; as `Memory.forget`.

        Copies of a damaged file go as well, and are counted as `damaged copies`.

        Raises:
            ValueError: a name cannot be encoded: there is nothing of it; nothing has changed.
            StoreError: nothing has changed. Where entries are in another store, or there are pages,
                what is left is erased when the memory is next opened.
        """
        self._change()
        meant = sorted(set(sources))
        begun: JSON = [require_principal(principal), [*meant]]
        canonical(begun)
        with self._together("forgetting", begun):
            erased = super().forget(principal, meant)
            self._file.erased()
        return self._file.without_copies(erased)

    def forget_key(self, owner: str, key: str) -> ErasureReport:
        """Erase an entry by its key; as `Memory.forget_key`, and copies as `forget`."""
        with self._together():
            erased = super().forget_key(owner, key)
            if erased.entries:
                self._file.erased()
        return self._file.without_copies(erased) if erased.entries else erased

    def elapse(self, now: datetime) -> None:
        """Time has passed; as `Memory.elapse`."""
        self._attempt(partial(super().elapse, now))
        self._erasing = False
        self.keep()

    def share(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Let a reader see some messages; as `Memory.share`. Raises `StoreError` as `forget`."""
        self._change()
        meant = sorted(set(sources))
        with self._together("applying", [owner, [*meant]]):
            super().share(owner, reader, meant)

    def unshare(self, owner: str, reader: str, sources: Iterable[str]) -> None:
        """Take it back; as `Memory.unshare`. Raises `StoreError` as `share`."""
        self._change()
        meant = sorted(set(sources))
        with self._together("applying", [owner, [*meant]]):
            super().unshare(owner, reader, meant)

    def grant(self, grant: ReadGrant) -> None:
        """Let a reader see a category, or all; as `Memory.grant`.

        Raises `StoreError` if it could not be written, and nothing changes.
        """
        with self._together():
            super().grant(grant)

    def revoke(self, grant: ReadGrant) -> None:
        """Take it back; as `Memory.revoke`."""
        with self._together():
            super().revoke(grant)

    def load(self, saved: Any) -> None:  # noqa: ANN401 - as Memory
        """Take over what `save` gave, in place of the present memory; the audit trail goes on.

        Raises:
            StateError: as `Memory.load`; nothing has changed.
            StoreError: as `Memory.load`.
            ModelError: as `Memory.load`.
        """
        try:
            self._take_over(saved)
        except (StateError, StoreError, ModelError):
            if self._begun.pop("loading", None) is not None:
                self.keep()
            raise

    def close(self) -> None:
        """Do what is left to do, save it, and release the folder; a second call does nothing.

        Raises `StoreError` as `Memory.close`; the folder is released all the same. Raises
        `ModelError` as `Memory.close`.
        """
        if self._file.closed:
            return
        try:
            self.end_turn()
        finally:
            self.vault.close()
            self._file.close()

    # -- one transaction for each change

    @contextmanager
    def _together(self, name: str = "", begun: JSON = None) -> Iterator[None]:
        """Write all that changes inside in one transaction; what fails changes nothing.

        Entries in another store, and pages, are no part of the file. Where there are some, the file
        says what was begun until it is done.
        """
        self._change()
        if self._owners is not None:
            self._owners.release_above(MOST)
        before = dict(self._begun)
        if begun is not None and self._has_others():
            self._begun[name] = begun
        try:
            self.keep()
        except BaseException:
            self._begun = before
            raise
        try:
            with self._file.transaction():
                yield
                self._begun.pop(name, None)
                self._save()
        except BaseException as error:
            self._undo()
            if isinstance(error, Exception):
                with suppress(*EXPECTED_ERRORS):
                    self._refresh()
            raise
        self._saved()
        self._file.scrub()

    def _attempt(self, work: Callable[[], object]) -> None:
        """Write what came of some work, though a step of it failed."""
        attempts = Attempts()
        try:
            with self._together():
                attempts.attempt(work)
        except StoreError:
            attempts.end()
            raise
        attempts.end()

    def _save(self) -> None:
        """Write what has changed of the state, as part of a transaction if there is one."""
        texts = {name: canonical(value) for name, value in self._state().items()}
        changed = {n: text for n, text in texts.items() if self._written.get(n) != text}
        if changed or self._placed:
            self._file.write(changed, self._placed)
        self._texts = texts

    def _saved(self) -> None:
        """What `_save` wrote is on disk."""
        self._written = self._texts
        self._placed.clear()

    def _checkpoint(self) -> None:
        """Make last what a transaction did so far, where something beside the file follows it."""
        if self._has_others():
            self._save()
            self._file.sqlite.commit()
            self._saved()
            self._file.sqlite.go_on()

    def _undo(self) -> None:
        """Have every part as it is on disk, where a transaction failed; nothing is read for it."""
        self._stale = True
        self._placed.clear()
        self._load_parts()

    def _refresh(self) -> None:
        """Read anew what follows from the entries, where a transaction failed.

        Raises `StoreError` if they cannot be read.
        """
        if not self._stale:
            return
        before = dict(self.__dict__)
        try:
            super().__init__(self._setup)
            self._load_parts()
        except BaseException:
            self.__dict__.update(before)
            raise
        self._stale = False

    def _load_parts(self) -> None:
        for name, part in self._parts():
            part.load(parse(self._written[name]))
        self._backlog.take_over(IngestQueue.load(parse(self._written["backlog"])))
        self._begun = parse(self._written["begun"])

    def _take_over(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        own = self.audit
        with self._together("loading"):
            try:
                super().load(saved)
            finally:
                self.audit = own
            self._file.reorder(self._timeline.order())
            self._file.erased()

    def _has_others(self) -> bool:
        """Whether a change of the memory changes something beside its file."""
        return self._file.elsewhere is not None or self.workspace is not None

    # -- the state

    def _parts(self) -> list[tuple[str, StatePart]]:
        """What the state holds beside entries, large content and pages."""
        parts = self._keeping.parts.items()
        return [(name, part) for name, part in parts if name not in {OFFLOADED, WORKSPACE}]

    def _state(self) -> dict[str, JSON]:
        return {
            "settings": self._settings,
            "backlog": self._backlog.save(),
            "begun": self._begun,
            "store": self._file.marks(held=self._holds()),
            "audit": {"salt": self.audit.salt.hex()},
            **{name: part.save() for name, part in self._parts()},
        }

    def _holds(self) -> bool:
        """Whether the store is known to hold messages, whatever becomes of the process next."""
        going = self._erasing or not self._begun.keys().isdisjoint({"forgetting", "loading"})
        return len(self._timeline) > 0 and not going

    def _begin_new(self) -> None:
        with self._file.transaction():
            self._file.begin()
            self._save()
        self._saved()

    def _resume(self, state: Any) -> None:  # noqa: ANN401 - what was read may be anything
        with reading("it is not the state of a memory"):
            parts = [(part, part_of(state, name)) for name, part in self._parts()]
            backlog, begun = IngestQueue.load(state["backlog"]), dict(state["begun"])
            was_open = self.options.acl and not SavedSettings.load(state["settings"]).options.acl
        self._file.recognise(empty=len(self._timeline) == 0)
        if "loading" in begun and self._file.readonly:
            said = "another memory was being loaded into it: open it once to finish that"
            raise StateError(f"{self.folder}: {said}")
        for part, saved in parts:
            if part is self.conversations:
                self.conversations.load_late(saved)
            else:
                part.load(saved)
        if self._file.readonly:
            return
        self._tidy()
        self._written = {name: self._file.texts[name] for name in state}
        self._backlog.take_over(backlog)
        self._begun = begun
        if was_open:
            self._close_to_others()
        self._finish(begun)
        if was_open:
            self._close_to_others()
            self.keep()
            with suppress(StoreError, ModelError):  # the end of the turn tells of it
                self._turns.admit()

    def _tidy(self) -> None:
        """Remove what was offloaded and belongs to no message, as a killed process may leave it."""
        there = self._file.offloaded()
        if not there:
            return
        self.conversations.tidy()
        self._file.tidy(self.conversations.names())
        if self._file.offloaded() < there:
            self._file.erased()
            self._file.scrub()

    def _finish(self, begun: dict[str, Any]) -> None:
        """Do what a process that was killed had begun; until it is done, it stays on record."""
        if "loading" in begun:
            self._take_over(begun["loading"])
            return
        if "applying" in begun:
            owner, shared = begun["applying"]
            with self._together("applying"):
                self._reapply(owner, frozenset(shared))
        if "forgetting" in begun:
            self.forget(*begun["forgetting"])
        self._file.prune(self.vault.store.count(_MESSAGES), self._timeline.order)

    def _close_to_others(self) -> None:
        """Access control is new: who took part in a conversation is still to be let read it."""
        self._backlog.joined.update(dict.fromkeys(self.permissions.conversations()))

    # -- hooks of `Memory`

    def _change(self) -> None:
        self._file.check_open()
        self._refresh()

    def _begin(self, saved: Any) -> None:  # noqa: ANN401 - as `load`
        if self._has_others():
            self._begun["loading"] = saved
            self._checkpoint()

    def _follow(self, principals: Iterable[str]) -> None:
        if not self._file.readonly:
            super()._follow(principals)

    def _restore(self, order: Mapping[str, int]) -> None:
        self._owners = None
        self._timeline.source_of_rest = None
        if order or self._file.elsewhere is not None:
            super()._restore(order or self._file.order())
        else:
            outlines = OutlineCodec(self._keeping.counter, self._file.sqlite.analysis)
            self._file.sqlite.outline = outlines.write
            self._owners = SavedOwners(self._file, self._keeping, self.permissions, outlines)
            self._timeline.source_of_rest = self._owners
        self._placed.clear()

    def _settle(self) -> None:
        self._erasing = True
        self._file.erased()
        # Once their entries are gone, nothing leads to what else is kept of them.
        self._checkpoint()

    def _sourced(self) -> None:
        self.keep()

    def _place(self, entry: Entry) -> None:
        super()._place(entry)
        self._placed.append(entry.id)
