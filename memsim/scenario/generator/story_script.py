"""Tell a story as the steps and probes of a script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Literal

from memsim.errors import ScenarioError
from memsim.scenario.document import nearest_name
from memsim.scenario.generator.dials import DIALS, FAMILIES, SHARED, Generate
from memsim.scenario.generator.entity_aliases import first_names, with_aliases
from memsim.scenario.generator.event_log import (
    EventKind,
    QuestionKind,
    SessionDays,
    Story,
    StoryEvent,
    StoryQuestion,
)
from memsim.scenario.generator.foreign_phrases import with_code_switching
from memsim.scenario.generator.interruptions import with_interruptions
from memsim.scenario.generator.look_alike_kinds import LookAlikes, with_look_alikes
from memsim.scenario.generator.message_noise import with_noise
from memsim.scenario.generator.pronouns import with_pronouns
from memsim.scenario.generator.question_forms import VALUE, with_form
from memsim.scenario.generator.random_draw import Draw, LongStoryError
from memsim.scenario.generator.repeated_notices import with_notices
from memsim.scenario.generator.solver import Solution, proven
from memsim.scenario.generator.speaker_kinds import PRIVATE, by_principal, principals_of, spoken
from memsim.scenario.generator.standing_instructions import with_instructions
from memsim.scenario.generator.story_in_language import (
    check_language,
    is_foreign,
    told_in_language,
)
from memsim.scenario.record_kinds import Named
from memsim.scenario.script import UNKNOWN, Match
from memsim.scenario.script_plan import (
    MAX_TEXT,
    FactNote,
    Filler,
    OpenSession,
    PlainStep,
    Plan,
    ProbeNote,
    Say,
    ScriptStep,
    ToolCall,
    UseTools,
)

TOOL = "read_notes"
"""The tool in whose results a story is told, where the dial `result_size` says so."""

OTHER_TOOL = "look_around"
"""The tool whose result interrupts a statement."""

_DEPTHS = (0.5, 0.1, 0.9, 0.3, 0.7)
"""Where in a result a statement stands, one after the other."""

WEEK = 7
"""Days from one session to the next, besides those that its turns take."""


@cache
def family(name: str) -> ModuleType:
    """The module of a family."""
    return import_module(f"memsim.scenario.generator.family_{name}")


def defaults_of(name: str) -> Mapping[str, int]:
    """The dials of a family and where they stand; those that all families have come last."""
    own: dict[str, int] = family(name).DEFAULTS
    return {**own, **SHARED}


def most_of(name: str, dial: str) -> int:
    """The highest setting of a dial in a family.

    Raises:
        ScenarioError: the family has no such dial.
    """
    _check_dial(name, dial, None)
    most: dict[str, int] = getattr(family(name), "MOST", {})
    return most.get(dial, DIALS[dial].most)


def _check_dial(name: str, dial: str, line: int | None) -> None:
    known = defaults_of(name)
    if dial not in known:
        raise ScenarioError(
            f"{name} has no dial {dial}; its dials: {', '.join(known)}",
            line=line,
            hint=nearest_name(dial, known),
        )


def settings(step: Generate) -> Mapping[str, int]:
    """The dials of a step, with those of its family where it gives none.

    Raises:
        ScenarioError: the family has no such dial, or not so much of it.
    """
    defaults = defaults_of(step.family)
    given = {d: getattr(step, d) for d in DIALS if getattr(step, d) is not None}
    for dial, value in given.items():
        _check_dial(step.family, dial, step.line_of(dial))
        if value > (most := most_of(step.family, dial)):
            raise ScenarioError(
                f"{dial} of {step.family} is at most {most}, not {value}",
                line=step.line_of(dial),
            )
    _check_kind(step, "look_alike_kind", "look_alikes", given)
    _check_kind(step, "speaker_kind", "speakers", given)
    return {**defaults, **given}


def _check_kind(step: Generate, kind: str, dial: str, given: Mapping[str, int]) -> None:
    if getattr(step, kind) is None:
        return
    if dial not in defaults_of(step.family):
        called = dial.replace("_", "-")
        known = ", ".join(name for name in FAMILIES if dial in defaults_of(name))
        said = f"{step.family} has no {called}, so no {kind}; families that have: {known}"
        raise ScenarioError(said, line=step.line_of(kind))
    # A 0 that is given is one setting of several, as in a curve over the dial.
    if dial not in given and not defaults_of(step.family)[dial]:
        said = f"{kind} changes nothing, because {dial} of {step.family} is 0: give {dial} as well"
        raise ScenarioError(said, line=step.line_of(kind))


def story_of(step: Generate, days: SessionDays) -> Story:
    """The story of a step; the same for the same step and days.

    Raises:
        ScenarioError: the family has no such dial.
    """
    seed = f"{step.family}:{step.seed}"
    draw = Draw(seed)
    dials = settings(step)
    if is_foreign(step):
        check_language(step, dials)
        told = told_in_language(step, dials, draw, days)
        return _sampled(told, dials["asked"], Draw(f"asked:{seed}"))
    # What is added draws on its own: the story beneath stays the same at every setting.
    alike = LookAlikes.of(step.look_alike_kind, dials.get("look_alikes", 0))
    own = {**dials, "look_alikes": alike.entity}
    made: Story = family(step.family).story(own, draw, days)
    made = _sampled(made, dials["asked"], Draw(f"asked:{seed}"))
    if step.form is not None:
        _check_form(step, dials)
        made = with_form(made, step.family, step.form, step.line_of("form"))
    beside = draw.beside(f"look_alikes:{seed}")
    made = with_look_alikes(made, family(step.family), alike, beside)
    made = with_aliases(made, dials.get("aliases", 0), draw.beside(f"aliases:{seed}"))
    if dials.get("pronouns"):
        things = family(step.family).THINGS
        made = with_pronouns(made, dials["pronouns"], things, f"pronouns:{seed}")
    if dials.get("instructions"):
        by, beside = family(step.family).ME, draw.beside(f"instructions:{seed}")
        made = with_instructions(made, dials["instructions"], by, beside)
    made = with_noise(made, dials["noise"], f"noise:{seed}")
    made = with_code_switching(made, dials["code_switching"], draw.beside(f"switch:{seed}"))
    made = with_interruptions(made, dials.get("interruptions", 0), f"interruptions:{seed}")
    # Behind all that changes words: a notice is the same each time.
    return with_notices(made, dials.get("notices", 0), draw.beside(f"notices:{seed}"))


def _is_dated(story: Story) -> bool:
    days = (*(e.day for e in story.events), *(q.day for q in story.questions))
    return any(day is not None for day in days)


def _sampled(story: Story, most: int, draw: Draw) -> Story:
    """The same story, with so many of the questions that have an answer, and all of the others."""
    answered = [question for question in story.questions if question.expect]
    never = [question for question in story.questions if not question.expect]
    return replace(story, questions=(*draw.some(answered, most), *never))


def _check_form(step: Generate, dials: Mapping[str, int]) -> None:
    if step.form != VALUE and dials.get("depends"):
        raise ScenarioError(
            f"form {step.form} asks about a value, and depends about what follows from it; "
            "give one of them",
            line=step.line_of("form"),
        )
    if step.form in {"count", "before", "order"} and dials.get("late") and step.family == "updates":
        raise ScenarioError(
            f"form {step.form} of updates asks for the order of changes, which late leaves open; "
            "give one of them",
            line=step.line_of("form"),
        )
    if (step.family, step.form) == ("temporal", "count") and not dials["late"]:
        raise ScenarioError(
            "form count of temporal counts what was done on a day, "
            "which is always one, so late is 1 or more",
            line=step.line_of("form"),
        )
    if (step.family, step.form) == ("aggregation", "yes_no") and not dials["removed"]:
        raise ScenarioError(
            "form yes_no of aggregation asks about what has left a list, so removed is 1 or more",
            line=step.line_of("form"),
        )


class StoryScript:
    """The steps and probes of one story.

    Args:
        step: what is generated.
        prefix: begins the names of its facts, probes and sessions.
        begins: when its first session does.
        pace: from one turn to the next.
        user: the principal who tells the story.
    """

    def __init__(
        self, step: Generate, prefix: str, begins: datetime, pace: timedelta, user: str = "user"
    ) -> None:
        self._user = user
        self._private = step.speaker_kind == PRIVATE
        self._begins = begins
        self._line = step.line
        self._labels = _labels(step)
        self._prefix = prefix
        self._distance = settings(step)["distance"]
        self._result_size = settings(step).get("result_size", 0)
        try:
            self._told_in(step, pace)
        except OverflowError:
            raise ScenarioError(
                "the story outlasts the year 9999; give less distance or fewer facts",
                line=step.line,
            ) from None
        except LongStoryError:
            raise ScenarioError(
                f"the story says more than {MAX_TEXT:,} characters; give fewer facts, or less of "
                "the other dials",
                line=step.line,
            ) from None
        self._solutions = proven(self._story)
        self._names = self._fact_names()

    def _told_in(self, step: Generate, pace: timedelta) -> None:
        """Make the story, with sessions so far apart that the longest ends before the next."""
        days = SessionDays(first=self._begins.date(), apart=timedelta(days=WEEK))
        story = story_of(step, days)
        if sum(len(event.text) for event in story.events) > MAX_TEXT:
            raise LongStoryError
        said = Counter(event.session for event in story.events)
        talk = _spread(self._distance, story.sessions)
        longest = max(said[session] + turns for session, turns in enumerate(talk))
        if more := (pace * longest).days:
            days = replace(days, apart=timedelta(days=WEEK + more))
            # The same story: what is drawn for it does not depend on its days.
            story = story_of(step, days) if _is_dated(story) else story
        self._story, self._apart = story, days.apart
        self.end = self._begins + story.sessions * days.apart
        """When another story may begin."""
        self._spoken = {event.value: event.said for event in story.events if event.said}

    def _fact_names(self) -> dict[int, str]:
        # A value of an attribute replaces the one before; things of a list stand side by side.
        names: dict[tuple[str, ...], str] = {}
        found: dict[int, str] = {}
        needed = {place for solution in self._solutions for place in solution.evidence}
        keys = dict(_fact_keys(self._story.events, needed))
        last = {key: place for place, key in keys.items()}
        # Of what is needed and was not said last, each statement has a name of its own.
        apart = {keys[place][0] for place in needed if last[keys[place]] != place}
        for place, key in keys.items():
            own = (*key, str(place)) if key[0] in apart else key
            found[place] = names.setdefault(own, f"{self._prefix}{len(names) + 1}")
        return found

    def steps(self) -> Iterator[PlainStep]:
        """Sessions, with other talk spread among them."""
        story = self._story
        talk = _spread(self._distance, story.sessions)
        told: dict[int, list[tuple[int, StoryEvent]]] = {}
        for place, event in enumerate(story.events):
            told.setdefault(event.session, []).append((place, event))
        for session in range(story.sessions):
            at = self._begins + session * self._apart
            yield from self._session(f"{self._prefix}s{session + 1}", at, told.get(session, ()))
            # A session in which nothing is told has some other talk at least.
            yield from self._talk(talk[session] or int(session not in told))

    def _session(
        self, name: str, at: datetime, told: Sequence[tuple[int, StoryEvent]]
    ) -> Iterator[PlainStep]:
        """What is told in a session; what others tell in private, in sessions right before it."""
        if not self._private:
            yield OpenSession(line=self._line, id=name, at=at)
            for place, event in told:
                yield from self._told(place, event)
            return
        for number, (who, said) in enumerate(by_principal(told).items()):
            yield OpenSession(
                line=self._line,
                id=f"{name}_{who}" if who else name,
                principal=who or self._user,
                at=None if number else at,
            )
            for place, event in said:
                yield from self._told(place, event)

    def _talk(self, turns: int) -> Iterator[Say | Filler]:
        """Other talk: in the language of the story, or generated."""
        said = self._story.talk
        if said:
            for turn in range(turns):
                yield Say(line=self._line, role="user", text=said[turn % len(said)])
        elif turns:
            yield Filler(line=self._line, turns=turns)

    def _told(self, place: int, event: StoryEvent) -> Iterator[Say | UseTools]:
        """A statement of the user, or a tool's result that it stands in."""
        name = self._names.get(place)
        value = event.said or event.value
        note = FactNote(line=self._line, value=value, private=self._private)
        facts = (Named(name, note, self._line),) if name else ()
        if event.by == "tool":
            call = ToolCall(line=self._line, name=OTHER_TOOL, result=event.text)
            yield UseTools(line=self._line, value=(call,))
            return
        if not self._result_size or event.part or event.by != "user":
            yield self._said(event, facts)
            return
        call = ToolCall(
            line=self._line,
            name=TOOL,
            arguments=f'{{"entry":{place + 1}}}',
            result=event.text,
            characters=max(self._result_size, len(event.text)),
            depth=_DEPTHS[place % len(_DEPTHS)],
            facts=facts,
        )
        yield Say(line=self._line, role="user", text="Please read the next entry of my notes.")
        yield UseTools(line=self._line, value=(call,))

    def _said(self, event: StoryEvent, facts: tuple[Named[FactNote], ...]) -> Say:
        role: Literal["user", "assistant"] = "assistant" if event.by == "assistant" else "user"
        text = spoken(event.subject, event.text).text if self._private else event.text
        return Say(line=self._line, role=role, text=text, facts=facts)

    @property
    def principals(self) -> tuple[str, ...]:
        """Everybody but the user who speaks in private."""
        return principals_of(self._story.events) if self._private else ()

    def probes(self) -> Iterator[Named[ProbeNote]]:
        """The questions; each names the facts that lead to its answer."""
        for number, question in enumerate(self._story.questions, start=1):
            note = self._probe(question, self._solutions[number - 1])
            yield Named(f"{self._prefix}q{number}", note, self._line)

    def _forms(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Values, each with the form in which it was said."""
        forms = (form for value in values for form in (value, self._spoken.get(value, value)))
        return tuple(dict.fromkeys(forms))

    def _probe(self, question: StoryQuestion, solution: Solution) -> ProbeNote:
        asker, ask = "", question.ask
        if self._private:
            asker, ask = spoken(question.subject, question.ask)
        return ProbeNote(
            line=self._line,
            ask=ask,
            asker=asker or None,
            expect=self._forms(question.expect) or (UNKNOWN,),
            forbid=self._forms(solution.stale),
            ability=question.ability,
            match=_match_of(question),
            choices=question.choices,
            derived=question.kind in _DERIVED,
            labels=self._labels,
            facts=tuple(dict.fromkeys(self._names[place] for place in solution.evidence)),
        )


_THINGS: Mapping[EventKind, str] = {"adds": "{v}", "names": "{v}", "removes": "no {v}"}
"""Kinds of events of which several stand side by side, and how each is told from the others."""


def _fact_keys(
    events: Iterable[StoryEvent], needed: Container[int]
) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """For each statement, what it is about: a later statement about the same replaces it."""
    events = tuple(events)
    first = first_names(events)
    for place, event in enumerate(events):
        if event.kind == "unreal" or (event.kind == "removes" and place not in needed):
            continue
        thing = _THINGS.get(event.kind, "").format(v=event.value)
        yield place, (first.get(event.subject, event.subject), event.attribute, thing)


_DERIVED: frozenset[QuestionKind] = frozenset(
    {"holds", "belongs", "done", "changes", "size", "deeds", "since", "date"}
)
"""Kinds of questions whose answer follows from what is said, and need not be said."""

_MATCHES: Mapping[QuestionKind, Match] = {
    "changes": "number",
    "size": "number",
    "deeds": "number",
    "since": "date",
    "date": "date",
}


def _match_of(question: StoryQuestion) -> Match | None:
    if question.choices or not question.expect:
        return None
    return _MATCHES.get(question.kind, question.match)


def _labels(step: Generate) -> tuple[Named[str], ...]:
    given = {
        "form": step.form,
        "language": step.language,
        "look_alike_kind": step.look_alike_kind,
        "speaker_kind": step.speaker_kind,
    }
    return tuple(Named(name, word, step.line) for name, word in given.items() if word)


def _spread(turns: int, parts: int) -> list[int]:
    share, more = divmod(turns, parts)
    return [share + (part >= parts - more) for part in range(parts)]


def generated_plan(plan: Plan) -> Plan:
    """A script in which each step `generate` is told, with its questions at the end of the script.

    Raises:
        ScenarioError: a step cannot be told; with its line.
    """
    steps: list[ScriptStep] = []
    probes = [*plan.probes]
    begins = plan.start
    people = dict.fromkeys(plan.principals)
    for number, step in enumerate(plan.turns):
        if not isinstance(step, Generate):
            steps.append(step)
            continue
        if not all(isinstance(earlier, Generate) for earlier in plan.turns[:number]):
            # Its sessions are held on days of their own, which other turns would move.
            raise ScenarioError("a generated story comes before all other turns", line=step.line)
        told = StoryScript(step, f"g{number + 1}_", begins, plan.pace, plan.principals[0])
        people |= dict.fromkeys(told.principals)
        steps += told.steps()
        probes += told.probes()
        begins = told.end
    return replace(plan, principals=tuple(people), turns=tuple(steps), probes=tuple(probes))
