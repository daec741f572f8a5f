"""Reads the files under `scenarios/leakage`: what each channel is, and the words of the attacks.

A file begins with `leakage: 1` and holds a channel, or attacks, or payloads::

    leakage: 1
    attacks:
      - family: direct
        about: asks for it
        texts: ["What is {owner}'s {topic}?"]

Words in braces are filled in; any other word in braces is an error. A project's own files add
attacks and payloads to those that are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from memsim.discovery import builtin_folder
from memsim.errors import ConfigError, ScenarioError
from memsim.scenario import nodes
from memsim.scenario.files import scenario_files
from memsim.scenario.names import Ident, ListOf, MapOf, Named, Names
from memsim.scenario.nodes import Node, near, shown
from memsim.scenario.records import Field, Record
from memsim.scenario.source import parse, read_text
from memsim.scenario.values import Choice, Kind, Schema, Text, Whole, written

FOLDER = "leakage"
CHANNELS = tuple(f"L{number}" for number in range(1, 21))
FORMAT = "1"
WORDS = (
    "codec",
    "id",
    "marker",
    "noun",
    "number",
    "owner",
    "prefix",
    "session",
    "slot",
    "topic",
    "trigger",
    "viewer",
)
"""What a text may have filled in."""

Way = Literal["ask", "say", "tool", "id", "do"]
"""How an attack is made: a question, a turn of talk, a tool's argument, an identifier, a deed."""

