"""Give people, things, ids and dates other names: in talk, questions and answers alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from memsim.language.common_words import COMMON_WORDS
from memsim.language.lexicon import STOP
from memsim.language.text import ROLES
from memsim.message import Block, Message, Text, ToolResult, ToolUse
from memsim.scenario.relations.relation import Events
from memsim.scenario.script import (
    Ask,
    ElapseEvent,
    Fact,
    ForgetEvent,
    GrantEvent,
    Probe,
    Scenario,
    ScriptEvent,
    Turn,
)

YEARS: Final = 28
"""Years by which dates are moved: the weekdays and leap years are the same again."""

_PEOPLE: Final = (
    *("Ingrid", "Tobias", "Marisol", "Edgar", "Yvonne", "Casper", "Noemi", "Ruben", "Delia"),
    *("Anders", "Bettina", "Hugo", "Ottilie", "Lorenz", "Saskia", "Wendel"),
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAMED: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b")
_LOWER: Final = re.compile(r"\b[a-z]{4,}\b")
_CALENDAR: Final = frozenset(
    """
    january february march april june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday christmas easter
    """.split()  # noqa: SIM905 - words read best as words
)
_YEAR: Final = re.compile(r"(?<![\w$€£.,/@#-])(?:19[6-9]\d|20[0-7]\d)(?!\w|[.,/:-]\d)")
_DAY: Final = re.compile(r"(?<![\w-])(?P<year>19[6-9]\d|20[0-7]\d)(?=-[01]\d-[0-3]\d(?!\d))")
_SYLLABLES: Final = ("bra", "del", "kor", "mis", "ten", "vol", "fin", "gar", "lum", "ost", "rik")


def _same(name: str) -> str:
    return name


def _at(time: datetime) -> datetime:
    return time


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNames:
    """What everything is called instead.

    Attributes:
        text: of what is said, asked and expected.
        who: of principals.
        message: of ids of messages.
        session: of ids of sessions.
        time: of every moment.
    """

    text: Callable[[str], str] = _same
    who: Callable[[str], str] = _same
    message: Callable[[str], str] = _same
    session: Callable[[str], str] = _same
    time: Callable[[datetime], datetime] = _at


def renamed(scenario: Scenario, names: NewNames) -> Scenario:
    """The scenario with everything called otherwise."""
    return replace(
        scenario,
        play=partial(_renamed_events, scenario, names),
        probes=tuple(_probe(names, probe) for probe in scenario.probes),
        principals=tuple(map(names.who, scenario.principals)),
    )


def _renamed_events(scenario: Scenario, names: NewNames, seed: int) -> Events:
    for event in scenario.events(seed):
        yield _event(names, event)


def _event(names: NewNames, event: ScriptEvent) -> ScriptEvent:
    if isinstance(event, Turn):
        return replace(
            event,
            session=names.session(event.session),
            principal=names.who(event.principal),
            time=names.time(event.time),
            heard=tuple(_message(names, m) for m in event.heard),
            reply=tuple(_message(names, m) for m in event.reply),
            facts=tuple(_fact(names, f) for f in event.facts),
        )
    if isinstance(event, Ask):
        probe, session = _probe(names, event.probe), names.session(event.session)
        return replace(event, probe=probe, session=session, time=names.time(event.time))
    if isinstance(event, ElapseEvent):
        return replace(event, now=names.time(event.now))
    if isinstance(event, GrantEvent):
        return replace(event, owner=names.who(event.owner), viewer=names.who(event.viewer))
    if isinstance(event, ForgetEvent):
        request = replace(
            event.request,
            principal=names.who(event.request.principal),
            text=names.text(event.request.text),
            sources=tuple(map(names.message, event.request.sources)),
        )
        return replace(event, request=request)
    return event


def _message(names: NewNames, message: Message) -> Message:
    return replace(
        message,
        id=names.message(message.id),
        blocks=tuple(_block(names, block) for block in message.blocks),
        principal=names.who(message.principal),
        session=names.session(message.session),
        time=names.time(message.time),
    )


def _block(names: NewNames, block: Block) -> Block:
    if isinstance(block, ToolUse):
        return replace(block, arguments=names.text(block.arguments))
    return replace(block, text=names.text(block.text))


def _fact(names: NewNames, fact: Fact) -> Fact:
    return replace(
        fact,
        value=names.text(fact.value),
        source=names.message(fact.source),
        principal=names.who(fact.principal),
        session=names.session(fact.session),
        time=names.time(fact.time),
    )


def _probe(names: NewNames, probe: Probe) -> Probe:
    return replace(
        probe,
        ask=names.text(probe.ask),
        principal=names.who(probe.principal),
        expect=tuple(map(names.text, probe.expect)),
        forbid=tuple(map(names.text, probe.forbid)),
        choices=tuple(map(names.text, probe.choices)),
        evidence=tuple(map(names.message, probe.evidence)),
    )


# What is renamed.


def with_other_speakers(scenario: Scenario) -> Scenario:
    """Everybody who speaks has another name, and a short form of it where there was one."""
    texts = _texts(scenario)
    written = {word for text in texts for word in _WORD.findall(text)}
    people = [p for p in _principals(scenario) if p.lower() not in ROLES and p.isalpha()]
    fresh = (name for name in _PEOPLE if name not in written and name.lower() not in written)
    other = dict(zip(people, fresh, strict=False))
    words: dict[str, str] = {}
    for old, new in other.items():
        short = {w for w in written if 2 < len(w) < len(old) and w[0].isupper()}
        words |= {w: new[: len(w)] for w in short if old.startswith(w)}
        words |= {old: new, old.capitalize(): new, old.lower(): new.lower()}
    # A word such as `will` is a name only where it is written as one.
    words = {old: new for old, new in words.items() if old[0].isupper() or old in other}
    who = {old: new if old[0].isupper() else new.lower() for old, new in other.items()}
    return renamed(scenario, NewNames(text=_replaced(words), who=partial(_mapped, who)))


def with_other_entities(scenario: Scenario) -> Scenario:
    """Every other name in the talk, of a place or a thing, is a made-up one."""
    texts = _texts(scenario)
    plain = {word for text in texts for word in _LOWER.findall(text)}
    people = {p.lower() for p in _principals(scenario)}
    named = dict.fromkeys(name for text in texts for name in _NAMED.findall(text))
    known = plain | people | _CALENDAR | STOP | set(COMMON_WORDS)
    found = [name for name in named if name.lower() not in known]
    made = _made_up({word.lower() for text in texts for word in _WORD.findall(text)})
    return renamed(scenario, NewNames(text=_replaced(dict(zip(found, made, strict=False)))))


def with_other_dates(scenario: Scenario) -> Scenario:
    """All of it took place 28 years earlier, and every year that is said is another."""
    return renamed(scenario, NewNames(text=_other_years, time=_earlier))


def with_other_ids(scenario: Scenario) -> Scenario:
    """Messages and sessions have other ids, and so have principals whom nobody names."""
    said = {word for text in _texts(scenario) for word in _WORD.findall(text.lower())}
    people = _principals(scenario)
    silent = {p: f"p{_digest(p)}" for p in people if said.isdisjoint(_WORD.findall(p.lower()))}
    return renamed(
        scenario,
        NewNames(
            who=partial(_mapped, silent),
            message=lambda old: f"q{_digest(old)}",
            session=lambda old: f"c{_digest(old)}",
        ),
    )


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:12]


def _mapped(names: Mapping[str, str], name: str) -> str:
    return names.get(name, name)


def _replaced(words: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: _WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _other_years(text: str) -> str:
    return _YEAR.sub(lambda found: _year(found[0]), _DAY.sub(lambda found: _year(found[0]), text))


def _year(year: str) -> str:
    return str(int(year) - YEARS)


def _earlier(time: datetime) -> datetime:
    return time.replace(year=time.year - YEARS)


def _principals(scenario: Scenario) -> list[str]:
    speakers = (e.principal for e in scenario.events(0) if isinstance(e, Turn))
    return [*dict.fromkeys((*scenario.principals, *speakers))]


def _texts(scenario: Scenario) -> list[str]:
    """Everything that is said, asked or expected."""
    texts = [text for event in scenario.events(0) for text in _said(event)]
    for probe in scenario.probes:
        texts += (probe.ask, *probe.expect, *probe.forbid, *probe.choices)
    return texts


def _said(event: ScriptEvent) -> Iterable[str]:
    if not isinstance(event, Turn):
        return ()
    blocks = (block for m in (*event.heard, *event.reply) for block in m.blocks)
    return [b.text if isinstance(b, Text | ToolResult) else b.arguments for b in blocks]


def _made_up(taken: Collection[str]) -> Iterator[str]:
    """Names that nobody has, of two or three syllables."""
    size = len(_SYLLABLES)
    for number in range(size, size**4):
        left, parts = number, []
        while left:
            left, part = divmod(left, size)
            parts.append(_SYLLABLES[part])
        name = "".join(parts)
        if name not in taken:
            yield name.capitalize()
