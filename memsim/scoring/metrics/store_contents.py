"""What the memory wrote, at the end of a case: `store_recall` and the other `store_` metrics.

Entries are judged by `memsim.scoring.stored_entries`; the last turn of a case has their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from memsim.scoring.metric import CaseRecords, Line, Measure, amount, measured, share, unmeasured

METRICS = {
    "store_recall": share("planted facts in force that the store holds at the end"),
    "store_recall_plain": share("the same, of facts that were stated once"),
    "store_recall_updated": share("the same, of facts that changed"),
    "store_recall_private": share("the same, of private facts"),
    "store_precision": share("entries that state something, and state what is in force"),
    "store_duplicates": share("entries that repeat an earlier entry, exactly or nearly", "lower"),
    "store_near_duplicates": share("entries that say nearly the same as an earlier one", "lower"),
    "store_invented": share("entries that state something nobody said", "lower"),
    "store_stale": share("entries that give a replaced or erased value as in force", "lower"),
    "store_barred": share("facts in the store that were not to be remembered", "lower"),
    "store_growth": amount("characters that the store grew by in a turn", "count"),
}
NOT_INSPECTABLE = "not inspectable: the strategy does not show what it stores"
ONLY_WINDOW = "the strategy shows no store besides its window"
NO_STORE = "no-store"
UNTRUE = "untrue"
_NO_ENTRY = "the store is empty"
_STATED = ("right", "stale", "invented", "barred")


class StoreLines:
    """The stores of the cases."""

    def __init__(self) -> None:
        self.found: list[Line] = []

    def add(self, line: Line) -> None:
        """Add the store that the last turn of a case has."""
        if "store" in line:
            self.found.append(line["store"])


TURNS = StoreLines


def measure(records: CaseRecords) -> Mapping[str, Measure]:
    """Add up the stores of all cases in which the strategy showed one."""
    found = records.turn_totals(StoreLines).found
    if not found:
        return dict.fromkeys(METRICS, unmeasured(NOT_INSPECTABLE))
    if failed := next((store["error"] for store in found if "error" in store), ""):
        return dict.fromkeys(METRICS, unmeasured(f"the store could not be read: {failed}"))
    stores = [store for store in found if not store.get("only_window")]
    if not stores:
        return dict.fromkeys(METRICS, unmeasured(ONLY_WINDOW))
    turns = sum(store["turns"] for store in stores)
    grown = math.fsum(store["characters"] for store in stores)
    return {
        "store_recall": _facts(stores, lambda kind: kind not in {NO_STORE, UNTRUE}),
        "store_recall_plain": _facts(stores, "plain".__eq__),
        "store_recall_updated": _facts(stores, "updated".__eq__),
        "store_recall_private": _facts(stores, "private".__eq__),
        "store_precision": _ratio(_kinds(stores, "right"), _kinds(stores, *_STATED)),
        "store_duplicates": _of_entries(stores, _sum(stores, "exact") + _sum(stores, "near")),
        "store_near_duplicates": _of_entries(stores, _sum(stores, "near")),
        "store_invented": _of_entries(stores, _kinds(stores, "invented")),
        "store_stale": _of_entries(stores, _kinds(stores, "stale")),
        "store_barred": _facts(stores, NO_STORE.__eq__),
        "store_growth": measured(grown / turns, turns) if turns else unmeasured("no turn"),
    }


def _facts(stores: Sequence[Line], of_kind: Callable[[str], bool]) -> Measure:
    there = [held for store in stores for _, kind, held in store["facts"] if of_kind(kind)]
    if not there:
        return unmeasured("no such fact was planted")
    return measured(sum(there) / len(there), len(there))


def _sum(stores: Sequence[Line], name: str) -> int:
    return sum(store[name] for store in stores)


def _kinds(stores: Sequence[Line], *kinds: str) -> int:
    return sum(store["kinds"].get(kind, 0) for store in stores for kind in kinds)


def _of_entries(stores: Sequence[Line], count: int) -> Measure:
    return _ratio(count, _sum(stores, "entries"), _NO_ENTRY)


def _ratio(count: int, of: int, reason: str = "no entry states anything planted") -> Measure:
    return measured(count / of, of) if of else unmeasured(reason)
