"""Summarise by selection: the most informative sentences, in order, within a limit of tokens.

The lines of the earlier summary compete with the new ones. So a rolling summary loses its least
informative lines first, and never all at once. Every line is a line of the earlier summary or a
sentence of a message, with its speaker and day if it needs them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from memsim.language.dates import mentions
from memsim.language.lexicon import DECIDING, REACTION
from memsim.language.text import fold, sentences, split_head, stem, whole
from memsim.models.offline.statements import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memsim.message import Message, TokenCounter
    from memsim.models import Request
    from memsim.models.offline.statements import Sentence


# Lines can stand alone: they name the speaker and, if it matters, the day.


class SourcedLine(NamedTuple):
    """A line, its content, and its source messages; none for a line of the earlier summary."""

    line: str
    sentence: Sentence
    sources: tuple[str, ...]


def sourced_lines(messages: Sequence[Message], *, named: bool = False) -> Iterator[SourcedLine]:
    """The sentences of messages as lines, in order, with repetitions."""
    for message in messages:
        for text in message.text.splitlines():
            yield from _lines(message, text, named=named)


def merge_repeats(found: Sequence[SourcedLine]) -> list[SourcedLine]:
    """Each line once, at its last place, with all its source messages."""
    sources: dict[str, dict[str, None]] = {}
    last: dict[str, int] = {}
    for place, said in enumerate(found):
        sources.setdefault(said.line, {}).update(dict.fromkeys(said.sources))
        last[said.line] = place
    kept = (found[place] for place in sorted(last.values()))
    return [said._replace(sources=tuple(sources[said.line])) for said in kept]


def previous_lines(summary: str) -> Iterator[SourcedLine]:
    """The lines of an earlier summary."""
    for line in summary.splitlines():
        if line.strip():
            yield _previous_line(line)


@lru_cache(maxsize=1 << 13)
def _previous_line(line: str) -> SourcedLine:
    # A line stays for many compactions.
    said, _, _ = split_head(line)
    return SourcedLine(line.strip(), sentence(said.strip()), ())


def _lines(message: Message, text: str, *, named: bool) -> Iterator[SourcedLine]:
    # A line keeps its speaker and day; without them it would seem to be said by somebody
    # else.
    said, who, day = split_head(text) if message.composed else (text, "", None)
    given = text[: len(text) - len(said)].strip() if who or day else ""
    for piece in sentences(said):
        spoken = sentence(piece)
        head = f"{given} " if given else _head(message, spoken, named=named)
        yield SourcedLine(head + piece, spoken, (message.id,))


def _head(message: Message, spoken: Sentence, *, named: bool) -> str:
    if message.composed:
        return ""
    relative = any(mention.relative for mention in mentions(spoken.text))
    day = f"[{message.time:%Y-%m-%d}] " if relative else ""
    personal = named or spoken.first or spoken.second
    return day + (f"{_speaker(message)}: " if personal else "")


def _speaker(message: Message) -> str:
    if message.role == "user" and fold(message.principal) != "user":
        # A line stays one line, even if a name contains a newline.
        return " ".join(message.principal.splitlines())
    return message.role


DEFAULT_TOKENS = 256
"""Default length of a summary."""

MISFITS = 24
"""Number of sentences that do not fit, after which the search for a shorter one ends."""

REPEATED = 0.25
"""Share of new words below which a sentence repeats the summary."""

FADING = 0.7
"""Weight of the oldest line of the earlier summary; the newest has weight 1."""

EXACT = 9
"""Number of decimals that are compared, because logarithms differ between machines."""

_REACTIONS = frozenset(stem(word) for word in REACTION)
_DECIDING = frozenset(stem(word) for word in DECIDING)


def summarise(request: Request, counter: TokenCounter) -> list[SourcedLine]:
    """Summarise messages and an earlier summary in at most `max_tokens` tokens."""
    limit = DEFAULT_TOKENS if request.max_tokens is None else request.max_tokens
    found = merge_repeats([*previous_lines(request.previous), *sourced_lines(request.messages)])
    return select(found, worth(found), limit, counter)


def select(
    found: Sequence[SourcedLine], value: Sequence[float], limit: int, counter: TokenCounter
) -> list[SourcedLine]:
    """The most valuable lines that fit into a limit together, in their order.

    Args:
        found: all lines.
        value: the value of each line; a line of value 0 is taken only if there is no other.
        limit: tokens of the lines as one text.
        counter: counts them.
    """
    chosen = _chosen(found, value, limit, counter)
    while chosen and counter.text(join_lines([found[n] for n in chosen])) > limit:
        # Tokens of lines do not add up exactly: the least valuable lines are removed until the text
        # fits.
        chosen.pop()
    return [found[n] for n in sorted(chosen)] or _least(found, value, limit, counter)


def join_lines(lines: Sequence[SourcedLine]) -> str:
    """Lines as one text."""
    return "\n".join(said.line for said in lines)


def worth(found: Sequence[SourcedLine]) -> list[float]:
    """The information of each line, where rare words count more; 0 for a line without content."""
    carried_on = sum(1 for said in found if not said.sources)
    count = Counter(chain.from_iterable(said.sentence.stems for said in found))
    rarity = {n: math.log((1 + len(found)) / n) for n in set(count.values())}
    idf = {root: rarity[n] for root, n in count.items()}
    most = max(idf.values(), default=0.0) or 1.0
    return [
        _telling(said, idf, most) * (1.0 if said.sources else _fade(place, carried_on))
        for place, said in enumerate(found)
    ]


def _fade(place: int, carried_on: int) -> float:
    return FADING + (1 - FADING) * (place + 1) / max(carried_on, 1)


def _telling(said: SourcedLine, idf: Mapping[str, float], most: float) -> float:
    if said.sentence.question:
        return 0.0
    stems, marks = _marked(said.sentence.text)
    if len(stems) < 2:
        return 0.0
    rarity = math.fsum([idf[root] for root in stems]) / (most * math.sqrt(len(stems)))
    return round(rarity + marks, EXACT)


@lru_cache(maxsize=1 << 13)
def _marked(text: str) -> tuple[frozenset[str], float]:
    # A line is examined at every compaction, so its analysis is cached.
    said = sentence(text)
    stems = said.stems - _REACTIONS
    marks = 0.6 * any(map(str.isdigit, text))
    marks += 0.4 * bool(mentions(text)) + 0.4 * bool(said.names)
    marks += 0.5 * (not stems.isdisjoint(_DECIDING)) + 0.3 * said.first
    return stems, marks


def _chosen(
    found: Sequence[SourcedLine], value: Sequence[float], limit: int, counter: TokenCounter
) -> list[int]:
    best = sorted((n for n, v in enumerate(value) if v > 0), key=lambda n: (-value[n], -n))
    covered: set[str] = set()
    chosen: list[int] = []
    room, misfits = limit, 0
    for place in best:
        stems = found[place].sentence.stems
        if len(stems - covered) < REPEATED * len(stems):
            continue
        cost = counter.text(found[place].line + "\n")
        if cost <= room:
            room -= cost
            covered |= stems
            chosen.append(place)
        else:
            misfits += 1
            if misfits >= MISFITS:
                break
    return chosen


def _least(
    found: Sequence[SourcedLine], value: Sequence[float], limit: int, counter: TokenCounter
) -> list[SourcedLine]:
    # If nothing is selected: the best line that fits, else the beginning of the best.
    best = sorted(range(len(found)), key=lambda n: (-value[n], -n))[:MISFITS]
    whole_line = next((n for n in best if counter.text(found[n].line) <= limit), None)
    if whole_line is not None:
        return [found[whole_line]]
    begun = _beginning(found[best[0]], limit, counter) if best else ""
    return [found[best[0]]._replace(line=begun)] if begun else []


def _beginning(said: SourcedLine, limit: int, counter: TokenCounter) -> str:
    # Bisection works, because the number of tokens grows with the length.
    text = said.sentence.text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.text(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    low = whole(text, low) if 0 < low < len(text) else low
    cut = text[:low].rpartition(" ")[0] if low < len(text) and " " in text[:low] else text[:low]
    kept = cut.strip()
    return kept if counter.text(kept) <= limit else ""


# Extraction selects sentences that state a durable fact, one per line, with the speaker.


LEAST_WORDS = 2
"""Minimum number of content words of a statement."""

_SMALL_TALK = frozenset(stem(word) for word in REACTION)
_DECIDING_STEMS = frozenset(stem(word) for word in DECIDING)
_STATES = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|will|'m|'s|'re|'ve|'ll)\b|['\u2019](?:m|s|re|ve|ll)\b|\w[:=]\s?\S",
    re.IGNORECASE,
)


def extract(request: Request, counter: TokenCounter) -> list[SourcedLine]:
    """The facts that the messages state, in their order, each once."""
    found = [
        said
        for said in merge_repeats(list(sourced_lines(request.messages, named=True)))
        if states_fact(said.sentence)
    ]
    if request.max_tokens is None:
        return found
    return select(found, worth(found), request.max_tokens, counter)


def states_fact(sentence: Sentence) -> bool:
    """Whether a sentence states a fact: about somebody, exact or settled, and no small talk."""
    if sentence.question or len(sentence.stems - _SMALL_TALK) < LEAST_WORDS:
        return False
    settled = not sentence.stems.isdisjoint(_DECIDING_STEMS)
    exact = any(c.isdigit() for c in sentence.text) or bool(sentence.names)
    return sentence.first or settled or exact or bool(_STATES.search(sentence.text))
