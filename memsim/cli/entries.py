"""Entries of a memory on standard output: as a table, or as the records that they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from memsim.cli.printable import printable, safe_json
from memsim.cli.terminal import Terminal
from memsim.report.layout import Column, TextLine, lay_out

if TYPE_CHECKING:
    from memsim.memory.entry import Entry
    from memsim.memory.state import JSON

Form = Literal["table", "json", "jsonl"]


def record_of(entry: Entry) -> dict[str, JSON]:
    """An entry as JSON values, every field of it."""
    from memsim.memory.stores.codec import encode

    record: dict[str, JSON] = json.loads(encode(entry))
    return record


def show_entries(found: Sequence[tuple[Entry, float | None]], form: Form, *, total: int) -> None:
    """Print entries, each with its score where it has one.

    Args:
        found: the entries, in the order in which they are shown.
        form: how.
        total: how many there are, those not shown among them.
    """
    terminal = Terminal.of_process()
    if form == "table":
        terminal.say_lines(list(_table(found, terminal, total)))
        return
    records = [
        record_of(entry) | ({} if score is None else {"score": score}) for entry, score in found
    ]
    if form == "json":
        terminal.say(safe_json({"entries": [*records], "total": total}))
    else:
        for record in records:
            terminal.say(safe_json(record))


def _table(
    found: Sequence[tuple[Entry, float | None]], terminal: Terminal, total: int
) -> Iterator[TextLine]:
    if not found:
        yield TextLine(text="  none", tone="dim")
        return
    scored = found[0][1] is not None
    columns = [
        *([Column(head="score")] if scored else []),
        Column(head="key", right=False, clip=True),
        Column(head="layer", right=False, rank=2),
        Column(head="category", right=False, rank=1),
        Column(head="owner", right=False, rank=3),
        Column(head="since", right=False, rank=4),
        Column(head="text", right=False, clip=True),
    ]
    rows = [((*_cells(entry, score),), "") for entry, score in found]
    yield from lay_out(columns, rows, terminal.width).lines  # type: ignore[arg-type]
    if total > len(found):
        yield TextLine(text=f"  and {total - len(found):,} more: --limit {total}", tone="dim")


def _cells(entry: Entry, score: float | None) -> Iterator[str]:
    if score is not None:
        yield f"{score:.3f}"
    yield printable(entry.key)
    yield entry.layer
    yield printable(entry.category)
    yield printable(entry.owner)
    yield entry.created.date().isoformat()
    yield printable("".join(islice(entry.text, 200)))
