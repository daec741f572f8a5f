"""`memsim memory`: inspect a saved memory, with the permissions of a principal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from memsim.cli.program import VerbGroup
from memsim.cli.run_options import format_option
from memsim.cli.terminal import Terminal, printable, safe_json
from memsim.errors import StoreError, UsageError
from memsim.report.layout import Column, Row, Table, TextLine, terminal_table

if TYPE_CHECKING:
    from memsim.cli.memory_view import MemoryView
    from memsim.memory.audit import AuditOutcome
    from memsim.memory.codec import JSON
    from memsim.memory.deletion import ErasureReport
    from memsim.memory.entry import Entry

Form = Literal["table", "json", "jsonl"]


def record_of(entry: Entry) -> dict[str, JSON]:
    """An entry as JSON values, with every field."""
    from memsim.memory.entry import encode

    record: dict[str, JSON] = json.loads(encode(entry))
    return record


def show_entries(found: Sequence[tuple[Entry, float | None]], form: Form, *, total: int) -> None:
    """Print entries, each with its score if it has one."""
    terminal = Terminal.of_process()
    if form == "table":
        terminal.say_lines(list(_entry_table(found, terminal, total)))
        return
    records = [
        record_of(entry) | ({} if score is None else {"score": score}) for entry, score in found
    ]
    if form == "json":
        terminal.say(safe_json({"entries": [*records], "total": total}))
    else:
        for record in records:
            terminal.say(safe_json(record))


def _entry_table(
    found: Sequence[tuple[Entry, float | None]], terminal: Terminal, total: int
) -> Iterator[TextLine]:
    if not found:
        yield TextLine(text="  none", tone="dim")
        return
    scored = found[0][1] is not None
    columns = [
        *([Column("score")] if scored else []),
        Column("key", right=False, clip=True),
        Column("layer", right=False, rank=2),
        Column("category", right=False, rank=1),
        Column("owner", right=False, rank=3),
        Column("since", right=False, rank=4),
        Column("text", right=False, clip=True),
    ]
    rows: list[Row] = [(tuple(_entry_cells(entry, score)), "") for entry, score in found]
    yield from terminal_table(Table(columns, rows), terminal.width).lines
    if total > len(found):
        yield TextLine(text=f"  and {total - len(found):,} more: --limit {total}", tone="dim")


def _entry_cells(entry: Entry, score: float | None) -> Iterator[str]:
    if score is not None:
        yield f"{score:.3f}"
    yield printable(entry.key)
    yield entry.layer
    yield printable(entry.category)
    yield printable(entry.owner)
    yield entry.created.date().isoformat()
    yield printable("".join(islice(entry.text, 200)))


COUNTED = 1000
"""Number of entries that a search counts, even if fewer are shown."""

PATIENCE = 5.0
"""Seconds to wait for another process before a forget request fails."""

_MEMORY = click.option(
    "--memory",
    "folder",
    metavar="PATH",
    required=True,
    type=click.Path(path_type=Path),
    envvar="MEMSIM_MEMORY",
    help="Folder of the memory, or a PRX workspace or its settings file.",
)
_AS = click.option("--as", "who", metavar="PRINCIPAL", help="Principal who asks.")
_CATEGORY = click.option("--category", metavar="NAME", help="Only entries of this category.")
_LIMIT = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=50,
    help="Maximum number of entries.  [default: 50]",
)


@click.group(
    "memory",
    cls=VerbGroup,
    epilog="""\b
Examples:
  memsim memory stats --memory ana.memory
  memsim memory search 'project deadlines' --memory ana.memory --as ana""",
)
def command() -> None:
    """Inspect a saved memory, and erase entries from it.

    PRINCIPAL sees their own entries, public ones, and those shared with them. Other entries are
    reported as missing. Without --as, stats and export show the entries of all principals. Every
    command except stats is written to the memory's audit trail. Every command except forget works
    while another process has the memory open. PATH may also be a workspace of PRX, or a TOML file
    with its [memory] settings in or beside the workspace.
    """


@command.command(
    epilog="""\b
