"""Hygiene, on stores: what is due goes, nothing else does, and stopping anywhere loses nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from memsim.errors import StoreError
from memsim.memory.compaction import Deduplicate
from memsim.memory.deletion import original_of
from memsim.memory.entry import Entry, Layer
from memsim.memory.expire import clean, has_own_term
from memsim.memory.permissions import Where
from memsim.memory.places import open_store
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores import Store
from memsim.testing.check_cases import Case, ShelfCase, ShelfEntry
from memsim.testing.folders import throwaway
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.step_bench import bench

POLICY = RetentionPolicy()
_ALL = Where(reader=None, archived=None)


class FailingStore:
    """A store of which one writing call fails.

    Args:
        store: the real one.
        at: which of its calls to `write` and `erase`, from 1.
    """

    def __init__(self, store: Store, at: int) -> None:
        self._store = store
        self._left = at

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, entries: Sequence[Entry]) -> None:
        """As the store's own, or failing."""
        self._count()
        self._store.write(entries)

    def erase(self, ids: Collection[str]) -> int:
        """As the store's own, or failing."""
        self._count()
        return self._store.erase(ids)

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise StoreError("the store has failed")


def entry_of(kept: ShelfEntry, now: datetime) -> Entry:
    """The entry that a case means."""
    return Entry(
        key=kept.key,
        text=kept.text,
        owner=kept.owner,
        layer=cast("Layer", kept.layer),
        category=kept.category,
        created=now - kept.age,
        updated=now - kept.age,
        pinned=kept.pinned,
        sources=kept.sources,
    )


@contextmanager
def filled(case: ShelfCase) -> Iterator[tuple[Store, dict[str, Entry]]]:
    """A store with a case's entries in it, and these by id."""
    with throwaway() as folder:
        store = open_store(case.store, lambda: Path(folder), {}, name="check")
        try:
            entries = [entry_of(kept, case.now) for kept in case.entries]
            store.write(entries)
            yield store, {e.id: e for e in entries}
        finally:
            store.close()


def everything(store: Store) -> dict[str, Entry]:
    """All that a store holds, by id."""
    return {e.id: e for e in store.find(_ALL)}


def _held(entry: Entry) -> bool:
    return entry.pinned or "core" in {entry.layer, entry.category}


def _is_as_it_was(there: Entry | None, entry: Entry) -> bool:
    """Whether an entry stayed, of messages that it was of: those that are gone it does not name."""
    if there is None or not {*there.sources} <= {*entry.sources}:
        return False
    return replace(there, sources=entry.sources) == entry


@holds(39, "for all held e, clocks t: e in clean(M, t)", on="shelf")
def held_stays(case: ShelfCase) -> int:
    """Nothing that is core or pinned is put away or erased, at any clock.

    Fails, for example, where a pinned entry goes with the message that it was made from.
    """
    seen = 0
    with filled(case) as (store, entries):
        for days in (0, 400, -400):
            clean(store, "ana", POLICY, case.now + timedelta(days=days))
            there = everything(store)
            for id_, entry in entries.items():
                if _held(entry):
                    seen += 1
                    if not _is_as_it_was(there.get(id_), entry):
                        raise Violation(f"{entry.key} is core or pinned, and was touched")
    return seen


@holds(40, "age N days - 1 s: stays; N days: due; N days + 1 s: due", on="shelf")
def boundaries_are_exact(case: ShelfCase) -> int:
    """An entry is due from its day on, to the second; what lies in the future is not.

    Fails, for example, where days are counted on a calendar, and a night of 25 hours is one less.
    """
    seen = 0
    with filled(case) as (store, entries):
        clean(store, "ana", POLICY, case.now)
        there = everything(store)
        erased = {e.key for i, e in entries.items() if i not in there}
        for id_, entry in entries.items():
            if entry.owner != "ana" or _held(entry):
                continue
            seen += 1
            age = case.now - entry.updated
            limit = {"conversation": 3}.get(entry.category, 30)
            ages = entry.layer in POLICY.layers
            due = ages and age >= timedelta(days=limit)
            derived = _roots(entry, entries) & erased
            if id_ not in there and not due and not derived:
                raise Violation(f"{entry.key}, {entry.category}, aged {age}, is gone too early")
            if id_ in there and due:
                raise Violation(
                    f"{entry.key}, {entry.category}, aged {age}, is due and still there"
                )
            if id_ in there and age < timedelta(0) and there[id_].archived:
                raise Violation(f"{entry.key} is in the future, and was put away")
    return seen


