"""Procedures that are learnt step by step, and get longer later."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from memsim.scenario.generator.event_log import SessionDays, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

DEFAULTS = {"facts": 4, "distance": 80, "steps": 4, "updates": 2, "unknown": 1}
MOST = {"updates": 50}
ABOUT = "What is the whole of a procedure that was learnt step by step?"

_MACHINES = ("press", "kiln", "loom", "pump", "telescope", "furnace", "mill", "crane")
_STEPS = (
    "open the {v} valve",
    "pull the {v} lever",
    "wait for the {v} lamp",
    "oil the {v} bearing",
    "turn the {v} wheel",
    "lower the {v} hatch",
)
_TAUGHT = "With the {machine}, once you {a} you {b}."
_ADDED = "I forgot something about the {machine}: once you {a} you {b}."


def story(dials: Mapping[str, int], draw: Draw, _days: SessionDays) -> Story:
    """Each procedure is taught in the first session, and gets a step more in each later one."""
    events: list[StoryEvent] = []
    questions: list[StoryQuestion] = []
    for number in range(dials["facts"]):
        machine = f"{draw.word()} {_MACHINES[number % len(_MACHINES)]}"
        words = [draw.word() for _ in range(dials["steps"] + dials["updates"])]
        steps = [(draw.pick(_STEPS).format(v=word), word) for word in words]
        taught = dials["steps"] - 1
        for place, (a, b) in enumerate(pairwise(steps)):
            later = max(0, place - taught + 1)
            text = _ADDED if later else _TAUGHT
            events.append(
                StoryEvent(
                    kind="follows",
                    text=text.format(machine=machine, a=a[0], b=b[0]),
                    subject=a[1],
                    attribute=machine,
                    value=b[1],
                    session=later,
                )
            )
        questions.append(_question(machine, words))
    for number in range(dials["unknown"]):
        machine = f"{draw.word()} {_MACHINES[number % len(_MACHINES)]}"
        questions.append(_question(machine, [draw.word()]))
    told = sorted(events, key=lambda event: event.session)
    return Story(events=tuple(told), questions=tuple(questions), sessions=dials["updates"] + 1)


def _question(machine: str, words: list[str]) -> StoryQuestion:
    return StoryQuestion(
        kind="chain",
        ask=f"List all the steps with the {machine}, from the first to the last.",
        subject=words[0],
        path=(machine,) * max(1, len(words) - 1),
        expect=tuple(words[1:]),
        ability="instruction",
        match="all",
    )
