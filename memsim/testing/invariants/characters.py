"""Text: whatever characters were said, they are kept as they are, whole, at any length."""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from dataclasses import replace
from datetime import timedelta

from memsim.context import escaped
from memsim.errors import BudgetUnsatisfiable, ModelError
from memsim.message import EPOCH, Message, Role, Text, ToolResult, ToolUse, said
from memsim.testing.check_cases import Case, CaseTurn
from memsim.testing.generators.awkward_texts import CLUSTERS, INVISIBLE
from memsim.testing.invariant_catalogue import Violation, holds
from memsim.testing.invariants.structure import at
from memsim.testing.isolated_subject import calls_in_processes
from memsim.testing.worlds import Trial

_FLAGS = ("\U0001f1f3\U0001f1f4", "\U0001f1e9\U0001f1ea")
_WHOLE = sorted({*_FLAGS, *CLUSTERS, "e\u0301", "\u00e9"}, key=len, reverse=True)
_PARTS = frozenset("".join(CLUSTERS)) - frozenset("e")
_REPLACEMENT = "\ufffd"
"""What a decoder puts in the place of bytes that it cannot read; nobody says it here."""


@holds(29, "for all texts t in H': t encodes as UTF-8, and no grapheme cluster of H is split")
def well_formed(trial: Trial) -> int:
    """Every text can be encoded, and no character as readers see it is cut in two.

    Fails, for example, where a text is cut to 500 code points in the middle of a family.

    To mend it, cut with `memsim.language.graphemes.head` or `tail`.
    """
    seen = 0
    known = {m.text for m in trial.transcript.said}
    halves = frozenset(c for text in known if not text.isascii() for c in _halves(text))
    for sight in trial.transcript.served:
        for message in sight.messages:
            text = message.text
            if text.isascii() or text in known:
                seen += not text.isascii()
                continue
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                raise Violation(f"{at(sight)}: {message.id} cannot be encoded") from None
            if _REPLACEMENT in text and not trial.main.model.bad:
                raise Violation(f"{at(sight)}: {message.id} has bytes that were no character")
            seen += any(cluster in text for cluster in _WHOLE)
            if _halves(text) - halves:
                raise Violation(f"{at(sight)}: {message.id} has a part of a character only")
    return seen


def _halves(text: str) -> frozenset[str]:
    """Code points that stand outside of the clusters that they belong to."""
    for cluster in _WHOLE:
        text = text.replace(cluster, "\n")
    return _PARTS.intersection(text)


@holds(30, "for all kept m: code points of m in H' = code points of m in H")
def invisible_fidelity(trial: Trial) -> int:
    """Zero-width and bidirectional characters, NUL and the like stay in what is kept.

    Fails, for example, where a NUL ends a text in a database, or a name is normalised to NFC.
    """
    seen = 0
    for sight in trial.transcript.served:
        spoken = {m.id: m for m in trial.transcript.said[: sight.said]}
        for message in sight.messages:
            for source in message.verbatim:
                known = spoken.get(source)
                if known is None or not any(c in known.text for c in (*INVISIBLE, *CLUSTERS)):
                    continue
                seen += 1
                if known.text not in message.text and escaped(known.text) not in message.text:
                    raise Violation(f"{at(sight)}: {source} lost characters that nobody sees")
    return seen


@holds(31, "work(2n) <= 2.5 work(n), work in calls of functions")
def scale(trial: Trial) -> int:
    """Twice the conversation takes about twice the work, and not four times.

    Fails, for example, where every new message counts all earlier ones anew.
    """
    if not trial.one_of(25, 7):
        return 0
    first = 1_000_000 + trial.case.budget * 1_000
    one, two = (_work(trial, size, first + 2 * size) for size in (80, 160))
    if two > 2.5 * one + 2_000:
        raise Violation(f"80 turns take {one:,} calls of functions, and 160 take {two:,}")
    return 1


def _work(trial: Trial, turns: int, first: int) -> int:
    # So little that every design that compacts has begun to, early on.
    case = replace(trial.case, events=long(turns, first), behaviour="good", budget=200)
    world = trial.world(case)
    return counted(lambda: _told(world.play, case))


def _told(play: Callable[[tuple[CaseTurn, ...]], object], case: Case) -> None:
    play(case.turns)


