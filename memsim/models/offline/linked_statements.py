"""Follow names from statement to statement: `the mayor of the town that Rosa moved to`.

Such a question names one thing and asks for another, and no statement holds both. The statement
that names the thing holds a name that the question does not have, and the next statement says more
of that name. Or the same speaker says more of it in the next words: `Its code is 4711.` The last
one holds the word that the question begins with.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from memsim.language.lexicon import MONTHS, STOP, WEEKDAYS, WH
from memsim.language.text import fold, stem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memsim.models.offline.candidates import Candidate, Ranking

LINKS: Final = 6
"""Maximum number of statements that lead to an answer."""

TRIED: Final = 256
"""Maximum number of ways to an answer that are compared, in the order of the context."""

NEXT: Final = 2
"""Entries after a statement in which its speaker may say more of the same: one may be a reply."""

RARE: Final = 6
"""A name in more sentences than these leads nowhere in particular."""

_NESTED: Final = re.compile(
    r"\bof\sthe\s\w+(?:\s\w+){0,3}\s(?:of|that|with|where|who|which|whose)\s"
)
_MORE_OF_IT: Final = re.compile(r"\W*(?:its|it|their|they|theirs)\b", re.IGNORECASE)
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w\u2019'-]+")
_NO_LINKS: Final = STOP | WH | frozenset(MONTHS) | frozenset(WEEKDAYS)


def linked_statements(ranking: Ranking) -> list[Candidate]:
    """The statements that lead to the answer, which the last one holds; empty if none do."""
    question = ranking.question
    wanted = next((root for root in question.weights if root in question.full), "")
    if not wanted or not _NESTED.search(question.folded):
        return []
    links = _Links(ranking)
    starts = links.starts()
    if any(wanted in start.matched for start in starts):
        return []
    chains = (chain for start in starts for chain in links.chains([start], wanted))
    return max(islice(chains, TRIED), key=links.worth, default=[])


class _Links:
    """The sentences that share a word with the question, by the names that they hold."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._sentences = ranking.matching()
        self._named: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in self._sentences:
            for name in self._names(candidate):
                self._named[name].append(candidate)

    def _names(self, candidate: Candidate) -> frozenset[str]:
        found = {stem(fold(word)) for word in _CAPITALISED.findall(candidate.sentence.text)}
        return frozenset(found - _NO_LINKS - self._ranking.question.weights.keys())

    def starts(self) -> list[Candidate]:
        """The sentences that hold what the question names, or else its rarest word."""
        question = self._ranking.question
        names = set(question.names)
        if not names:
            count = {r: sum(r in c.matched for c in self._sentences) for r in question.full}
            held = [root for root in question.weights if count.get(root)]
            # Of words that are as rare, the last one is the innermost.
            names = set(held and [min(reversed(held), key=count.__getitem__)])
        return [c for c in self._sentences if names & c.matched]

    def chains(self, chain: list[Candidate], wanted: str) -> Iterator[list[Candidate]]:
        """Every way from there to a sentence with the wanted word."""
        if wanted in chain[-1].matched:
            yield chain
        elif len(chain) < LINKS:
            for following in self._following(chain):
                yield from self.chains([*chain, following], wanted)

    def _following(self, chain: list[Candidate]) -> Iterator[Candidate]:
        full = self._ranking.question.full
        known = frozenset().union(*(c.matched for c in chain))
        yield from (c for c in self._next_words(chain[-1]) if full & c.matched - known)
        for name in sorted(self._names(chain[-1])):
            others = self._named[name]
            if len(others) <= RARE:
                yield from (c for c in others if full & c.matched - known)

    def _next_words(self, last: Candidate) -> Iterator[Candidate]:
        """What the speaker goes on to say of the same thing."""
        after = range(last.statement.order + 1, last.statement.order + 1 + NEXT)
        for candidate in self._spoken_at(last.statement.who, after):
            if not _MORE_OF_IT.match(candidate.sentence.text):
                return
            yield candidate

    def _spoken_at(self, who: str, orders: range) -> list[Candidate]:
        found = self._ranking.found
        first = next((n for n in orders if n < len(found) and found[n].who == who), None)
        return [c for c in self._sentences if c.statement.order == first]

    def worth(self, chain: list[Candidate]) -> tuple[float, int, int]:
        """How much of the question a chain holds, then how short and how new it is."""
        weights = self._ranking.question.weights
        held = frozenset().union(*(c.matched for c in chain))
        share = math.fsum(weights.get(root, 0.0) for root in held)
        return share, -len(chain), chain[-1].statement.order
