"""Questions for an overview: a summary, a list over all conversations, the order of what came up.

Such a question is about everything that was said of a matter, and names little of it. So the words
of its form are not searched for, what began a conversation counts more than what followed, and each
further message of a conversation counts less. Whoever asks for a summary wants replies as well, and
as many messages of one conversation as speak of the matter.
"""

from __future__ import annotations

import heapq
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memsim.language.text import index_terms
from memsim.memory.index import Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memsim.memory.recall.timeline import MessageFacts

WIDER = 4
"""How many times as many messages are looked at as for other questions."""

REPLIED = 0.3
"""What the relevance of a reply or a tool's result counts, against what a user brought up."""

AGAIN = 0.7
"""What each further message of a conversation counts, against the one before it. In a summary all
count alike, because one conversation may hold the whole story."""

SUMMED_OPENING = 3.0
"""How many times as much an opening counts where a summary is asked for."""

RESTATED = 150
"""Tokens of a message below which a reply as long says what a summary needs of both."""

OPENING = 20.0
"""Messages from the beginning of a conversation at which a little more than a third is left of what
the beginning counts more."""

_SUMMARY = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]e|i[sz]ing)|overview|recap|sum up)\b", re.IGNORECASE
)
_TALKS = "conversation|chat|session|discussion|talk|message|question|request|exchange"
_OVERVIEW = re.compile(
    rf"{_SUMMARY.pattern}|\border in which\b"
    r"|\bin (?:chronological )?order\b(?! (?:to|that|for|of)\b)"
    rf"|\b(?:across|throughout) (?:[\w']+ ){{0,5}}(?:{_TALKS})s?\b|\bover time\b"
    r"|\bhow\b.{3,80}\b(?:evolved?|progress(?:ed)?|developed|changed)\b",
    re.IGNORECASE,
)
_FORM = (
    "summary summaries summarize summarise overview recap sum comprehensive complete detailed brief"
    " list give provide tell walk order brought bring mention mentioned only items different"
    " various aspects concepts topics steps key including throughout across over time progress"
    " progressed conversations chats sessions discussions discussed one two three four five six"
    " seven eight nine ten"
)
_WORD = re.compile(r"\S+")


class ConversationPlaces(NamedTuple):
    """Where messages stand in their conversations, as far as the reader may follow these.

    `place` gives a conversation and how many messages come before; `reply` the id of what the
    assistant said to a message right after it. Both give None for what may not be followed.
    """

    place: Callable[[str], tuple[str, int] | None]
    reply: Callable[[str], str | None]


def asks_overview(question: str) -> bool:
    """Whether a question asks for an overview of what was said."""
    return _OVERVIEW.search(question) is not None


def asks_summary(question: str) -> bool:
    """Whether a question asks for a summary."""
    return _SUMMARY.search(question) is not None


def matter(question: str) -> str:
    """A question for an overview without the words of its form."""
    form = _form()
    words = (word.group() for word in _WORD.finditer(question))
    return " ".join(word for word in words if not form.issuperset(index_terms(word))) or question


@lru_cache(maxsize=1)
def _form() -> frozenset[str]:
    return frozenset(index_terms(_FORM))


def with_replies(scores: Mapping[str, float], places: ConversationPlaces) -> dict[str, float]:
    """Scores in which each message also has what its reply scores."""
    replies = ((source, places.reply(source)) for source in scores)
    return {source: scores[source] + scores.get(reply or "", 0.0) for source, reply in replies}


def spread(
    scores: Mapping[str, float],
    known: Mapping[str, MessageFacts],
    places: ConversationPlaces,
    *,
    opening: float,
    replied: float,
    pairs: bool,
) -> list[Hit]:
    """Messages from all conversations, the most worth quoting first, ties to the earlier.

    `opening` is how much more the first message of a conversation counts, `replied` what a reply
    counts. With `pairs`, which a summary wants, each message stands beside its reply, or after all
    replies where it is short. No score is above the one before it.
    """
    again = 1.0 if pairs else AGAIN
    opening *= SUMMED_OPENING if pairs else 1.0
    left: dict[str, list[tuple[float, int, str]]] = {}
    for source, score in scores.items():
        session, place = places.place(source) or ("", math.inf)
        weight = replied if known[source].role in {"assistant", "tool"} else 1.0
        weight *= 1 + opening * math.exp(-place / OPENING)
        left.setdefault(session, []).append((-score * weight, known[source].order, source))
    heads = []
    for session, waiting in left.items():
        heapq.heapify(waiting)
        heads.append((*waiting[0][:2], session, 1.0))
    heapq.heapify(heads)
    found: dict[str, float] = {}
    least = math.inf
    while heads:
        _, _, session, counts = heapq.heappop(heads)
        score, _, source = heapq.heappop(left[session])
        reply = places.reply(source) if pairs else None
        if source not in found:
            counts *= again
            least = min(least, -score)
            found[source] = least
            if reply is not None and reply in scores:
                found.setdefault(reply, least)
        if left[session]:
            score, order, _ = left[session][0]
            heapq.heappush(heads, (score * counts, order, session, counts))
    hits = [Hit(source, score) for source, score in found.items()]
    return _replies_first(hits, known, places) if pairs else hits


def _replies_first(
    hits: Sequence[Hit], known: Mapping[str, MessageFacts], places: ConversationPlaces
) -> list[Hit]:
    """Hits with short messages behind all others, as far as their replies restate them.

    A reply does where it is there and as long as the message: "I see." says nothing of it.
    """
    there = {hit.id for hit in hits}

    def restated(source: str) -> bool:
        reply = places.reply(source)
        return reply in there and known[reply].tokens >= known[source].tokens

    short = [hit.id for hit in hits if known[hit.id].tokens < RESTATED]
    behind = {source: None for source in short if restated(source)}
    ids = [*(hit.id for hit in hits if hit.id not in behind), *behind]
    return [Hit(source, hit.score) for source, hit in zip(ids, hits, strict=True)]
