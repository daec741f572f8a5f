"""What a memory brings up for a question: found, put in order, and quoted within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal, NamedTuple

from memsim.context import Section, escaped
from memsim.language.courtesy import without_courtesy
from memsim.language.slips import respelled
from memsim.language.text import index_terms, speaker_label
from memsim.memory.entry import Entry, Shelf, passage_of, read_message
from memsim.memory.index import Hit
from memsim.memory.index.split import snippet
from memsim.memory.options import MemoryOptions
from memsim.memory.permissions import Permissions, Where
from memsim.memory.recall.confidence import LOOKED_AT, FoundMessage, confidence
from memsim.memory.recall.fact_search import with_facts, with_semantic
from memsim.memory.recall.instructions import instructs, raised, within_room
from memsim.memory.recall.overview import WIDER, ConversationPlaces, asks_overview, matter
from memsim.memory.recall.ranking import QuestionCues, fit_to_room, recall
from memsim.memory.recall.replacement_marks import replaced_marks
from memsim.memory.recall.timeline import MessageFacts, Timeline, repeat_digest
from memsim.memory.recall.word_nearness import COMPARED, with_near_words
from memsim.memory.vault import SearchHit, Vault
from memsim.message import MESSAGE_OVERHEAD, Message, Text, TokenCounter, composed

GAP = "…"

SPARE = 2
"""How many times as many entries are asked for as are looked at. Summaries of conversations then
take no place of a message, however many others have."""


def excerpt(parts: Sequence[str], chosen: Sequence[int]) -> str:
    """The chosen passages of a text in its order, with a mark where some are left out between."""
    lines: list[str] = []
    last = None
    for place in sorted(set(chosen)):
        if last is not None and place != last + 1:
            lines.append(GAP)
        lines.append(parts[place])
        last = place
    return "\n".join(lines)


def quote_section(
    lines: Recollection,
    found: Mapping[str, tuple[Message, str | None]],
    *,
    question: str,
    budget: int,
    order: Callable[[str], int],
    id: str,  # noqa: A002 - the record's own field name
    time: datetime,
    marks: Mapping[str, str] = MappingProxyType({}),
) -> Section:
    """A section of recalled messages, some of them in part.

    `found` has by id, best first, the part of each message that is quoted; None for all. `order`
    tells by its id when a message was said; `budget` is in tokens; `marks` are as in
    `Recollection.section`.
    """
    shown = [
        message if part is None else replace(message, blocks=(Text(part),))
        for message, part in found.values()
    ]
    section = lines.section(
        shown, question=question, budget=budget, order=order, id=id, time=time, marks=marks
    )
    partly = {source for source, (_, part) in found.items() if part is not None}
    if not section.messages or partly.isdisjoint(section.verbatim):
        return section
    (message,) = section.messages
    told = composed(
        message.role,
        message.text,
        id=message.id,
        quotes=tuple(i for i in message.quotes if i not in partly),
        derived_from=tuple(i for i in message.derived_from if i not in message.excerpts),
        excerpts=(*message.excerpts, *(i for i in message.quotes if i in partly)),
        time=message.time,
    )
    return replace(section, messages=(told,))


# What was found, as the model reads it: one message whose lines are earlier messages, quoted.


HEADER = "Earlier messages that may matter:"
LEAST = 24
"""Tokens below which a clipped message says too little to be shown."""

_SPELT_IN = 8
"""Best messages in which a word is looked for that a misspelt one may be."""

ASKED_OF = 15
"""Best messages among whose speakers are those whom a question may name."""

_ADDITIVE = frozenset({"o200k_base", "cl100k_base"})
"""Encodings that never join what stands after a line's end with what stands before it."""


class QuoteLine(NamedTuple):
    """A line that quotes a message, or, clipped, a part of it."""

    message: Message
    text: str
    tokens: int
    """With its newline."""
    mark: str
    clipped: bool = False