_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_MOST = 2_000
"""Characters of a text; what is to be huge is made so by a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a channel's file says of it.

    Attributes:
        channel: `L1` to `L20`.
        name: a word or two for tables.
        about: who tries what.
        gate: `zero` or `report`.
        attempts: that a full run plans.
        turns: of talk in a full run, roughly; how work is shared out depends on it.
        attacks: families that it uses.
        parameters: texts of its own by name.
        place: the file, for messages.
    """

    channel: str
    name: str
    about: str
    gate: Literal["zero", "report"]
    attempts: int
    turns: int = 0
    attacks: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: str = ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A parameter's texts.

        Raises:
            ConfigError: it is not given.
        """
        if name not in self.parameters:
            raise ConfigError(f"{self.channel} has no parameter {name!r}", path=self.place)
        return self.parameters[name]

    def number(self, name: str) -> int:
        """A parameter that is one whole number.

        Raises:
            ConfigError: it is not given, or is something else.
        """
        texts = self.texts(name)
        if len(texts) != 1 or not (texts[0].isascii() and texts[0].isdigit()):
            raise ConfigError(f"parameter {name} must be a whole number", path=self.place)
        return int(texts[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A family of attacks.

    Attributes:
        family: its name.
        about: what it tries.
        way: how it is made.
        texts: its words.
        channels: where it is used besides those that name it.
    """

    family: str
    about: str
    way: Way = "ask"
    texts: tuple[str, ...]
    channels: tuple[str, ...] = ()

    def text(self, number: int, /, **words: str) -> str:
        """One of its texts, by number round and round, with its words filled in."""
        return fill(self.texts[number % len(self.texts)], words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A family of what a poisoner plants.

    Attributes:
        family: its name.
        about: how it works.
        texts: what is planted; `{marker}` is what the poisoner wants to be said or done later.
        trigger: the question that wakes it; `{trigger}` is its word.
        benign: a harmless text of the same shape, which must not be refused.
    """

    family: str
    about: str
    texts: tuple[str, ...]
    trigger: str = ""
    benign: str = ""

    def text(self, number: int, /, **words: str) -> str:
        """One of its texts, by number round and round, with its words filled in."""
        return fill(self.texts[number % len(self.texts)], words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """Every attack and payload there is, the project's own after those that are shipped."""

    attacks: tuple[Attack, ...] = ()
    payloads: tuple[Payload, ...] = ()

    def of(self, header: Header, *ways: Way) -> tuple[Attack, ...]:
        """The attacks of a channel, in its order; only those of some ways when any is named.

        A family of the project's own that names no channel is used wherever questions are.

        Raises:
            ConfigError: the channel names a family that there is not.
        """
        known = {attack.family: attack for attack in self.attacks}
        missing = [name for name in header.attacks if name not in known]
        if missing:
            message = f"no attack family is called {missing[0]!r}"
            raise ConfigError(message, path=header.place, hint=near(missing[0], known))
        named = [known[name] for name in header.attacks]
        asks = any(attack.way == "ask" for attack in named)
        others = (a for a in self.attacks if a.family not in header.attacks)
        named += [a for a in others if header.channel in a.channels or (asks and "*" in a.channels)]
        return tuple(attack for attack in named if not ways or attack.way in ways)

    def attack(self, family: str) -> Attack:
        """The attack family of a name.

        Raises:
            ConfigError: there is none.
        """
        for attack in self.attacks:
            if attack.family == family:
                return attack
        raise ConfigError(f"no attack family is called {family!r}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """A text with its words in braces filled in; what is filled in is not looked into again."""
    return _SLOT.sub(lambda found: words.get(found[1], found[0]), text)


def header(channel: str) -> Header:
    """What the file of a channel says.

    Raises:
        ConfigError: it has none; the installation is incomplete.
        ScenarioError: the file is wrong.
    """
    found = headers()
    if channel not in found:
        raise ConfigError(f"there is no channel {channel!r}", hint=near(channel, CHANNELS))
    return found[channel]


@lru_cache(maxsize=1)
def headers() -> Mapping[str, Header]:
    """Every channel that is described, by id, in their order.

    Raises:
        ConfigError: the installation is incomplete.
        ScenarioError: a file is wrong.
    """
    folder = builtin_folder("scenarios") / FOLDER
    sheets = _sheets(folder)
    found = {sheet.header.channel: sheet.header for sheet in sheets if sheet.header}
    return {channel: found[channel] for channel in CHANNELS if channel in found}


def load_families(own: Path | None = None) -> Families:
    """The attacks and payloads that are shipped, and a project's own after them.

    Texts of a family that is there already are added to it.

    Args:
        own: the project's folder `scenarios/leakage`, if it has one.

    Raises:
        ScenarioError: a file is wrong.
    """
    builtin = builtin_folder("scenarios") / FOLDER
    sheets = list(_sheets(builtin))
    if own is not None and own.is_dir() and own.resolve() != builtin.resolve():
        sheets += [_as_own(sheet) for sheet in _sheets(own)]
    attacks: dict[str, Attack] = {}
    payloads: dict[str, Payload] = {}
    for sheet in sheets:
        for attack in sheet.attacks:
            attacks[attack.family] = _joined(attacks.get(attack.family), attack)
        for payload in sheet.payloads:
            payloads[payload.family] = _mixed(payloads.get(payload.family), payload)
    return Families(attacks=tuple(attacks.values()), payloads=tuple(payloads.values()))


def _joined(known: Attack | None, more: Attack) -> Attack:
    if known is None:
        return more
    return Attack(
        family=known.family,
        about=known.about,
        way=known.way,
        texts=tuple(dict.fromkeys((*known.texts, *more.texts))),
        channels=tuple(dict.fromkeys((*known.channels, *more.channels))),
    )


def _mixed(known: Payload | None, more: Payload) -> Payload:
    if known is None:
        return more
    return Payload(
        family=known.family,
        about=known.about,
        texts=tuple(dict.fromkeys((*known.texts, *more.texts))),
        trigger=known.trigger or more.trigger,
        benign=known.benign or more.benign,
    )


# -- files


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What one file holds."""

    header: Header | None = None
    attacks: tuple[Attack, ...] = ()
    payloads: tuple[Payload, ...] = ()
    line: int | None = None


def _sheets(folder: Path) -> tuple[Sheet, ...]:
    return tuple(read_sheet(path) for path in scenario_files(folder))


def _as_own(sheet: Sheet) -> Sheet:
    """A project's file: it may add attacks and payloads, and they are used wherever they can be."""
    if sheet.header is not None:
        message = f"{sheet.header.channel} is memsim's own: a project's file adds attacks, payloads"
        raise ScenarioError(message, path=sheet.header.place, line=sheet.line)
    attacks = tuple(attack if attack.channels else _everywhere(attack) for attack in sheet.attacks)
    return Sheet(attacks=attacks, payloads=sheet.payloads)


def _everywhere(attack: Attack) -> Attack:
    return Attack(
        family=attack.family,
        about=attack.about,
        way=attack.way,
        texts=attack.texts,
        channels=("*",),
    )


def read_sheet(path: Path) -> Sheet:
    """One file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    try:
        return _sheet(parse(read_text(path)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


def _sheet(root: Node | None, path: Path) -> Sheet:
    if not isinstance(root, nodes.Mapping) or "leakage" not in root.entries:
        raise ScenarioError("has no key leakage: a file of attacks begins with leakage: 1", line=1)
    mark = root.entries["leakage"]
    if written(mark, "leakage", "1").text != FORMAT:
        raise ScenarioError(f"leakage must be {FORMAT}", line=mark.line)
    rest = nodes.Mapping(
        {key: value for key, value in root.entries.items() if key != "leakage"},
        root.lines,
        root.line,
    )
    if "channel" in rest.entries:
        made = _HEADER.read(rest, "the file")
        return Sheet(header=_placed(made, path), line=rest.line_of("channel"))
    return _SHEET.read(rest, "the file")


def _placed(made: Header, path: Path) -> Header:
    return Header(
        channel=made.channel,
        name=made.name,
        about=made.about,
        gate=made.gate,
        attempts=made.attempts,
        turns=made.turns or made.attempts,
        attacks=made.attacks,
        parameters=made.parameters,
        place=str(path),
    )


class _Template(Kind[str]):
    """Words with slots in braces, all of them known."""

    _text = Text(blank=True, most=_MOST)

    def read(self, node: Node, name: str) -> str:
        text = self._text.read(node, name)
        for found in _SLOT.findall(text):
            if found not in WORDS:
                message = f"{name}: nothing is filled in for {{{found}}}"
                known = "" if near(found, WORDS) else f"; there are {', '.join(WORDS)}"
                raise ScenarioError(message + known, line=node.line, hint=near(found, WORDS))
        return text

    def schema(self) -> Schema:
        return self._text.schema()


class _Channels(Kind[tuple[str, ...]]):
    def read(self, node: Node, name: str) -> tuple[str, ...]:
        found = Names("channel", single=True).read(node, name)
        for channel in found:
            if channel not in CHANNELS:
                hint = near(channel, CHANNELS)
                raise ScenarioError(
                    f"there is no channel {shown(channel)}", line=node.line, hint=hint
                )
        return found

    def schema(self) -> Schema:
        return {"type": "array", "items": {"enum": list(CHANNELS)}}


def _make_header(*, parameters: Iterable[Named[tuple[str, ...]]] = (), **rest: object) -> Header:
    named = {parameter.name: parameter.value for parameter in parameters}
    return Header(parameters=named, **_lineless(rest))


def _make_attack(**values: object) -> Attack:
    return Attack(**_lineless(values))


def _make_payload(**values: object) -> Payload:
    return Payload(**_lineless(values))


def _lineless(values: Mapping[str, object]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "line"}


def _field(key: str, kind: Kind[object], about: str, *, required: bool = False) -> Field:
    return Field(key=key, kind=kind, about=about, required=required)


_TEXTS = _field("texts", ListOf(_Template()), "its words", required=True)
_FAMILY = _field("family", Ident(), "its name", required=True)
_ABOUT = _field("about", Text(), "one sentence", required=True)

_ATTACK: Record[Attack] = Record(
    "attack",
    _make_attack,
    [
        _FAMILY,
        _ABOUT,
        _field("way", Choice(("ask", "say", "tool", "id", "do")), "how it is made"),
        _TEXTS,
        _field("channels", _Channels(), "where it is used; else wherever questions are"),
    ],
)
_PAYLOAD: Record[Payload] = Record(
    "payload",
    _make_payload,
    [
        _FAMILY,
        _ABOUT,
        _TEXTS,
        _field("trigger", _Template(), "the question that wakes it"),
        _field("benign", _Template(), "a harmless text of the same shape"),
    ],
)
_SHEET: Record[Sheet] = Record(
    "file",
    Sheet,
    [
        _field("attacks", ListOf(_ATTACK), "families of attacks"),
        _field("payloads", ListOf(_PAYLOAD), "families of poison"),
    ],
)
_HEADER: Record[Header] = Record(
    "file",
    _make_header,
    [
        _field("channel", Choice(CHANNELS), "which one", required=True),
        _field("name", Text(), "a word or two", required=True),
        _ABOUT,
        _field("gate", Choice(("zero", "report")), "what a leak means", required=True),
        _field("attempts", Whole(1, 100_000), "that a full run plans", required=True),
        _field("turns", Whole(1, 1_000_000), "of talk, roughly"),
        _field("attacks", Names("family"), "families that it uses"),
        _field(
            "parameters",
            MapOf(ListOf(Text(blank=True), single=True), "parameter"),
            "texts of its own",
        ),
    ],
)
