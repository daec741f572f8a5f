"""Diaries that build wrong contexts: over budget, out of order, doubled, or torn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memsim.context import Section, fenced
from memsim.language.text import speaker_label
from memsim.message import Message, composed
from memsim.models import Reply
from memsim.strategy import Query
from tests.doubles.diary import Diary, whole


class AsciiCount(Diary):
    """Counts the characters of its window that ASCII has."""

    def size(self, messages: Sequence[Message], query: Query) -> int:
        return sum(len(m.text.encode("ascii", "ignore")) // 4 + 8 for m in messages)


class OwnCount(Diary):
    """Takes four characters for a token from the fourth turn on."""

    def size(self, messages: Sequence[Message], query: Query) -> int:
        if query.turn < 4:
            return super().size(messages, query)
        return sum((len(m.text) + 3) // 4 + 8 for m in messages)


class WordCount(Diary):
    """Counts words in what tools say, which some scripts do not part."""

    def size(self, messages: Sequence[Message], query: Query) -> int:
        words = sum(2 * len(m.text.split()) + 10 for m in messages if m.results)
        others = [m for m in messages if not m.results]
        return words + self.env.build.tokens(others)


class TenthShare(Diary):
    """Divides by a tenth of the budget."""

    def window(self, query: Query, left: int) -> list[Message]:
        share = 1000 // (query.budget // 10)
        return super().window(query, left) if share else []


class LastAlways(Diary):
    """Shows the latest message whatever the budget."""

    def window(self, query: Query, left: int) -> list[Message]:
        last = [m for m in self.recent[-1:] if not m.calls and not m.results]
        return super().window(query, left) or last


class QuietRules(Diary):
    """Leaves the rules out where they do not fit."""

    def standing(self, query: Query) -> list[Message]:
        rules = super().standing(query)
        return rules if self.env.build.tokens(rules) <= query.budget else []


class SmallNotice(Diary):
    """Adds a notice that it does not count, where hardly anything fits."""

    def arranged(
        self, sections: list[Section], window: list[Message], query: Query
    ) -> list[Section]:
        shown = super().arranged(sections, window, query)
        if query.budget >= 30:
            return shown
        return [*shown, self.section("tools", [composed("user", "No room left.", id="notice")])]


class EnvironmentBudget(Diary):
    """Fills the budget of the case, not that of the question."""

    def window(self, query: Query, left: int) -> list[Message]:
        return super().window(query, self.env.budget - query.budget + left)


class BlankSummary(Diary):
    """Takes a blank reply for a summary of nothing."""

    def accepts(self, reply: Reply, old: list[Message]) -> bool:
        return not reply.text.strip() or super().accepts(reply, old)


class BlankBlock(BlankSummary):
    """Shows the blank summary between tags."""

    def summaries(self, query: Query) -> list[Message]:
        text = f"<summary>\n{self.summary}\n</summary>"
        made = composed("assistant", text, id="summary", derived_from=self.covered)
        return [made] if self.covered else []


class CutSummary(Diary):
    """Takes half a sentence for a summary."""

    def accepts(self, reply: Reply, old: list[Message]) -> bool:
        return super().accepts(replace(reply, cut=False), old)


class LaterRefusal(Diary):
    """Looks for a refusal in the first summary alone."""

    def accepts(self, reply: Reply, old: list[Message]) -> bool:
        return (self.compactions > 0 and bool(reply.text.strip())) or super().accepts(reply, old)


class StrippedRule(Diary):
    """Shows the rules without the blanks around them once it has summarised."""

    def standing(self, query: Query) -> list[Message]:
        def bare(message: Message) -> Message:
            return composed("system", message.text.strip(), id=message.id, quotes=(message.id,))

        rules = super().standing(query)
        return [bare(m) for m in rules] if self.compactions else rules


class FirstRuleGone(Diary):
    """Lets the first rule go with the third summary."""

    def adopt(self, reply: Reply, old: list[Message]) -> None:
        super().adopt(reply, old)
        if self.compactions == 3:
            self.rules = self.rules[1:]


class SessionRules(Diary):
    """Shows the rules of the present session."""

    def standing(self, query: Query) -> list[Message]:
        return [m for m in self.rules if m.session == query.session]


class ShortTail(Diary):
    """Keeps four of the five messages that it promises, from its second summary on."""

    def adopt(self, reply: Reply, old: list[Message]) -> None:
        super().adopt(reply, old)
        if self.compactions > 1:
            self.recent = self.recent[-4:]


class ToolTail(Diary):
    """Leaves tools out of the latest messages where there are several."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = super().window(query, left)
        calls = [m for m in shown if m.calls]
        return [m for m in shown if not m.calls and not m.results] if len(calls) > 1 else shown


class SessionTail(Diary):
    """Begins anew with every session."""

    def window(self, query: Query, left: int) -> list[Message]:
        return [m for m in super().window(query, left) if m.session == query.session]


