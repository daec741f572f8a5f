"""Replay a story's events and answer its questions, without a look at the answers it states."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from memsim.scenario.generator.event_log import (
    INSTRUCTION,
    QuestionKind,
    Story,
    StoryEvent,
    StoryQuestion,
    spoken_day,
)


class UnprovenAnswerError(Exception):
    """A story states another answer than its events give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a replay of the events answers.

    Attributes:
        answer: the values, in the order in which they were told; empty when nothing is known.
        stale: values that held before.
        evidence: places of the events that are needed.
    """

    answer: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()


class _Version(NamedTuple):
    """A value of an attribute, in the order in which the values held."""

    day: date
    place: int
    value: str
    name: str


class _World:
    """What the events leave behind: for each attribute, its values with days and places.

    What has no day counts as told in order. A later day wins, whenever it was told. An entity may
    have several names; each but the first leads to the one before it.
    """

    def __init__(self, told: Iterable[tuple[int, StoryEvent]]) -> None:
        events = tuple(told)
        self._named = {e.value: (e.subject, place) for place, e in events if e.kind == "names"}
        self._values: dict[tuple[str, str], list[_Version]] = {}
        self._restored: dict[int, _Version] = {}
        self._lists: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._gone: dict[tuple[str, str], list[str]] = {}
        self._removed: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._days: dict[tuple[str, str, date], list[tuple[int, str]]] = {}
        self._dates: dict[tuple[str, str, str], tuple[date, int]] = {}
        self._last = max((event.session for _, event in events), default=0)
        self._told: dict[tuple[str, int], dict[str, int]] = {}
        for place, event in events:
            self._take(place, event)
            if event.kind == "is":
                key = event.attribute, event.session
                self._told.setdefault(key, {})[event.subject] = place

    def _take(self, place: int, event: StoryEvent) -> None:
        key = self._first_name(event.subject), event.attribute
        if event.day is not None:
            about = event.subject, event.attribute
            self._days.setdefault((*about, event.day), []).append((place, event.value))
            self._dates[*about, event.value] = event.day, place
        match event.kind:
            case "is" | "follows":
                self._hold(key, event, place, event.value)
            case "restores":
                self._restore(key, event, place)
            case "adds":
                self._lists.setdefault(key, {})[event.value] = place, event.subject
            case "removes":
                self._lists.get(key, {}).pop(event.value, None)
                self._gone.setdefault(key, []).append(event.value)
                self._removed.setdefault(key, {})[event.value] = place, event.subject
            case "names" | "unreal":
                pass

    def _first_name(self, name: str) -> str:
        return self._names(name)[-1]

    def _names(self, name: str) -> list[str]:
        """A name, and those that it leads to."""
        found = [name]
        while found[-1] in self._named:
            found.append(self._named[found[-1]][0])
        return found

    def _between(self, one: str, other: str) -> list[int]:
        """Places of the events that say that two names are of one entity."""
        apart = {*self._names(one)} ^ {*self._names(other)}
        return [self._named[name][1] for name in apart]

    def _hold(self, key: tuple[str, str], event: StoryEvent, place: int, value: str) -> None:
        version = _Version(event.day or date.min, place, value, event.subject)
        insort(self._values.setdefault(key, []), version)

    def _restore(self, key: tuple[str, str], event: StoryEvent, place: int) -> None:
        if versions := self._values.get(key):
            first = versions[0]
            self._hold(key, event, place, first.value)
            self._restored[place] = first

    def answer(self, question: StoryQuestion) -> Solution:
        match question.kind:
            case "path" | "chain":
                solve = self._followed
            case "list":
                solve = self._listed
            case "mentioned":
                solve = self._mentioned
            case "holds" | "changes" | "since" | "before" | "ever":
                solve = self._of_versions
            case "belongs" | "size":
                solve = self._of_list
            case "day" | "done" | "date" | "deeds" | "first":
                solve = self._of_events
            case _:
                solve = self._held
        return solve(question)

    def _now(self, subject: str, attribute: str) -> Solution:
        versions = self._values.get((self._first_name(subject), attribute), [])
        if not versions:
            return Solution()
        now = versions[-1]
        stale = dict.fromkeys(v.value for v in versions[:-1] if v.value != now.value)
        # Who reads that something is back where it was first must know where that was.
        first = self._restored.get(now.place)
        needed = [now] if first is None else [first, now]
        evidence = self._evidence(subject, ((v.place, v.name) for v in needed))
        return Solution(answer=(now.value,), stale=tuple(stale), evidence=evidence)

    def _evidence(self, asked: str, told: Iterable[tuple[int, str]]) -> tuple[int, ...]:
        """Places that tell something, and those that say that it is told of what is asked about."""
        needed: set[int] = set()
        for place, name in told:
            needed |= {place, *self._between(asked, name)}
        return tuple(sorted(needed))

    def _followed(self, question: StoryQuestion) -> Solution:
        subject = question.subject
        passed: list[str] = []
        evidence: list[int] = []
        for attribute in question.path:
            found = self._now(subject, attribute)
            if not found.answer:
                return Solution()
            (subject,) = found.answer
            passed.append(subject)
            evidence += found.evidence
        if question.kind == "chain":
            return Solution(answer=tuple(passed), evidence=tuple(evidence))
        reached = self._reached({question.subject: None}, question.path)
        stale = tuple(value for value in reached if value != subject)
        return Solution(answer=(subject,), stale=stale, evidence=tuple(evidence))

    def _reached(self, subjects: Iterable[str], path: tuple[str, ...]) -> Iterable[str]:
        """What a path leads to, with every value that its attributes ever had."""
        for attribute in path:
            subjects = dict.fromkeys(
                version.value
                for subject in subjects
                for version in self._values.get((self._first_name(subject), attribute), ())
            )
        return subjects

    def _of_versions(self, question: StoryQuestion) -> Solution:
        versions = self._values.get((self._first_name(question.subject), question.path[0]), [])
        if not versions:
            return Solution()
        now = versions[-1]
        places = [(version.place, version.name) for version in versions]
        answer: tuple[str, ...]
        match question.kind:
            case "holds":
                held = self._now(question.subject, question.path[0])
                return replace(held, answer=(_yes(now.value == question.claim),), stale=())
            case "changes":
                answer, told = (str(len(versions) - 1),), places
            case "since":
                answer, told = (spoken_day(now.day),), places[-1:]
            case "before":
                if len(versions) < 2 or now.value != question.claim:
                    return Solution()
                answer, told = (versions[-2].value,), places[-2:]
            case _:
                first: dict[str, tuple[int, str]] = {}
                for version in versions:
                    first.setdefault(version.value, (version.place, version.name))
                answer, told = tuple(first), [*first.values()]
        return Solution(answer=answer, evidence=self._evidence(question.subject, told))

    def _of_list(self, question: StoryQuestion) -> Solution:
        key = self._first_name(question.subject), question.path[0]
        held, gone = self._lists.get(key, {}), self._removed.get(key, {})
        if not held and not gone:
            return Solution()
        if question.kind == "size":
            told = [*held.values(), *gone.values()]
            return Solution(
                answer=(str(len(held)),), evidence=self._evidence(question.subject, told)
            )
        place = held.get(question.claim) or gone.get(question.claim)
        if place is None:
            return Solution()
        evidence = self._evidence(question.subject, [place])
        return Solution(answer=(_yes(question.claim in held),), evidence=evidence)

    def _of_events(self, question: StoryQuestion) -> Solution:
        if question.kind in {"day", "deeds"}:
            found = self._of_day(question)
            if question.kind == "day":
                return found
            return replace(found, answer=(str(len(found.answer)),) if found.answer else ())
        named = question.choices if question.kind == "first" else (question.claim,)
        about = question.subject, question.path[0]
        events = {v: self._dates[*about, v] for v in named if (*about, v) in self._dates}
        days = [*events.values()]
        if len(days) < len(named):
            return Solution()
        evidence = tuple(sorted(place for _, place in days))
        match question.kind:
            case "done":
                answer = _yes(days[0][0] == question.day)
            case "date":
                answer = spoken_day(days[0][0])
            case _:
                answer = min(named, key=lambda value: events[value][0])
        return Solution(answer=(answer,), evidence=evidence)

    def _mentioned(self, question: StoryQuestion) -> Solution:
        """What the last session told of, as far as it is a value of the attribute."""
        attribute, by = question.path
        values = {
            version.value: version.place
            for (_, name), versions in self._values.items()
            if name == attribute
            for version in versions
        }
        told = {s: p for s, p in self._told.get((by, self._last), {}).items() if s in values}
        evidence = sorted({*told.values(), *(values[subject] for subject in told)})
        return Solution(answer=tuple(told), evidence=tuple(evidence))

    def _listed(self, question: StoryQuestion) -> Solution:
        key = self._first_name(question.subject), question.path[0]
        held = self._lists.get(key, {})
        stale = tuple(v for v in dict.fromkeys(self._gone.get(key, ())) if v not in held)
        evidence = self._evidence(question.subject, held.values())
        return Solution(answer=tuple(held), stale=stale, evidence=evidence)

    def _held(self, question: StoryQuestion) -> Solution:
        """The present value, and what each instruction wants in an answer, if any does."""
        held = self._now(question.subject, question.path[0])
        if question.kind != "instructed" or not held.answer:
            return held
        kept = self._listed(replace(question, path=(INSTRUCTION,)))
        evidence = tuple(sorted((*held.evidence, *kept.evidence)))
        return replace(held, answer=(*held.answer, *kept.answer), evidence=evidence)

    def _of_day(self, question: StoryQuestion) -> Solution:
        assert question.day is not None  # noqa: S101 - each of these has its day
        found = self._days.get((question.subject, question.path[0], question.day), [])
        answer = tuple(value for _, value in found)
        return Solution(answer=answer, evidence=tuple(place for place, _ in found))


def _yes(holds: bool) -> str:  # noqa: FBT001 - it is what is said
    return "yes" if holds else "no"


_BEHIND: Mapping[QuestionKind, QuestionKind] = {"holds": "now", "size": "list"}
"""What an answer follows from, of questions whose answer may be right by chance."""


def solved(story: Story) -> list[Solution]:
    """The answers that a replay of the whole log gives, question by question."""
    world = _World(enumerate(story.events))
    return [world.answer(question) for question in story.questions]


def proven(story: Story) -> list[Solution]:
    """The same, checked: each is the answer that the story states.

    Raises:
        UnprovenAnswerError: it is another, or follows from what it does not need.
    """
    world = _World(enumerate(story.events))
    found = [world.answer(question) for question in story.questions]
    for question, solution in zip(story.questions, found, strict=True):
        if solution.answer != question.expect:
            raise UnprovenAnswerError(
                f"{question.ask!r} is {solution.answer}, not {question.expect}"
            )
    _check_others(story, found, world)
    return found


def _check_others(story: Story, found: list[Solution], world: _World) -> None:
    """What no answer needs gives no part of one: neither look-alikes nor other statements."""
    needed = {place for solution in found for place in solution.evidence}
    others = _World((n, event) for n, event in enumerate(story.events) if n not in needed)
    for question in story.questions:
        # An equal number may count other things, and a "no" may be of another value.
        behind = replace(question, kind=_BEHIND.get(question.kind, question.kind))
        expect = question.expect if behind == question else world.answer(behind).answer
        if question.expect and set(others.answer(behind).answer) & set(expect):
            raise UnprovenAnswerError(f"{question.ask!r} is answered without its evidence")


def without_evidence(
    story: Story, question: StoryQuestion, solution: Solution
) -> list[tuple[str, ...]]:
    """The answers of replays that each leave out one of the events that are needed."""
    return [
        _World((n, e) for n, e in enumerate(story.events) if n != place).answer(question).answer
        for place in solution.evidence
    ]
