"""Views of a saved memory or a PRX workspace, as `memsim memory` shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memsim.cli.terminal import printable
from memsim.errors import ModelError, UsageError
from memsim.json_input import is_regular
from memsim.memory.audit import AuditOutcome
from memsim.memory.codec import JSON, canonical
from memsim.memory.deletion import ErasureReport, original_of
from memsim.memory.entry import LAYERS, Conversation, Entry, passage_of
from memsim.memory.history.working_memory import TTL
from memsim.memory.parts import SEARCHED
from memsim.memory.persistence.open_memory import open_memory
from memsim.memory.persistence.saved_memory import SavedMemory
from memsim.message import EPOCH
from memsim.systems.prx.workspace_view import PrxWorkspace, find_workspace

WORKING = "working"
"""The layer and the category of working memory."""


def working_entries(memory: SavedMemory, who: str | None) -> Iterator[Entry]:
    """Working memory as entries: one for each field, dated when it was last used.

    Args:
        memory: the saved memory.
        who: under access control, only this principal's fields; None for everybody's.
    """
    saved: Any = memory.working.save()
    for principal, session, document in saved:
        if memory.options.acl and who not in {None, principal}:
            continue
        for name in memory.working.peek(Conversation(principal, session), memory.now()):
            yield _entry(principal, session, name, document)


def drop_working_entry(memory: SavedMemory, who: str, key: str) -> ErasureReport:
    """Remove a principal's own field by a key of `working_entries`, and report it."""
    for entry in working_entries(memory, who):
        if (entry.owner, entry.key) == (who, key):
            names = {key.partition("\n")[0]}
            memory.working.remove(Conversation(who, entry.session), names, memory.now())
            # This forgets no message, but erases what every forget request erases, and saves.
            rest = memory.forget(who, ())
            return ErasureReport(entries=(entry,), beside=rest.beside)
    return ErasureReport()


def _entry(principal: str, session: str, name: str, document: Any) -> Entry:  # noqa: ANN401 - as saved
    value, until = document["fields"][name], document["until"]
    used = EPOCH if until is None else datetime.fromisoformat(until) - TTL
    return Entry(
        key=f"{name}\n{session}",
        text=value if isinstance(value, str) else canonical(value),
        owner=principal,
        layer="working",
        category=WORKING,
        session=session,
        created=used,
        updated=used,
    )


KEEPER = "keeper"
"""The principal of a request without access control."""


class SavedMemoryView:
    """A view of a saved memory.

    `who` is the principal who asks; None is the keeper, who sees all entries.
    """

    def __init__(self, memory: SavedMemory, tell: Callable[[str], None]) -> None:
        self._memory = memory
        self._tell = tell

    @property
    def acl(self) -> bool:
        """Whether access control is on."""
        return self._memory.options.acl

    def entries(self, who: str | None) -> Iterator[Entry]:
        """Every entry that a principal may see, oldest first, and working memory last."""
        yield from self._memory.entries(who)
        yield from working_entries(self._memory, who)

    def search(
        self, query: str, who: str | None, category: str | None, limit: int
    ) -> Sequence[tuple[Entry, float]]:
        """The entries that match by words and meaning, or by words alone without an embedder."""
        asker = who or KEEPER
        try:
            found = self._memory.search(query, principal=asker, category=category, k=limit)
        except (ModelError, UsageError) as error:
            self._tell(f"found by words alone: {error}")
            return self._by_words(query, asker, category, limit)
        return [(f.entry, f.score) for f in found]

    def _by_words(
        self, query: str, asker: str, category: str | None, limit: int
    ) -> list[tuple[Entry, float]]:
        vault = self._memory.vault
        categories = () if category is None else (category,)
        where = vault.where(asker, layers=SEARCHED, categories=categories)
        scores = {hit.id: hit.score for hit in vault.lexical(query, where, limit)}
        return [(entry, scores[entry.id]) for entry in vault.fetch([*scores], where)]

    def get(self, who: str | None, key: str) -> Entry | None:
        """The entry with a key; long-term memory comes first."""
        order = ("long_term", *(layer for layer in LAYERS if layer != "long_term"))
        vault = self._memory.vault
        found = (vault.get(who or KEEPER, key, layer=layer) for layer in order)  # type: ignore[arg-type]
        return next((entry for entry in found if entry is not None), None)

    def forget(self, who: str, key: str) -> ErasureReport:
        """Erase an entry; outside long-term memory, erase its source messages too."""
        erased = self._memory.forget_key(who, key)
        if erased.entries:
            return erased
        for layer in LAYERS:
            entry = self._memory.vault.own(who, layer, key)
            if entry is not None:
                erased = self._memory.forget(who, entry.sources)
                alone = (entry,) if self._memory.vault.erase([entry.id]) else ()
                return replace(erased, entries=(*erased.entries, *alone))
        return drop_working_entry(self._memory, who, key)

    def note(
        self,
        tool: str,
        who: str | None,
        *,
        outcome: AuditOutcome = "allowed",
        key: str = "",
        category: str = "",
    ) -> None:
        """Write an audit record."""
        who = who or ""
        self._memory.record_audit(tool, principal=who, outcome=outcome, key=key, category=category)

    def keepers(self) -> dict[str, JSON]:
        """Statistics of the whole memory, for its keeper."""
        memory = self._memory
        embedded = memory.vault.store.embedded
        return {
            "conversations": sum(1 for _ in memory.conversations),
            "audit_records": memory.audit.head().number,
            "embedder": embedded.name if embedded else None,
            "bytes": sum(p.stat().st_size for p in memory.folder.rglob("*") if is_regular(p)),
        }

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()


MemoryView = SavedMemoryView | PrxWorkspace
"""A memory that can be listed, searched and changed: both have the same methods."""


def look_into(
    path: Path, *, wait: float, readonly: bool, tell: Callable[[str], None]
) -> MemoryView:
    """Open the memory or the PRX workspace at a path."""
    found = find_workspace(path, now=_now, wait=wait)
    return found or SavedMemoryView(open_memory(path, now=_now, wait=wait, readonly=readonly), tell)


def matching_entries(memory: MemoryView, who: str | None, word: str) -> list[Entry]:
    """The entries of one owner that match a word on the command line.

    The word may be a key, a key as it is printed, or the id of a message; the passages of a long
    message are returned in their order. The principal's own entries come before shared ones.
    """
    entry = memory.get(who, word)
    if entry is not None and who in {None, entry.owner}:
        return [entry]
    seen = [*memory.entries(who)]
    ways = [
        [e for e in seen if word in {e.key, printable(e.key)}],
        [e for e in seen if original_of(e) == word],
    ]
    own = ([e for e in found if e.owner == who] for found in ways)
    found = next(filter(None, (*own, [entry] if entry else [], *ways)), [])
    of_one = (e for e in found if e.owner == found[0].owner)
    return sorted(of_one, key=lambda e: passage_of(e) or 0)


def _now() -> datetime:
    return datetime.now(UTC)