class RoleOrder(Diary):
    """Sorts the messages of a long turn by who said them."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = super().window(query, left)
        if any(m.calls for m in shown):
            return shown
        return sorted(shown, key=lambda m: (m.turn, m.role))


class AnswerFirst(Diary):
    """Quotes turns as one text, the answer before the question."""

    def arranged(
        self, sections: list[Section], window: list[Message], query: Query
    ) -> list[Section]:
        spoken = [m for m in window if not m.calls and not m.results]
        swapped = sorted(spoken, key=lambda m: (m.turn, m.role == "user"))
        text = "\n".join(f"{m.role}: {m.text}" for m in swapped)
        ids = tuple(m.id for m in swapped)
        quoted = composed("user", fenced("memory", text), id="log", quotes=ids)
        log = self.section("window", [quoted])
        left = query.budget - sum(s.tokens for s in sections)
        return [*sections, log] if ids and log.tokens <= left else sections


class RepliesApart(Diary):
    """Shows what the assistant said in a section of its own, before what it answers."""

    def arranged(
        self, sections: list[Section], window: list[Message], query: Query
    ) -> list[Section]:
        replies = [m for m in window if m.role == "assistant" and not m.calls]
        others = [m for m in window if m not in replies]
        working = self.section("working", replies)
        rest = self.section("window", others)
        left = query.budget - sum(s.tokens for s in sections)
        if working.tokens + rest.tokens > left:
            return [*sections, self.section("window", window)]
        return [*sections, working, rest]


class QuotedTwice(Diary):
    """Quotes above the window what stands in it."""

    def extras(self, query: Query) -> list[Section]:
        old = [m for m in self.recent if m.role == "user" and len(m.text) > 20][-2:-1]
        return [
            self.section(
                "recalled",
                [composed("user", f"Earlier: {m.text}", id="recalled", quotes=(m.id,))],
            )
            for m in old
        ]


class FirstAgain(Diary):
    """Puts the first message that it still has in front once more after a summary."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = super().window(query, left)
        first = [m for m in shown[:1] if not m.calls]
        again = [*first, *shown] if self.compactions else shown
        return again if self.size(again, query) <= left else shown


class CopiedRecall(Diary):
    """Recalls an original message that the window has already."""

    def extras(self, query: Query) -> list[Section]:
        if query.turn % 3:
            return []
        told = [m for m in self.recent[-4:] if m.role == "assistant" and not m.calls][:1]
        return [self.section("recalled", told)] if told else []


class ParallelTorn(Diary):
    """Shows the first two of many results."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = super().window(query, left)
        many = {c for m in shown if len(m.calls) > 2 for c in m.calls[2:]}
        return [m for m in shown if not many.intersection(m.results)]


class LateResult(Diary):
    """Keeps a result that comes after its call has left."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = super().window(query, left)
        late = [m for m in self.recent if m.results and m not in shown][-1:]
        more = sorted([*shown, *late], key=self.recent.index)
        return more if self.size(more, query) <= left else shown


class ResultRecall(Diary):
    """Recalls a tool's result without the call."""

    def extras(self, query: Query) -> list[Section]:
        shown = self.window(query, query.budget)
        tools = [m for m in self.recent if m.results and len(m.results) == 1 and m not in shown]
        return [self.section("recalled", tools[-1:])] if tools else []


class HalfWindow(Diary):
    """Cuts its window between a call and its result."""

    def window(self, query: Query, left: int) -> list[Message]:
        shown = whole(self.recent)[-7:]
        return shown if self.size(shown, query) <= left else super().window(query, left)


class EveryoneIsTheUser(Diary):
    """Recalls replies and results under the name of whom they answer."""

    def extras(self, query: Query) -> list[Section]:
        shown = self.window(query, query.budget)
        old = [m for m in self.recent if m not in shown and len(m.text) > 20]
        lines = "\n".join(f"[{m.time:%Y-%m-%d}] {self.label(m, query)}: {m.text}" for m in old[-6:])
        ids = tuple(m.id for m in old[-6:])
        recalled = composed("user", f"Earlier messages:\n{lines}", id="recalled", quotes=ids)
        return [self.section("recalled", [recalled])] if old else []

    def label(self, message: Message, query: Query) -> str:
        """Whose line it is said to be."""
        return message.principal


class TheAskerSaidIt(EveryoneIsTheUser):
    """Recalls what users said under the name of who asks."""

    def label(self, message: Message, query: Query) -> str:
        name = query.principal if message.role == "user" else message.principal
        return speaker_label(message.role, name)


class ResultsAreReplies(EveryoneIsTheUser):
    """Recalls what tools said as the assistant's words."""

    def label(self, message: Message, query: Query) -> str:
        role = "assistant" if message.role == "tool" else message.role
        return speaker_label(role, message.principal)


class TurnsHaveOneSpeaker(EveryoneIsTheUser):
    """Labels each turn by its first speaker."""

    def label(self, message: Message, query: Query) -> str:
        first = next(m for m in self.recent if m.turn == message.turn)
        return speaker_label(first.role, first.principal)


CONTEXT_FAULTS: dict[str, Sequence[type[Diary]]] = {
    "within_budget": (
        *(AsciiCount, OwnCount, WordCount),
        *(LastAlways, SmallNotice, EnvironmentBudget),
    ),
    "degenerates": (TenthShare,),
    "speakers_are_kept": (
        *(EveryoneIsTheUser, TheAskerSaidIt, ResultsAreReplies, TurnsHaveOneSpeaker),
    ),
    "system_preservation": (QuietRules, StrippedRule, FirstRuleGone, SessionRules),
    "bad_summaries_are_refused": (BlankSummary, BlankBlock, CutSummary, LaterRefusal),
    "retained_tail": (ShortTail, ToolTail, SessionTail),
    "order": (RoleOrder, AnswerFirst, RepliesApart),
    "adjacency": (QuotedTwice, FirstAgain, CopiedRecall),
    "pair_closure": (ParallelTorn, LateResult, ResultRecall, HalfWindow),
}
"""Doubles by the invariant that names what is wrong with them."""
