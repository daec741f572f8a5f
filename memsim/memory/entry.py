"""What a memory keeps: one record for every layer, with its owner, its readers and its sources."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Literal, cast

from memsim.errors import AccessError, StoreError
from memsim.fast_dataclass import fast_init
from memsim.language.text import speaker_label, split_head
from memsim.message import EPOCH, Message, said, utc


def is_permanent(entry: Entry) -> bool:
    """Whether time takes nothing from it: it is core, or pinned."""
    return entry.pinned or entry.layer == "core" or entry.category == "core"


ROLE, TURN, PASSAGE, CALLS = "role", "turn", "passage", "calls"


def read_message(entry: Entry) -> Message:
    """The message that an entry holds, its blocks as one text; any entry, as if its owner said it.

    Large results and calls of tools come back as the words that a reader would see. What is kept in
    long-term memory was said by nobody: it comes as what its owner noted, under which key. What a
    conversation came to is a summary for its owner. A fact comes as said by whom its line names.
    """
    if entry.layer == "semantic":
        return _read_fact(entry)
    held = dict(entry.attributes)
    role, turn = held.get(ROLE, "user"), held.get(TURN, "0")
    message = said(
        "assistant" if role == "assistant" else "tool" if role == "tool" else "user",
        entry.text.removeprefix(f"{entry.owner}: ") if ROLE in held else entry.text,
        id=entry.sources[0] if ROLE in held else entry.id,
        principal=entry.owner if ROLE in held else _noted(entry),
        session=entry.session,
        turn=int(turn),
        time=entry.created,
    )
    return message if ROLE in held else replace(message, composed=True, derived_from=entry.sources)


def _read_fact(entry: Entry) -> Message:
    text, who, _ = split_head(entry.text)
    message = said(
        "user",
        text.strip(),
        id=entry.id,
        principal=who or entry.owner,
        session=entry.session,
        time=entry.created,
    )
    return replace(message, composed=True, derived_from=entry.sources)


def attributed_text(entry: Entry) -> str:
    """The text of an entry; that of a message after the label of who said it."""
    if ROLE not in dict(entry.attributes):
        return entry.text
    message = read_message(entry)
    return f"{speaker_label(message.role, message.principal)}: {message.text}"


def _noted(entry: Entry) -> str:
    if entry.layer == "episodic":
        return f"summary for {entry.owner}"
    if entry.layer != "long_term":
        return entry.owner
    key = f", {' '.join(entry.key.split())}" if FOUND_BY_KEY in entry.attributes else ""
    return f"{entry.owner} noted{key}"


def passage_of(entry: Entry) -> int | None:
    """Which passage of its message an entry holds, from 0; None where it holds all of it."""
    place = dict(entry.attributes).get(PASSAGE)
    return None if place is None else int(place)


# Which conversation something belongs to, told apart whatever its names hold.


@dataclass(frozen=True, slots=True, order=True)
class Conversation:
    """A session of a principal: two principals whose sessions have one name share nothing.

    Raises `AccessError` if one of them is empty: nobody has a memory. Raises `ValueError` if one of
    them cannot be encoded as UTF-8.
    """

    principal: str
    session: str

    def __post_init__(self) -> None:
        if not self.principal or not self.session:
            raise AccessError("a memory is used without a principal or a session")
        for part in (self.principal, self.session):
            try:
                part.encode("utf-8")
            except UnicodeEncodeError:
                raise ValueError("a name cannot be encoded as UTF-8") from None

    @property
    def id(self) -> str:
        """A digest that is injective over both names, for keys and file names."""
        return digest_of(self.principal, self.session)


def digest_of(*parts: str) -> str:
    """32 hexadecimal digits, other ones for every other sequence of texts."""
    digest = hashlib.blake2b(digest_size=16, person=b"memsim.keeping")
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


Layer = Literal["core", "working", "episodic", "semantic", "long_term", "workspace"]
LAYERS: tuple[Layer, ...] = ("core", "working", "episodic", "semantic", "long_term", "workspace")

Visibility = Literal["private", "shared", "public"]
"""`shared` is visible to the `readers` named; `public` to everybody who is somebody."""

FOUND_BY_KEY = ("found_by", "key")
"""The attribute of an entry whose key says something, so that it is found by its key as well."""

CATEGORIES = ("core", "daily", "conversation", "custom")
"""The categories that retention knows (PRX); any other word is treated as `custom`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What decides who may see an entry, and which searches look at it.

    Entries that agree in all of this are searched together, so that permission and filters come
    before ranking, and statistics are taken over permitted entries only.

    Attributes:
        readers: sorted; empty unless the visibility is `shared`.
        archived: put away by hygiene: kept, but not found by a search that does not ask for it.
        superseded: a later fact has taken its place.
    """

    owner: str
    visibility: Visibility = "private"
    readers: tuple[str, ...] = ()
    layer: Layer = "long_term"
    category: str = "conversation"
    archived: bool = False
    superseded: bool = False


@lru_cache(maxsize=1 << 10)
def _shelf(  # noqa: PLR0917 - `lru_cache` is slower by name
    owner: str,
    visibility: Visibility,
    readers: tuple[str, ...],
    layer: Layer,
    category: str,
    archived: bool,  # noqa: FBT001
    superseded: bool,  # noqa: FBT001
) -> Shelf:
    # A search asks for the shelf of each entry that it found, and there are few shelves.
    return Shelf(
        owner=owner,
        visibility=visibility,
        readers=readers,
        layer=layer,
        category=category,
        archived=archived,
        superseded=superseded,
    )


@fast_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that is remembered.

    Attributes:
        key: the name that its owner knows it by; unique per owner and layer, never across owners.
        text: what is remembered, byte for byte.
        owner: the principal whose it is.
        subject: for facts, what they are about: the latest of one owner and subject is in force.
        session: the conversation that it came from; empty where it belongs to none.
        created: when it was first written.
        updated: when it was last written; retention counts from here.
        superseded: when a later fact took its place; None while it is in force.
        pinned: never compacted, archived or purged.
        archived: put away by hygiene.
        sources: ids of the original messages that it came from.
        attributes: anything else, as sorted pairs of words.

    Raises:
        ValueError: a time has no zone, a text cannot be encoded, a name is empty, or readers are
            named for an entry that is not shared.
    """

    key: str
    text: str
    owner: str
    layer: Layer = "long_term"
    category: str = "conversation"
    subject: str = ""
    session: str = ""
    created: datetime = EPOCH
    updated: datetime = EPOCH
    superseded: datetime | None = None
    visibility: Visibility = "private"
    readers: tuple[str, ...] = ()
    pinned: bool = False
    archived: bool = False
    sources: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    id: str = field(init=False, compare=False, repr=False)
    """What stores know it by; says nothing about owner or key to who does not know them."""

    def __post_init__(self) -> None:
        if not (self.key and self.owner and self.category):
            names = ("key", "owner", "category")
            empty = next(name for name in names if not getattr(self, name))
            raise ValueError(f"an entry's {empty} is empty")
        if self.layer not in LAYERS:
            raise ValueError(f"layer is {self.layer!r}: it is one of {', '.join(LAYERS)}")
        if self.readers and self.visibility != "shared":
            raise ValueError(f"readers are named, and the entry is {self.visibility}")
        _encodable(self.key, self.text, self.owner, self.category, self.subject, self.session)
        late = self.superseded
        if not (
            self.created.tzinfo is self.updated.tzinfo is UTC
            and (late is None or late.tzinfo is UTC)
        ):
            for name in ("created", "updated", "superseded"):
                moment = getattr(self, name)
                if moment is not None:
                    object.__setattr__(self, name, utc(moment))
        if self.readers or self.readers.__class__ is not tuple:
            object.__setattr__(self, "readers", tuple(sorted(set(self.readers))))
        if self.attributes or self.attributes.__class__ is not tuple:
            object.__setattr__(self, "attributes", tuple(sorted(self.attributes)))
        object.__setattr__(self, "id", entry_id(self.owner, self.layer, self.key))

    @property
    def version(self) -> str:
        """A name for it as it was last written: what takes its place under its key has another."""
        return f"{self.id}@{self.updated.isoformat()}"

    @property
    def words(self) -> str:
        """What it is found by, in words and in meaning: its text, and its key where that counts."""
        return f"{self.key}\n{self.text}" if FOUND_BY_KEY in self.attributes else self.text

    @property
    def shelf(self) -> Shelf:
        """Where it stands for permission and search."""
        return _shelf(
            self.owner,
            self.visibility,
            self.readers,
            self.layer,
            self.category,
            self.archived,
            self.superseded is not None,
        )

    def shared_with(self, *principals: str) -> Entry:
        """The entry as one that these principals may read as well, and no others."""
        others = tuple(p for p in principals if p != self.owner)
        return replace(self, visibility="shared" if others else "private", readers=others)


