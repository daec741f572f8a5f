"""Give the things of a story other names, and tell and ask of each by any of them.

Each name is said to be another one of the name before it, so a name far from the first is found
over several statements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memsim.scenario.generator.event_log import Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

_INTRODUCED = (
    "By the way, {old} is also called {new}.",
    "When I say {new}, I mean {old}.",
    "{new} is just another name for {old}.",
    "Most of us know {old} as {new}.",
)


def first_names(events: Iterable[StoryEvent]) -> Mapping[str, str]:
    """For each other name, the name that the entity had first."""
    found: dict[str, str] = {}
    for event in events:
        if event.kind == "names":
            found[event.value] = found.get(event.subject, event.subject)
    return found


def with_aliases(story: Story, count: int, draw: Draw) -> Story:
    """The same story, in which everything that is told of has so many names more."""
    if not count:
        return story
    subjects = dict.fromkeys(event.subject for event in story.events)
    names = {s: [s, *(draw.word() for _ in range(count))] for s in subjects}
    introduced = _introduced(story.events, names, draw)
    told = sorted(
        [*introduced, *(_called(event, draw.pick(names[event.subject])) for event in story.events)],
        key=lambda event: event.session,
    )
    asked = (
        _asked(question, draw.pick(names.get(question.subject, [question.subject])))
        for question in story.questions
    )
    return replace(story, events=tuple(told), questions=tuple(asked))


def _introduced(
    events: Sequence[StoryEvent], names: Mapping[str, Sequence[str]], draw: Draw
) -> list[StoryEvent]:
    """What says the names, at the beginning of the session in which a thing is first told of."""
    first: dict[int, list[str]] = defaultdict(list)
    for event in {e.subject: e for e in reversed(events)}.values():
        first[event.session].append(event.subject)
    return [
        _introduction(old, new, session, draw)
        for session, subjects in sorted(first.items())
        for subject in draw.shuffled(sorted(subjects))
        for old, new in zip(names[subject], names[subject][1:], strict=False)
    ]


def _introduction(old: str, new: str, session: int, draw: Draw) -> StoryEvent:
    return StoryEvent(
        kind="names",
        text=draw.pick(_INTRODUCED).format(old=old, new=new),
        subject=old,
        attribute="name",
        value=new,
        session=session,
    )


def _called(event: StoryEvent, name: str) -> StoryEvent:
    value = name if event.value == event.subject else event.value
    text = event.text.replace(event.subject, name)
    return replace(event, text=text, subject=name, value=value)


def _asked(question: StoryQuestion, name: str) -> StoryQuestion:
    ask = question.ask.replace(question.subject, name)
    return replace(question, ask=ask, subject=name)
