"""Count a judge's votes on an answer, and the agreement of two judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memsim.trace import CallRecord

WORDS: dict[bool | None, str] = {True: "right", False: "wrong", None: "unread"}
"""What records call an opinion; one that is no verdict is `unread`."""

_VOTES = {word: vote for vote, word in WORDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """The votes on one answer.

    Attributes:
        votes: one a draw: whether the answer is right; None where it was no verdict.
        calls: what they took.
    """

    votes: tuple[bool | None, ...] = ()
    calls: tuple[CallRecord, ...] = ()

    @property
    def verdict(self) -> bool | None:
        """The vote of more than half of all draws; None without such a majority.

        A draw that could not be read counts for nothing: it never makes an answer right.
        """
        return majority(self.votes)


def majority(votes: Sequence[bool | None]) -> bool | None:
    """What more than half of the votes say; None where neither has so many."""
    for word in (True, False):
        if 2 * sum(vote is word for vote in votes) > len(votes):
            return word
    return None


def flipped(votes: Sequence[bool | None]) -> bool | None:
    """Whether readable opinions on one answer differ; None where there are not two of them."""
    read = [vote for vote in votes if vote is not None]
    return len(set(read)) > 1 if len(read) > 1 else None


def words_of(votes: Iterable[bool | None]) -> list[str]:
    """Votes as records have them."""
    return [WORDS[vote] for vote in votes]


def votes_in(words: Iterable[str]) -> tuple[bool | None, ...]:
    """The votes of a record."""
    return tuple(_VOTES[word] for word in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """How often two judges agree on the same answers.

    Attributes:
        n: answers that both judged.
        raw: share of them on which they agree; None of none.
        kappa: Cohen's: 1 for always, 0 for as often as by chance; None where one of them says the
            same of every answer, so that chance explains everything.
    """

    n: int
    raw: float | None = None
    kappa: float | None = None


def agreement(pairs: Sequence[tuple[bool, bool]]) -> JudgeAgreement:
    """How far two agree, from what each said of every answer."""
    n = len(pairs)
    if not n:
        return JudgeAgreement(n=0)
    raw = sum(one == other for one, other in pairs) / n
    ones, others = sum(one for one, _ in pairs), sum(other for _, other in pairs)
    if not (0 < ones < n and 0 < others < n):
        return JudgeAgreement(n=n, raw=raw)
    chance = (ones * others + (n - ones) * (n - others)) / n**2
    return JudgeAgreement(n=n, raw=raw, kappa=(raw - chance) / (1 - chance))
