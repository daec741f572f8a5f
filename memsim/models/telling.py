"""Sentences as lines that can stand alone: with who said them and, where it matters, when.

A line is `[2023-05-08] user: sentence`. The speaker is left out where the sentence speaks of
nobody's `I` or `you`, the day where the sentence names no relative date. The sentence is always a
substring of the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memsim.models.dates import mentions
from memsim.models.heads import split_head
from memsim.models.statements import sentence
from memsim.models.text import fold, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memsim.message import Message
    from memsim.models.statements import Sentence


class Told(NamedTuple):
    """A line, what it says, and the messages that it comes from; none if it was carried on."""

    line: str
    sentence: Sentence
    sources: tuple[str, ...]


def told(messages: Sequence[Message], *, named: bool = False) -> Iterator[Told]:
    """The sentences of messages as lines, in order, each as often as it is said.

    Args:
        messages: what was said.
        named: whether every line names its speaker, needed or not.
    """
    for message in messages:
        for text in message.text.splitlines():
            yield from _lines(message, text, named=named)


def once(found: Sequence[Told]) -> list[Told]:
    """Each line once, where it was said last, with all the messages that say it."""
    sources: dict[str, dict[str, None]] = {}
    last: dict[str, int] = {}
    for place, said in enumerate(found):
        sources.setdefault(said.line, {}).update(dict.fromkeys(said.sources))
        last[said.line] = place
    kept = (found[place] for place in sorted(last.values()))
    return [said._replace(sources=tuple(sources[said.line])) for said in kept]


def carried(summary: str) -> Iterator[Told]:
    """The lines of an earlier summary, as they are."""
    for line in summary.splitlines():
        if line.strip():
            said, _, _ = split_head(line)
            yield Told(line.strip(), sentence(said.strip()), ())


def _lines(message: Message, text: str, *, named: bool) -> Iterator[Told]:
    # A line that names its speaker or day already keeps them; without them it would be somebody
    # else's.
    said, who, day = split_head(text) if message.composed else (text, "", None)
    given = text[: len(text) - len(said)].strip() if who or day else ""
    for piece in sentences(said):
        spoken = sentence(piece)
        head = f"{given} " if given else _head(message, spoken, named=named)
        yield Told(head + piece, spoken, (message.id,))


def _head(message: Message, spoken: Sentence, *, named: bool) -> str:
    if message.composed:
        return ""
    relative = any(mention.relative for mention in mentions(spoken.text))
    day = f"[{message.time:%Y-%m-%d}] " if relative else ""
    personal = named or spoken.first or spoken.second
    return day + (f"{_speaker(message)}: " if personal else "")


def _speaker(message: Message) -> str:
    if message.role == "user" and fold(message.principal) != "user":
        # A line stays one line, whatever is in a name.
        return " ".join(message.principal.splitlines())
    return message.role
