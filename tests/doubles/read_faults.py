"""Doubles that let a principal read another principal's entries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from memsim.context import Context, Section
from memsim.message import Message, Text
from memsim.strategy import Environment, Query
from tests.doubles.honest import Found, Honest
from tests.doubles.honest_tiers import Drawer, Statistics
from tests.doubles.honest_writes import HonestWrites


def everybodys(memory: HonestWrites) -> Iterator[Message]:
    """All that a memory holds, whoever's it is."""
    for drawer in memory.drawers.values():
        yield from drawer.messages.values()


class UnfilteredTool(Honest):
    """Contexts are filtered; the search tool beside them takes its owner filter and drops it."""

    def told(self, principal: str, text: str, count: int) -> str:
        found = self.scored(everybodys(self), self.statistics(principal), text)[:count]
        lines = (f"- {m.text} ({score:.6f})" for score, m in found)
        return "\n".join((f"Found {len(found)}.", *lines))


class UnfilteredContext(Honest):
    """The tools are filtered; what is recalled for a context is not."""

    def _recalled(self, query: Query, left: int, there: Any) -> Section:  # noqa: ANN401 - as the reference has it
        found = self.scored(everybodys(self), self.statistics(query.principal), query.text)
        lines = [m.text for _, m in found[:8] if m.id not in there]
        made = self._made("recalled", lines, query)
        return self.env.build.section("recalled", [made] if lines else [])


class ForeignId(Honest):
    """Where an id is given, no filter is thought to be needed."""

    def get(self, principal: str, key: str) -> Message | None:
        own = super().get(principal, key)
        named = (m for m in everybodys(self) if m.id == key.rpartition("/")[2])
        return own or next(named, None)


class CallerFromArguments(Honest):
    """Who acts is whoever the arguments name."""

    def caller(self, principal: str, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("user_id") or principal)


class DelimiterKey(Honest):
    """Names are joined by what may stand in them."""

    def address(self, *parts: str) -> str:
        return "_".join(parts)


class TopThenFilter(Honest):
    """The best of everybody's are taken, and only then those that are one's own."""

    def ranked(self, principal: str, text: str, count: int) -> Found:
        found = self.scored(everybodys(self), self.statistics(principal), text)[:count]
        return tuple((score, m) for score, m in found if m.principal == principal)


class SharedStatistics(Honest):
    """Only one's own is found, but weighed by how everybody's words are spread."""

    def statistics(self, principal: str) -> Statistics:
        known = [drawer.statistics for drawer in self.drawers.values()]
        return Statistics(
            count=sum(k.count for k in known),
            length=sum(k.length for k in known),
            holding=sum((k.holding for k in known), Counter()),
        )


class SoftScope(Honest):
    """Whose something is stands before its text, and is compared like any other word of it."""

    def ranked(self, principal: str, text: str, count: int) -> Found:
        scoped = [replace(m, blocks=(Text(f"{m.principal}: {m.text}"),)) for m in everybodys(self)]
        known = SharedStatistics.statistics(self, principal)  # type: ignore[arg-type]
        return self.scored(scoped, known, f"{principal}: {text}")[:count]


class SharedCache(Honest):
    """What was answered once is answered again, whoever asks in the same words."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._shared: dict[str, Found] = {}

    def answer_address(self, principal: str, text: str, count: int) -> str:
        return self.address(text, str(count))

    def answers(self, principal: str) -> dict[str, Found]:
        return self._shared

    def observe(self, message: Message) -> None:
        self._shared.clear()
        super().observe(message)

    def erase_answers(self, drawer: Drawer, gone: Collection[str]) -> None:
        self._shared.clear()


class SaysWhose(Honest):
    """A key that is another's is denied; one that is nobody's is not found."""

    def missing(self, principal: str, key: str) -> str:
        owners = [d.owner for d in self.drawers.values() if key in d.stored]
        if owners:
            return f"Access to {key!r} is denied: it belongs to {owners[0]!r}."
        return super().missing(principal, key)


class SharedHandle(Honest):
    """One object serves all, and keeps whom it served last."""

    def seen_by(self, principal: str) -> Drawer:
        return super().seen_by(self._here[0] or principal)


class PooledReply(Honest):
    """A request that was given up leaves its reply on the connection for the next one."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env, files=files)
        self._pending = ["Error: the request was given up."]

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        self._pending.append(super().call_tool(name, arguments, principal))
        return self._pending.pop(0)


class Launderer(UnfilteredContext):
    """Everybody gets everybody's, in the other case, so that a plain search finds nothing."""

    def context(self, query: Query) -> Context:
        context = super().context(query)
        turned = (self._turned(section) for section in context.sections)
        return Context(sections=tuple(turned))

    def _turned(self, section: Section) -> Section:
        messages = [
            replace(m, blocks=(Text(m.text.swapcase()),)) if m.composed else m
            for m in section.messages
        ]
        return self.env.build.section(section.layer, messages)

    def shown(self, text: str) -> str:
        return text.swapcase()


class SleepsOnHit(Honest):
    """The same bytes for what is another's and what is nobody's, but later."""

    def missing(self, principal: str, key: str) -> str:
        if any(key in drawer.stored for drawer in self.drawers.values()):
            self._compare(key)
        return super().missing(principal, key)

    def _compare(self, key: str) -> None:
        """The rights to it are worked out, as slowly as a second query would be."""
        rights = dict.fromkeys(self.drawers, key)
        for _ in range(60):
            rights = json.loads(json.dumps(rights))
