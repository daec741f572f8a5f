"""Goes through a whole script once, at loading, and checks each step against those before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import singledispatchmethod

from memsim.errors import ScenarioError
from memsim.message import Message
from memsim.scenario.exchange import Exchange, beats
from memsim.scenario.findings import Mention, Moment, Planted, Survey
from memsim.scenario.names import Distinct
from memsim.scenario.narrator import Narrator
from memsim.scenario.nodes import near, shown
from memsim.scenario.plan import (
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
from memsim.scenario.script import UNKNOWN, Fact
from memsim.scenario.words import Sought, words

MAX_VALUES = 250_000
"""Characters of all facts and answers together."""

MAX_TEXT = 10_000_000
"""Characters of all texts that are not generated."""

MAX_CHAIN = 100
"""Facts that replace one another; one name can take any number of values."""


def survey(plan: Plan) -> Survey:
    """What the script does.

    Raises:
        ScenarioError: a step contradicts what came before it. Without a path.
    """
    return _Surveyor(plan).survey()


class _Silent:
    """The voice of a survey: what is generated cannot state anything, so it need not be said."""

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
        self._spelled = Distinct("fact")
        self._chain: dict[str, int] = {}
        self._granted: set[tuple[str, str, str]] = set()
        self._probes = {probe.name: probe for probe in plan.probes}
        self._values = 0
        for probe in plan.probes:
            for answer in (*probe.value.expect, *probe.value.forbid):
                self._measure(answer, probe.line)
        self._sought = Sought(
            answer for probe in plan.probes for answer in probe.value.expect if answer != UNKNOWN
        )

    def _measure(self, value: str, line: int | None) -> None:
        self._values += len(value)
        if self._values > MAX_VALUES:
            raise ScenarioError(
                f"facts and answers have more than {MAX_VALUES:,} characters together", line=line
            )

    def survey(self) -> Survey:
        for beat in beats(self._plan.turns):
            self._tick += 1
            if isinstance(beat, Exchange):
                self._exchange(beat)
            else:
                self._visit(beat)
            self._note_turns()
        found = self._found
        found.end = Moment(self._narrator.turn, self._tick, self._narrator.principal)
        return found

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
    def _(self, beat: Filler) -> None:
        self._narrator.skip(beat)
        self._found.domains.setdefault(beat.domain or self._plan.domain, beat.line)

    def _exchange(self, beat: Exchange) -> None:
        lines = dict(self._facts_of(beat))
        turn = self._narrator.exchange(beat)
        if not turn.reply[-1].text:
            self._found.acknowledged = True
        for message in (*turn.heard, *turn.reply):
            found = self._hear(message, beat.line)
            stated = [fact for fact in turn.facts if fact.source == message.id]
            _check_stated(stated, message.text, found, lines)
        for fact in turn.facts:
            self._plant(Planted(fact, self._tick, lines[fact.id]))

    def _hear(self, message: Message, line: int | None) -> set[str]:
        self._text += len(message.text)
        if self._text > MAX_TEXT:
            raise ScenarioError(f"says more than {MAX_TEXT:,} characters without filler", line=line)
        found = self._sought.found(message.text)
        for answer in sorted(found):
            mention = Mention(message.turn, message.id)
            self._found.mentions.setdefault(answer, []).append(mention)
        return found

    def _facts_of(self, exchange: Exchange) -> Iterator[tuple[str, int | None]]:
        parts = (exchange.heard, *exchange.reply) if exchange.heard else exchange.reply
        for part in parts:
            for call in part.value if isinstance(part, UseTools) else ():
                if call.lines or call.characters:
                    self._found.domains.setdefault(call.domain or "tool", call.line)
                yield from ((fact.name, fact.line) for fact in call.facts)
            if isinstance(part, Say):
                yield from ((fact.name, fact.line) for fact in part.facts)

    # -- facts

    def _plant(self, new: Planted) -> None:
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

    def _check_version(self, old: Planted, new: Planted) -> None:
        name = new.fact.id
        if old.fact.principal != new.fact.principal:
            raise ScenarioError(
                f"fact {shown(name)} is {old.fact.principal}'s since line {old.line}; "
                f"give {new.fact.principal}'s another name",
                line=new.line,
            )
        if old.fact.value == new.fact.value and not self._is_forgotten(old):
            raise ScenarioError(
                f"fact {shown(name)} has this value since line {old.line}; "
                "a fact is planted once, say it again without facts",
                line=new.line,
            )

    def _is_forgotten(self, planted: Planted) -> bool:
        erased = self._found.forgotten.get(planted.fact.id, [])
        return bool(erased) and erased[-1] > planted.tick

    def _supersede(self, new: Planted, *, known: bool) -> None:
        name, old = new.fact.id, new.fact.replaces
        if old is None or old == name:
            return
        self._need((old,), None, new.line, "replaces")
        if known:
            raise ScenarioError(
                f"fact {shown(name)} was stated before, so it replaces itself and not {shown(old)}",
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
                    f"{verb} {shown(name)}, which no earlier turn states",
                    line=line,
                    hint=near(name, self._found.planted),
                )
            if owner and versions[-1].fact.principal != owner:
                raise ScenarioError(
                    f"{verb} {shown(name)}, which is {versions[-1].fact.principal}'s and "
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
                    f"no probe is called {shown(name)}",
                    line=beat.line,
                    hint=near(name, self._probes),
                )
            if probe.value.after is not None:
                raise ScenarioError(
                    f"probe {shown(name)} is asked here and after something; say it once",
                    line=probe.value.after.line,
                )
            if name in self._found.marked:
                raise ScenarioError(f"probe {shown(name)} is asked twice", line=beat.line)
            at = self._narrator
            self._found.marked[name] = Moment(at.turn, self._tick, at.principal)


def _check_stated(
    facts: Sequence[Fact], text: str, found: AbstractSet[str], lines: Mapping[str, int | None]
) -> None:
    if not facts:
        return
    others = [fact.value for fact in facts if fact.value not in found]
    said = Sought(others).found(text) | found if others else found
    written = " ".join(text.casefold().split())
    for fact in facts:
        if fact.value not in said or " ".join(fact.value.casefold().split()) not in written:
            raise ScenarioError(
                f"fact {fact.id} is never stated: {shown(fact.value)} "
                "is not in the text of its turn",
                line=lines[fact.id],
            )
