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
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from memsim.memory.deletion import original_of
from memsim.memory.entry import DamagedRecord, instant
from memsim.memory.layers.entry_outline import EntryOutline, PlainFacts, outline_made
from memsim.memory.recall.outline_columns import MessageOutline, MessageOutlines
from memsim.memory.state import MADE, outline_said
from memsim.message import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memsim.memory.entry import Entry
    from memsim.memory.stores import Store
    from memsim.memory.stores.sqlite.written_outlines import WrittenOutlines
    from memsim.message import TokenCounter

VERSION: Final = 1
"""The version of what an outline holds; it goes up when outlines are made in another way."""

_MADE: Final = 8
"""Characters that say how an outline was made."""

_HEAD: Final = 16
"""Characters before an outline."""

_OF_MESSAGE: Final = 11
"""Values of the outline of a message."""

_OF_MADE: Final = 8
"""Values of the outline of what was made of messages."""

_TOGETHER: Final = 64
"""Outlines that are read at once."""

_UTC: Final = "+00:00"
_EPOCH: Final = EPOCH.replace(tzinfo=None)

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
        text = self._text(entry)
        check_sum = _check_sum(instant(entry.created), entry.id, text)
        return f"{self._made}{check_sum}{text}"

    def messages(self, store: Store, written: WrittenOutlines) -> MessageOutlines:
        """The outlines of messages in these rows.

        Those of other outlines are made anew of their entries. Raises `DamagedRecord`, or an error
        of a value of the wrong kind, if one is damaged.
        """
        columns: list[list[Any]] = [[] for _ in range(_OF_MESSAGE)]
        for held in self._held(store, written):
            if any(len(values) != _OF_MESSAGE for values in held):
                raise TypeError("an entry is in the order, and holds no message")
            for column, values in zip(columns, zip(*held, strict=True), strict=True):
                column.extend(values)
        source, session, created, *rest = columns
        return MessageOutlines(written.owners, source, session, _moments(created), *rest)

    def made(
        self, store: Store, written: WrittenOutlines
    ) -> Iterator[EntryOutline | PlainFacts | None]:
        """The outlines of what was made of messages in these rows; None for a message.

        Plain facts that follow each other come together. Raises as `messages`.
        """
        rows = zip(written.ids, written.owners, strict=True)
        facts = PlainFacts("", [], [], [])
        for held in self._held(store, written):
            for values in held:
                name, owner = next(rows)
                plain = _is_plain(values)
                if facts.ids and not (plain and facts.owner == owner):
                    yield facts
                    facts = PlainFacts(owner, [], [], [])
                if plain:
                    facts = facts if facts.ids else PlainFacts(owner, [], [], [])
                    facts.ids.append(name)
                    facts.sessions.append(values[1])
                    facts.sources.append(tuple(values[6]))
                else:
                    yield None if len(values) == _OF_MESSAGE else _entry(name, owner, values)
        if facts.ids:
            yield facts

    def _held(self, store: Store, written: WrittenOutlines) -> Iterator[list[list[Any]]]:
        """The values of the outlines in rows, of some at a time.

        The garbage collector would look at all that are there at once, and keep them for long.
        """
        made, ids = self._made, written.ids
        others = [ids[n] for n, about in enumerate(written.about) if not about.startswith(made)]
        anew = {entry.id: self._text(entry) for entry in store.get(others)} if others else {}
        rows = zip(written.created, ids, written.about, strict=True)
        for _ in range(0, len(ids), _TOGETHER):
            some = islice(rows, _TOGETHER)
            texts = [anew[row[1]] if row[1] in anew else _text(*row) for row in some]
            held: list[list[Any]] = _FROM_JSON(f"[{','.join(texts)}]")[0]
            if len(held) != len(texts):
                raise DamagedRecord("an outline is damaged: it is several")
            yield held

    def _text(self, entry: Entry) -> str:
        outline = self.of(entry)
        held = _message(outline) if isinstance(outline, MessageOutline) else _made(outline)
        return _TO_JSON(held)


def _check_sum(created: str, source: str, text: str) -> str:
    return f"{crc32(f'{created}{source}{text}'.encode()):08x}"


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


def _is_plain(held: list[Any]) -> bool:
    """Whether an outline is of a fact as `PlainFacts` holds them."""
    return (
        len(held) == _OF_MADE
        and held[0] == "semantic"
        and held[2] == ""
        and held[5] is None
        and held[7] == []
    )


def _text(created: str, name: str, about: str) -> str:
    text = about[_HEAD:]
    # As `_check_sum`, without the call: there are many.
    if about[_MADE:_HEAD] != "%08x" % crc32(f"{created}{name}{text}".encode()):  # noqa: UP031
        raise DamagedRecord("an outline is damaged: its check sum is wrong")
    return text


def _moments(created: Sequence[str]) -> list[int]:
    """Instants that `instant` wrote, in microseconds since `EPOCH`."""
    import numpy as np

    if not created:
        return []
    begun = np.array([text.removesuffix(_UTC) for text in created], "M8[us]")
    passed = begun - np.datetime64(_EPOCH)
    found: list[int] = passed.astype(np.int64).tolist()
    return found


def _entry(name: str, owner: str, held: list[Any]) -> EntryOutline:
    layer, session, subject, created, updated, late, sources, attributes = held
    begun = datetime.fromisoformat(created)
    return EntryOutline(
        name,
        owner,
        layer,
        session,
        subject,
        begun,
        begun if updated == created else datetime.fromisoformat(updated),
        None if late is None else datetime.fromisoformat(late),
        tuple(sources),
        tuple(map(tuple, attributes)) if attributes else (),
    )
