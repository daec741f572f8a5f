"""Non-interference: what others have in the same memory changes no byte of what one sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.lockstep import FILLINGS, Filling, differences
from memsim.message import said
from tests.memory.remembering import Remembering

CASES = {"some": 50, "same": 50, "keys": 48, "many": 2}


@pytest.mark.parametrize("filling", FILLINGS)
def test_the_others_data_change_no_byte_of_what_one_sees(filling: Filling) -> None:
    """Contexts, answers, orders, scores and errors are those of a memory of one's own."""
    for seed in range(CASES[filling]):
        looked, found = differences(20_000 + seed, filling, vectors=seed % 4 == 3)
        assert looked
        assert [] == found


# -- together in one conversation, and alone in another

Place = Literal["both", "some", "alone", "elsewhere"]
"""Conversations of ana's: ben takes part in the first, and may read some messages of the second."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that ana does, or ben.

    Attributes:
        text: what is said; empty where ana forgets what she said last in that conversation.
        place: in which.
        who: by whom.
        shared: whether ben may read it, though he does not take part.
        over: whether the turn ends, and when the next begins.
    """

    text: str
    place: Place = "both"
    who: Literal["ana", "ben"] = "ana"
    shared: bool = False
    over: Literal["no", "soon", "late"] = "soon"


BERGEN, OSLO, TEA = "My city is Bergen.", "My city is Oslo.", "My city has tea."
TEXTS = (BERGEN, OSLO, TEA, "My tea is green.", "My tea is black.")

_overs = st.sampled_from(("soon", "no", "late"))
_both = st.builds(
    Step, st.sampled_from(TEXTS), who=st.sampled_from(("ana", "ana", "ben")), over=_overs
)
_some = st.builds(Step, st.sampled_from(TEXTS), st.just("some"), shared=st.booleans(), over=_overs)
_alone = st.builds(
    Step, st.sampled_from((*TEXTS, "")), st.sampled_from(("alone", "elsewhere")), over=_overs
)

HELLO = Step("Hello.", who="ben")


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.one_of(_both, _some, _alone), min_size=3, max_size=9))
@example(steps=[HELLO, Step(BERGEN), Step(OSLO, "alone")])
@example(steps=[HELLO, Step(BERGEN), Step(OSLO, "alone"), Step(BERGEN)])
@example(steps=[HELLO, Step(BERGEN), Step(BERGEN, "alone"), Step("", "alone"), Step(OSLO)])
@example(steps=[HELLO, Step(BERGEN, "alone"), Step(BERGEN)])
@example(steps=[HELLO, Step(TEA), Step("My tea is green.", "alone")])
@example(
    steps=[Step(BERGEN, "some", shared=True), Step(OSLO, "some"), Step(TEA, "some", shared=True)]
)
def test_what_one_says_elsewhere_changes_nothing_for_whom_one_talks_to(steps: list[Step]) -> None:
    """Neither that it is said nor what: there, all that ben sees is as if it had not been."""
    for one, other in zip(_views(steps, told=False), _views(steps, told=True), strict=True):
        assert one == other


def _views(steps: Sequence[Step], *, told: bool) -> Iterator[str]:
    """What ben sees after each step and after a restart, with or without what he was not told."""
    it = Remembering()
    last: dict[Place, str] = {}
    for number, step in enumerate(steps):
        it.clock.advance(timedelta(minutes=1))
        if not step.text:
            it.memory.end_turn()  # it records what its principal said, which is for a turn to do
        if told or step.place == "both" or step.shared:
            _take(it, step, number, last)
        if step.over != "no":
            it.memory.end_turn()
            it.clock.advance(timedelta(minutes=5) if step.over == "soon" else timedelta(days=2))
            it.memory.elapse(it.clock.now())
        yield _view(it)
    yield _view(it.again())


def _take(it: Remembering, step: Step, number: int, last: dict[Place, str]) -> None:
    if not step.text:
        it.memory.forget(step.who, [last.get(step.place, "none")])
        return
    name = last[step.place] = f"m{number}"
    if step.shared:
        it.memory.share(step.who, "ben", [name])
    it.memory.observe(
        said(
            "user",
            step.text,
            id=name,
            principal=step.who,
            session=step.place,
            turn=number,
            time=it.clock.now(),
        )
    )


def _view(it: Remembering) -> str:
    memory = it.memory
    contexts = [
        memory.context(text, principal="ben", session=session, budget=256)
        for text in ("Which city is it?", "tea")
        for session in ("both", "ben's")
    ]
    found = [(f.entry, f.score) for f in memory.search("city tea", principal="ben")]
    facts, episodes = memory.semantic.in_force("ben"), memory.episodic.episodes("ben")
    return repr((contexts, found, [*memory.entries("ben")], facts, episodes))
