"""Refusals: an error names nothing of others, and nobody is crowded out by them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from memsim.message import said
from memsim.strategy import Forget, Grant
from memsim.testing.check_cases import Case, CaseTurn
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.isolation import observer
from memsim.testing.views import CODE, WIDE
from memsim.testing.worlds import Trial, World


@holds(49, "for all errors e told to A: e holds no name, id of a session, path or code of B")
def errors_name_nobody_else(trial: Trial) -> int:
    """An error that somebody gets names no other person, none of their texts, and no path.

    Fails, for example, where `too large` is said of the file of another, with its path.

    To mend it, say in an error what was asked for, and nothing that was found on the way.
    """
    if not trial.one_of(4, 3) or len(trial.case.principals) < 2 or trial.main.over:
        return 0
    seen = 0
    world = trial.played()
    folder = world.folder_name
    for who in trial.case.principals:
        theirs = [p for p in trial.case.principals if p != who]
        codes = {c for m in trial.case.messages if m.principal != who for c in CODE.findall(m.text)}
        for asked, told in _errors(world, trial.case, who, theirs[0]):
            seen += 1
            left = told.replace(asked, "")
            named = [p for p in theirs if re.search(rf"\b{re.escape(p)}\b", left)]
            named += sorted(codes & set(CODE.findall(left)))
            if folder and folder in told:
                named.append("its folder's path")
            if named:
                raise Violation(f"{who} is told of {named[0]} in an error: {left[:120]!r}")
    return seen


def _errors(world: World, case: Case, who: str, other: str) -> Iterator[tuple[str, str]]:
    """Texts of the errors that somebody can provoke, each with what they asked."""
    foreign = [m.id for m in case.messages if m.principal == other][:2]
    memory = world.memory
    for budget in (0, 1, 5, 16, 40):
        query = world.query(case.questions[0], who, budget=budget)
        yield from _told("", lambda query=query: memory.context(query).ranked())  # type: ignore[misc]
    handles = (*foreign, "m999999", "../x", "")
    for handle in handles:
        query = world.query(handle, who, budget=WIDE)
        request = Forget(principal=who, text="", sources=(handle,))
        grant = Grant(owner=who, viewer=case.principals[-1], sources=(handle,))
        for call in (
            lambda query=query, handle=handle: memory.locate(handle, query),
            lambda request=request: memory.forget(request),
            lambda grant=grant: memory.grant(grant),
        ):
            yield from _told("\0", call)
    yield from _told("\0", lambda: memory.call_tool("no_such_tool", "{}", who))
    for tool in memory.tools(who):
        names = json.loads(tool.parameters).get("properties", {})
        for handle in (*handles[:3], other):
            given = json.dumps(dict.fromkeys(names, handle))
            yield from _told(handle, lambda: memory.call_tool(tool.name, given, who), results=True)  # noqa: B023
        yield from _told("\0", lambda: memory.call_tool(tool.name, "{", who), results=True)  # noqa: B023


def _told(
    asked: str, call: Callable[[], object], *, results: bool = False
) -> Iterator[tuple[str, str]]:
    try:
        answer = call()
    except Exception as error:  # noqa: BLE001 - whatever it raises, its text is looked at
        yield asked or "\0", f"{error} {error.__cause__ or ''}"
    else:
        if results and str(answer).startswith("Error"):
            yield asked or "\0", str(answer)


@holds(46, "for all n: obs_A after n messages of others = obs_A before", "isolation")
def nobody_is_crowded_out(trial: Trial) -> int:
    """However much others say, in many conversations, one is shown what one was shown before.

    Fails, for example, where a memory holds a thousand messages, whoever said them.

    To mend it, count limits for each principal.
    """
    who = observer(trial.case)
    if who is None or trial.main.over or not trial.one_of(14, 4):
        return 0
    world = trial.played(replace(trial.case, behaviour="good"))
    texts = (*trial.case.questions, "My order, please?", "What is the door code?")
    asked = [world.query(text, who, budget=b) for text in texts for b in (400, WIDE)]
    before = [world.context_text(query) for query in asked]
    world.play(_flood(trial.case, who))
    if world.over:
        return 0
    world.clock.set(trial.case.now)
    for query, text in zip(asked, before, strict=True):
        if world.context_text(query) != text:
            raise Violation(f"after much that others said, {who} is shown something else")
    return len(asked)


FLOOD = 60
"""Turns of others, of twenty messages each."""


def _flood(case: Case, who: str) -> Iterator[CaseTurn]:
    loud = next(p for p in case.principals if p != who)
    last = case.turns[-1].number
    for n in range(FLOOD):
        speaker = loud if n % 2 else f"p{n}"
        given = {
            "principal": speaker,
            "session": f"{speaker}-{n}",
            "turn": last + n,
            "time": case.now + timedelta(seconds=n),
        }
        heard = tuple(
            said("user", f"My order is K-{n}-{m}, to Oslo.", id=f"flood{n}-{m}", **given)  # type: ignore[arg-type]
            for m in range(20)
        )
        yield CaseTurn(
            number=last + n,
            who=speaker,
            session=f"{speaker}-{n}",
            time=case.now + timedelta(seconds=n),
            heard=heard,
        )
