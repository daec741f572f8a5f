"""Reads the files under `scenarios/leakage` strictly: a channel, or attacks, or payloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memsim.errors import ScenarioError
from memsim.leakage.families import CHANNELS, SLOT, WORDS, Attack, Header, Payload, stray_brace
from memsim.scenario import nodes
from memsim.scenario.files import scenario_files
from memsim.scenario.names import Ident, ListOf, MapOf, Named, Names
from memsim.scenario.nodes import Node, near, shown
from memsim.scenario.records import Field, Record
from memsim.scenario.source import parse, read_text
from memsim.scenario.values import Choice, Kind, Schema, Text, Whole, written

FORMAT = "1"
_EXCERPT = 24
_MOST = 2_000
"""Characters of a text; what is to be huge is made so by a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What one file holds."""

    header: Header | None = None
    attacks: tuple[Attack, ...] = ()
    payloads: tuple[Payload, ...] = ()
    line: int | None = None


def read_folder(folder: Path) -> tuple[Sheet, ...]:
    """The files of a folder, by name.

    Raises:
        ScenarioError: one is wrong; with path and line.
    """
    return tuple(read_sheet(path) for path in scenario_files(folder))


def as_own(sheet: Sheet) -> Sheet:
    """A project's file: it may add attacks and payloads, and they are used wherever they can be.

    Raises:
        ScenarioError: it describes a channel.
    """
    if sheet.header is not None:
        message = f"{sheet.header.channel} is memsim's own: a project's file adds attacks, payloads"
        raise ScenarioError(message, path=sheet.header.place, line=sheet.line)
    attacks = tuple(a if a.channels else replace(a, channels=("*",)) for a in sheet.attacks)
    return replace(sheet, attacks=attacks)


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
    return replace(made, turns=made.turns or made.attempts, place=str(path))


class _Template(Kind[str]):
    """Words with slots in braces, all of them known."""

    _text = Text(blank=True, most=_MOST)

    def read(self, node: Node, name: str) -> str:
        text = self._text.read(node, name)
        for found in SLOT.findall(text):
            if found not in WORDS:
                message = f"{name}: nothing is filled in for {{{found}}}"
                known = "" if near(found, WORDS) else f"; there are {', '.join(WORDS)}"
                raise ScenarioError(message + known, line=node.line, hint=near(found, WORDS))
        if (place := stray_brace(text)) is not None:
            message = f"{name}: nothing is filled in for {shown(text[place : place + _EXCERPT])}"
            raise ScenarioError(f"{message}; there are {', '.join(WORDS)}", line=node.line)
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
