"""Read a context a second time, from the evidence in it alone.

The offline reader goes by words, so other true text can lead it astray where a model would not be.
If every piece of a probe's evidence is in the context in its own words, the reader reads these
again. What states an earlier or a forbidden value is read as well, because a memory that shows both
may confuse a model. Lines that a strategy composed stay as it wrote them, with the speaker and the
day that it gave them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memsim.language.text import fold, sentences, split_head
from memsim.message import Text
from memsim.models.offline.model import OfflineModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memsim.message import Message
    from memsim.models import Model, Request
    from memsim.trace import EvidenceTrace


def read_again(
    model: Model,
    request: Request,
    evidence: Sequence[EvidenceTrace],
    texts: Mapping[str, str],
    wrong: Sequence[str],
) -> str | None:
    """Answer from the evidence in a context alone.

    Args:
        model: the model that gave the first answer; only the offline one reads again.
        request: the first request, with the whole context.
        evidence: the probe's evidence, and where it was.
        texts: texts of the evidence and of messages that state an earlier value, by message id.
        wrong: values that were right once, or that are forbidden.

    Returns:
        The second answer; None if a piece of evidence is not in the context in its own words.
    """
    if not isinstance(model, OfflineModel) or not evidence:
        return None
    there = {piece.source for piece in evidence if piece.verbatim}
    if not there.issuperset(piece.source for piece in evidence):
        return None
    messages = tuple(_without_the_rest(request.messages, texts, wrong))
    return model.complete(replace(request, messages=messages)).text


def _without_the_rest(
    messages: Iterable[Message], texts: Mapping[str, str], wrong: Sequence[str]
) -> Iterator[Message]:
    wanted: list[_Words | _Value] = [*map(_Words, texts.values()), *map(_Value, wrong)]
    for message in messages:
        if not message.composed:
            if message.id in texts or any(w.in_line(fold(message.text)) for w in wanted):
                yield message
        elif lines := tuple(_lines(message.text, wanted)):
            yield replace(message, blocks=(Text("\n".join(lines)),))


def _lines(text: str, wanted: Sequence[_Words | _Value]) -> Iterator[str]:
    """The lines that hold a part of a wanted text, each below the line that dates it."""
    head = ""
    for line in text.splitlines():
        said, _, day = split_head(line)
        if day and not said.strip():
            head = line
        elif any(words.in_line(fold(said)) for words in wanted):
            if head:
                yield head
                head = ""
            yield line


_TELLING = 12
"""Characters from which a sentence of several is found in other texts only on purpose."""


class _Words:
    """The words of a message, to be recognised in a line."""

    def __init__(self, text: str) -> None:
        self._whole = fold(text)
        parts = [fold(s) for line in text.splitlines() for s in sentences(line)]
        self._parts = [part for part in parts if len(part) >= _TELLING or len(parts) == 1]

    def in_line(self, line: str) -> bool:
        """Whether a folded line is a part of the message, or holds a sentence of it."""
        bare = line.strip()
        return bool(bare) and (bare in self._whole or any(part in bare for part in self._parts))


class _Value:
    """A wrong value, to be recognised in a line."""

    def __init__(self, text: str) -> None:
        self._text = fold(text)

    def in_line(self, line: str) -> bool:
        """Whether a folded line states the value."""
        return self._text in line
