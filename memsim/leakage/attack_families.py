"""Reads the files under `scenarios/leakage`: what each channel is, and the words of the attacks.

A file begins with `leakage: 1` and holds a channel, or attacks, or payloads::

    leakage: 1
    attacks:
      - family: direct
        about: asks for it
        texts: ["What is {owner}'s {topic}?"]

Words in braces are filled in; any other brace is an error, but for those of an object as JSON
writes it. A project's own files add attacks and payloads to those that are there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from memsim.errors import ConfigError, ScenarioError, nearest
from memsim.leakage.attempt import CHANNELS
from memsim.scenario.document import Node, nearest_name, quote
from memsim.scenario.record_kinds import Key, ListOf, MapOf, NamesKind
from memsim.scenario.value_kinds import ChoiceKind, FieldKind, NameKind, Schema, TextKind, WholeKind

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
"""Slots that a text may have."""

Way = Literal["ask", "say", "tool", "id", "do"]
"""How an attack is made: a question, a turn of talk, a tool's argument, an identifier, a deed."""

SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_BRACE = re.compile(r'\{\s*"|[{}]')


_MAX_TEXT = 2_000
"""Characters of a text; a channel makes larger ones itself."""

_EXCERPT = 24


class _TemplateKind(TextKind):
    """Text whose braces hold known words."""

    def read(self, node: Node, name: str) -> str:
        text = super().read(node, name)
        unknown = next((found for found in SLOT.findall(text) if found not in WORDS), None)
        hint = nearest_name(unknown, WORDS) if unknown else None
        place = stray_brace(text)
        if unknown is None and place is None:
            return text
        what = f"{{{unknown}}}" if unknown else quote(text[place : (place or 0) + _EXCERPT])
        known = "" if hint else f"; known slots: {', '.join(WORDS)}"
        raise ScenarioError(f"unknown slot {what} in {name}{known}", line=node.line, hint=hint)


class _ChannelsKind(NamesKind):
    """Ids of channels, each once."""

    def read(self, node: Node, name: str) -> tuple[str, ...]:
        found = super().read(node, name)
        for channel in found:
            if channel not in CHANNELS:
                hint = nearest_name(channel, CHANNELS)
                raise ScenarioError(f"unknown channel {quote(channel)}", line=node.line, hint=hint)
        return found


class _ParametersKind(FieldKind[Mapping[str, tuple[str, ...]]]):
    """A channel's own texts by name."""

    _named = MapOf(ListOf(TextKind(blank=True), single=True), "parameter")

    def read(self, node: Node, name: str) -> Mapping[str, tuple[str, ...]]:
        return {parameter.name: parameter.value for parameter in self._named.read(node, name)}

    def schema(self) -> Schema:
        return self._named.schema()


