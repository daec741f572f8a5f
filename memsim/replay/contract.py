"""Check the invariants of every context that is sent while a case is played.

After a broken invariant the measurement would be meaningless. A strategy that breaks its contract,
or a promise of its class attributes, raises `StrategyError`, which ends the case. An invariant that
only this harness can break raises `InvariantError`, which stops the run with an internal error.

==========  ========================================================================================
Invariant   Watched here
==========  ========================================================================================
1           no half of a tool pair is sent to a model
5           a standing rule that is shown is the one that was said; none is missing where a strategy
            says that they stay (`keeps_system`)
8           the latest messages are there, as far as they fit, where it says how many stay (`tail`)
11          cutting to a budget touches nothing that is never cut, which is where pins are shown
15          what is sent is within its budget, or only what is never cut is left of it; nothing
            costs less than no tokens
21          a compaction covers nothing that was not said
45          no memory but the control for it is told which messages hold the answer
46, 48      who said a message is whose turn it is, and nothing else
47          nobody asks without being somebody
49          what somebody grants is their own
==========  ========================================================================================

`memsim check` holds what cannot be seen from outside: pins, and coverage that must not shrink. A
context that shows another principal's entries is a leak, which is counted and is no error. That a
question changes nothing is checked by `ProbePlayer.check_purity`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable

from memsim.context import NEVER_TRIMMED, SECTIONS, Context, wrong_name
from memsim.errors import StrategyError
from memsim.message import Message
from memsim.scenario.script import Fact
from memsim.strategy import Event, Query, Strategy

_WITH_SUMMARIES = frozenset({"summary", "window"})


class InvariantError(AssertionError):
    """The harness broke an invariant of its own; the message says which."""


class Watch:
    """Checks the contexts and events of one case.

    Attributes:
        whose: the principal whose turn it is.
    """

    __slots__ = (
        "_composed",
        "_is_isolated",
        "_kind",
        "_latest",
        "_owners",
        "_rules",
        "_said",
        "_tail",
        "_with_rules",
        "whose",
    )

    def __init__(self, said: Container[str]) -> None:
        self.whose = ""
        self._said = said
        self._composed: set[str] = set()
        self._kind: type = object
        self._tail = 0
        self._with_rules = self._is_isolated = False
        self._rules: dict[str, Message] = {}
        self._owners: dict[str, str] = {}
        self._latest: deque[tuple[Message, int]] = deque()

    def planted(self, fact: Fact) -> None:
        """Note the owner of a fact that is about to be stated."""
        self._owners[fact.source] = fact.principal

    def check_message(self, message: Message, tokens: int, strategy: Strategy) -> None:
        """Check a message that is about to be observed."""
        if message.principal != self.whose:
            raise InvariantError(
                f"{message.id} is {message.principal}'s, and the turn is {self.whose}'s"
            )
        if type(strategy) is not self._kind:
            self._promised(type(strategy))
        if message.role == "system":
            self._rules[message.id] = message
        if self._tail:
            self._latest.append((message, tokens))
            while len(self._latest) > self._tail:
                self._latest.popleft()

    def check_context(self, context: Context, query: Query) -> None:
        """Check a context against the contract and the promises of the strategy's class."""
        sure = context.confidence
        if sure is not None and not 0 <= sure <= 1:
            raise StrategyError(f"the confidence of a context is {sure!r}: 0 to 1, or None")
        for section in context.sections:
            if section.layer not in SECTIONS and (wrong := wrong_name(section.layer)):
                raise StrategyError(wrong)
            if section.tokens < 0:
                raise StrategyError(f"the section {section.layer} has {section.tokens} tokens")
            # A summary of the middle of a conversation stands in its window.
            if section.layer in _WITH_SUMMARIES:
                self._composed.update(m.id for m in section.messages if m.composed)
        if self._rules:
            self._has_rules(context, query)
        if self._latest:
            self._is_there(context, query)

    def check_events(self, events: Iterable[Event]) -> None:
        """Check that logged compactions cover messages that exist."""
        for event in events:
            if event.kind == "compaction":
                for source in event.sources:
                    if source not in self._said and source not in self._composed:
                        raise StrategyError(f"a compaction covers {source}, which nobody said")

    def check_grant(self, owner: str, sources: Iterable[str]) -> None:
        """Check that a principal grants only their own messages."""
        for source in sources:
            if self._owners.get(source, owner) != owner:
                raise InvariantError(f"{owner} grants {source}, which is {self._owners[source]}'s")

    def forgot(self, sources: Iterable[str]) -> None:
        """Stop expecting messages that were erased on request."""
        gone = frozenset(sources)
        for source in gone & self._rules.keys():
            del self._rules[source]
        self._latest = deque((m, tokens) for m, tokens in self._latest if m.id not in gone)

    def lost(self) -> None:
        """Stop expecting messages that a restart lost."""
        self._rules.clear()
        self._latest.clear()

    def _promised(self, kind: type) -> None:
        # Of its class: what an instance has by such a name may be anything.
        self._kind = kind
        tail = getattr(kind, "tail", None)
        self._tail = tail if isinstance(tail, int) else 0
        self._with_rules = getattr(kind, "keeps_system", None) is True
        self._is_isolated = getattr(kind, "isolates", None) is True

    def _has_rules(self, context: Context, query: Query) -> None:
        shown: list[str] = []
        for section in context.sections:
            for message in section.messages:
                if message.role == "system" and not message.composed:
                    rule = self._rules.get(message.id, message)
                    if rule is not message and rule != message:
                        raise StrategyError(f"the rule {rule.id} is not shown as it was said")
                    shown.append(message.id)
        if self._with_rules:
            self._are_kept(shown, query)

    def _are_kept(self, shown: list[str], query: Query) -> None:
        due = [i for i, rule in self._rules.items() if rule.principal == query.principal]
        mine = frozenset(due)
        if [i for i in shown if i in mine] != due:
            gone = sorted(mine.difference(shown))
            what = f"{gone} are gone" if gone else f"{due} are out of order"
            raise StrategyError(f"it says that standing rules stay (keeps_system), and {what}")

    def _is_there(self, context: Context, query: Query) -> None:
        everybodys = not self._is_isolated
        latest = [p for p in self._latest if everybodys or p[0].principal == query.principal]
        # Half a pair goes with its other half, and one cannot tell which that is from here.
        if any(m.role == "tool" or m.calls for m, _ in latest):
            return
        firm = sum(s.tokens for s in context.sections if s.layer in NEVER_TRIMMED)
        if 2 * sum(tokens for _, tokens in latest) > query.budget - firm:
            return
        there = context.verbatim
        gone = [m.id for m, _ in latest if m.id not in there]
        if gone:
            raise StrategyError(
                f"it says how many latest messages stay (tail), and {gone} are gone"
            )


