"""Record the context of every turn and question as a difference to the one before.

A case's records, one line each in `contexts.jsonl`::

    {"case": "...", "repeat": 1}                     the repeat only where it is not the first
    {"turn": 3, "said": 2, "facts": [["order_id", 0, "A-17"]],
     "new": [["m5", "user", "ana", ["My order is A-17."]],
             ["m6", "assistant", "ana", ["Noted."]],
             ["summary:2", "system", "memory", ["Earlier:", 14], [3], [0, 1, 2]]],
     "sent": [["summary", 60, [6]], ["window", 212, [[2, 18], 4]]]}
    {"probe": "order_id", "turn": 40, "sent": [...]}
    {"full": 812}

Messages are numbered in the order of `new`, from 0 in each case; the first `said` of a turn's are
what was said in it, and the others what the strategy wrote: an id, a role, a principal, the lines,
and the messages it quotes and was made from. A line that stood in an earlier message of the case is
its number, counted from 0. What a text was made from begins with how much of it the text written
before had as well. A section names its tokens and its messages: a number is a message, a pair
`[at, count]` a run of the section of that name in the context before. A fact has its id, the
message that states it, and its value. No more is kept after a line that says `full`, and no
context of the turn it names or of a later one.
"""

from __future__ import annotations

from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memsim.context import Context, Section
    from memsim.message import Message
    from memsim.scenario.script import Fact

    _Messages = tuple[Message, ...]
    _Numbered = dict[str, tuple[int, Message]]


class ContextTotals:
    """Tokens of the contexts sent in one turn."""

    __slots__ = ("cached", "contexts", "largest", "last", "overflow", "sent")

    def __init__(self) -> None:
        self.largest: Context | None = None
        self.last: Context | None = None
        self.sent = self.contexts = self.cached = self.overflow = 0

    def add(self, context: Context, overflow: int, cached: int) -> None:
        """Add a context that was sent."""
        self.contexts += 1
        self.sent += context.tokens
        self.cached += cached
        self.overflow += overflow
        self.last = context
        if self.largest is None or context.tokens > self.largest.tokens:
            self.largest = context


def by_section(context: Context) -> dict[str, int]:
    """Tokens of a context by section."""
    tokens: dict[str, int] = {}
    for section in context.sections:
        tokens[section.layer] = tokens.get(section.layer, 0) + section.tokens
    return tokens


