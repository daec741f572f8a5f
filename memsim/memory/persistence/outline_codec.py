"""Outlines of entries beside their rows: what recall has to know of an entry without its words.

To read all that a person said, and to see again what each message asks and how long it is, takes
longer than to answer. So the file holds an outline of each entry that was made of what was said. It
is written with the entry, and gone with it::

    entries.about    5f1c09ab7d3e2b10["m4","own:ana","2026-01-05T09:00:04.000000+00:00",...]

First stands how outlines are made, then a check sum, then the outline. One that was made in another
way, or for another tokenizer, is made anew of its entry.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from memsim.memory.deletion import original_of
from memsim.memory.entry import DamagedRecord, instant
from memsim.memory.layers.entry_outline import EntryOutline, outline_made
from memsim.memory.recall.outline_columns import MessageOutline
from memsim.memory.state import MADE, outline_said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store
    from memsim.memory.stores.sqlite.store import WrittenOutline
    from memsim.message import TokenCounter

VERSION: Final = 1
"""The version of what an outline holds; it goes up when outlines are made in another way."""

_MADE: Final = 8
"""Characters that say how an outline was made."""

_HEAD: Final = 16
"""Characters before an outline."""

_OF_MESSAGE: Final = 11
"""Values of the outline of a message."""

_TO_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_FROM_JSON: Final = json.JSONDecoder().raw_decode  # less around it than `json.loads` has

Outline = MessageOutline | EntryOutline


class OutlineCodec:
    """Writes and reads the outlines of a memory.

    Args:
        counter: counts the tokens of messages.
        analysis: a digest of how texts become terms.
    """

    def __init__(self, counter: TokenCounter, analysis: str) -> None:
        self._counter = counter
        made = f"{VERSION}\n{analysis}\n{counter.name}"
        self._made = hashlib.blake2b(made.encode(), digest_size=4).hexdigest()

    def of(self, entry: Entry) -> Outline:
        """The outline of an entry that was made of what was said."""
        if original_of(entry) is None:
            return outline_made(entry)
        return outline_said(entry, self._counter)

    def write(self, entry: Entry) -> str | None:
        """The outline of an entry as its row has it; None for an entry that has none."""
        if entry.layer not in MADE:
            return None
        outline = self.of(entry)
        held = _message(outline) if isinstance(outline, MessageOutline) else _made(outline)
        text = _TO_JSON(held)
        check_sum = _check_sum(instant(entry.created), entry.id, text)
        return f"{self._made}{check_sum}{text}"

    def reader(
        self, store: Store, written: Sequence[WrittenOutline]
    ) -> Callable[[WrittenOutline], Outline]:
        """How each of these rows is read; those of other outlines are made anew of their entries.

        What is given raises `DamagedRecord`, or an error of a value of the wrong kind, if the
        outline is damaged.
        """
        others = [name for _, name, about, _ in written if not self._is_current(about)]
        anew = {entry.id: self.of(entry) for entry in store.get(others)}
        return lambda row: anew[row[1]] if row[1] in anew else _read(row)

    def _is_current(self, about: object) -> bool:
        return isinstance(about, str) and about.startswith(self._made)


def _check_sum(created: str, source: str, text: str) -> str:
    return f"{zlib.crc32(f'{created}{source}{text}'.encode()):08x}"


def _message(said: MessageOutline) -> list[object]:
    return [
        said.source,
        said.session,
        instant(said.created),
        said.role,
        said.turn,
        said.tokens,
        said.question,
        said.asked,
        said.standing,
        said.matter,
        None if said.repeated is None else said.repeated.hex(),
    ]


def _made(made: EntryOutline) -> list[object]:
    return [
        made.layer,
        made.session,
        made.subject,
        instant(made.created),
        instant(made.updated),
        None if made.superseded is None else instant(made.superseded),
        made.sources,
        made.attributes,
    ]


def _read(row: WrittenOutline) -> Outline:
    created_at, name, about, shelf = row
    text = "" if about is None else about[_HEAD:]
    if about is None or about[_MADE:_HEAD] != _check_sum(created_at, name, text):
        raise DamagedRecord("an outline is damaged: its check sum is wrong")
    held: list[Any] = _FROM_JSON(text)[0]
    if len(held) == _OF_MESSAGE:
        message, session, created, role, turn, tokens, question, asked, standing, *rest = held
        matter, repeated = rest
        return MessageOutline(
            shelf.owner,
            message,
            session,
            datetime.fromisoformat(created),
            role,
            turn,
            tokens,
            question,
            asked,
            standing,
            matter,
            None if repeated is None else bytes.fromhex(repeated),
        )
    layer, session, subject, created, updated, late, sources, attributes = held
    begun = datetime.fromisoformat(created)
    return EntryOutline(
        name,
        shelf.owner,
        layer,
        session,
        subject,
        begun,
        begun if updated == created else datetime.fromisoformat(updated),
        None if late is None else datetime.fromisoformat(late),
        tuple(sources),
        tuple(map(tuple, attributes)),
    )