Example:
  memsim memory stats --memory ana.memory --format json""",
)
@_MEMORY
@_AS
@format_option("table", "json")
def stats(folder: Path, who: str | None, form: Form) -> None:
    """Count the entries of a memory.

    Without --as, the entries of all principals are counted.
    """
    with _opened(folder) as memory:
        told = _statistics(memory, _named(who))
    terminal = Terminal.of_process()
    if form == "json":
        terminal.say(safe_json(told))
        return
    whose = "entries of all principals" if who is None else f"as {printable(who)}"
    terminal.say(f"{printable(folder)} {terminal.marks.dot} {whose}")
    for name, value in told.items():
        if name == "principal":
            continue
        said = printable("none" if value is None else value)
        if isinstance(value, dict):
            said = ", ".join(f"{printable(k)} {n}" for k, n in value.items()) or "none"
        terminal.say(f"  {name.replace('_', ' '):<14} {said}")


@command.command(
    "list",
    epilog="""\b
Example:
  memsim memory list --memory ana.memory --as ana --category core""",
)
@_MEMORY
@_AS
@_CATEGORY
@_LIMIT
@format_option("table", "json", "jsonl")
def list_entries(
    folder: Path, who: str | None, category: str | None, limit: int, form: Form
) -> None:
    """List entries, oldest first.

    Working memory comes last.
    """
    with _opened(folder) as memory:
        asker = _somebody(memory, who)
        found = [e for e in memory.entries(asker) if category in {None, e.category}]
        memory.note("memory_list", asker, category=category or "")
    show_entries([(e, None) for e in found[:limit]], form, total=len(found))


@command.command(
    epilog="""\b
Example:
  memsim memory search 'project deadlines' --memory ana.memory --as ana --limit 5""",
)
@click.argument("query")
@_MEMORY
@_AS
@_CATEGORY
@_LIMIT
@format_option("table", "json", "jsonl")
def search(
    query: str, folder: Path, who: str | None, category: str | None, limit: int, form: Form
) -> None:
    """Find entries that match QUERY.

    Entries are found by words and by meaning, and the best come first.
    """
    _encodable("QUERY", query)
    with _opened(folder) as memory:
        asker = _somebody(memory, who)
        found = memory.search(query, asker, category, max(limit, COUNTED))
        outcome: AuditOutcome = "allowed" if found else "missing"
        memory.note("memory_search", asker, outcome=outcome, key=query, category=category or "")
    show_entries(found[:limit], form, total=len(found))


@command.command(
    epilog="""\b
Example:
  memsim memory get code_style --memory ana.memory --as ana""",
)
@click.argument("key")
@_MEMORY
@_AS
@format_option("table", "json")
def get(key: str, folder: Path, who: str | None, form: Form) -> None:
    """Print the entry with KEY.

    PRINCIPAL's own entry comes before one that they may see. KEY is a key as `list` prints it, or
    the id of a message; all passages of a long message are printed.
    """
    from memsim.cli.memory_view import matching_entries

    _encodable("KEY", key)
    with _opened(folder) as memory:
        asker = _somebody(memory, who)
        found = matching_entries(memory, asker, key)
        outcome: AuditOutcome = "allowed" if found else "missing"
        memory.note("memory_get", asker, outcome=outcome, key=key)
    if not found:
        raise _missing(key)
    terminal = Terminal.of_process()
    if form != "json":
        lines = (line for entry in found for line in entry.text.split("\n"))
        terminal.say("\n".join(map(printable, lines)))
    elif len(found) == 1:
        terminal.say(safe_json(record_of(found[0])))
    else:
        show_entries([(e, None) for e in found], "json", total=len(found))


@command.command(
    epilog="""\b
Example:
  memsim memory forget code_style old_address --memory ana.memory --as ana""",
)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@_MEMORY
@click.option("--as", "who", metavar="PRINCIPAL", required=True, help="Owner of the entries.")
def forget(keys: tuple[str, ...], folder: Path, who: str) -> None:
    """Erase PRINCIPAL's own entries.

    They are erased from the disk too, and so are saved copies of damaged files. An entry of
    long-term memory is erased alone. An entry of another layer is erased with its source messages,
    and with everything derived from them. KEY is the same as for `get`.
    """
    for key in keys:
        _encodable("KEY", key)
    terminal = Terminal.of_process()
    missing: list[str] = []
    with _opened(folder, readonly=False) as memory:
        asker = _somebody(memory, who) or who
        for key in dict.fromkeys(keys):
            gone = _forgotten(memory, asker, key)
            outcome: AuditOutcome = "allowed" if gone else "missing"
            memory.note("memory_forget", asker, outcome=outcome, key=key)
            if gone:
                terminal.say("\n".join(_told(key, gone)))
            else:
                missing.append(key)
    if missing:
        raise _missing(*missing)


@command.command(
    epilog="""\b
