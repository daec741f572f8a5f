"""Replay a story's events and answer its questions, without a look at the answers it states."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from memsim.scenario.generator.event_log import Story, StoryEvent, StoryQuestion


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


class _World:
    """What the events leave behind: for each attribute, its values with days and places.

    What has no day counts as told in order. A later day wins, whenever it was told.
    """

    def __init__(self, events: Iterable[tuple[int, StoryEvent]]) -> None:
        self._values: dict[tuple[str, str], list[_Version]] = {}
        self._restored: dict[int, int] = {}
        self._lists: dict[tuple[str, str], dict[str, int]] = {}
        self._gone: dict[tuple[str, str], list[str]] = {}
        self._days: list[tuple[int, StoryEvent]] = []
        for place, event in events:
            self._take(place, event)

    def _take(self, place: int, event: StoryEvent) -> None:
        key = event.subject, event.attribute
        if event.day is not None:
            self._days.append((place, event))
        match event.kind:
            case "is" | "follows":
                self._hold(key, event.day, place, event.value)
            case "restores":
                self._restore(key, event.day, place)
            case "adds":
                self._lists.setdefault(key, {})[event.value] = place
            case "removes":
                self._lists.get(key, {}).pop(event.value, None)
                self._gone.setdefault(key, []).append(event.value)
            case "unreal":
                pass

    def _hold(self, key: tuple[str, str], day: date | None, place: int, value: str) -> None:
        insort(self._values.setdefault(key, []), _Version(day or date.min, place, value))

    def _restore(self, key: tuple[str, str], day: date | None, place: int) -> None:
        if versions := self._values.get(key):
            first = versions[0]
            self._hold(key, day, place, first.value)
            self._restored[place] = first.place

    def answer(self, question: StoryQuestion) -> Solution:
        match question.kind:
            case "now":
                return self._now(question.subject, question.path[0])
            case "path" | "chain":
                return self._followed(question)
            case "list":
                return self._listed(question)
            case "day":
                return self._of_day(question)

    def _now(self, subject: str, attribute: str) -> Solution:
        versions = self._values.get((subject, attribute), [])
        if not versions:
            return Solution()
        now = versions[-1]
        stale = dict.fromkeys(v.value for v in versions[:-1] if v.value != now.value)
        return Solution(answer=(now.value,), stale=tuple(stale), evidence=self._evidence(now.place))

    def _evidence(self, place: int) -> tuple[int, ...]:
        # Who reads that something is back where it was first must know where that was.
        first = self._restored.get(place)
        return (place,) if first is None else (first, place)

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
        answer = passed if question.kind == "chain" else passed[-1:]
        return Solution(answer=tuple(answer), evidence=tuple(evidence))

    def _listed(self, question: StoryQuestion) -> Solution:
        key = question.subject, question.path[0]
        held = self._lists.get(key, {})
        stale = tuple(v for v in dict.fromkeys(self._gone.get(key, ())) if v not in held)
        return Solution(answer=tuple(held), stale=stale, evidence=tuple(sorted(held.values())))

    def _of_day(self, question: StoryQuestion) -> Solution:
        found = [
            (place, event)
            for place, event in self._days
            if event.day == question.day and event.subject == question.subject
        ]
        answer = tuple(event.value for _, event in found)
        return Solution(answer=answer, evidence=tuple(place for place, _ in found))


def solved(story: Story) -> list[Solution]:
    """The answers that a replay of the whole log gives, question by question."""
    world = _World(enumerate(story.events))
    return [world.answer(question) for question in story.questions]


def proven(story: Story) -> list[Solution]:
    """The same, checked: each is the answer that the story states.

    Raises:
        UnprovenAnswerError: it is another.
    """
    found = solved(story)
    for question, solution in zip(story.questions, found, strict=True):
        if solution.answer != question.expect:
            raise UnprovenAnswerError(
                f"{question.ask!r} is {solution.answer}, not {question.expect}"
            )
    return found


def without_evidence(
    story: Story, question: StoryQuestion, solution: Solution
) -> list[tuple[str, ...]]:
    """The answers of replays that each leave out one of the events that are needed."""
    return [
        _World((n, e) for n, e in enumerate(story.events) if n != place).answer(question).answer
        for place in solution.evidence
    ]
