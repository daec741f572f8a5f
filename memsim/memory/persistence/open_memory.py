"""Open the memory of a folder, or begin a new one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memsim.atomic_files import WAIT
from memsim.errors import StateError
from memsim.memory.codec import reading
from memsim.memory.events import EventListener, ignore_event
from memsim.memory.history.working_memory import ReadOnlyWorkingMemory, WorkingMemory
from memsim.memory.options import MemoryOptions
from memsim.memory.parts import MemorySetup
from memsim.memory.persistence.audit_lines import open_trail
from memsim.memory.persistence.memory_file import WORKSPACE, MemoryFile
from memsim.memory.persistence.memory_settings import SavedSettings
from memsim.memory.persistence.saved_memory import SavedMemory
from memsim.memory.stores import Store
from memsim.message import TokenCounter, load_tokenizer
from memsim.models import Embedder, Model


def machine_time() -> datetime:
    """The present by the clock of this machine; a replay has its own clock instead."""
    return datetime.now(UTC)


def open_memory(
    folder: Path | str,
    *,
    now: Callable[[], datetime] = machine_time,
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
        now: the present, by the clock of this machine unless told otherwise.
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
    file = MemoryFile(Path(folder), readonly=readonly, elsewhere=store)
    try:
        state = file.open(wait)
        known = SavedSettings() if state is None else SavedSettings.load(_part(state, "settings"))
        chosen = options or known.options
        if state is not None:
            _compare(chosen, known.options, file.folder)
        settings = SavedSettings(
            embedder=_named(embedder) or known.embedder,
            tokenizer=tokenizer or known.tokenizer,
            options=chosen,
            workspace=workspace or known.workspace or chosen.mode != "framework",
        )
        embed = _embed(embedder or settings.embedder, known=embedder is None)
        counter = TokenCounter(load_tokenizer(settings.tokenizer))
        # A reader sees one state, and a writer is the only one.
        with file.sqlite.snapshot() if readonly else nullcontext():
            state = file.state() if readonly else state
            setup = MemorySetup(
                store=file.store(),
                model=model or _offline(settings.tokenizer),
                counter=counter,
                embed=embed,
                now=now,
                options=chosen,
                working=ReadOnlyWorkingMemory() if readonly else WorkingMemory(),
                budget=budget,
                audit=open_trail(file, _salt(state)),
                workspace=file.folder / WORKSPACE if settings.workspace else None,
                blobs=file.blobs,
                tell=tell,
            )
            memory = SavedMemory(file, settings, setup)
            if state is not None:
                memory._resume(state)  # noqa: SLF001 - of this package
            else:
                memory._begin_new()  # noqa: SLF001 - of this package
    except BaseException:
        file.close()
        raise
    return memory


def _compare(chosen: MemoryOptions, then: MemoryOptions, folder: Path) -> None:
    """Refuse options by which the state cannot be read, or which show everybody everything."""
    if chosen.summary != then.summary:
        said = "a summary" if then.summary else "no summary"
        raise StateError(f"{folder}: it was saved with {said}, and is opened otherwise")
    if then.acl and not chosen.acl:
        raise StateError(f"{folder}: it was saved with access control, and is opened without")


def _salt(state: Any) -> bytes | None:  # noqa: ANN401 - what was read may be anything
    if state is None:
        return None
    with reading("its audit trail is damaged"):
        return bytes.fromhex(state["audit"]["salt"])


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
