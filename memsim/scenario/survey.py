"""Check each step of a script against the steps before it, and collect its facts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial, singledispatchmethod

from memsim.errors import ErrorCollector, ScenarioError
from memsim.language.form_search import says_value
from memsim.message import Message
from memsim.scenario.conversation_step import PlayConversation, RecordedConversation
from memsim.scenario.document import nearest_name, quote
from memsim.scenario.generator.dials import Generate
from memsim.scenario.narrator import Narrator, ScriptExchange, script_beats
from memsim.scenario.recorded_turns import recorded_turns
from memsim.scenario.script import UNKNOWN, Fact
from memsim.scenario.script_plan import (
    MAX_TEXT,
    AskHere,
    Filler,
    Forgetting,
    Gap,
    OpenSession,
    Plan,
    Restart,
    Say,
    Share,
    ToolCall,
    UseTools,
)
from memsim.scenario.value_kinds import DistinctNames
from memsim.scenario.words import ValueSearch, Words, words


@dataclass(frozen=True, slots=True)
class PlantedFact:
    """A fact where it was stated: in which step, counted by `tick`, and on which line."""

    fact: Fact
    tick: int
    line: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A point at which a probe can be asked.

    Attributes:
        turn: the last turn by then.
        tick: the last step by then.
        principal: whose session it is.
    """

    turn: int
    tick: int
    principal: str


@dataclass(frozen=True, slots=True)
class AnswerMention:
    """A message that says an expected answer."""

    turn: int
    message: str


@dataclass(slots=True)
class Survey:
    """What a script does, as far as its probes must know.

    Attributes:
        planted: every version of every fact, in order.
        order: the same in the order of the script.
        by_value: the same by the words of their values.
        forgotten: fact to the steps that ask for it to be erased.
        mentions: expected answer to the messages that say it.
        marked: probe to the point where an `ask` step puts it.
        moments: the last point of every step that has turns, by its last turn.
        messages: how many messages there are by each of `moments`.
        domains: what generated talk is about, with the line of the first of each.
        acknowledged: whether an assistant's reply is left to memsim somewhere.
    """

    planted: dict[str, list[PlantedFact]] = field(default_factory=dict)
    order: list[PlantedFact] = field(default_factory=list)
    by_value: dict[Words, list[PlantedFact]] = field(default_factory=dict)
    forgotten: dict[str, list[int]] = field(default_factory=dict)
    mentions: dict[str, list[AnswerMention]] = field(default_factory=dict)
    marked: dict[str, Moment] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    domains: dict[str, int | None] = field(default_factory=dict)
    acknowledged: bool = False
    end: Moment = Moment(0, 0, "")

    def at_turn(self, turn: int) -> Moment:
        """The point right after a turn."""
        index = bisect_right(self.moments, turn - 1, key=lambda moment: moment.turn)
        moment = self.moments[index]
        return Moment(turn, moment.tick, moment.principal)

    def versions(self, name: str, moment: Moment) -> list[PlantedFact]:
        """The versions of a fact that were stated by a point."""
        versions = self.planted.get(name, [])
        return versions[: bisect_right(versions, moment.tick, key=lambda each: each.tick)]

    def current(self, name: str, moment: Moment) -> PlantedFact | None:
        """What a fact is at a point."""
        versions = self.versions(name, moment)
        return versions[-1] if versions else None

    def erased(self, planted: PlantedFact, moment: Moment) -> bool:
        """Whether it was to be forgotten between its statement and a point."""
        ticks = self.forgotten.get(planted.fact.id, [])
        return bisect_right(ticks, moment.tick) > bisect_right(ticks, planted.tick)

    def messages_by(self, moment: Moment) -> int:
        """How many messages there have been by a point, counting a filler's turns as begun."""
        index = bisect_right(self.moments, moment.turn - 1, key=lambda each: each.turn)
        if index >= len(self.moments):
            return self.messages[-1] if self.messages else 0
        return self.messages[index] - 2 * (self.moments[index].turn - moment.turn)

    def values(self) -> Iterator[tuple[str, int | None]]:
        """Every planted value, with its line."""
        return ((planted.fact.value, planted.line) for planted in self.order)


MAX_VALUES = 2_000_000
"""Characters of all facts and answers together."""

MAX_CHAIN = 100
"""Facts that replace one another; one name can take any number of values."""


def survey(plan: Plan) -> Survey:
    """What the script does.

    Raises:
        ScenarioError: a step contradicts what came before it. Without a path.
    """
    return _Surveyor(plan).survey()