def watch_asked(query: Query, strategy: Strategy) -> None:
    """Check that a question has a principal, and that only the control gets its evidence."""
    if not query.principal:
        raise InvariantError(f"{query.text!r} is asked by nobody")
    if query.evidence and strategy.control != "evidence":
        raise InvariantError(f"{query.text!r} tells which messages hold the answer")
    if query.sent is not None and strategy.control != "recorded":
        raise InvariantError(f"{query.text!r} tells what the recorded agent sent")


def watch_fitted(shown: Context, fitted: Context, budget: int) -> None:
    """Check that a trimmed context keeps to the budget.

    It may exceed the budget only when all that is left is never trimmed. Trimming adds nothing, and
    removes nothing that is never trimmed.
    """
    if fitted is shown:
        if shown.tokens > budget:
            raise InvariantError("a context over its budget was sent as it is")
        return
    if fitted.tokens > budget and any(s.layer not in NEVER_TRIMMED for s in fitted.sections):
        raise InvariantError("a context was sent over its budget, and could have been cut")
    kept = [s for s in fitted.sections if s.layer in NEVER_TRIMMED]
    if kept != [s for s in shown.sections if s.layer in NEVER_TRIMMED and s.messages]:
        raise InvariantError("what is never cut was changed")
    there = {id(m) for s in shown.sections for m in s.messages}
    if not all(id(m) in there for s in fitted.sections for m in s.messages):
        raise InvariantError("cutting a context added to it")


def watch_sent(messages: tuple[Message, ...]) -> None:
    """Check that tool calls and results come in pairs; the last message's calls may be open."""
    if not any(m.role == "tool" or m.calls for m in messages):
        return
    called = {c for m in messages for c in m.calls}
    answered = {r for m in messages for r in m.results} | set(messages[-1].calls)
    if called != answered:
        raise InvariantError(
            "a tool call was sent without its result, or a result without its call"
        )
