"""Models and embedders that fail in the middle: a typed error or an answer, never silence."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final, get_args

import pytest

from memsim.message import EPOCH, said
from memsim.models import Reply
from memsim.models.embedding import CachedEmbedder, HashEmbedder
from memsim.testing import Case, Turn, World
from memsim.testing.checking import subject_of
from memsim.testing.faults import Mode, Schedule
from memsim.testing.faults.models import EmbedderFault, FailingEmbedder, FailingModel

EMBEDDING: Final = ("vector", "hybrid", "layered", "agenticx", "aegis", "prx")
ASKING: Final = (
    "rolling_summary",
    "layered:summary=on",
    "cogtrix",
    "agenticx",
    "agentscope",
    "aegis",
)
REPLIES: Final = {
    "raising": None,
    "empty": Reply(text=""),
    "blank": Reply(text=" \n\t"),
    "refusal": Reply(text="I'm sorry, but I can't help with that."),
    "truncated": Reply(text="The order num"),
    "garbage": Reply(text="\x00\x01\ufffd"),
    "longer": Reply(text="It went on and on, and then on. " * 400),
}


def case(budget: int) -> Case:
    """Six turns, each with something to remember."""

    def turn(n: int) -> Turn:
        at = EPOCH + timedelta(hours=n)
        text = f"My order number {n} is A-{7 * n}, and it goes to street {n} in the old town."
        heard = said("user", text, id=f"m{n}", principal="ana", turn=n, time=at)
        reply = said("assistant", "Noted.", id=f"r{n}", principal="ana", turn=n, time=at)
        return Turn(number=n, who="ana", session="s1", time=at, heard=(heard,), reply=(reply,))

    return Case(events=tuple(turn(n) for n in range(1, 7)), budget=budget)


def looked(world: World) -> None:
    """What was raised is typed; who was not stopped shows something."""
    world.play(world.case.events)
    shown = None if world.over else world.ask("What is my order number 6?", "ana")
    world.close()
    assert world.transcript.crashed == ""
    if shown is not None and not world.over:
        assert shown.messages


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("fault", get_args(EmbedderFault))
@pytest.mark.parametrize("ref", EMBEDDING)
def test_an_embedder_that_fails_is_told_or_done_without(
    ref: str, fault: EmbedderFault, mode: Mode
) -> None:
    """The first call, one in the middle: a strategy stops with an error, or goes on by words.

    What every embedder that is loaded by its name is wrapped in sees to it.
    """
    for at in (1, 4) if fault == "down" else (4,):
        broken = FailingEmbedder(HashEmbedder(), Schedule(at=at, mode=mode), fault)

        looked(World(subject_of(ref), case(600), embed=partial(CachedEmbedder, broken)))


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("fault", sorted(REPLIES))
@pytest.mark.parametrize("ref", ASKING)
def test_a_model_that_fails_is_told_or_done_without(
    ref: str, fault: str, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call, and the second: nothing but an error of memsim's own ever comes out."""
    for at in (1, 2):
        world = World(subject_of(ref), case(120))
        usual = world.model.complete
        broken = FailingModel(world.model, Schedule(at=at, mode=mode), REPLIES[fault])
        monkeypatch.setattr(broken, "_model", type("Usual", (), {"complete": staticmethod(usual)}))
        monkeypatch.setattr(world.model, "complete", broken.complete)

        looked(world)