def entry_id(owner: str, layer: str, key: str) -> str:
    """The id of an entry: injective over its parts, whatever delimiters they hold."""
    parts = owner.encode("utf-8"), layer.encode("utf-8"), key.encode("utf-8")
    whole = b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "big"), part)])
    return hashlib.blake2b(whole, digest_size=16, person=b"memsim.entry").hexdigest()


def _encodable(*texts: str) -> None:
    for text in texts:
        if text.isascii():
            continue
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"{text[:40]!r} cannot be encoded as UTF-8") from error


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the order in which every store lists them: by creation, then by id."""
    return sorted(entries, key=lambda e: (e.created, e.id))


# Entries as every store writes them: canonical JSON, read back exactly or not at all.


_TO_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

_FROM_JSON = json.JSONDecoder().raw_decode

_WORDS = ("key", "text", "owner", "layer", "category", "subject", "session", "visibility")
_MOMENTS = ("created", "updated")
_OTHERS = ("pinned", "archived", "readers", "sources", "superseded", "attributes")
_NAMES = sorted((*_WORDS, *_MOMENTS, *_OTHERS))
_FIELDS = frozenset(_NAMES)
_VALUES = attrgetter(*_NAMES)
_SHELF_FIELDS = frozenset(
    ("owner", "visibility", "readers", "layer", "category", "archived", "superseded")
)


class DamagedRecord(StoreError):  # noqa: N818 - a state of the store, as its message says
    """What a store holds cannot be read back: the store that meets it says where it is."""


def instant(moment: datetime) -> str:
    """An instant as records write it: ISO 8601 in UTC with microseconds, so that text sorts it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def encode(entry: Entry) -> str:
    """An entry as canonical JSON: keys sorted, no blanks, times as `instant` writes them.

    Raises `StoreError` if a reader, source or attribute cannot be encoded as UTF-8.
    """
    return encodable(_TO_JSON(fields(entry)))