def _said_in(lines: Iterable[QuoteLine]) -> tuple[str, ...]:
    return tuple(line.message.id for line in lines if not line.message.composed)


def _made_from(lines: Iterable[QuoteLine]) -> tuple[str, ...]:
    """What was not said itself, a summary or a stored fact, was made from what was."""
    return tuple(dict.fromkeys(i for line in lines for i in line.message.derived_from))


class Recollection:
    """Composes sections of recalled messages.

    It keeps no line from one section to the next, since records that stay make the garbage
    collector search everything more often. `counter` knows the lengths of lines.

    Args:
        counter: token counts.
        voice: who the section speaks as. As `user` it has no more authority than those it quotes,
            and what they said can close or forge no block.
    """

    def __init__(self, counter: TokenCounter, *, voice: Literal["system", "user"] = "user") -> None:
        self._counter = counter
        self._voice: Literal["system", "user"] = voice
        self._additive = counter.name in _ADDITIVE

    def section(
        self,
        best: Iterable[Message],
        *,
        question: str,
        budget: int,
        order: Callable[[str], int],
        id: str,  # noqa: A002 - the record's own field name
        time: datetime,
        marks: Mapping[str, str] = MappingProxyType({}),
    ) -> Section:
        """As many of the messages as fit, best first, shown in the order in which they were said.

        `budget` is in tokens; `order` tells by its id when a message was said; `marks` are what the
        heads of some lines say beside the day, by the ids of the messages.
        """
        chosen = self._choose(best, question, budget, marks)
        while chosen:
            lines = sorted(chosen, key=lambda line: order(line.message.id))
            told = self._told(lines)
            text = "\n".join((HEADER, *told))
            tokens = self._tokens(text, lines if len(told) == len(lines) else None)
            if tokens <= budget:
                message = composed(
                    self._voice,
                    text,
                    id=id,
                    quotes=_said_in(line for line in lines if not line.clipped),
                    excerpts=_said_in(line for line in lines if line.clipped),
                    derived_from=_made_from(lines),
                    time=time,
                )
                quoted = tuple(line.message.id for line in lines)
                return Section(layer="recalled", messages=(message,), tokens=tokens, items=quoted)
            chosen.pop()
        return Section(layer="recalled", messages=(), tokens=0)

    def _choose(
        self, best: Iterable[Message], question: str, budget: int, marks: Mapping[str, str]
    ) -> list[QuoteLine]:
        room = budget - MESSAGE_OVERHEAD - self._counter.text(HEADER + "\n")
        chosen: list[QuoteLine] = []
        for message in best:
            if room < LEAST:
                break
            line = self._line(message, marks.get(message.id, ""))
            if line.tokens > room:
                line = self._clipped(line, question, max(LEAST, room // 2))
            if line.text:
                chosen.append(line)
                room -= line.tokens
        return chosen

    def _line(self, message: Message, mark: str) -> QuoteLine:
        text = self._safe(f"{_head(message, mark)}{message.text}")
        return QuoteLine(message, text, self._counter.text(text + "\n"), mark)

    def _clipped(self, line: QuoteLine, question: str, room: int) -> QuoteLine:
        """The part of a line that speaks to the question; a long one leaves room for others."""
        message, count = line.message, self._counter.text
        head = _head(message, line.mark)
        size = len(message.text) * room // line.tokens
        part = snippet(
            message.text, question, size, lambda part: count(self._safe(f"{head}{part}\n")) <= room
        )
        text = self._safe(head + part) if part else ""
        return QuoteLine(message, text, count(text + "\n"), line.mark, clipped=True)

    def _safe(self, text: str) -> str:
        return escaped(text) if self._voice == "user" else text

    def _told(self, lines: Iterable[QuoteLine]) -> list[str]:
        """The lines as they are shown: the parts of one utterance stand in one."""
        told: list[str] = []
        last: QuoteLine | None = None
        for line in lines:
            if last is not None and _continues(last, line):
                told[-1] += " " + self._safe(line.message.text)
            else:
                told.append(line.text)
            last = line
        return told

    def _tokens(self, text: str, lines: list[QuoteLine] | None) -> int:
        if not self._additive or lines is None:
            return self._counter.text(text) + MESSAGE_OVERHEAD
        count = self._counter.text
        whole = count(HEADER + "\n") + sum(line.tokens for line in lines[:-1])
        return whole + count(lines[-1].text) + MESSAGE_OVERHEAD


def _continues(before: QuoteLine, line: QuoteLine) -> bool:
    """Whether two lines quote what one person said in the same turn at the same time."""
    if before.clipped or line.clipped or before.mark != line.mark:
        return False
    one, two = before.message, line.message
    return (
        one.turn > 0
        and not (one.composed or two.composed)
        and one.role == two.role == "user"
        and (one.principal, one.session, one.turn, one.time)
        == (two.principal, two.session, two.turn, two.time)
    )


def _head(message: Message, mark: str) -> str:
    speaker = speaker_label(message.role, message.principal)
    day = message.time.date().isoformat()
    return f"[{day}, {mark}] {speaker}: " if mark else f"[{day}] {speaker}: "


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """What was brought up.

    The section is without messages where nothing was found, nothing fits, or it is not sure enough
    that what was found answers.
    """

    section: Section
    ranking: tuple[str, ...]
    confidence: float


class _QuestionHits(NamedTuple):
    """What was found for a question, best first."""

    hits: list[Hit]
    distance: float
    """How far the nearest meaning stands out from the others."""
    cues: QuestionCues


class Recaller:
    """Finds entries for questions."""

    def __init__(
        self,
        vault: Vault,
        timeline: Timeline,
        counter: TokenCounter,
        *,
        permissions: Permissions | None,
        options: MemoryOptions,
    ) -> None:
        self._vault = vault
        self._timeline = timeline
        self._permissions = permissions
        self._policy = options.policy
        self._vectors, self._facts = options.vectors, options.facts
        self._counter = counter
        self._lines = Recollection(counter, voice="user")

    def recall(
        self,
        text: str,
        where: Where,
        *,
        asker: str,
        visible: Collection[str],
        beside: Iterable[Message],
        budget: int,
        now: datetime,
        turn: int,
    ) -> RecallResult:
        """What speaks to a question, quoted.

        What `visible` names is not found: what stands in the context already, and what was brought
        up before, as `Section.items` names it. What messages in `beside` say is not quoted again.
        What `asker` said that stands in every context it applies to is quoted in any case.
        """
        self._timeline.need_admitted(with_semantic(where))
        text = self._meant(text, where)
        search = self._found(text, where, now)
        hits = search.hits
        sources = self._timeline.sources(hit.id for hit in hits)
        sure = self._confidence(text, search, where)
        standing = self._policy.standing > 1
        apply = self._timeline.applying(asker, text) if standing else {}
        sources |= self._timeline.sources(apply)
        shown = self._shown(sources, set(visible), where)
        # Of what always holds, two that say the same both apply or neither does.
        said = dict.fromkeys((*(hit.id for hit in hits), *reversed(apply)))
        shown |= self._repeated(said, shown, beside)
        applied = self._standing(apply, shown, where, budget)
        chosen = [*applied]
        if not asks_overview(text):
            # What always holds says nothing of the matter, and so has no rank in it.
            orders = [entry for entry in chosen if applied[entry] and apply[entry]]
            hits = raised(hits, orders, after=LOOKED_AT)
        ranked = (sources[hit.id] for hit in hits)
        ranking = tuple(dict.fromkeys(source for source in ranked if source is not None))
        if sure >= self._policy.sure:
            room = budget - sum(map(self._tokens, chosen))
            chosen += fit_to_room(
                hits, tokens=self._tokens, room=room, policy=self._policy, shown={*shown, *chosen}
            )
        entries = self._vault.fetch(chosen, with_semantic(where))
        found = _joined((entry, read_message(entry)) for entry in entries)
        about = self._known(set(chosen), where, self._followed(where))
        held = ((e.id, i) for e in entries if (i := self._timeline.source(e.id)) is not None)
        order = self._order(entries, (m for m, _ in found.values()))
        section = quote_section(
            self._lines,
            found,
            question=text,
            budget=budget,
            order=order.__getitem__,
            id=f"recalled:{turn}",
            time=now,
            marks=replaced_marks(held, about),
        )
        # An entry goes by its id among messages, and by more where another may take its place.
        items = set(section.items)
        names = {entry.id: entry.version for entry in entries if entry.id in items}
        section = replace(section, items=tuple(names.get(i, i) for i in section.items))
        return RecallResult(section=section, ranking=ranking, confidence=sure)

    def entries(self, text: str, where: Where, now: datetime, k: int) -> list[SearchHit]:
        """The best `k` entries for a text, as they are in the store."""
        hits = self.search(text, where, now)[:k]
        found = {e.id: e for e in self._vault.fetch([h.id for h in hits], with_semantic(where))}
        return [SearchHit(found[h.id], h.score) for h in hits if h.id in found]

    def search(self, text: str, where: Where, now: datetime) -> list[Hit]:
        """Rank the entries for a text, best first."""
        self._timeline.need_admitted(with_semantic(where))
        return self._found(self._meant(text, where), where, now).hits

    def _meant(self, text: str, where: Where) -> str:
        """A question without courtesy, its misspelt words as what was said that may be seen."""

        def choose(word: str, meant: Sequence[str]) -> str | None:
            if not meant or self._vault.mentions(word, where):
                return None
            hits = self._vault.lexical(" ".join(meant), where, _SPELT_IN)
            if not hits:
                return None
            entries = self._vault.fetch([hit.id for hit in hits], with_semantic(where))
            said = {term for entry in entries for term in index_terms(entry.words)}
            return next((w for w in meant if not said.isdisjoint(index_terms(w))), None)

        bare = without_courtesy(text)
        # Capitals throughout are no names, and an embedder would read every word as rare.
        return respelled(bare.lower() if bare.isupper() and " " in bare else bare, choose)

    def _found(self, text: str, where: Where, now: datetime) -> _QuestionHits:
        """The ranking, with what the question names."""
        cues = QuestionCues(text, now)
        may_follow = self._followed(where)
        overview = self._policy.opening > 0 and asks_overview(text)
        depth = self._policy.depth * (WIDER if overview else 1)
        wanted = depth if overview else SPARE * depth
        lexical = self._vault.lexical(matter(text) if overview else text, where, wanted)
        nearest = self._vault.nearest(text, where, wanted) if self._vectors else []
        self._timeline.expect({hit.id for hit in (*lexical, *nearest)})
        if self._facts and self._vectors and not overview:
            of_facts = replace(where, layers=frozenset({"semantic"}))
            facts = self._vault.nearest(text, of_facts, wanted)
            nearest = with_facts(nearest, facts, where, self._vault, self._timeline)
        found = {hit.id for hit in (*lexical, *nearest)}
        last = [] if overview else self._summed_up(lexical, nearest)
        ranked = recall(
            text,
            lexical=[hit for hit in lexical if hit.id not in last],
            nearest=[hit for hit in nearest if hit.id not in last],
            about=self._known(found, where, may_follow),
            beside=lambda entry: self._timeline.beside(entry) if may_follow(entry) else (),
            places=self._places(may_follow) if overview else None,
            policy=self._policy,
            now=now,
            cues=cues,
        )
        if self._vectors and self._policy.near and not overview:
            ranked = self._with_near_words(text, ranked, where, cues)
        hits = [*ranked, *(Hit(entry, 0.0) for entry in last)]
        return _QuestionHits(hits, _distance(nearest), cues)

    def _with_near_words(
        self, question: str, ranked: list[Hit], where: Where, cues: QuestionCues
    ) -> list[Hit]:
        if not self._vault.embeds_words:
            return ranked
        best = [hit.id for hit in ranked[:COMPARED]]
        texts = {e.id: e.text for e in self._vault.fetch(best, with_semantic(where))}
        return with_near_words(
            question,
            ranked,
            texts,
            about=self._timeline.about,
            embed=self._vault.embed_words,
            cues=cues,
            policy=self._policy,
        )

    def _summed_up(self, *rankings: Iterable[Hit]) -> dict[str, None]:
        """Summaries of conversations that a message was found of, best first.

        The message says in its own words, and fewer, what a question wants of it.
        """
        found = dict.fromkeys([hit.id for ranking in rankings for hit in ranking])
        summaries = {i: of for i in found if (of := self._timeline.summed_up(i)) is not None}
        if not summaries:
            return {}
        spoken = {self._timeline.session(entry) for entry in found}
        return {entry: None for entry, of in summaries.items() if of in spoken}

    def _confidence(self, question: str, search: _QuestionHits, where: Where) -> float:
        """How sure it is that the best hits answer a question."""
        hits, distance, cues = search
        known = (self._timeline.about(hit.id) for hit in hits[:ASKED_OF])
        people = dict.fromkeys(about.principal for about in known if about is not None)
        best = {hit.id: hit.score for hit in hits[:LOOKED_AT]}
        found = [
            FoundMessage(
                principal=entry.owner,
                role=message.role,
                text=message.text,
                relevance=max(best[entry.id], 0.0),
            )
            for entry in self._vault.fetch([*best], with_semantic(where))
            for message in [read_message(entry)]
        ]
        found.sort(key=lambda message: -message.relevance)
        # Whoever is asked for their words may speak of anybody, and an overview is of many people.
        anyone = cues.speaker or asks_overview(question)
        named = [] if anyone else [*filter(cues.names, people)]
        return confidence(question, found, named, distance)

    def _standing(
        self, apply: Iterable[str], shown: set[str], where: Where, room: int
    ) -> dict[str, bool]:
        """What applies to a question, as far as there is room, and whether it instructs."""
        instructing: dict[str, bool] = {}

        def read(some: Sequence[str]) -> list[str]:
            entries = self._vault.fetch(some, where)
            instructing.update((entry.id, instructs(entry.text)) for entry in entries)
            return [entry.id for entry in entries]

        found = (entry for entry in apply if entry not in shown)
        chosen = within_room(found, self._tokens, room, read=read)
        return {entry: instructing[entry] for entry in chosen}

    def _places(self, may_follow: Callable[[str], bool]) -> ConversationPlaces:
        place, reply = self._timeline.place, self._timeline.reply
        return ConversationPlaces(
            place=lambda entry: place(entry) if may_follow(entry) else None,
            reply=lambda entry: reply(entry) if may_follow(entry) else None,
        )

    def _shown(
        self, sources: Mapping[str, str | None], seen: Collection[str], where: Where
    ) -> set[str]:
        """Entries that are visible already, or were brought up before as they are now."""
        shown = {entry for entry, source in sources.items() if entry in seen or source in seen}
        before = {name.partition("@")[0] for name in seen}
        unsaid = [entry for entry, source in sources.items() if source is None and entry in before]
        return shown.union(
            e.id for e in self._vault.fetch(unsaid, with_semantic(where)) if e.version in seen
        )

    def _repeated(
        self, found: Iterable[str], shown: Collection[str], beside: Iterable[Message]
    ) -> set[str]:
        """Entries, best first, that say what one before them says, or what stands there already."""
        words = self._timeline.words
        there = {words(entry) for entry in shown}
        for message in beside:
            there.add(repeat_digest(message.principal, message.time, message.text))
            there.update(map(words, self._timeline.entries(message.principal, message.id)))
        again: set[str] = set()
        for entry in found:
            said = words(entry)
            if said is not None and said in there:
                again.add(entry)
            there.add(said)
        return again

    def _order(self, entries: Iterable[Entry], found: Iterable[Message]) -> dict[str, int]:
        """The place of each message among them; ids say nothing about what was said first."""
        places: dict[str, int] = {}
        for entry in entries:
            about, source = self._timeline.about(entry.id), self._timeline.source(entry.id)
            if about is not None and source is not None:
                places.setdefault(source, about.order)

        def said(message: Message) -> tuple[datetime, int, int, str]:
            return message.time, message.turn, places.get(message.id, -1), message.id

        return {m.id: n for n, m in enumerate(sorted(found, key=said))}

    def _known(
        self, found: set[str], where: Where, may_follow: Callable[[str], bool]
    ) -> Callable[[str], MessageFacts | None]:
        """What is known of an entry, where it was found or its conversation may be read.

        Whether a message is superseded is known to those alone who may see its speaker's facts: it
        depends on all that was said, in conversations with others as well.
        """
        known = self._timeline.about
        told: dict[str, bool] = {}

        def about(entry: str) -> MessageFacts | None:
            if entry not in found and not may_follow(entry):
                return None
            said = known(entry)
            if said is None:
                return _UNSAID if entry in found else None
            if said.successor is None and not said.amended and not said.stale:
                return said
            whose = said.principal
            may = told.get(whose)
            if may is None:
                may = told[whose] = where.reader is None or where.reader.may_see(_facts_of(whose))
            return said if may else said._replace(successor=None, amended=(), stale=())

        return about

    def _followed(self, where: Where) -> Callable[[str], bool]:
        """Whether the conversation of a message may be read, all of it."""
        readable: dict[str | None, bool] = {}
        session = self._timeline.session

        def may_follow(entry: str) -> bool:
            name = session(entry)
            may = readable.get(name)
            if may is None:
                may = readable[name] = self._may_read(name, where)
            return may

        return may_follow

    def _may_read(self, session: str | None, where: Where) -> bool:
        if self._permissions is None or where.reader is None:
            return True
        return session is not None and self._permissions.may_follow(where.reader.principal, session)

    def _tokens(self, entry: str) -> int:
        about = self._timeline.about(entry)
        return _UNSAID.tokens if about is None else about.tokens


_UNSAID = MessageFacts(order=-1, tokens=40)
"""What is known of an entry that was never said: a stored fact, a page of the workspace."""


def _facts_of(owner: str) -> Shelf:
    return Shelf(owner=owner, layer="semantic", category="conversation")


def _joined(entries: Iterable[tuple[Entry, Message]]) -> dict[str, tuple[Message, str | None]]:
    """Entries as messages, best first; the passages of one message together, the rest left out."""
    found: dict[str, tuple[Message, str | None]] = {}
    parts: dict[str, dict[int, str]] = {}
    for entry, message in entries:
        place = passage_of(entry)
        if place is None:
            found.setdefault(message.id, (message, None))
            continue
        held = parts.setdefault(message.id, {})
        held[place] = message.text
        found[message.id] = (message, _excerpt(held))
    return found


def _excerpt(held: dict[int, str]) -> str:
    places = sorted(held)
    most = places[-1] + 1
    return excerpt([held.get(n, "") for n in range(most)], places)


_NEAREST = 8
"""Messages by meaning that are not looked at when it is asked how near the others are."""


def _distance(nearest: Sequence[Hit]) -> float:
    """How far the best cosine is above the mean of those behind the best few; 0 for few."""
    others = [hit.score for hit in nearest[_NEAREST:]]
    if not others:
        return 0.0
    return nearest[0].score - math.fsum(others) / len(others)
