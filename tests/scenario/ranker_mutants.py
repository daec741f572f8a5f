"""A small memory that every relation holds, and the same memory broken in one place at a time.

Gold recall on the plain scenario is the same for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from memsim import Context, Environment, Forget, ForgetOutcome, Query, Strategy
from memsim.message import Message
from memsim.strategy import State

_WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_STOP = frozenset(
    "a am ask at for i in is it me my of on so tell that the this to what you".split(" ")  # noqa: SIM905
)
SHOWN: Final = 3


class Ranker(Strategy):
    """Quotes the messages that share the rarest words with the question."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.said: dict[str, Message] = {}

    def observe(self, message: Message) -> None:
        """Keep a message, once."""
        if message.role == "user":
            self.said.setdefault(message.id, message)

    def words(self, text: str) -> list[str]:
        """The words of a text that count."""
        return [w for w in _WORD.findall(text.lower()) if w not in _STOP]

    def asked(self, text: str) -> list[str]:
        """The words of a question that count."""
        return self.words(text)

    def same(self, asked: str, said: str) -> bool:
        """Whether two words are one, but for letters that changed places."""
        return asked == said or (len(asked) > 3 and sorted(asked) == sorted(said))

    def pool(self, query: Query) -> list[Message]:
        """The messages that are ranked."""
        return [m for m in self.said.values() if m.principal == query.principal]

    def worth(self, query: Query, message: Message) -> float:
        """What a message counts, whatever its words."""
        return 1.0

    def score(self, found: int, asked: int) -> float:
        """What a message scores that holds some of the words that are asked."""
        return float(found)

    def order(self, message: Message) -> object:
        """What decides between messages of one score: the later one wins."""
        return -[*self.said].index(message.id)

    def best(self, query: Query) -> list[Message]:
        """The messages that are quoted."""
        asked = [*dict.fromkeys(self.asked(query.text))]
        scored: list[tuple[float, Message]] = []
        for message in self.pool(query):
            held = set(self.words(message.text))
            found = sum(any(self.same(word, other) for other in held) for word in asked)
            scored.append((self.score(found, len(asked)) * self.worth(query, message), message))
        kept = [pair for pair in scored if pair[0] > 0]
        kept.sort(key=lambda pair: (-pair[0], self.order(pair[1])))
        return [message for _, message in kept[:SHOWN]]

    def context(self, query: Query) -> Context:
        """What is quoted, in the order in which it was said."""
        shown = {message.id for message in self.best(query)}
        messages = [message for message in self.said.values() if message.id in shown]
        return self.env.build.context(self.env.build.section("window", messages))

    def save(self) -> State:
        """The messages stay in the process: which are a restarted memory's own."""
        KEPT[id(self.env)] = dict(self.said)
        return {}

    def load(self, state: State) -> None:
        """What was said before the restart."""
        self.said = KEPT.pop(id(self.env))

    def forget(self, request: Forget) -> ForgetOutcome:
        """Drop the named messages."""
        gone = tuple(source for source in request.sources if self.said.pop(source, None))
        return ForgetOutcome(supported=True, removed=gone)


KEPT: dict[int, dict[str, Message]] = {}
"""What memories that are being restarted hold."""


class CountsThanks(Ranker):
    """Wants a message to hold three tenths of the question."""

    def score(self, found: int, asked: int) -> float:
        """Nothing for a smaller share."""
        return max(0.0, found / (asked or 1) - 0.3)


class ReadsTheBeginning(Ranker):
    """Reads the first fifty characters of a question."""

    def asked(self, text: str) -> list[str]:
        """The words at the beginning."""
        return self.words(text[:50])


class ReadsOneSentence(Ranker):
    """Reads the first sentence of a question."""

    def asked(self, text: str) -> list[str]:
        """The words up to a full stop."""
        return self.words(text.partition(".")[0])


class ReadsToTheColon(Ranker):
    """Reads a question up to the first colon."""

    def asked(self, text: str) -> list[str]:
        """The words before it."""
        return self.words(text.partition(":")[0])


class WantsCapitals(Ranker):
    """Takes a small letter at the beginning for no question."""

    def asked(self, text: str) -> list[str]:
        """Nothing where it does not begin with a capital."""
        return self.words(text) if text[:1].isupper() else []


class HatesCapitals(Ranker):
    """Takes a word in capitals for an abbreviation that it does not know."""

    def asked(self, text: str) -> list[str]:
        """The words that are not in capitals."""
        return self.words(" ".join(w for w in text.split() if not w.isupper()))


class KeepsTheMark(Ranker):
    """Wants one question mark at the end."""

    def asked(self, text: str) -> list[str]:
        """Nothing where there is another mark."""
        return self.words(text) if not text.endswith(("??", "...")) else []


class SpellsStrictly(Ranker):
    """Has no ear for slips."""

    def same(self, asked: str, said: str) -> bool:
        """Only the same word is the same."""
        return asked == said


class KnowsByName(Ranker):
    """Serves those whose names are in its table."""

    def pool(self, query: Query) -> list[Message]:
        """Nothing of whom it does not know."""
        return super().pool(query) if query.principal in {"Ana", "Ben"} else []