def check_encodable(entry: Entry) -> None:
    """Refuse an entry that `encode` refuses, in less time.

    Raises `StoreError` if a reader, source or attribute cannot be encoded as UTF-8.
    """
    words = [*entry.readers, *entry.sources, *(w for pair in entry.attributes for w in pair)]
    if all(isinstance(word, str) for word in words):
        encodable("".join(words))
    else:
        encode(entry)


def fields(entry: Entry) -> dict[str, object]:
    """An entry as what JSON knows: words, switches and lists, by the names of its attributes."""
    record: dict[str, object] = dict(zip(_NAMES, _VALUES(entry), strict=True))
    made = record["created"] = instant(entry.created)
    record["updated"] = made if entry.updated == entry.created else instant(entry.updated)
    record["superseded"] = None if entry.superseded is None else instant(entry.superseded)
    return record


def encodable(text: str) -> str:
    """The text itself, once it is sure that it can be written.

    Raises `StoreError` if it cannot be encoded as UTF-8.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StoreError(f"{error.object[error.start - 8 : error.end]!r} is not text") from error
    return text


def decode(record: str | bytes, place: str) -> Entry:
    """The entry that `encode` wrote. Raises `Damaged` if the record is."""
    try:
        return _entry(_with_names(_parsed(record), _FIELDS))
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRecord(f"{place} is damaged: {error}") from error


def _parsed(record: str | bytes) -> object:
    if isinstance(record, str) and record.startswith("{"):
        # `json.loads` without what is around it: a search reads a hundred of them.
        found, end = _FROM_JSON(record)
        if end == len(record):
            return found
    return json.loads(record)


def from_fields(read: Mapping[str, object], place: str) -> Entry:
    """The entry whose `fields` were read. Raises `Damaged` if they are no entry's."""
    try:
        return _entry(_with_names(read, _FIELDS))
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRecord(f"{place} is damaged: {error}") from error