def long(turns: int, first: int) -> tuple[CaseTurn, ...]:
    """A conversation of so many turns without replies, so that it is asked for no context.

    Args:
        turns: how many.
        first: number of the first parcel; what was said before is remembered, and costs nothing.
    """
    return tuple(
        CaseTurn(
            number=n,
            who="ana",
            session="ana-1",
            time=EPOCH + timedelta(minutes=n),
            heard=(
                said(
                    "user",
                    f"Parcel {first + n} went to Oslo and cost {10_000_000 - first - n} euros.",
                    id=f"m{n}",
                    principal="ana",
                    session="ana-1",
                    turn=n,
                    time=EPOCH + timedelta(minutes=n),
                ),
            ),
        )
        for n in range(1, turns + 1)
    )


def counted(work: Callable[[], object]) -> int:
    """How many Python functions are called by some work, or by the strategy in its process."""
    theirs = calls_in_processes(work)
    if theirs is not None:
        return theirs
    before = sys.getprofile()
    profile = Profile(builtins=False)
    profile.enable()
    try:
        work()
    finally:
        profile.disable()
        sys.setprofile(before)
    return sum(entry.callcount for entry in profile.getstats())


@holds(32, "n in {0, 1}, only system, only tools, m > B, 500 calls, empty: no untyped error")
def degenerates(trial: Trial) -> int:
    """Whatever a conversation consists of, nothing is raised but what is meant to be.

    Fails, for example, where the first message of all is a tool's result, and the window is empty.
    """
    _calm(trial.main.transcript.crashed, trial.main.transcript.failed, trial.case)
    kinds = sorted(DEGENERATES)
    kind = kinds[(trial.case.budget + len(trial.case.messages)) % len(kinds)]
    case = replace(trial.case, events=DEGENERATES[kind](), behaviour="good")
    world = trial.played(case)
    for who in ("ana", "ben"):
        if not world.over:
            world.ask("Where is the order?", who)
    _calm(world.transcript.crashed, world.transcript.failed, case, f"{kind}: ")
    return 1


def _calm(crashed: str, failed: Exception | None, case: Case, where: str = "") -> None:
    if crashed:
        raise Violation(f"{where}it raised {crashed}")
    meant = isinstance(failed, BudgetUnsatisfiable) or (
        isinstance(failed, ModelError) and case.behaviour == "raising"
    )
    if failed is not None and not meant:
        raise Violation(f"{where}it raised {type(failed).__name__}: {failed}")


def _spoken(
    *messages: tuple[Role, tuple[Text | ToolUse | ToolResult, ...]],
) -> tuple[CaseTurn, ...]:
    made = [
        Message(id=f"m{n}", role=role, blocks=blocks, principal="ana", session="ana-1", turn=1)
        for n, (role, blocks) in enumerate(messages, 1)
    ]
    heard = tuple(m for m in made[:1])
    turn = CaseTurn(
        number=1, who="ana", session="ana-1", time=EPOCH, heard=heard, reply=tuple(made[1:])
    )
    return (turn,)


def _parallel() -> tuple[CaseTurn, ...]:
    uses = tuple(ToolUse(id=f"c{n}", name="look", arguments="{}") for n in range(60))
    results = tuple(ToolResult(id=f"c{n}", text="row") for n in range(60))
    return _spoken(("user", (Text("Go."),)), ("assistant", uses), ("tool", results))


DEGENERATES: dict[str, Callable[[], tuple[CaseTurn, ...]]] = {
    "nothing": lambda: (),
    "one message": lambda: _spoken(("user", (Text("Hello."),))),
    "only a system message": lambda: _spoken(("system", (Text("Be brief."),))),
    "only tools": lambda: _spoken(
        ("assistant", (ToolUse(id="c", name="look", arguments="{}"),)),
        ("tool", (ToolResult(id="c", text="row"),)),
    ),
    "a result that nobody asked for": lambda: _spoken(("tool", (ToolResult(id="c", text="row"),))),
    "one message above any budget": lambda: _spoken(("user", (Text("word " * 20_000),))),
    "sixty calls at once": _parallel,
    "no words at all": lambda: _spoken(("user", (Text(""),)), ("assistant", (Text(""),))),
    "a message without blocks": lambda: _spoken(("user", (Text("Hi."),)), ("assistant", ())),
}
