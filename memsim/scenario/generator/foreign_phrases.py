"""Write statements as people do who speak two languages: with words of the other one in them.

The thanks stand inside of the sentence, and before and behind it a greeting or sentences of other
talk. A story has one other language, and nothing that is said in it tells of the story.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memsim.language.word_forms import bare
from memsim.scenario.generator.dials import ENGLISH, LANGUAGES
from memsim.scenario.generator.event_log import Story, StoryEvent
from memsim.scenario.generator.language_frames import LanguageFrames, frames_of
from memsim.scenario.generator.message_noise import speaker_and_words
from memsim.scenario.generator.random_draw import Draw


def with_code_switching(story: Story, percent: int, draw: Draw) -> Story:
    """The same story, in which so many of a hundred statements have words of another language."""
    if not percent:
        return story
    frames = _other_language(story, draw)
    events = tuple(
        replace(event, text=_switched(event, frames, draw)) if draw.happens(percent) else event
        for event in story.events
    )
    return replace(story, events=events)


def _other_language(story: Story, draw: Draw) -> LanguageFrames:
    """A language in whose words no name or value of the story stands."""
    told = {word for e in story.events for word in _words((e.subject, e.value))}
    codes = draw.shuffled([code for code in LANGUAGES if code != ENGLISH])
    found = map(frames_of, codes)
    return next(f for f in found if not told & _words((f.hello, f.thanks, *f.talk)))


def _words(texts: Iterable[str]) -> set[str]:
    return {word.strip(".,!'") for text in texts for word in bare(text).split()}


def _switched(event: StoryEvent, frames: LanguageFrames, draw: Draw) -> str:
    speaker, text = speaker_and_words(event, event.text)
    end = text[-1] if text.endswith("?") else "."
    said = f"{text.rstrip('.!?')}, {frames.thanks}{end}"
    before, behind, *_ = draw.shuffled((f"{frames.hello}!", *frames.talk))
    return f"{speaker}{before} {said} {behind}"
