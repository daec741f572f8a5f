"""Write statements as people type them: slips of the fingers, no capitals, words of courtesy.

A value is never changed, and a typo stands only in a word of small letters.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

from memsim.scenario.generator.event_log import Story, StoryEvent

_WORD = re.compile(r"(?<![\w'])[a-z]{4,}(?![\w'])")
_BEFORE = (
    "Hi there, I hope you are well. ",
    "Sorry to bother you again with this. ",
    "When you have a minute, please take this down. ",
)
_BEHIND = (
    " Thanks a lot, and have a lovely day!",
    " No need to answer, many thanks in advance.",
    " Thank you so much, you are a great help.",
)
_TYPO_EVERY = 2
"""Of so many words that may be misspelt, one is."""


def with_noise(story: Story, percent: int, seed: str) -> Story:
    """The same story, in which so many of a hundred statements are written carelessly."""
    if not percent:
        return story
    # Each statement draws on its own, so that a higher setting adds to what a lower one changes.
    drawn = [random.Random(f"{seed}:{place}") for place in range(len(story.events))]
    events = tuple(
        replace(event, text=_careless(event, chance)) if chance.randrange(100) < percent else event
        for event, chance in zip(story.events, drawn, strict=True)
    )
    return replace(story, events=events)


def speaker_and_words(event: StoryEvent, text: str) -> tuple[str, str]:
    """Who says a statement, as `Hugo: `, and what; the user says what begins with nobody's name."""
    speaker = f"{event.subject}: "
    return (speaker, text.removeprefix(speaker)) if text.startswith(speaker) else ("", text)


def _careless(event: StoryEvent, chance: random.Random) -> str:
    speaker, text = speaker_and_words(event, _misspelt(event, chance))
    end = "" if text.endswith("?") else "."
    text = text.rstrip(".!")
    # Only the first letter may lose its case, and only where neither thing nor value begins.
    if not event.text.removeprefix(speaker).startswith((event.value, event.subject)):
        text = text[0].lower() + text[1:]
    return f"{speaker}{chance.choice(_BEFORE)}{text}{end}{chance.choice(_BEHIND)}"


def _misspelt(event: StoryEvent, chance: random.Random) -> str:
    kept = {*event.value.split(), *event.said.split()}
    words = [m for m in _WORD.finditer(event.text) if m[0] not in kept]
    slips = chance.sample(words, -(-len(words) // _TYPO_EVERY))
    text = event.text
    for match in sorted(slips, key=lambda m: m.start(), reverse=True):
        text = text[: match.start()] + _slip(match[0], chance) + text[match.end() :]
    return text


def _slip(word: str, chance: random.Random) -> str:
    """A word with two letters changed over, one left out, or one said twice."""
    at = chance.randrange(1, len(word) - 1)
    kind = chance.randrange(3)
    if kind == 0 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == 1 else word[: at + 1] + word[at:]
