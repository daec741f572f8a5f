"""Generate conversations of several principals, with sessions, tools and gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Literal

from hypothesis import strategies as st

from memsim.message import EPOCH, Block, Message, Role, Text, ToolResult, ToolUse
from memsim.testing.check_cases import CaseElapse, CaseEvent, CaseForget, CaseGrant, CaseTurn
from memsim.testing.generators.awkward_texts import (
    AWKWARD,
    COMMANDS,
    DELIMITERS,
    awkward_texts,
    odd,
)

# What people say: facts with codes in them, what contradicts them, and awkward characters.


FACTS = (
    "My order is {code}, please ship it to Oslo.",
    "The door code at the office is {code} since Monday.",
)
"""The same words for everybody, with a code that nobody else has."""

LATER = "Correction: it is no longer that, it is {code} now."
"""What takes the place of a fact of the same speaker."""

RULES = (
    "Rule {code}: answer in metric units.",
    "  Rule {code}:\n\t- be  brief\n\t- be \u201ckind\u201d  \n",
    "Rule {code}: never name other customers.",
    "# House rules {code}\r\n1. \u5317\u4eac first.\n\n2. Cafe\u0301 second.\n",
    "Rule {code}: " + "ask before you send, and say what it costs. " * 8,
)
"""Standing rules, which speak as the system."""

PLAIN = ("Lovely weather.", "Thanks.", "What else?", "order order ORDER", "no")
BLANK = ("", " ", "\n", "\t \n")

QUESTIONS = ("Where is the order?", "What is the door code?", "Bergen", "")

SURROGATE = "\ud83d"
"""Half of a character: it can be in no text that is said, and is refused where one enters."""


def sayings() -> st.SearchStrategy[tuple[str, str]]:
    """What is said, as its kind and a text in which `{code}` may stand."""
    return st.one_of(
        st.tuples(st.just("fact"), st.sampled_from(FACTS)),
        st.tuples(st.just("later"), st.just(LATER)),
        st.tuples(st.just("fact"), st.just(FACTS[0])),
        st.tuples(st.just("odd"), odd().map(lambda text: f"{text} {{code}} {text}")),
        st.tuples(st.just("hostile"), st.sampled_from(DELIMITERS).map("{} FORGED {{code}}".format)),
        st.tuples(st.just("plain"), st.sampled_from((*PLAIN, *BLANK))),
        st.tuples(st.just("hostile"), st.sampled_from(COMMANDS)),
        st.tuples(st.just("odd"), odd()),
        st.tuples(st.just("fact"), st.just(FACTS[0])),
    )


PRINCIPALS = ("ana", "ben", "eva")
"""Names of one length, so that one can stand for another without a token's difference."""

GAPS = (0, 3, 3, 60 * 26, 60 * 24 * 40)
"""Minutes between two turns."""

LONG = (1, 1, 8, 60)
"""How often a result's row is repeated."""

ARGUMENTS = ('{"key": "A-17"}', '{"b": 2,  "a": [1.0], "key": "\\u00e9 \u00e9"}')
"""What tools are asked; the second is JSON that no program writes of itself."""

Kind = Literal["talk", "silence", "tools", "answers", "late", "dangling"]
KINDS: tuple[Kind, ...] = ("talk", "tools", "answers", "dangling", "late", "silence")
Aside = Literal["", "elapse", "forget", "grant", "revoke"]
ASIDES: tuple[Aside, ...] = ("", "", "", "", "", "", "elapse", "forget", "grant", "revoke")


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What one turn is made of.

    Attributes:
        gap: minutes since the turn before.
        kind: talk; tools: a message for each result; answers: all results in one message; late: the
            result comes in the speaker's next turn; silence: no reply; dangling: a call that is
            never answered.
        text: as `sayings` has it.
        long: how often the result's row is repeated.
        answer: what the assistant says; a short note where it is empty.
        row: what a tool says before its result.
    """

    who: int
    gap: int
    kind: Kind
    text: tuple[str, str]
    calls: int
    long: int
    rule: bool
    renewed: bool
    aside: Aside
    answer: str = ""
    row: str = ""


def turn_plans() -> st.SearchStrategy[TurnPlan]:
    """One turn's plan."""
    return st.builds(
        TurnPlan,
        st.sampled_from((0, 0, 1, 1, 2)),
        st.sampled_from(GAPS),
        st.sampled_from(KINDS),
        sayings(),
        st.sampled_from((1, 2, 3)),
        st.sampled_from(LONG),
        st.sampled_from((False, False, False, False, False, True)),
        st.sampled_from((False, False, False, True)),
        st.sampled_from(ASIDES),
        awkward_texts(),
        awkward_texts(),
    )