class _Silent:
    """A voice that says nothing, as generated talk states no facts."""

    def reply(self) -> str:
        return ""

    def result(self, call: ToolCall, number: int) -> str:
        return call.result

    def talk(self, filler: Filler, number: int) -> Iterator[tuple[str, str]]:
        return iter(())


class _Surveyor:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._narrator = Narrator(plan, _Silent())
        self._found = Survey()
        self._tick = 0
        self._text = 0
        self._spelled = DistinctNames("fact")
        self._chain: dict[str, int] = {}
        self._errors = ErrorCollector()
        self._granted: set[tuple[str, str, str]] = set()
        self._probes = {probe.name: probe for probe in plan.probes}
        self._values = 0
        for probe in plan.probes:
            for answer in (*probe.value.expect, *probe.value.forbid):
                self._measure(answer, probe.line)
        self._sought = ValueSearch(
            answer for probe in plan.probes for answer in probe.value.expect if answer != UNKNOWN
        )

    def _measure(self, value: str, line: int | None) -> None:
        self._values += len(value)
        if self._values > MAX_VALUES:
            raise ScenarioError(
                f"facts and answers have more than {MAX_VALUES:,} characters together", line=line
            )

    def survey(self) -> Survey:
        self._errors.read(self._follow)
        self._errors.end()
        found = self._found
        found.end = Moment(self._narrator.turn, self._tick, self._narrator.principal)
        return found

    def _follow(self) -> None:
        for beat in script_beats(self._plan.turns):
            self._tick += 1
            if isinstance(beat, ScriptExchange):
                self._exchange(beat)
            else:
                self._visit(beat)
            self._note_turns()

    def _note_turns(self) -> None:
        at, found = self._narrator, self._found
        if at.turn > (found.moments[-1].turn if found.moments else 0):
            found.moments.append(Moment(at.turn, self._tick, at.principal))
            found.messages.append(at.messages)

    @singledispatchmethod
    def _visit(self, beat: object) -> None:
        raise NotImplementedError(type(beat).__name__)

    @_visit.register
    def _(self, beat: Restart) -> None:
        pass

    @_visit.register
    def _(self, beat: Gap) -> None:
        self._narrator.gap(beat)

    @_visit.register
    def _(self, beat: OpenSession) -> None:
        self._narrator.open(beat)

    @_visit.register
    def _(self, beat: PlayConversation) -> None:
        raise ScenarioError("a repeat must not contain a conversation", line=beat.line)

    @_visit.register
    def _(self, beat: Generate) -> None:
        raise ScenarioError("a repeat must not contain a generated story", line=beat.line)

    @_visit.register
    def _(self, beat: RecordedConversation) -> None:
        for turn, _ in recorded_turns(beat, self._narrator):
            for message in (*turn.heard, *turn.reply):
                self._mention(message)
            self._note_turns()

    @_visit.register
    def _(self, beat: Filler) -> None:
        self._narrator.skip(beat)
        self._found.domains.setdefault(beat.domain or self._plan.domain, beat.line)

    def _exchange(self, beat: ScriptExchange) -> None:
        lines = dict(self._facts_of(beat))
        turn = self._narrator.exchange(beat)
        if not turn.reply[-1].text:
            self._found.acknowledged = True
        for message in (*turn.heard, *turn.reply):
            found = self._hear(message, beat.line)
            stated = [fact for fact in turn.facts if fact.source == message.id]
            self._errors.read(partial(_check_stated, stated, message.text, found, lines))
        for fact in turn.facts:
            self._plant(PlantedFact(fact, self._tick, lines[fact.id]))

    def _hear(self, message: Message, line: int | None) -> set[str]:
        self._text += len(message.text)
        if self._text > MAX_TEXT:
            raise ScenarioError(f"says more than {MAX_TEXT:,} characters without filler", line=line)
        return self._mention(message)

    def _mention(self, message: Message) -> set[str]:
        found = self._sought.found(message.text)
        for answer in sorted(found):
            mention = AnswerMention(message.turn, message.id)
            self._found.mentions.setdefault(answer, []).append(mention)
        return found

    def _facts_of(self, exchange: ScriptExchange) -> Iterator[tuple[str, int | None]]:
        parts = (exchange.heard, *exchange.reply) if exchange.heard else exchange.reply
        for part in parts:
            for call in part.value if isinstance(part, UseTools) else ():
                if call.lines or call.characters:
                    self._found.domains.setdefault(call.domain or "tool", call.line)
                yield from ((fact.name, fact.line) for fact in call.facts)
            if isinstance(part, Say):
                yield from ((fact.name, fact.line) for fact in part.facts)

    # -- facts

    def _plant(self, new: PlantedFact) -> None:
        name = new.fact.id
        self._measure(new.fact.value, new.line)
        self._spelled.spell(name, new.line)
        versions = self._found.planted.setdefault(name, [])
        if versions:
            self._check_version(versions[-1], new)
        self._supersede(new, known=bool(versions))
        versions.append(new)
        self._found.order.append(new)
        self._found.by_value.setdefault(words(new.fact.value), []).append(new)

    def _check_version(self, old: PlantedFact, new: PlantedFact) -> None:
        name = new.fact.id
        if old.fact.principal != new.fact.principal:
            raise ScenarioError(
                f"fact {quote(name)} is {old.fact.principal}'s since line {old.line}; "
                f"give {new.fact.principal}'s another name",
                line=new.line,
            )
        if old.fact.value == new.fact.value and not self._is_forgotten(old):
            raise ScenarioError(
                f"fact {quote(name)} has this value since line {old.line}; "
                "a fact is planted once, say it again without facts",
                line=new.line,
            )

    def _is_forgotten(self, planted: PlantedFact) -> bool:
        erased = self._found.forgotten.get(planted.fact.id, [])
        return bool(erased) and erased[-1] > planted.tick

    def _supersede(self, new: PlantedFact, *, known: bool) -> None:
        name, old = new.fact.id, new.fact.replaces
        if old is None or old == name:
            return
        self._need((old,), None, new.line, "replaces")
        if known:
            raise ScenarioError(
                f"fact {quote(name)} was stated before, so it replaces itself and not {quote(old)}",
                line=new.line,
            )
        self._chain[name] = self._chain.get(old, 0) + 1
        if self._chain[name] > MAX_CHAIN:
            raise ScenarioError(
                f"more than {MAX_CHAIN} facts replace one another; keep one name", line=new.line
            )

    def _need(self, names: Iterable[str], owner: str | None, line: int | None, verb: str) -> None:
        for name in names:
            versions = self._found.planted.get(name)
            if not versions:
                raise ScenarioError(
                    f"{verb} {quote(name)}, which no earlier turn states",
                    line=line,
                    hint=nearest_name(name, self._found.planted),
                )
            if owner and versions[-1].fact.principal != owner:
                raise ScenarioError(
                    f"{verb} {quote(name)}, which is {versions[-1].fact.principal}'s and "
                    f"not {owner}'s",
                    line=line,
                )

    # -- steps about facts and probes

    @_visit.register
    def _(self, beat: Share) -> None:
        verb = "revokes" if beat.revoked else "grants"
        self._narrator.known(beat.owner, beat.line)
        self._narrator.known(beat.viewer, beat.line)
        if beat.owner == beat.viewer:
            raise ScenarioError(f"{beat.owner} {verb} to themself", line=beat.line)
        self._need(beat.facts, beat.owner, beat.line, verb)
        keys = {(beat.owner, beat.viewer, fact) for fact in beat.facts}
        if beat.revoked and not keys <= self._granted:
            raise ScenarioError("revokes what was never granted", line=beat.line)
        (self._granted.difference_update if beat.revoked else self._granted.update)(keys)

    @_visit.register
    def _(self, beat: Forgetting) -> None:
        who = self._narrator.known(beat.who or self._narrator.principal, beat.line)
        self._need(beat.facts, who, beat.line, "forgets")
        for fact in beat.facts:
            self._found.forgotten.setdefault(fact, []).append(self._tick)

    @_visit.register
    def _(self, beat: AskHere) -> None:
        for name in beat.value:
            probe = self._probes.get(name)
            if probe is None:
                raise ScenarioError(
                    f"unknown probe {quote(name)}",
                    line=beat.line,
                    hint=nearest_name(name, self._probes),
                )
            if probe.value.after is not None:
                raise ScenarioError(
                    f"probe {quote(name)} has both an ask step and the key after; keep one",
                    line=probe.value.after.line,
                )
            if name in self._found.marked:
                raise ScenarioError(f"probe {quote(name)} is asked twice", line=beat.line)
            at = self._narrator
            self._found.marked[name] = Moment(at.turn, self._tick, at.principal)


def _check_stated(
    facts: Sequence[Fact], text: str, found: AbstractSet[str], lines: Mapping[str, int | None]
) -> None:
    if not facts:
        return
    others = [fact.value for fact in facts if fact.value not in found]
    said = ValueSearch(others).found(text) | found if others else found
    written = " ".join(text.casefold().split())
    for fact in facts:
        spelled = " ".join(fact.value.casefold().split()) in written
        if fact.value not in said or not (spelled or says_value(text, fact.value)):
            raise ScenarioError(
                f"fact {fact.id} is never stated: {quote(fact.value)} "
                "is not in the text of its turn",
                line=lines[fact.id],
            )