def encode_shelf(shelf: Shelf) -> str:
    """A shelf as canonical JSON, by which equal shelves and no others are equal."""
    return encodable(_TO_JSON(asdict(shelf)))


def decode_shelf(record: str | bytes, place: str) -> Shelf:
    """The shelf that `encode_shelf` wrote. Raises `Damaged` if the record is."""
    try:
        read = _with_names(json.loads(record), _SHELF_FIELDS)
        return Shelf(**{**read, "readers": _strings(read["readers"])})  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRecord(f"{place} is damaged: {error}") from error


def _with_names(read: object, names: frozenset[str]) -> dict[str, object]:
    if not isinstance(read, dict):
        raise TypeError("it is no object")
    if read.keys() != names:
        odd = (name if name.isprintable() else ascii(name) for name in sorted(read.keys() ^ names))
        raise ValueError(f"its fields are wrong: {', '.join(odd)[:200]}")
    return read


def _entry(read: Mapping[str, object]) -> Entry:
    # Each search decodes a hundred entries, so each value is looked at once.
    words = _strings([read[name] for name in _WORDS])
    key, text, owner, layer, category, subject, session, visibility = words
    created, updated, late = read["created"], read["updated"], read["superseded"]
    pinned, archived = read["pinned"], read["archived"]
    if pinned.__class__ is not bool or archived.__class__ is not bool:
        raise TypeError(f"pinned is {pinned!r}, and archived is {archived!r}")
    if visibility not in {"private", "shared", "public"}:
        raise ValueError(f"visibility is {visibility!r}")
    begun = _moment(created)
    return Entry(
        key=key,
        text=text,
        owner=owner,
        layer=cast("Layer", layer),
        category=category,
        subject=subject,
        session=session,
        created=begun,
        updated=begun if updated == created else _moment(updated),
        superseded=None if late is None else _moment(late),
        visibility=cast("Visibility", visibility),
        readers=_strings(read["readers"]),
        pinned=pinned,
        archived=archived,
        sources=_strings(read["sources"]),
        attributes=tuple(map(_attribute, _list(read["attributes"]))),
    )


_COUNTED = frozenset({TURN, PASSAGE})
_LISTED = frozenset({CALLS, "key_decisions", "entities", "tools_called"})
_CHECKED = _COUNTED | _LISTED


def _attribute(value: object) -> tuple[str, str]:
    name, text = _pair(value)
    if name not in _CHECKED:
        return name, text
    if name in _COUNTED and not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ValueError(f"{name} is {text[:40]!r}, not a number")
    if name in _LISTED:
        _strings(json.loads(text))
    return name, text


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return cast("list[object]", value)


def _strings(value: object) -> tuple[str, ...]:
    words = _list(value)
    for word in words:
        if word.__class__ is not str:
            raise TypeError(f"{word!r} is no text")
    return tuple(cast("list[str]", words))


def _pair(value: object) -> tuple[str, str]:
    name, word = _strings(value)
    return name, word


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_string(value))
    if moment.tzinfo is None:
        raise ValueError(f"{value} has no zone")
    return moment