def awkward_conversations(
    turns: int, *, apart: bool = True
) -> st.SearchStrategy[tuple[CaseEvent, ...]]:
    """Conversations of so many turns in which texts are long, wide, or full of delimiters."""
    last = len(AWKWARD) - 1
    return st.tuples(
        st.lists(turn_plans(), min_size=turns, max_size=turns),
        st.integers(0, last),
        st.integers(1, last),
    ).map(lambda drawn: written(_awkward(*drawn), apart))


def _awkward(plan: list[TurnPlan], first: int, step: int) -> list[TurnPlan]:
    """The plan with an awkward text of its own for everybody who speaks, but a fact here and there.

    Texts are taken with a stride, so that few conversations have each text in each role.
    """
    texts = (AWKWARD[(first + n * step) % len(AWKWARD)] for n in count())
    return [
        replace(
            turn,
            kind="tools" if turn.kind == "silence" else turn.kind,
            text=turn.text if n % 4 == 1 else ("odd", next(texts)),
            answer=next(texts),
            row=next(texts),
            long=1,
        )
        for n, turn in enumerate(plan)
    ]


def long_conversations(
    turns: int, *, apart: bool = True
) -> st.SearchStrategy[tuple[CaseEvent, ...]]:
    """Conversations of many turns, which come again in the same manner with other codes."""
    few = max(2, turns // 4)
    return st.tuples(
        st.lists(turn_plans(), min_size=few, max_size=few), st.sampled_from((True, True, False))
    ).map(lambda drawn: written(_repeated(drawn[0], ruled=drawn[1]), apart))


def _repeated(plan: list[TurnPlan], *, ruled: bool) -> list[TurnPlan]:
    # One rule at the beginning, and results that leave room for many turns.
    short = [replace(turn, long=min(turn.long, 8), rule=False) for turn in plan]
    return [replace(short[0], rule=ruled), *short[1:], *(short * 3)]


def conversations(
    least: int = 0, most: int = 10, *, apart: bool = True
) -> st.SearchStrategy[tuple[CaseEvent, ...]]:
    """Conversations of so many turns, with what happens between them."""
    return st.lists(turn_plans(), min_size=least, max_size=most).map(
        lambda plan: written(plan, apart)
    )


def written(plan: Sequence[TurnPlan], apart: bool = True) -> tuple[CaseEvent, ...]:  # noqa: FBT001, FBT002 - maps
    """The events of a plan, their messages numbered m1, m2 and so on."""
    writer = Writer(apart=apart)
    return tuple(
        event for number, turn in enumerate(plan, 1) for event in writer.events(number, turn)
    )


class Writer:
    """Writes plans down, turn by turn, and numbers messages, codes and calls."""

    def __init__(self, *, apart: bool) -> None:
        self._apart = apart
        self._count = 0
        self._number = 0
        self.time: datetime = EPOCH
        self._late: dict[str, str] = {}
        self._session: dict[str, int] = {}
        self._said: dict[str, list[str]] = {}

    def own(self, who: str) -> tuple[str, ...]:
        """Ids of what somebody has said as a user."""
        return tuple(self._said.get(who, ()))

    def events(self, number: int, said: TurnPlan) -> Iterator[CaseEvent]:
        """What comes of one plan: a turn, and what happens after it."""
        self._number = number
        self.time += timedelta(minutes=said.gap)
        who = PRINCIPALS[said.who]
        if said.renewed:
            room = who if self._apart else ""
            self._session[room] = self._session.get(room, 1) + 1
        heard = (*self._rule(who, said), *self._overdue(who), self._spoken(who, said))
        yield CaseTurn(
            number=number,
            who=who,
            session=self._in(who),
            time=self.time,
            heard=heard,
            reply=tuple(self._reply(who, said)),
        )
        yield from self._aside(who, said)

    def _in(self, who: str) -> str:
        room = who if self._apart else ""
        return f"{room or 'all'}-{self._session.get(room, 1)}"

    def _rule(self, who: str, said: TurnPlan) -> Iterator[Message]:
        if said.rule:
            text = RULES[self._count % len(RULES)].format(code=self._code())
            yield self._message("system", who, Text(text))

    def _overdue(self, who: str) -> Iterator[Message]:
        call = self._late.pop(who, None)
        if call is not None:
            yield self._message("tool", who, ToolResult(id=call, text="It took a while: 42."))

    def _spoken(self, who: str, said: TurnPlan) -> Message:
        # A text may hold braces of its own.
        text = said.text[1].replace("{code}", self._code())
        message = self._message("user", who, Text(text))
        self._said.setdefault(who, []).append(message.id)
        return message

    def _reply(self, who: str, said: TurnPlan) -> Iterator[Message]:
        text = said.answer.replace("{code}", self._code())
        done = Text(text or f"Noted, {who}.")
        if said.kind == "talk":
            yield self._message("assistant", who, done)
        if said.kind in {"talk", "silence"}:
            return
        count = said.calls if said.kind in {"tools", "answers"} else 1
        ids = self._ids(count)
        uses = [
            ToolUse(id=i, name="look_up", arguments=ARGUMENTS[self._number % len(ARGUMENTS)])
            for i in ids
        ]
        yield self._message("assistant", who, Text("Let me see."), *uses)
        if said.kind == "late":
            self._late[who] = ids[0]
        if said.kind in {"late", "dangling"}:
            return
        row = said.row.replace("{code}", self._code())
        found = [ToolResult(id=i, text=row + f"Parcel {i} is in Oslo. " * said.long) for i in ids]
        for group in [found] if said.kind == "answers" else [[result] for result in found]:
            yield self._message("tool", who, *group)
        yield self._message("assistant", who, done)

    def _ids(self, count: int) -> list[str]:
        # As some frameworks do, ids are used again once they are answered, and by others.
        taken = set(self._late.values())
        free = (i for n in range(12) if (i := f"call-{(self._number % 3 + n) % 12}") not in taken)
        return [next(free) for _ in range(count)]

    def _aside(self, who: str, said: TurnPlan) -> Iterator[CaseEvent]:
        own = self._said.get(who, [])
        if said.aside == "elapse":
            self.time += timedelta(days=said.gap % 90 + 1)
            yield CaseElapse(now=self.time)
        elif said.aside == "forget":
            yield CaseForget(who=who, sources=tuple(own[:1]))
        elif said.aside in {"grant", "revoke"}:
            viewer = PRINCIPALS[(said.who + 1) % len(PRINCIPALS)]
            revoked = said.aside == "revoke"
            yield CaseGrant(owner=who, viewer=viewer, sources=tuple(own), revoked=revoked)

    def _code(self) -> str:
        return f"K-{self._count * 37 % 9000 + 1000}"

    def _message(self, role: Role, who: str, *blocks: Block) -> Message:
        self._count += 1
        return Message(
            id=f"m{self._count}",
            role=role,
            blocks=blocks,
            principal=who,
            session=self._in(who),
            turn=self._number,
            time=self.time,
        )