class KnowsPlaces(Ranker):
    """Answers where something is by the places that it knows."""

    def worth(self, query: Query, message: Message) -> float:
        """Nothing without one of them."""
        where = "town" in query.text.lower()
        known = "Tallinn" in message.text or "Riga" in message.text
        return float(known or not where)


class DecaysByYear(Ranker):
    """What is older than 2010 is worth nothing."""

    def worth(self, query: Query, message: Message) -> float:
        """By the year in which it was said."""
        return float(message.time.year >= 2010)


class TiesById(Ranker):
    """Settles ties by the last letter of the message's id."""

    def order(self, message: Message) -> object:
        """The greatest first."""
        return [-ord(c) for c in reversed(message.id)]


class SortsSessions(Ranker):
    """Drops the first session where the names of the first two are in order."""

    def worth(self, query: Query, message: Message) -> float:
        """Nothing in a session that is dropped."""
        sessions = [*dict.fromkeys(m.session for m in self.said.values())]
        return float(message.session != sessions[0] or sessions[:2] != sorted(sessions[:2]))


class OneATurn(Ranker):
    """Keeps the first message of each turn."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.full = False

    def observe(self, message: Message) -> None:
        """No other one until the turn ends."""
        if message.role == "user" and not self.full:
            super().observe(message)
            self.full = True

    def end_turn(self) -> None:
        """The next turn may begin."""
        self.full = False


class ShortOnly(Ranker):
    """Reads the first 135 characters of a message."""

    def words(self, text: str) -> list[str]:
        """The words at the beginning."""
        return super().words(text[:135])


class CountsTwice(Ranker):
    """Takes a message that comes again for a mistake, and drops both."""

    def observe(self, message: Message) -> None:
        """Out with what is there already."""
        if self.said.pop(message.id, None) is None:
            super().observe(message)


class OneWay(Ranker):
    """Serves a user no more once a later one in the alphabet has asked; its first answer stays."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.last, self.first = "", ""

    def best(self, query: Query) -> list[Message]:
        """Nothing for those who come too late."""
        if not query.text.endswith("?"):
            return []
        self.first = self.first or query.text
        self.last = max(self.last, query.principal)
        late = query.principal < self.last and query.text != self.first
        return [] if late else super().best(query)


class LosesTheFirst(Ranker):
    """Saves all but the first message that it still needs."""

    def save(self) -> State:
        """Six too few."""
        self.said = dict([*self.said.items()][6:])
        return super().save()


class Crowded(Ranker):
    """Ranks at most a hundred messages, whoever speaks: those in the middle."""

    def pool(self, query: Query) -> list[Message]:
        """What is left of them for one user."""
        there = [*self.said.values()]
        away = {m.id for m in (*there[:10], *there[-10:])} if len(there) > 100 else set()
        return [m for m in super().pool(query) if m.id not in away]


class ServesFew(Ranker):
    """Has room for the sessions of two users: those that spoke last."""

    def pool(self, query: Query) -> list[Message]:
        """Nothing of the others."""
        users = [*dict.fromkeys(m.principal for m in reversed(self.said.values()))]
        return super().pool(query) if query.principal in users[:2] else []


class ForgetsTheSession(Ranker):
    """Erases the whole session of what is to be forgotten."""

    def forget(self, request: Forget) -> ForgetOutcome:
        """Drop all that was said in it."""
        sessions = {m.session for m in self.said.values() if m.id in request.sources}
        gone = tuple(m.id for m in self.said.values() if m.session in sessions)
        return super().forget(replace(request, sources=gone))


class FillsUp(Ranker):
    """With much room it quotes the oldest message instead."""

    def best(self, query: Query) -> list[Message]:
        """The oldest, from 1,500 tokens on."""
        return [*self.said.values()][:1] if query.budget > 1500 else super().best(query)


class Awakes(Ranker):
    """Begins to rank once enough was said."""

    def best(self, query: Query) -> list[Message]:
        """Nothing of a short history."""
        return super().best(query) if len(self.said) > 30 else []


class NeedsUpdates(Ranker):
    """Quotes a value once it was replaced again."""

    def best(self, query: Query) -> list[Message]:
        """Nothing without updates."""
        updated = any(m.text.startswith("Update: ") for m in self.said.values())
        return super().best(query) if updated else []


Make = Callable[[Environment], Strategy]
MUTANTS: Final[Mapping[str, type[Ranker]]] = {
    "thanks": CountsThanks,
    "polite": ReadsTheBeginning,
    "quick": ReadsOneSentence,
    "frame": ReadsToTheColon,
    "lower_case": WantsCapitals,
    "upper_case": HatesCapitals,
    "marks": KeepsTheMark,
    "typo": SpellsStrictly,
    "speakers": KnowsByName,
    "entities": KnowsPlaces,
    "dates": DecaysByYear,
    "ids": TiesById,
    "sessions": SortsSessions,
    "split": OneATurn,
    "merge": ShortOnly,
    "batch": OneATurn,
    "twice": CountsTwice,
    "order": OneWay,
    "restart": LosesTheFirst,
    "restarts": LosesTheFirst,
    "strangers": Crowded,
    "strangers_first": Crowded,
    "others": ServesFew,
    "forget": ForgetsTheSession,
    "distance": Awakes,
    "updates": NeedsUpdates,
    "budget": FillsUp,
}
"""By relation, a memory that it catches."""
