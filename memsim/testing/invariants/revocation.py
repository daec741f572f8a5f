"""Grants that are taken back, and messages that are forgotten: nothing of them lives on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from memsim.message import said
from memsim.strategy import Forget, Grant
from memsim.testing.check_cases import Case, CaseTurn
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.isolation import observer
from memsim.testing.views import CODE, WIDE, Answer, shown
from memsim.testing.worlds import Trial, World


def turn_of(who: str, number: int, case: Case, text: str, id: str = "") -> CaseTurn:  # noqa: A002 - as a message's
    """A further turn of somebody, in their latest session, with an answer."""
    session = next((t.session for t in reversed(case.turns) if t.who == who), f"{who}-1")
    time = case.now + timedelta(minutes=number)
    turn = case.turns[-1].number + number
    given = {"principal": who, "session": session, "turn": turn, "time": time}
    return CaseTurn(
        number=turn,
        who=who,
        session=session,
        time=time,
        heard=(said("user", text, id=id or f"later{number}", **given),),  # type: ignore[arg-type]
        reply=(said("assistant", "Noted.", id=f"answer{number}", **given),),  # type: ignore[arg-type]
    )


def _spoken(case: Case, who: str) -> list[tuple[str, str]]:
    """Ids and texts of what somebody said with a code in it."""
    own = (m for m in case.messages if m.principal == who and m.role == "user")
    return [(m.id, m.text) for m in own if CODE.search(m.text)]


@holds(50, "obs_V(revoke(grant(M))) = obs_V(M), caches and summaries included", "grants")
def revoked_is_gone(trial: Trial) -> int:
    """What was granted and taken back is shown no more, whoever asked while the grant held.

    Fails, for example, where a context that was cached while the grant held is sent once more.

    To mend it, drop what is cached or composed for the viewer whenever a grant changes.
    """
    who = observer(trial.case)
    if who is None or trial.main.over or not trial.one_of(3, 1):
        return 0
    owner = trial.case.principals[1]
    theirs = _spoken(trial.case, owner)
    meant = tuple(i for i, _ in theirs)
    if not theirs:
        return 0
    world = trial.played()
    asked = [world.query(text, who) for text in (*trial.case.questions, theirs[-1][1])]
    asked += [replace(query, budget=WIDE) for query in asked]
    before = [shown(world, query) for query in asked]
    for everything in (False, True):
        grant = Grant(owner=owner, viewer=who, sources=meant, everything=everything)
        for given in (grant, grant):
            world.memory.grant(given)
        for query in asked:
            shown(world, query)
        world.memory.grant(replace(grant, revoked=True))
        after = [shown(world, query) for query in asked]
        if [a.text for a in after] != [b.text for b in before]:
            raise Violation(f"{owner} took back what {who} was granted, and {who} can still tell")
    lent = Grant(owner=owner, viewer=who, sources=meant)
    lives_on = _living_on(world, trial.case, lent, before[-1])
    # Where everybody is shown it, it is no grant that lives on.
    if lives_on and not _living_on(trial.played(), trial.case, lent, before[-1], given=False):
        raise Violation(lives_on)
    return len(meant)


def _living_on(
    world: World, case: Case, grant: Grant, before: Answer, *, given: bool = True
) -> str:
    """Take back a grant under which the viewer went on talking; what is still shown of it."""
    who, meant = grant.viewer, frozenset(grant.sources)
    codes = {c for i, text in _spoken(case, grant.owner) if i in meant for c in CODE.findall(text)}
    if given:
        world.memory.grant(grant)
    world.play([turn_of(who, n, case, f"What is the code, please? ({n})") for n in (1, 2)])
    if given and not world.over:
        _asked_in_each_session(world, who, case)
        world.memory.grant(replace(grant, revoked=True))
    for step in ("", "after a restart ", "a turn later "):
        if world.over:
            return ""
        if step.startswith("after"):
            if "save" not in world.subject.claims.has:
                continue
            world.restart()
        elif step:
            world.play([turn_of(who, 3, case, "And what else is there?")])
        for seen in _asked_in_each_session(world, who, case):
            left = sorted((seen.ids & meant) - before.ids) or sorted(
                (seen.codes & codes) - before.codes
            )
            if left:
                return f"{grant.owner} took back {left[:3]}, and {step}{who} sees them"
    return ""


def _asked_in_each_session(world: World, who: str, case: Case) -> list[Answer]:
    """What somebody is shown in their latest session, and in their first one."""
    first = next(t.session for t in case.turns if t.who == who)
    latest = world.query("", who).session
    texts = ("Where is the order?", "What is the code of the door?")
    asked = [(text, session) for session in dict.fromkeys((latest, first)) for text in texts]
    return [shown(world, world.query(t, who, session=s, budget=WIDE)) for t, s in asked]


@holds(44, "forget(M, i) reports i => i is in no context, surface or saved state, nor its text")
def forgotten_is_gone(trial: Trial) -> int:
    """What a memory reports as forgotten is nowhere: not shown, not saved, not after a restart.

    Fails, for example, where messages are only marked as deleted, or a summary keeps their words.

    To mend it, erase the message, its copies and everything made from it before `forget` returns.
    """
    if not trial.one_of(4, 1) or trial.main.over:
        return 0
    seen = 0
    world = trial.played()
    for who in trial.case.principals:
        mine = _spoken(trial.case, who)
        if not mine or world.over:
            continue
        source, text = mine[len(mine) // 2]
        done = world.memory.forget(Forget(principal=who, text="", sources=(source,)))
        if source not in done.removed:
            continue
        seen += 1
        codes = frozenset(CODE.findall(text))
        for when in _moments(world, trial.case, who):
            where = _found(world, trial.case, source, codes)
            if where:
                raise Violation(f"{source} was forgotten, and {when}it is in {where}")
    return seen


def _moments(world: World, case: Case, who: str) -> Iterator[str]:
    yield ""
    if "save" in world.subject.claims.has and not world.over:
        world.restart()
        yield "after a restart "
    number = 1 + case.principals.index(who)
    world.play([turn_of(who, number, case, "What is the code of the door?", f"next{number}")])
    if not world.over:
        yield "a turn later "


def _found(world: World, case: Case, source: str, codes: frozenset[str]) -> str:
    for asker in case.principals:
        for text in (*case.questions, "What is the code of the door?"):
            seen = shown(world, world.query(text, asker, budget=WIDE))
            if source in seen.ids or codes & seen.codes:
                return f"the context of {asker}"
    if "surfaces" in world.subject.claims.has:
        for surface in world.memory.surfaces():
            if any(code in surface.text for code in codes):
                return f"the tier {surface.tier}"
    if "save" in world.subject.claims.has and any(code in world.saved() for code in codes):
        return "the saved state"
    return ""


@holds(42, "forget(M, i by A) removes i alone, and messages of A only; the rest is found as before")
def forgetting_spares_others(trial: Trial) -> int:
    """A request to forget takes away no other message, least of all what somebody else said.

    Fails, for example, where every message with the same words is erased, or places in a list are
    erased that have moved.

    To mend it, erase by the ids of the asker's own messages.
    """
    if not trial.one_of(4, 2) or trial.main.over or len(trial.case.principals) < 2:
        return 0
    who, *others = trial.case.principals
    mine = _spoken(trial.case, who)
    if not mine:
        return 0
    words = {CODE.sub("", text) for other in others for _, text in _spoken(trial.case, other)}
    mine.sort(key=lambda one: CODE.sub("", one[1]) not in words)  # what others say, too, first
    world = trial.played()
    # A call of a tool goes with its result, whosever turn that was.
    owner = {m.id: m.principal for m in trial.case.messages if m.role == "user"}
    kept = [(i, t) for o in others for i, t in _spoken(trial.case, o)]
    for sources, kept_now in (((mine[0][0],), [*kept, *mine[1:]]), ((), kept)):
        # What was found by a summary alone may go with the summary.
        there = {i for i, text in kept_now if i in _finds(world, owner[i], text).verbatim}
        request = Forget(principal=who, text="" if sources else mine[0][1], sources=sources)
        removed = world.memory.forget(request).removed
        foreign = [i for i in removed if owner.get(i, who) != who]
        if foreign:
            raise Violation(f"{who} made {foreign[:3]} of others go")
        there -= {*removed}  # one's own that were taken along are told
        gone = [i for i, t in kept_now if i in there - _finds(world, owner[i], t).ids]
        if gone:
            raise Violation(f"{who} had {list(sources)} forgotten, and {gone[:3]} go as well")
    return len(kept)


def _finds(world: World, who: str, text: str) -> Answer:
    return shown(world, world.query(text, who, budget=WIDE))


@holds(3, "forget(M, i); observe(m' with id i) => m' is kept, and what i was is not shown as it")
def ids_may_be_used_again(trial: Trial) -> int:
    """A message that has the id of a forgotten one is a message of its own.

    Fails, for example, where the new message is left out as known, or an entry made from the old
    one counts as made from the new one.

    To mend it, drop the id of a forgotten message wherever it is noted.
    """
    shows_evidence = trial.subject.claims.control == "evidence"
    if not trial.one_of(7, 3) or trial.main.over or shows_evidence:
        return 0
    who = trial.case.principals[0]
    mine = _spoken(trial.case, who)
    if not mine:
        return 0
    source, text = mine[0]
    found = [_again(trial, who, source, text, new) for new in (source, "unused")]
    if None in found:
        return 0
    if found[0] != found[1]:
        raise Violation(f"{source} was forgotten, and a new message with this id is not kept")
    return 1


def _again(trial: Trial, who: str, source: str, text: str, id: str) -> object:  # noqa: A002 - as a message's
    world = trial.played()
    done = world.memory.forget(Forget(principal=who, text="", sources=(source,)))
    if source not in done.removed:
        return None
    world.play([turn_of(who, 1, trial.case, "My new locker is K-0042.", id)])
    if world.over:
        return None
    seen = shown(world, world.query("What is my new locker?", who, budget=WIDE))
    return (id in seen.ids, "K-0042" in seen.codes, CODE.findall(text)[0] in seen.codes)
