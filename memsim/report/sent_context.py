"""Show the context that was sent for a question: whole, or its beginning, end and evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsim.errors import RunFolderError
from memsim.report import number_format
from memsim.report.layout import Marks, TextLine
from memsim.report.playback import ContextSection, Playback, PlaybackMessage
from memsim.runs import Run
from memsim.runs.case_log import CONTEXTS

WHOLE, LAST = 6, 3
"""Most messages of a section that are all shown; of more, the last ones beside the first."""
LETTERS = 160
"""Letters of a message in a shortened context."""
NAME = "  sent      "


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """A message of a context.

    Attributes:
        evidence: whether it is, quotes or was made from evidence of the question.
        before: number of messages before it that are not shown.
    """

    id: str
    role: str
    text: str
    evidence: bool
    before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSection:
    """A section of a context, with the messages that are shown."""

    name: str
    tokens: int
    count: int
    messages: tuple[ShownMessage, ...]


Context = tuple[ShownSection, ...]
Line = Mapping[str, Any]


def sent_contexts(
    records: Iterable[Line], evidence: Mapping[str, Collection[str]], *, whole: bool = False
) -> dict[str, Context]:
    """Read the contexts of the questions of a case.

    Args:
        records: the contexts of the case.
        evidence: the ids of the messages that hold it, by probe; other probes are left out.
        whole: show every message with its whole text.
    """
    playback = Playback(records)
    found: dict[str, Context] = {}
    for frame in playback.frames():
        if frame.sent is not None and frame.probe in evidence:
            sources = evidence[frame.probe]
            found[frame.probe] = tuple(
                _section(section, playback.messages, sources, whole=whole) for section in frame.sent
            )
    return found


def sent_contexts_of(
    run: Run, case: str, evidence: Mapping[str, Collection[str]], *, whole: bool = False
) -> dict[str, Context]:
    """Read the contexts of the questions of a saved case.

    Raises:
        RunFolderError: the records are damaged.
    """
    try:
        return sent_contexts(run.contexts(case), evidence, whole=whole)
    except (LookupError, TypeError, ValueError) as error:
        said = f"is damaged: the contexts of {case!a} cannot be followed: {error}"
        raise RunFolderError(said, path=run.folder / CONTEXTS) from error


def evidence_of(probe: Line) -> frozenset[str]:
    """The ids of the messages that hold the evidence of a probe."""
    return frozenset(piece["source"] for piece in probe["evidence"])


def _section(
    section: ContextSection,
    known: Sequence[PlaybackMessage],
    sources: Collection[str],
    *,
    whole: bool,
) -> ShownSection:
    all_messages = [known[number] for number in section.messages]
    marked = [_is_evidence(message, known, sources) for message in all_messages]
    count = len(all_messages)
    shown = [
        n
        for n in range(count)
        if whole or count <= WHOLE or n == 0 or n >= count - LAST or marked[n]
    ]
    before = -1
    messages = []
    for n in shown:
        message = all_messages[n]
        text = message.text if whole else _short(message.text)
        messages.append(
            ShownMessage(
                id=message.id,
                role=message.role,
                text=text,
                evidence=marked[n],
                before=n - before - 1,
            )
        )
        before = n
    return ShownSection(
        name=section.layer, tokens=section.tokens, count=count, messages=tuple(messages)
    )


def _is_evidence(
    message: PlaybackMessage, known: Sequence[PlaybackMessage], sources: Collection[str]
) -> bool:
    parts = (known[x].id if isinstance(x, int) else x for x in (*message.quotes, *message.derived))
    return message.id in sources or any(part in sources for part in parts)


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * LETTERS].split())
    return flat if len(flat) <= LETTERS and len(text) <= 4 * LETTERS else f"{flat[:LETTERS]} […]"


def context_lines(context: Context | None, marks: Marks, width: int) -> Iterator[TextLine]:
    """Render a context for the terminal; a star marks evidence."""
    if context is None:
        yield TextLine(text=f"{NAME}this context was not recorded", tone="dim")
        return
    if not context:
        yield TextLine(text=f"{NAME}nothing but the question", tone="dim")
    head = NAME
    for section in context:
        counted = number_format.plural(section.count, "message")
        said = f"{section.name}: {counted}, {number_format.plural(section.tokens, 'token')}"
        yield TextLine(text=f"{head}{said}")
        head = " " * len(NAME)
        for message in section.messages:
            if message.before:
                left = number_format.plural(message.before, "more message")
                yield TextLine(text=f"{head}  {marks.dots} {left}", tone="dim")
            yield from _message_lines(message, f"{head}  ", width)


def _message_lines(message: ShownMessage, indent: str, width: int) -> Iterator[TextLine]:
    star = "*" if message.evidence else " "
    start = f"{indent}{star} {message.id} {message.role}: "
    for number, line in enumerate(message.text.split("\n") or [""]):
        wrapped = textwrap.wrap(
            line,
            max(width, len(indent) + 40),
            initial_indent=start if number == 0 else f"{indent}    ",
            subsequent_indent=f"{indent}    ",
        )
        for text in wrapped or [start.rstrip()] * (number == 0):
            yield TextLine(text=text, tone="good" if message.evidence else "dim")
