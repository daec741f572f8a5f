"""Tell instructions that hold from now on, and ask as if nothing had been said of them.

    From now on, end every answer with the word Trikoland.

Each is told once, at the beginning of the story, and no question names it. A right answer keeps all
of them, so each is evidence of every question that its speaker asks.
"""

from __future__ import annotations

from dataclasses import replace

from memsim.scenario.generator.event_log import INSTRUCTION, Story, StoryEvent, StoryQuestion
from memsim.scenario.generator.random_draw import Draw

_TOLD = (
    "From now on, end every answer with the word {v}.",
    "Going forward, sign whatever you tell me with {v}.",
    "Always call me {v} in what you write.",
    "From now on, your own name is {v}.",
    "Never answer without the greeting {v}.",
)


def with_instructions(story: Story, count: int, subject: str, draw: Draw) -> Story:
    """The same story, in which a speaker instructs so many times for all questions of theirs."""
    if not count:
        return story
    words = [draw.word() for _ in range(count)]
    told = (_told(subject, number, word) for number, word in enumerate(words))
    questions = (_kept(q, words) if q.subject == subject else q for q in story.questions)
    return replace(story, events=(*told, *story.events), questions=tuple(questions))


def _told(subject: str, number: int, word: str) -> StoryEvent:
    return StoryEvent(
        kind="adds",
        text=_TOLD[number % len(_TOLD)].format(v=word),
        subject=subject,
        attribute=INSTRUCTION,
        value=word,
    )


def _kept(question: StoryQuestion, words: list[str]) -> StoryQuestion:
    if not question.expect:
        return question
    return replace(question, kind="instructed", expect=(*question.expect, *words), match="all")
