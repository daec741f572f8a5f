"""A small memory that leaks nothing: every double breaks one method of it."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from memsim.context import Context, Section
from memsim.memory.conversation import digest_of
from memsim.memory.echo import echoes, telling_words
from memsim.memory.erasure import meant
from memsim.memory.retrieval.recollection import Recollection
from memsim.memory.retrieval.terms import stem
from memsim.memory.state import reading
from memsim.memory.window import Window
from memsim.message import composed
from memsim.models import ToolSpec
from memsim.strategy import Event, Forget, ForgetOutcome, Grant, State, Strategy, Surface
from memsim.testing.doubles.drawers import Drawer, Statistics, Talk, due, made_from

if TYPE_CHECKING:
    from memsim.context import SectionName
    from memsim.message import Message
    from memsim.strategy import Environment, Query

Found = tuple[tuple[float, "Message"], ...]
"""What a search gives, best first: (score, message)."""

LOG = logging.getLogger("memsim.testing.doubles")
WINDOW = 6
COMPACT_AT, COMPACTED = 40, 20
"""Messages in a conversation at which the oldest are summarised, and how many of them."""
LINES, LINE = 24, 240
"""Lines of a summary, and characters of a line."""
RECALLED = 8
TERM = timedelta(days=7)
"""For which what is stored as `daily` is kept."""

_SELECTED = re.compile(r"SKILL_SELECT:([\w.-]*\w)")


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


class Honest(Strategy):
    """Everybody's own messages, notes, summary, rules and skills; nobody sees another's.

    Args:
        files: whether every principal's notes are also written to the case's folder.
    """

    voice: Literal["user", "system"] = "user"
    """Who its summary and what it recalls speak as."""

    def __init__(self, env: Environment, *, files: bool = False) -> None:
        super().__init__(env)
        self.drawers: dict[str, Drawer] = {}
        self.talks: dict[str, Talk] = {}
        self.grants: dict[str, set[tuple[str, str]]] = {}
        self._files = files
        self._lines = Recollection(env.counter, voice=self.voice)
        self._here: tuple[str, str] = ("", "")
        self._present: dict[str, None] = {}

    # -- whose is what

    def address(self, *parts: str) -> str:
        """Another text for every other sequence of names."""
        return json.dumps(parts)

    def caller(self, principal: str, arguments: Mapping[str, Any]) -> str:
        """Who acts: the session says so, never an argument."""
        return principal

    def drawer(self, principal: str) -> Drawer:
        """A principal's memory, to write to."""
        return self.drawers.setdefault(self.address(principal), Drawer(principal))

    def seen_by(self, principal: str) -> Drawer:
        """A principal's memory, to read; reading leaves no trace."""
        return self.drawers.get(self.address(principal)) or Drawer(principal)

    def talk(self, principal: str, session: str) -> Talk:
        """A principal's conversation, to write to."""
        made = Talk(principal, session, Window(self.env.counter))
        return self.talks.setdefault(self.address(principal, session), made)

    def readable(self, principal: str) -> Iterator[Message]:
        """Everything that a principal may find: their own, and what they were granted."""
        yield from self.seen_by(principal).messages.values()
        granted = self.grants.get(principal, set())
        for drawer in self.drawers.values() if granted else ():
            if drawer.owner != principal:
                for message in drawer.messages.values():
                    sources = {"", message.id, *message.derived_from}
                    if any((drawer.owner, source) in granted for source in sources):
                        yield message

    # -- writing

    def observe(self, message: Message) -> None:
        drawer, talk = self.drawer(message.principal), self.talk(message.principal, message.session)
        if self._here != (message.principal, message.session):
            self._here, self._present = (message.principal, message.session), {}
        self._present[message.id] = None
        drawer.answers.clear()
        if message.role == "system":
            self.pin(drawer, message)
            return
        if self.skill(talk, message):
            return
        drawer.history[message.id] = message
        drawer.take_in(message)
        if talk.window.answers_here(message):
            talk.window.add(message)
        self.note("kept", message.principal, message.id)

    def pin(self, drawer: Drawer, message: Message) -> None:
        """A standing rule stays in every context."""
        drawer.pins[message.id] = message

    def end_turn(self) -> None:
        self._present = {}
        talk = self.talks.get(self.address(*self._here))
        if talk is not None and len(talk.window) > COMPACT_AT:
            self.compact(talk)
        self.write_files()

    def compact(self, talk: Talk) -> None:
        """What is oldest leaves the window, and its lines go into the principal's summary."""
        before = talk.window.tokens
        gone = talk.window.older(before // 2)[:COMPACTED] or talk.window.older(before // 2)
        talk.window.remove([m.id for m in gone])
        self.summarise(talk, gone)
        self.rearm(talk)
        event = Event(kind="compaction", before=before, after=talk.window.tokens)
        self.env.log(event)

    def summarise(self, talk: Talk, gone: Sequence[Message]) -> None:
        """A line for each of a user's messages; the oldest lines give way."""
        summary = self.drawer(talk.principal).summary
        for message in gone:
            if message.role == "user":
                summary[message.id] = message.text[:LINE]
        for source in list(summary)[:-LINES]:
            del summary[source]

    def elapse(self, now: datetime) -> None:
        for drawer in self.drawers.values():
            for key in due(drawer, now - TERM):
                self.erase(drawer, [drawer.stored[key].id])
        self.consolidate()

    def consolidate(self) -> None:
        """The index is made anew from what there is."""
        for drawer in self.drawers.values():
            drawer.index.clear()
            for message in drawer.messages.values():
                drawer.take_in(message)
            drawer.answers.clear()

    def grant(self, grant: Grant) -> None:
        granted = self.grants.setdefault(grant.viewer, set())
        meant_ = {(grant.owner, s) for s in (("",) if grant.everything else grant.sources)}
        if grant.revoked:
            granted -= meant_
        else:
            granted |= meant_
        self.seen_by(grant.viewer).answers.clear()

    # -- skills

    def skill(self, talk: Talk, message: Message) -> bool:
        """Whether a message is the content of a skill; it is given once."""
        if message.role == "assistant":
            talk.selected += _SELECTED.findall(message.text)
        if message.role == "user":
            talk.selected = []
        if message.role != "tool" or not talk.selected:
            return False
        name = talk.selected.pop(0)
        if name not in talk.ledger:
            self.inject(talk, name, message)
        talk.window.remove([m.id for m in talk.window if set(m.calls) & set(message.results)])
        return True

    def inject(self, talk: Talk, name: str, content: Message) -> None:
        """Put a skill into the conversation, then note that it is there."""
        talk.given[name] = content
        talk.ledger.add(name)

    def rearm(self, talk: Talk) -> None:
        """A compaction takes skills out, so each may be given again."""
        talk.given.clear()
        talk.ledger.clear()

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
        wanted = list(dict.fromkeys(stem(text)))
        mean = known.length / known.count if known.count else 1.0
        found = []
        for message in messages:
            terms = self.terms(message)
            size = 1.2 * (0.25 + 0.75 * terms.total() / mean)
            score = sum(
                _weight(known.count, known.holding[t]) * 2.2 * terms[t] / (terms[t] + size)
                for t in wanted
                if t in terms
            )
            if score > 0:
                found.append((score, message))
        return tuple(sorted(found, key=lambda pair: -pair[0]))

    def terms(self, message: Message) -> Any:  # noqa: ANN401 - a counter of terms
        """The terms of a message, as the index of its owner has them."""
        from collections import Counter

        index = self.seen_by(message.principal).index
        return index.get(message.id) or Counter(stem(message.text))

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

    # -- forgetting

    def forget(self, request: Forget) -> ForgetOutcome:
        drawer = self.drawer(request.principal)
        own = {m.id: m.text for m in drawer.messages.values()}
        named = meant(request.text, request.sources, own)
        telling = telling_words(" ".join(own[source] for source in named))
        repeated = echoes(telling, drawer.messages.values(), request.principal)
        gone = dict.fromkeys((*named, *repeated))
        removed = tuple(i for i in gone if i in drawer.history)
        self.erase(drawer, [*gone])
        return ForgetOutcome(supported=True, removed=removed)

    def erase(self, drawer: Drawer, ids: Sequence[str]) -> None:
        """Take messages out of every tier."""
        notes = [drawer.stored[key].id for key in made_from(drawer, ids)]
        gone = dict.fromkeys((*ids, *notes))
        self.erase_history(drawer, gone)
        self.erase_stored(drawer, gone)
        self.erase_index(drawer, gone)
        self.erase_summary(drawer, gone)
        self.erase_answers(drawer, gone)
        self.erase_talks(drawer, gone)
        self.note("erased", drawer.owner, *gone)
        self.write_files()

    def erase_history(self, drawer: Drawer, gone: Collection[str]) -> None:
        """The messages themselves."""
        for source in gone:
            drawer.history.pop(source, None)
            drawer.pins.pop(source, None)

    def erase_stored(self, drawer: Drawer, gone: Collection[str]) -> None:
        """What was stored by a tool, and what it was made from."""
        for key in [*made_from(drawer, gone)]:
            del drawer.stored[key]

    def erase_index(self, drawer: Drawer, gone: Collection[str]) -> None:
        """Their words."""
        for source in gone:
            drawer.index.pop(source, None)

    def erase_summary(self, drawer: Drawer, gone: Collection[str]) -> None:
        """The lines that were made from them."""
        for source in gone:
            drawer.summary.pop(source, None)

    def erase_answers(self, drawer: Drawer, gone: Collection[str]) -> None:
        """What was found before."""
        drawer.answers.clear()

    def erase_talks(self, drawer: Drawer, gone: Collection[str]) -> None:
        """Where they still stand in a conversation."""
        for talk in self.talks.values():
            if talk.principal == drawer.owner:
                talk.erase(gone)

    # -- what can be seen from outside

    def note(self, what: str, principal: str, *names: str) -> None:
        """What was done, for log and audit: names as digests, content not at all."""
        digests = " ".join(digest_of(principal, name)[:12] for name in names)
        self.drawer(principal).audit.append(f"{what} {digests}")
        LOG.info("%s %s", what, digests)

    def write_files(self) -> None:
        """Everybody's notes as a file each, under a name that tells nothing."""
        if not self._files:
            return
        for drawer in self.drawers.values():
            path = self.env.folder() / f"{digest_of(drawer.owner)}.json"
            notes = {key: message.text for key, message in drawer.stored.items()}
            path.write_text(json.dumps(notes, sort_keys=True), encoding="utf-8")

    def surfaces(self, viewer: str | None = None) -> Iterator[Surface]:
        for drawer in self.drawers.values():
            if viewer in {None, drawer.owner}:
                yield from self.tiers(drawer)
            if viewer is None:
                yield from self.cached(drawer)
        for talk in self.talks.values():
            if viewer in {None, talk.principal}:
                for message in (*talk.window, *talk.given.values()):
                    yield Surface(tier="window", sources=(message.id,), text=message.text)

    def tiers(self, drawer: Drawer) -> Iterator[Surface]:
        """Every place of a drawer."""
        for name, kept in (("history", drawer.history), ("core", drawer.pins)):
            for message in kept.values():
                yield Surface(tier=name, sources=(message.id,), text=message.text)
        for message in drawer.stored.values():
            yield Surface(tier="store", sources=message.derived_from, text=message.text)
        for source, terms in drawer.index.items():
            yield Surface(tier="index", sources=(source,), text=" ".join(sorted(terms)))
        for source, line in drawer.summary.items():
            yield Surface(tier="summary", sources=(source,), text=line)
        for line in drawer.audit:
            yield Surface(tier="audit", text=line)

    def cached(self, drawer: Drawer) -> Iterator[Surface]:
        """Answers that are kept: the operator's, for who asks must not see that it was asked."""
        for found in drawer.answers.values():
            for _, message in found:
                yield Surface(tier="cache", sources=(message.id,), text=message.text)

    def save(self) -> State:
        return {
            "drawers": [[d.owner, d.save()] for d in self.drawers.values()],
            "talks": [talk.save() for talk in self.talks.values()],
            "grants": {
                viewer: [[owner, source] for owner, source in sorted(granted)]
                for viewer, granted in sorted(self.grants.items())
            },
        }

    def load(self, state: State) -> None:
        saved: Any = state
        with reading("it is not an honest memory"):
            drawers = [Drawer.loaded(owner, kept) for owner, kept in saved["drawers"]]
            talks = [Talk.loaded(talk, self.env.counter) for talk in saved["talks"]]
            grants = {
                viewer: {(owner, source) for owner, source in granted}
                for viewer, granted in saved["grants"].items()
            }
        self.drawers = {self.address(drawer.owner): drawer for drawer in drawers}
        self.talks = {self.address(talk.principal, talk.session): talk for talk in talks}
        self.grants = grants
        self.write_files()


def _weight(count: int, holding: int) -> float:
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))
