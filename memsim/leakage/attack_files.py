"""Reads the files under `scenarios/leakage` strictly: a channel, or attacks, or payloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from memsim.discovery import builtin_folder
from memsim.errors import ConfigError, ScenarioError, nearest
from memsim.leakage.attack_families import (
    CHANNELS,
    FOLDER,
    SLOT,
    WORDS,
    Attack,
    ChannelHeader,
    Families,
    Payload,
    stray_brace,
)
from memsim.scenario import document
from memsim.scenario.document import Node, nearest_name, parse, quote, read_text
from memsim.scenario.record_kinds import Field, ListOf, MapOf, Named, NamesKind, RecordKind
from memsim.scenario.script_files import scenario_files
from memsim.scenario.value_kinds import (
    ChoiceKind,
    FieldKind,
    NameKind,
    Schema,
    TextKind,
    WholeKind,
    scalar_of,
)


def channel_header(channel: str) -> ChannelHeader:
    """What the file of a channel says.

    Raises:
        ConfigError: it has none; the installation is incomplete.
        ScenarioError: the file is wrong.
    """
    found = channel_headers()
    if channel not in found:
        raise ConfigError(f"there is no channel {channel!r}", hint=nearest(channel, CHANNELS))
    return found[channel]


@lru_cache(maxsize=1)
def channel_headers() -> Mapping[str, ChannelHeader]:
    """Every channel that is described, by id, in their order.

    Raises:
        ConfigError: the installation is incomplete.
        ScenarioError: a file is wrong.
    """
    from memsim.leakage.attack_files import read_folder

    sheets = read_folder(builtin_folder("scenarios") / FOLDER)
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
    from memsim.leakage.attack_files import as_project_sheet, read_folder

    builtin = builtin_folder("scenarios") / FOLDER
    sheets = list(read_folder(builtin))
    if own is not None and own.is_dir() and own.resolve() != builtin.resolve():
        sheets += map(as_project_sheet, read_folder(own))
    attacks: dict[str, Attack] = {}
    payloads: dict[str, Payload] = {}
    for sheet in sheets:
        for attack in sheet.attacks:
            attacks[attack.family] = _joined_attack(attacks.get(attack.family), attack)
        for payload in sheet.payloads:
            payloads[payload.family] = _joined_payload(payloads.get(payload.family), payload)
    return Families(attacks=tuple(attacks.values()), payloads=tuple(payloads.values()))


def _joined_attack(known: Attack | None, more: Attack) -> Attack:
    if known is None:
        return more
    return replace(
        known,
        texts=tuple(dict.fromkeys((*known.texts, *more.texts))),
        channels=tuple(dict.fromkeys((*known.channels, *more.channels))),
    )


def _joined_payload(known: Payload | None, more: Payload) -> Payload:
    if known is None:
        return more
    return replace(
        known,
        texts=tuple(dict.fromkeys((*known.texts, *more.texts))),
        trigger=known.trigger or more.trigger,
        benign=known.benign or more.benign,
    )


FORMAT = "1"
_EXCERPT = 24
_MOST = 2_000
"""Characters of a text; what is to be huge is made so by a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackSheet:
    """What one file holds."""

    header: ChannelHeader | None = None
    attacks: tuple[Attack, ...] = ()
    payloads: tuple[Payload, ...] = ()
    line: int | None = None


def read_folder(folder: Path) -> tuple[AttackSheet, ...]:
    """The files of a folder, by name.

    Raises:
        ScenarioError: one is wrong; with path and line.
    """
    return tuple(read_sheet(path) for path in scenario_files(folder))


def as_project_sheet(sheet: AttackSheet) -> AttackSheet:
    """A project's file: it may add attacks and payloads, and they are used wherever they can be.

    Raises:
        ScenarioError: it describes a channel.
    """
    if sheet.header is not None:
        message = f"{sheet.header.channel} is memsim's own: a project's file adds attacks, payloads"
        raise ScenarioError(message, path=sheet.header.place, line=sheet.line)
    attacks = tuple(a if a.channels else replace(a, channels=("*",)) for a in sheet.attacks)
    return replace(sheet, attacks=attacks)