Example:
  memsim memory export --memory ana.memory --format json > memories.json""",
)
@_MEMORY
@_AS
@_CATEGORY
@format_option("jsonl", "json")
def export(folder: Path, who: str | None, category: str | None, form: Form) -> None:
    """Print every entry in full.

    Without --as, the entries of all principals are printed.
    """
    with _opened(folder) as memory:
        _encodable("PRINCIPAL", who or "")
        found = [e for e in memory.entries(_named(who)) if category in {None, e.category}]
        memory.note("memory_export", who, category=category or "")
    if who is None:
        click.echo("entries of all principals", err=True)
    show_entries([(e, None) for e in found], form, total=len(found))


@contextmanager
def _opened(folder: Path, *, readonly: bool = True) -> Iterator[MemoryView]:
    """Open the memory in a folder, and turn its errors into usage errors."""
    from memsim.cli.memory_view import look_into

    def tell(line: str) -> None:
        click.echo(printable(line), err=True)

    if not folder.exists():
        raise UsageError(f"{printable(folder)}: there is no memory")
    try:
        memory = look_into(folder, wait=PATIENCE, readonly=readonly, tell=tell)
        try:
            yield memory
        finally:
            memory.close()
    except StoreError as error:
        raise UsageError(printable(error)) from error


def _forgotten(memory: MemoryView, who: str, word: str) -> ErasureReport | None:
    """Erase a principal's own entries that match a word; None if there are none."""
    from memsim.cli.memory_view import matching_entries

    for key in dict.fromkeys([word, *(entry.key for entry in matching_entries(memory, who, word))]):
        erased = memory.forget(who, key)
        if any(erased.by_tier.values()):
            return erased
    return None


def _told(word: str, gone: ErasureReport) -> Iterator[str]:
    """Report what was erased: the number per tier, and the names of other erased entries."""
    from memsim.memory.deletion import original_of

    counts = ", ".join(f"{count} {tier}" for tier, count in gone.by_tier.items() if count)
    yield f"forgot {printable(word)}: {counts}"
    # Names of facts and pages are derived from their text, so they are not printed.
    others = [e for e in gone.entries if e.layer not in {"semantic", "workspace"}]
    names = dict.fromkeys(printable(original_of(e) or e.key) for e in others)
    if more := [name for name in names if name != printable(word)]:
        yield f"  with it {', '.join(more)}"


def _somebody(memory: MemoryView, who: str | None) -> str | None:
    """The principal who asks; None if access control is off and nobody is named."""
    if who is None and memory.acl:
        raise UsageError("access control is on: name the principal with --as PRINCIPAL")
    return _named(who)


def _named(who: str | None) -> str | None:
    if who is not None:
        _encodable("PRINCIPAL", who)
        if not who.strip():
            raise UsageError("--as needs a principal, not an empty name")
    return who


def _encodable(name: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{name} is not UTF-8") from None


def _missing(*keys: str) -> UsageError:
    return UsageError(f"no entry has the key {', '.join(repr(printable(k)) for k in keys)}")


def _statistics(memory: MemoryView, who: str | None) -> dict[str, JSON]:
    entries = [*memory.entries(who)]
    told: dict[str, JSON] = {
        "principal": who,
        "entries": len(entries),
        "layers": _counted(e.layer for e in entries),
        "categories": _counted(e.category for e in entries),
        "owners": _counted(e.owner for e in entries),
        "archived": sum(e.archived for e in entries),
        "superseded": sum(e.superseded is not None for e in entries),
        "access_control": "on" if memory.acl else "off",
    }
    return told if who is not None else told | memory.keepers()


def _counted(names: Iterable[str]) -> dict[str, JSON]:
    counts = Counter(names)
    return {name: counts[name] for name in sorted(counts)}