_TEMPLATE = _TemplateKind(blank=True, most=_MAX_TEXT)
_TEXTS = Key(ListOf(_TEMPLATE), "its words")
_FAMILY = Key(NameKind(), "its name")
_ABOUT = Key(TextKind(), "one sentence")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHeader:
    """What a channel's file says of it; `place` is the file, for messages.

    A leak fails the strategy where `gate` is `zero`. The work of a run is shared out by `turns`.
    """

    channel: Annotated[str, Key(ChoiceKind(CHANNELS), "L1 to L20")]
    name: Annotated[str, Key(TextKind(), "a word or two for tables")]
    about: Annotated[str, Key(TextKind(), "who tries what")]
    gate: Annotated[
        Literal["zero", "report"], Key(ChoiceKind(("zero", "report")), "what a leak means")
    ]
    attempts: Annotated[int, Key(WholeKind(1, 100_000), "that a full run plans")]
    turns: Annotated[int, Key(WholeKind(1, 1_000_000), "of talk in a full run, roughly")] = 0
    attacks: Annotated[tuple[str, ...], Key(NamesKind("family"), "families that it uses")] = ()
    parameters: Annotated[
        Mapping[str, tuple[str, ...]], Key(_ParametersKind(), "texts of its own by name")
    ] = field(default_factory=dict)
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
    """A family of attacks."""

    family: Annotated[str, _FAMILY]
    about: Annotated[str, _ABOUT]
    way: Annotated[Way, Key(ChoiceKind(("ask", "say", "tool", "id", "do")), "how it is made")] = (
        "ask"
    )
    texts: Annotated[tuple[str, ...], _TEXTS]
    channels: Annotated[
        tuple[str, ...],
        Key(
            _ChannelsKind("channel", single=True),
            "where it is used besides the channels that name it",
        ),
    ] = ()

    def text(self, number: int, /, **words: str) -> str:
        """Text number `number`, counted round and round, with its slots filled in."""
        return fill(self.texts[number % len(self.texts)], words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A family of what a poisoner plants.

    In its texts, `{marker}` is what the poisoner wants to be said or done later.
    """

    family: Annotated[str, _FAMILY]
    about: Annotated[str, _ABOUT]
    texts: Annotated[tuple[str, ...], _TEXTS]
    trigger: Annotated[
        str, Key(_TEMPLATE, "the question that wakes it; `{trigger}` is its word")
    ] = ""
    benign: Annotated[
        str, Key(_TEMPLATE, "a harmless text of the same shape, which must not be refused")
    ] = ""

    def text(self, number: int, /, **words: str) -> str:
        """Text number `number`, counted round and round, with its slots filled in."""
        return fill(self.texts[number % len(self.texts)], words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """Every attack and payload: first the shipped ones, then the project's own."""

    attacks: tuple[Attack, ...] = ()
    payloads: tuple[Payload, ...] = ()

    def of(self, header: ChannelHeader, *ways: Way) -> tuple[Attack, ...]:
        """The attacks of a channel, in its order; only those of some ways when any is named.

        A family of the project's own that names no channel is used wherever questions are.

        Raises:
            ConfigError: the channel names a family that there is not.
        """
        known = {attack.family: attack for attack in self.attacks}
        missing = [name for name in header.attacks if name not in known]
        if missing:
            message = f"unknown attack family {missing[0]!r}"
            raise ConfigError(message, path=header.place, hint=nearest(missing[0], known))
        named = [known[name] for name in header.attacks]
        asks = any(attack.way == "ask" for attack in named)
        others = (a for a in self.attacks if a.family not in header.attacks)
        named += [a for a in others if header.channel in a.channels or (asks and "*" in a.channels)]
        return tuple(attack for attack in named if not ways or attack.way in ways)

    def attempts(self, header: ChannelHeader) -> int:
        """How many attempts a full run of a channel plans.

        A channel with a parameter `payloads` makes equally many of each family of payloads besides
        its `benign` ones: its own number is for so many families, and each further one has its own.
        """
        if "payloads" not in header.parameters:
            return header.attempts
        counted = header.number("payloads")
        each = (header.attempts - header.number("benign")) // counted
        return header.attempts + each * (len(self.payloads) - counted)

    def attack(self, family: str) -> Attack:
        """The attack family of a name.

        Raises:
            ConfigError: there is none.
        """
        for attack in self.attacks:
            if attack.family == family:
                return attack
        raise ConfigError(f"unknown attack family {family!r}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """Fill the slots of a text; slots in the filled-in words stay as they are."""
    return SLOT.sub(lambda found: words.get(found[1], found[0]), text)


def stray_brace(text: str) -> int | None:
    """The index of a brace that belongs neither to a slot nor to an object; None without one.

    An object is one as JSON writes it, which a tool may be sent: a quote follows its brace.
    """
    opened: list[int] = []
    for brace in _BRACE.finditer(SLOT.sub(lambda word: "x" * len(word[0]), text)):
        if len(brace[0]) > 1:
            opened.append(brace.start())
        elif brace[0] == "{" or not opened:
            return brace.start()
        else:
            opened.pop()
    return opened[0] if opened else None