def common_start(before: tuple[Message, ...], after: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with which both prompts begin; a provider's prompt cache can serve them."""
    same = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old != new:
            break
        same += 1
    return after[:same]


MOST = 4_000_000
"""Characters that a case's records may take, more or less."""

_RUNS = 4
"""Numbers and runs in a section after which it is not searched for runs any more."""
_SHORT_RUN = 2


class ContextRecorder:
    """Writes the context records of one case.

    They are written as JSON at once, and contexts are compared by identity first: all of it has to
    take a small part of the time of a replay.

    Args:
        lines: where they are put, each without the end of its line.
        most: characters that they may take.
    """

    def __init__(self, lines: list[str], most: int = MOST) -> None:
        self._kept = lines
        self._room = most
        self._full = False
        self._said = 0
        self._messages = 0
        self._new: list[str] = []
        self._lines: dict[str, int] = {}
        self._originals: dict[str, tuple[int, str]] = {}
        self._composed: _Numbered = {}
        self._derived: tuple[str, ...] = ()
        self._last: dict[str, _Messages] = {}

    def hear(self, message: Message) -> None:
        """Record a message of the current turn."""
        if not self._full:
            self._said += 1
            self._originals[message.id] = (self._add(message), message.text)

    def turn(self, number: int, context: Context | None, facts: Iterable[Fact] = ()) -> None:
        """Record the end of a turn."""
        if self._full:
            return
        line = f'{{"turn":{number},"said":{self._said}'
        self._said = 0
        if planted := ",".join([self._fact(f) for f in facts]):
            line = f'{line},"facts":[{planted}]'
        self._keep(line, number, context)

    def probe(self, name: str, turn: int, context: Context | None) -> None:
        """Record a question; the arguments are those of `turn`, and the probe's id."""
        if not self._full:
            self._keep(f'{{"probe":{quoted(name)},"turn":{turn}', turn, context)

    def _fact(self, fact: Fact) -> str:
        return f"[{quoted(fact.id)},{self._place(fact.source)},{quoted(fact.value)}]"

    def _keep(self, line: str, turn: int, context: Context | None) -> None:
        sent = None if context is None else self._sections(context)
        if self._new:
            line = f'{line},"new":[{",".join(self._new)}]'
            self._new = []
        line = f"{line}}}" if sent is None else f'{line},"sent":[{sent}]}}'
        self._room -= len(line)
        if self._room > 0:
            self._kept.append(line)
            return
        self._full = True
        self._kept.append(f'{{"full":{turn}}}')
        for table in (self._lines, self._originals, self._composed, self._last):
            table.clear()

    def _sections(self, context: Context) -> str:
        composed: _Numbered = {}
        last: dict[str, _Messages] = {}
        sent: list[str] = []
        for section in context.sections:
            runs = self._runs(section, composed)
            last[section.layer] = section.messages
            sent.append(f"[{quoted(str(section.layer))},{section.tokens},[{','.join(runs)}]]")
        self._composed = composed
        self._last = last
        return ",".join(sent)

    def _runs(self, section: Section, composed: _Numbered) -> list[str]:
        """A section's messages as numbers and runs."""
        new = section.messages
        old = self._last.get(section.layer, ())
        runs: list[str] = []
        at = start = 0
        while at < len(new):
            if start < len(old) and len(runs) < _RUNS:
                found, same = _run(old, start, new, at)
                if same >= _SHORT_RUN:
                    runs.append(f"[{found},{same}]")
                    self._carry(new[at : at + same], composed)
                    at += same
                    start = found + same
                    continue
            runs.append(str(self._number(new[at], composed)))
            at += 1
        return runs

    def _number(self, message: Message, composed: _Numbered) -> int:
        said = self._originals.get(message.id)
        if said is not None and said[1] == message.text:
            return said[0]
        for table in (self._composed, composed):
            found = table.get(message.id)
            if found is not None and (found[1] is message or found[1] == message):
                break
        else:
            found = (self._add(message), message)
        composed[message.id] = found
        return found[0]

    def _carry(self, messages: _Messages, composed: _Numbered) -> None:
        if self._composed:
            ids = (m.id for m in messages)
            composed.update((i, self._composed[i]) for i in ids if i in self._composed)

    def _add(self, message: Message) -> int:
        # What a strategy made need not be what its type says.
        named = (str(message.id), str(message.role), str(message.principal))
        made = f"[{','.join(map(quoted, named))},[{self._text(message.text)}]"
        if message.composed:
            quotes = ",".join(map(self._place, message.quotes))
            made = f"{made},[{quotes}],[{self._made_from(message.derived_from)}]"
        self._new.append(f"{made}]")
        self._messages += 1
        return self._messages - 1

    def _text(self, text: str) -> str:
        if "\n" in text:
            return ",".join([self._line(line) for line in text.split("\n")])
        return self._line(text)

    def _line(self, line: str) -> str:
        number = self._lines.get(line)
        if number is not None:
            return str(number)
        self._lines[line] = len(self._lines)
        return quoted(line)

    def _made_from(self, sources: tuple[str, ...]) -> str:
        before, self._derived = self._derived, sources
        same = _alike(before, 0, sources, 0)
        return ",".join([str(same), *map(self._place, sources[same:])])

    def _place(self, source: str) -> str:
        found = self._originals.get(source)
        return quoted(str(source)) if found is None else str(found[0])


def _run(old: _Messages, start: int, new: _Messages, at: int) -> tuple[int, int]:
    """Where the messages of `new` from a place on stand in `old`, and how many of them."""
    first = new[at]
    for place in range(start, len(old)):
        if old[place] is first:
            return place, _alike(old, place, new, at)
    return start, 0


def _alike(old: tuple[object, ...], start: int, new: tuple[object, ...], at: int) -> int:
    most = min(len(old) - start, len(new) - at)
    if old[start : start + most] == new[at : at + most]:
        return most
    same = 0
    for before, after in zip(old[start : start + most], new[at : at + most], strict=True):
        if before is not after and before != after:
            break
        same += 1
    return same
