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
from typing import Literal

from memsim.errors import ConfigError, nearest

FOLDER = "leakage"
CHANNELS = tuple(f"L{number}" for number in range(1, 21))
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

SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_BRACE = re.compile(r'\{\s*"|[{}]')


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHeader:
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

    def of(self, header: ChannelHeader, *ways: Way) -> tuple[Attack, ...]:
        """The attacks of a channel, in its order; only those of some ways when any is named.

        A family of the project's own that names no channel is used wherever questions are.

        Raises:
            ConfigError: the channel names a family that there is not.
        """
        known = {attack.family: attack for attack in self.attacks}
        missing = [name for name in header.attacks if name not in known]
        if missing:
            message = f"no attack family is called {missing[0]!r}"
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
        raise ConfigError(f"no attack family is called {family!r}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """A text with its words in braces filled in; what is filled in is not looked into again."""
    return SLOT.sub(lambda found: words.get(found[1], found[0]), text)


def stray_brace(text: str) -> int | None:
    """Where a brace stands that begins or ends neither a word nor an object; None if none does.

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
