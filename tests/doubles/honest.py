"""A small memory that leaks nothing; every double overrides one of its methods."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memsim.context import Context, Section
from memsim.language.text import index_terms
from memsim.memory.entry import digest_of
from memsim.message import composed
from memsim.models import ToolSpec
from tests.doubles.honest_tiers import Drawer, Statistics, count_terms
from tests.doubles.honest_writes import WINDOW, HonestWrites

if TYPE_CHECKING:
    from collections import Counter

    from memsim.context import SectionName
    from memsim.message import Message
    from memsim.strategy import Query

Found = tuple[tuple[float, "Message"], ...]
"""What a search gives, best first: (score, message)."""

RECALLED = 8


def _tool(name: str, about: str, *arguments: str, reads: bool) -> ToolSpec:
    kinds = {"max_results": "integer"}
    schema = {
        "type": "object",
        "properties": {a: {"type": kinds.get(a, "string")} for a in arguments},
        "required": [a for a in arguments if a not in {"category", "max_results"}],
    }
    return ToolSpec(name=name, description=about, parameters=json.dumps(schema), reads=reads)


TOOLS = (
    _tool("memory_store", "Store a note in memory.", "key", "value", "category", reads=False),
    _tool("memory_get", "Look up a note in memory by its key.", "key", reads=True),
    _tool("memory_search", "Search memory for a query.", "query", "max_results", reads=True),
    _tool("memory_forget", "Remove a note from memory.", "key", reads=False),
)


class Honest(HonestWrites):
    """The whole of it: what `HonestWrites` keeps is found, shown and used by tools."""

    # -- reading

    def context(self, query: Query) -> Context:
        left = query.budget
        sections: list[Section] = []
        for made in (self._pins, self._skills, self._window, self._summary, self._recalled):
            section = made(query, left, [i for s in sections for i in s.verbatim])
            if section.messages and section.tokens <= left:
                sections.append(section)
                left -= section.tokens
        order: tuple[SectionName, ...] = ("core", "summary", "recalled", "working", "window")
        return Context(sections=tuple(sorted(sections, key=lambda s: order.index(s.layer))))

    def shown(self, text: str) -> str:
        """A text as it comes out of the memory."""
        return text

    def search(self, principal: str, text: str, count: int) -> Found:
        """The best of what a principal may find; what was found before is found at once."""
        address = self.answer_address(principal, text, count)
        answers = self.answers(principal)
        if address not in answers:
            answers[address] = self.ranked(principal, text, count)
        return answers[address]

    def answer_address(self, principal: str, text: str, count: int) -> str:
        """By what an earlier answer is found again."""
        return self.address(principal, text, str(count))

    def answers(self, principal: str) -> dict[str, Found]:
        """Where earlier answers are kept."""
        return self.seen_by(principal).answers

    def ranked(self, principal: str, text: str, count: int) -> Found:
        """The best so many of what a principal may find, weighed by that alone."""
        return self.scored(self.readable(principal), self.statistics(principal), text)[:count]

    def statistics(self, principal: str) -> Statistics:
        """Of what a term's weight is worked out from."""
        return self.seen_by(principal).statistics

    def scored(self, messages: Iterable[Message], known: Statistics, text: str) -> Found:
        """Messages that hold a word of a text, best first, and the older first of equals."""
        wanted = list(dict.fromkeys(index_terms(text)))
        mean = known.length / known.count if known.length else 1.0
        weights = {t: _weight(known.count, known.holding[t]) * 2.2 for t in wanted}
        found = []
        for message in messages:
            terms = self.terms(message)
            if terms.keys().isdisjoint(wanted):
                continue
            size = 1.2 * (0.25 + 0.75 * terms.total() / mean)
            there = [t for t in wanted if t in terms]
            score = sum(weights[t] * terms[t] / (terms[t] + size) for t in there)
            if score > 0:
                found.append((score, message))
        return tuple(sorted(found, key=lambda pair: -pair[0]))

    def terms(self, message: Message) -> Counter[str]:
        """The terms of a message, as the index of its owner has them."""
        index = self.seen_by(message.principal).index
        return index.get(message.id) or count_terms(message.text)

    def _pins(self, query: Query, _left: int, _there: Collection[str]) -> Section:
        return self.env.build.section("core", self.seen_by(query.principal).pins.values())

    def _skills(self, query: Query, _left: int, _there: Collection[str]) -> Section:
        talk = self.talks.get(self.address(query.principal, query.session))
        given = talk.given.items() if talk else ()
        return self.env.build.section(
            "working",
            [
                self._made(f"skill:{name}:{m.id}", [m.text], query, quotes=(m.id,))
                for name, m in given
            ],
        )

    def _window(self, query: Query, left: int, _there: Collection[str]) -> Section:
        talk = self.talks.get(self.address(query.principal, query.session))
        if talk is None:
            return self.env.build.section("window", ())
        return talk.window.section(left // 2, last=WINDOW)

    def _summary(self, query: Query, left: int, _there: Collection[str]) -> Section:
        lines = self.summary_of(query.principal)
        while lines:
            texts = ["Earlier:", *(f"- {self.shown(line)}" for line in lines.values())]
            made = self._made("summary", texts, query, derived_from=tuple(lines))
            section = self.env.build.section("summary", [made])
            if section.tokens <= left // 2:
                return section
            del lines[next(iter(lines))]
        return self.env.build.section("summary", ())

    def summary_of(self, principal: str) -> dict[str, str]:
        """The lines of the summary that a principal reads, by their sources."""
        return dict(self.seen_by(principal).summary)

    def _recalled(self, query: Query, left: int, there: Collection[str]) -> Section:
        found = self.search(query.principal, query.text, RECALLED)
        best = [m for _, m in found if m.id not in there]
        order = {m.id: n for n, m in enumerate(best)}
        return self._lines.section(
            best,
            question=query.text,
            budget=left,
            order=order.__getitem__,
            id=f"recalled:{query.turn}",
            time=query.time,
        )

    def _made(
        self,
        id: str,  # noqa: A002 - the message's own
        lines: Sequence[str],
        query: Query,
        *,
        quotes: tuple[str, ...] = (),
        derived_from: tuple[str, ...] = (),
    ) -> Message:
        return composed(
            self.voice,
            "\n".join(lines),
            id=id,
            quotes=quotes,
            derived_from=derived_from,
            time=query.time,
        )

    # -- tools

    def tools(self, principal: str) -> Sequence[ToolSpec]:
        return TOOLS

    def call_tool(self, name: str, arguments: str, principal: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            given = None
        if not isinstance(given, dict) or name not in {tool.name for tool in TOOLS}:
            return f"Error: there is no such call of {name!r}"
        caller = self.caller(principal, given)
        key = str(given.get("key", ""))
        if name == "memory_store":
            return self.store(caller, key, str(given.get("value", "")), given)
        if name == "memory_get":
            found = self.get(caller, key)
            return self.missing(caller, key) if found is None else self.shown(found.text)
        if name == "memory_forget":
            return self.remove(caller, key)
        most = given.get("max_results")
        count = most if isinstance(most, int) and most > 0 else RECALLED
        return self.told(caller, str(given.get("query", "")), count)

    def get(self, principal: str, key: str) -> Message | None:
        """What a principal has stored under a key."""
        return self.seen_by(principal).stored.get(key)

    def missing(self, principal: str, key: str) -> str:
        """What is said of a key under which the principal has nothing, whoever else has."""
        return f"Nothing is stored under {key!r}."

    def store(self, principal: str, key: str, text: str, given: Mapping[str, Any]) -> str:
        """Keep a text under a key, in place of what the principal had there."""
        drawer = self.drawer(principal)
        if key in drawer.stored:
            self.erase(drawer, [drawer.stored[key].id])
        present = tuple(self._present) if self._here[0] == principal else ()
        self.keep(drawer, key, text, str(given.get("category") or "core"), present)
        return f"Stored under {key!r}."

    def keep(
        self, drawer: Drawer, key: str, text: str, category: str, present: tuple[str, ...]
    ) -> None:
        """Put a text into a drawer."""
        from dataclasses import replace

        id_ = f"note:{digest_of(drawer.owner, key)}"
        now = self.env.clock.now()
        made = composed("user", text, id=id_, derived_from=present, time=now)
        drawer.stored[key] = replace(made, principal=drawer.owner, session=category)
        drawer.take_in(drawer.stored[key])
        drawer.answers.clear()
        self.note("stored", drawer.owner, key)
        self.write_files()

    def remove(self, principal: str, key: str) -> str:
        """Erase what a principal has under a key."""
        found = self.get(principal, key)
        if found is None:
            return self.missing(principal, key)
        self.erase(self.drawer(principal), [found.id])
        return f"Removed what was under {key!r}."

    def told(self, principal: str, text: str, count: int) -> str:
        """What a search comes to, in words."""
        found = self.search(principal, text, count)
        lines = (f"- {self.shown(m.text)} ({score:.6f})" for score, m in found)
        return "\n".join((f"Found {len(found)}.", *lines))


def _weight(count: int, holding: int) -> float:
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))
