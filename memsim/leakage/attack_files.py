"""Reads the files under `scenarios/leakage` strictly: a channel, or attacks, or payloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from memsim.discovery.project import builtin_folder
from memsim.errors import ConfigError, ScenarioError, nearest
from memsim.leakage import LEAKAGE
from memsim.leakage.attack_families import Attack, ChannelHeader, Families, Payload
from memsim.leakage.attempt import CHANNELS
from memsim.scenario.document import MappingNode, Node, parse, read_text
from memsim.scenario.record_kinds import Key, ListOf, RecordKind
from memsim.scenario.script_files import scenario_files
from memsim.scenario.value_kinds import scalar_of


def channel_header(channel: str) -> ChannelHeader:
    """Read the header of a channel's file.

    Raises:
        ConfigError: it has none; the installation is incomplete.
        ScenarioError: the file is wrong.
    """
    found = channel_headers()
    if channel not in found:
        raise ConfigError(f"unknown channel {channel!r}", hint=nearest(channel, CHANNELS))
    return found[channel]


@lru_cache(maxsize=1)
def channel_headers() -> Mapping[str, ChannelHeader]:
    """The headers of all channels by id, in order.

    Raises:
        ConfigError: the installation is incomplete.
        ScenarioError: a file is wrong.
    """
    sheets = read_folder(builtin_folder("scenarios") / LEAKAGE)
    found = {sheet.header.channel: sheet.header for sheet in sheets if sheet.header}
    return {channel: found[channel] for channel in CHANNELS if channel in found}


def load_families(own: Path | None = None) -> Families:
    """Load the shipped attacks and payloads, then a project's own.

    Texts of a family that is there already are added to it.

    Raises:
        ScenarioError: a file is wrong.
    """
    builtin = builtin_folder("scenarios") / LEAKAGE
    sheets = list(read_folder(builtin))
    if own is not None and own.is_dir() and own.resolve() != builtin.resolve():
        sheets += map(as_project_sheet, read_folder(own))
    attacks: dict[str, Attack] = {}
    payloads: dict[str, Payload] = {}
    for sheet in sheets:
        for attack in sheet.attacks:
            known = attacks.get(attack.family)
            attacks[attack.family] = _joined_attack(known, attack) if known else attack
        for payload in sheet.payloads:
            twin = payloads.get(payload.family)
            payloads[payload.family] = _joined_payload(twin, payload) if twin else payload
    return Families(attacks=tuple(attacks.values()), payloads=tuple(payloads.values()))


def _joined_attack(known: Attack, more: Attack) -> Attack:
    texts, channels = (*known.texts, *more.texts), (*known.channels, *more.channels)
    return replace(known, texts=_distinct(texts), channels=_distinct(channels))


def _joined_payload(known: Payload, more: Payload) -> Payload:
    return replace(
        known,
        texts=_distinct((*known.texts, *more.texts)),
        trigger=known.trigger or more.trigger,
        benign=known.benign or more.benign,
    )


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


FORMAT = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackSheet:
    """The contents of one file: a channel, or attacks and payloads."""

    header: ChannelHeader | None = None
    attacks: Annotated[
        tuple[Attack, ...], Key(ListOf(RecordKind("attack", Attack)), "families of attacks")
    ] = ()
    payloads: Annotated[
        tuple[Payload, ...], Key(ListOf(RecordKind("payload", Payload)), "families of poison")
    ] = ()
    line: int | None = None


def read_folder(folder: Path) -> tuple[AttackSheet, ...]:
    """Read the files of a folder, sorted by name.

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
    """Read one file.

    Raises:
        ScenarioError: it is wrong; with path and line.
    """
    try:
        return _sheet(parse(read_text(path)), path)
    except ScenarioError as error:
        raise ScenarioError(error.message, path=path, line=error.line, hint=error.hint) from None


def _sheet(root: Node | None, path: Path) -> AttackSheet:
    if not isinstance(root, MappingNode) or LEAKAGE not in root.entries:
        raise ScenarioError(
            "missing key 'leakage'; a file of attacks begins with leakage: 1", line=1
        )
    mark = root.entries[LEAKAGE]
    if scalar_of(mark, LEAKAGE, "1").text != FORMAT:
        raise ScenarioError(f"leakage must be {FORMAT}", line=mark.line)
    rest = MappingNode(
        {key: value for key, value in root.entries.items() if key != LEAKAGE},
        root.lines,
        root.line,
    )
    if "channel" in rest.entries:
        made = _HEADER.read(rest, "the file")
        header = replace(made, turns=made.turns or made.attempts, place=str(path))
        return AttackSheet(header=header, line=rest.line_of("channel"))
    return _SHEET.read(rest, "the file")


_SHEET = RecordKind("file", AttackSheet)
_HEADER = RecordKind("file", ChannelHeader)