def read_sheet(path: Path) -> AttackSheet:
    """One file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    try:
        return _sheet(parse(read_text(path)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


def _sheet(root: Node | None, path: Path) -> AttackSheet:
    if not isinstance(root, document.MappingNode) or "leakage" not in root.entries:
        raise ScenarioError("has no key leakage: a file of attacks begins with leakage: 1", line=1)
    mark = root.entries["leakage"]
    if scalar_of(mark, "leakage", "1").text != FORMAT:
        raise ScenarioError(f"leakage must be {FORMAT}", line=mark.line)
    rest = document.MappingNode(
        {key: value for key, value in root.entries.items() if key != "leakage"},
        root.lines,
        root.line,
    )
    if "channel" in rest.entries:
        made = _HEADER.read(rest, "the file")
        return AttackSheet(header=_placed(made, path), line=rest.line_of("channel"))
    return _SHEET.read(rest, "the file")


def _placed(made: ChannelHeader, path: Path) -> ChannelHeader:
    return replace(made, turns=made.turns or made.attempts, place=str(path))


class _Template(FieldKind[str]):
    """Words with slots in braces, all of them known."""

    _text = TextKind(blank=True, most=_MOST)

    def read(self, node: Node, name: str) -> str:
        text = self._text.read(node, name)
        for found in SLOT.findall(text):
            if found not in WORDS:
                message = f"{name}: nothing is filled in for {{{found}}}"
                known = "" if nearest_name(found, WORDS) else f"; there are {', '.join(WORDS)}"
                raise ScenarioError(
                    message + known, line=node.line, hint=nearest_name(found, WORDS)
                )
        if (place := stray_brace(text)) is not None:
            message = f"{name}: nothing is filled in for {quote(text[place : place + _EXCERPT])}"
            raise ScenarioError(f"{message}; there are {', '.join(WORDS)}", line=node.line)
        return text

    def schema(self) -> Schema:
        return self._text.schema()


class _Channels(FieldKind[tuple[str, ...]]):
    def read(self, node: Node, name: str) -> tuple[str, ...]:
        found = NamesKind("channel", single=True).read(node, name)
        for channel in found:
            if channel not in CHANNELS:
                hint = nearest_name(channel, CHANNELS)
                raise ScenarioError(
                    f"there is no channel {quote(channel)}", line=node.line, hint=hint
                )
        return found

    def schema(self) -> Schema:
        return {"type": "array", "items": {"enum": list(CHANNELS)}}


def _make_header(
    *, parameters: Iterable[Named[tuple[str, ...]]] = (), **rest: object
) -> ChannelHeader:
    named = {parameter.name: parameter.value for parameter in parameters}
    return ChannelHeader(parameters=named, **_lineless(rest))


def _make_attack(**values: object) -> Attack:
    return Attack(**_lineless(values))


def _make_payload(**values: object) -> Payload:
    return Payload(**_lineless(values))


def _lineless(values: Mapping[str, object]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "line"}


def _field(key: str, kind: FieldKind[object], about: str, *, required: bool = False) -> Field:
    return Field(key=key, kind=kind, about=about, required=required)


_TEXTS = _field("texts", ListOf(_Template()), "its words", required=True)
_FAMILY = _field("family", NameKind(), "its name", required=True)
_ABOUT = _field("about", TextKind(), "one sentence", required=True)

_ATTACK: RecordKind[Attack] = RecordKind(
    "attack",
    _make_attack,
    [
        _FAMILY,
        _ABOUT,
        _field("way", ChoiceKind(("ask", "say", "tool", "id", "do")), "how it is made"),
        _TEXTS,
        _field("channels", _Channels(), "where it is used; else wherever questions are"),
    ],
)
_PAYLOAD: RecordKind[Payload] = RecordKind(
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
_SHEET: RecordKind[AttackSheet] = RecordKind(
    "file",
    AttackSheet,
    [
        _field("attacks", ListOf(_ATTACK), "families of attacks"),
        _field("payloads", ListOf(_PAYLOAD), "families of poison"),
    ],
)
_HEADER: RecordKind[ChannelHeader] = RecordKind(
    "file",
    _make_header,
    [
        _field("channel", ChoiceKind(CHANNELS), "which one", required=True),
        _field("name", TextKind(), "a word or two", required=True),
        _ABOUT,
        _field("gate", ChoiceKind(("zero", "report")), "what a leak means", required=True),
        _field("attempts", WholeKind(1, 100_000), "that a full run plans", required=True),
        _field("turns", WholeKind(1, 1_000_000), "of talk, roughly"),
        _field("attacks", NamesKind("family"), "families that it uses"),
        _field(
            "parameters",
            MapOf(ListOf(TextKind(blank=True), single=True), "parameter"),
            "texts of its own",
        ),
    ],
)
