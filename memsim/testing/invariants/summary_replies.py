"""Replies of a model that are no summaries: none is shown, and none takes a message away."""

from __future__ import annotations

import re
from dataclasses import replace

from memsim.message import Message
from memsim.models import Request
from memsim.testing.check_cases import Behaviour, Case
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.structure import at
from memsim.testing.model_behaviours import SIGNS, BadReply
from memsim.testing.worlds import Trial, World

PLENTY = 1 << 20
"""Tokens into which everything fits that a case says."""

_WORD = re.compile(r"\w{3,}")


@holds(24, "L writes t, t no summary => t in no context; what t stood for is written again")
def bad_summaries_are_refused(trial: Trial) -> int:
    """No refusal, half sentence or empty text is taken for a summary, and nothing is lost by one.

    What was to be summarised stays, or is summarised once the model writes again. Fails, for
    example, where `I can't help with that` stands in the place of ten messages.

    To mend it, keep the messages when a reply is blank, cut off or a refusal, and ask again later.
    """
    if not trial.main.model.written:
        return 0
    seen = 0
    if trial.main.model.bad:
        seen += _nothing_is_shown(trial.main)
    world = trial.world(_with_faults(trial.case))
    until = len(trial.case.events) * (3 if _phase(trial.case) == 2 else 2) // 4
    world.play(trial.case.events[:until])
    seen += _nothing_is_shown(world)
    failures, asked = list(world.model.bad), len(world.model.requests)
    world.model.behave("good")
    world.play(trial.case.events[until:])
    return seen + _nothing_is_lost(world, failures, world.model.requests[asked:])


_FAULTS: tuple[Behaviour, ...] = ("refusal", "cut", "blank", "refusal", "empty", "cut", "garbage")


def _with_faults(case: Case) -> Case:
    """The case with a fault of the model; other cases have other faults, at another time."""
    number = len(case.messages) + case.budget
    good_first = len(case.turns) * _phase(case) // 6
    return replace(case, behaviour=_FAULTS[number % len(_FAULTS)], good_first=good_first)


def _phase(case: Case) -> int:
    """When the model fails: 0 from the beginning, 1 and 2 later, so that summaries are there."""
    return (len(case.messages) + case.budget) % 3


def _nothing_is_shown(world: World) -> int:
    seen = 0
    behaviour = world.case.behaviour
    for sight in world.transcript.served:
        said = {m.id: m for m in world.transcript.said[: sight.said]}
        for message in (m for m in sight.messages if m.composed):
            seen += 1
            sign = SIGNS.get(behaviour, "")
            if sign and sign in message.text:
                raise Violation(
                    f"{at(sight)}: {message.id} shows a reply that is {behaviour}, and no summary"
                )
            if behaviour in {"empty", "blank"} and _is_hollow(message, said):
                raise Violation(f"{at(sight)}: {message.id} holds no word of what it stands for")
    return seen


def _is_hollow(message: Message, said: dict[str, Message]) -> bool:
    words = {w for i in message.derived_from if i in said for w in _words(said[i])}
    shortened = message.id in message.derived_from
    return (
        bool(words) and not message.quotes and not shortened and words.isdisjoint(_words(message))
    )


def _words(message: Message) -> set[str]:
    return set(_WORD.findall(message.text.casefold()))


def _nothing_is_lost(world: World, failures: list[BadReply], since: list[Request]) -> int:
    """Whether what bad replies stood for is there, or was summarised since the model recovered."""
    if world.over:
        return 0
    later = [r for r in since if r.task == "summarise"]
    again = {i for r in later for m in r.messages for i in (*m.verbatim, *m.derived_from)}
    last = {(m.principal, m.session): m.id for r in later for m in r.messages}
    seen = 0
    for failure in failures:
        meant = [m for m in failure.request.messages if _WORD.search(m.text)]
        # Whoever summarised what came later in the conversation has had the chance to.
        if failure.request.task != "summarise" or not meant:
            continue
        if (meant[-1].principal, meant[-1].session) not in last:
            continue
        seen += 1
        gone = [m for m in meant if m.id not in again and not m.composed]
        lost = [m.id for m in gone if m.id not in _accounted(world, m)]
        if lost:
            raise Violation(
                f"a summary that was {world.case.behaviour} took {lost[:3]} away, and they are in"
                " no later one"
            )
    return seen


def _accounted(world: World, message: Message) -> frozenset[str]:
    """Ids of what is shown, held or told to be gone; the message is asked for in its own words."""
    seen = set(world.transcript.forgotten)
    for ended in world.transcript.ends:
        seen |= {i for e in ended.events if e.kind != "compaction" for i in e.sources}
    if "surfaces" in world.subject.claims.has:
        seen |= {i for s in world.memory.surfaces() if s.tier != "summary" for i in s.sources}
    for budget in (PLENTY, world.case.budget):
        context = world.ask(message.text, message.principal, budget=budget).context
        seen |= context.verbatim | context.derived
    return frozenset(seen)