def _roots(entry: Entry, entries: dict[str, Entry]) -> set[str]:
    # Messages that it was made from, and that these were made from.
    found, waiting = set[str](), list(entry.sources)
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += [s for e in entries.values() if e.key == source for s in e.sources]
    return found


@holds(41, "removed e => survivor e' = e under full-text equality", on="compaction")
def dedup_is_safe(case: Case) -> int:
    """What is removed as a repetition has a survivor of the very same text.

    Fails, for example, where 80 equal characters at the beginning are enough.
    """
    tried = bench(case, "deduplicate", Deduplicate(least=1))
    tried.run()
    if tried.done is None:
        return 0
    known = {m.id: m for m in tried.history}
    there = {m.id for m in tried.done.history if not m.composed}
    seen = 0
    for message in tried.done.history:
        if message.composed and message.id in known:
            seen += 1
            text = known[message.id].text
            if not any(known[i].text == text for i in there):
                raise Violation(f"{message.id} was taken for a repetition, and of nothing")
    gone = set(known) - {m.id for m in tried.done.history}
    for source in gone:
        seen += 1
        if not any(known[i].text == known[source].text for i in there):
            raise Violation(f"{source} was removed, and nothing says the same")
    return seen


@holds(42, "clean(M, A) touches rows of A only; errors are told", on="shelf")
def only_ones_own(case: ShelfCase) -> int:
    """Hygiene touches its owner's entries alone, and does not report success where it failed.

    Fails, for example, where a page of another's rows is erased by its number.
    """
    with filled(case) as (store, entries):
        shown = cast("Store", FailingStore(store, case.fails)) if case.fails else store
        done = clean(shown, "ana", POLICY, case.now)
        there = everything(store)
        others = {i: e for i, e in entries.items() if e.owner != "ana"}
        if any(there.get(i) != e for i, e in others.items()):
            raise Violation("another's entry was touched")
        changed = sum(1 for i, e in entries.items() if there.get(i) != e)
        if done.error is None and not done.complete:
            raise Violation("it neither failed nor finished")
        return len(others) + changed


@holds(43, "clean(clean(M)) = clean(M); crash at k, again: the same", on="shelf")
def clean_is_restartable(case: ShelfCase) -> int:
    """A second pass does nothing, and one that failed anywhere is finished by the next.

    Fails, for example, where an entry is erased before its copy in the archive is written.
    """
    with filled(case) as (store, _):
        clean(store, "ana", POLICY, case.now)
        whole = everything(store)
        again = clean(store, "ana", POLICY, case.now)
        if everything(store) != whole or again.archived or again.erased.entries:
            raise Violation("a second pass finds something to do")
    with filled(case) as (store, entries):
        if case.fails:
            clean(cast("Store", FailingStore(store, case.fails)), "ana", POLICY, case.now)
        clean(store, "ana", POLICY, case.now)
        if everything(store) != whole:
            raise Violation(f"stopped at call {case.fails} and done again, it comes to another end")
        return len(entries) - len(whole) + sum(1 for e in whole.values() if e.archived)


@holds(44, "purged e => e, and facts and episodes of e, in no tier", on="shelf")
def purge_is_complete(case: ShelfCase) -> int:
    """What the memory made of a message that is erased goes with it, unless it is held.

    Fails, for example, where a fact survives the message that it was extracted from.
    """
    seen = 0
    with filled(case) as (store, entries):
        done = clean(store, "ana", POLICY, case.now)
        there = everything(store)
        gone = {original_of(e) for e in done.erased.entries} - {None}
        for entry in entries.values():
            if entry.owner != "ana" or has_own_term(entry):
                continue
            if gone.intersection(entry.sources):
                seen += 1
                if entry.id in there:
                    raise Violation(f"{entry.key} was made from what was erased, and is there")
        free = gone - {original_of(e) for e in there.values() if e.owner == "ana"}
        for entry in there.values():
            if entry.owner == "ana" and free.intersection(entry.sources):
                raise Violation(f"{entry.key} names what was erased, whose id is another's next")
        for erased in done.erased.entries:
            seen += 1
            found = {hit.id for hit in store.lexical(erased.text, _ALL, 50)}
            if store.get([erased.id]) or erased.id in found:
                raise Violation(f"{erased.key} was erased, and is found")
    return seen
