"""Models and embedders that fail in the middle: a typed error or an answer, never silence."""

from __future__ import annotations

from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Final, get_args

import pytest

from memsim.memory import open_memory
from memsim.memory.permissions import Where
from memsim.message import EPOCH, said
from memsim.models.embedders import CachedEmbedder, HashEmbedder
from memsim.models.live import Call, Outage, ProviderAnswer
from memsim.models.live.model import LiveModel
from memsim.models.live.retry import RetryClient, RetryPolicy
from memsim.models.model_ref import LiveRef
from memsim.testing import Case, CaseTurn, World
from memsim.testing.faults import Mode, Schedule
from memsim.testing.subjects import subject_of
from tests.doubles.exploration import one_after_another
from tests.doubles.model_faults import (
    MODEL_FAULTS,
    EmbedderFault,
    FailingAsker,
    FailingEmbedder,
    FailingModel,
    ModelFault,
    OtherEmbedder,
)

EVERYTHING: Final = Where(reader=None, layers=frozenset({"episodic"}), archived=None)
EMBEDDING: Final = (
    *("vector", "hybrid", "layered", "cogtrix:window=2", "agenticx:longterm=mem0"),
    *("aegis:every=1", "prx"),
)
NAMING: Final = (
    *("vector", "hybrid", "layered:window=1", "cogtrix:window=2", "aegis:every=1"),
    "prx:fixed=true",
)
ASKING: Final = (
    "rolling_summary",
    "layered:summary=on",
    "cogtrix:window=2",
    "agenticx:threshold_messages=8",
    "agenticx:longterm=mem0",
    "agentscope:memory=autocontext,msg_threshold=6,last_keep=2",
    "agentscope:longterm=mem0",
    "agentscope:longterm=reme",
    "aegis:notes=on,every=2",
)
EVERYWHERE: Final = ("timeout", "empty")
"""What is tried at every call: an error, and a reply. The others are tried at one."""


subject = cache(subject_of)


def case(budget: int) -> Case:
    """Six turns, each with something to remember."""

    def turn(n: int) -> CaseTurn:
        at = EPOCH + timedelta(hours=n)
        text = f"My order number {n} is A-{7 * n}, and it goes to street {n} in the old town."
        heard = said("user", text, id=f"m{n}", principal="ana", turn=n, time=at)
        reply = said("assistant", "Noted.", id=f"r{n}", principal="ana", turn=n, time=at)
        return CaseTurn(number=n, who="ana", session="s1", time=at, heard=(heard,), reply=(reply,))

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
@pytest.mark.parametrize("ref", EMBEDDING)
def test_an_embedder_that_fails_is_told_or_done_without(
    ref: str, mode: Mode, subtests: pytest.Subtests
) -> None:
    """At whichever call: a strategy stops with an error, or goes on by words.

    What every embedder that is loaded by its name is wrapped in sees to it.
    """
    for fault in get_args(EmbedderFault):
        with subtests.test(fault=fault):
            failed = 0

            def attempt(schedule: Schedule, fault: EmbedderFault = fault) -> None:
                broken = FailingEmbedder(HashEmbedder(), schedule, fault)
                looked(World(subject(ref), case(600), embed=partial(CachedEmbedder, broken)))

            if fault == "down":
                for _ in one_after_another(attempt, mode):
                    failed += 1
            else:
                schedule = Schedule(at=2, mode=mode)
                attempt(schedule)
                failed += schedule.fired

            assert failed >= 1


def play(ref: str, fault: ModelFault, schedule: Schedule) -> None:
    """One play with a model that fails."""
    world = World(subject(ref), case(120))
    usual = world.model.complete

    class Usual:
        name = "usual"
        complete = staticmethod(usual)

    world.model.complete = FailingModel(Usual(), schedule, fault).complete  # type: ignore[method-assign]
    looked(world)


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("ref", ASKING)
def test_a_model_that_fails_is_told_or_done_without(
    ref: str, mode: Mode, subtests: pytest.Subtests
) -> None:
    """At whichever call: nothing but an error of memsim's own ever comes out."""
    for fault in get_args(ModelFault):
        with subtests.test(fault=fault):
            failed = 0
            if fault in EVERYWHERE:
                for _ in one_after_another(partial(play, ref, fault), mode):
                    failed += 1
            else:
                schedule = Schedule(at=1, mode=mode)
                play(ref, fault, schedule)
                failed += schedule.fired

            assert failed >= 1


def test_every_fault_of_a_model_comes_to_something() -> None:
    """An error or a reply for each name."""
    assert sorted(get_args(ModelFault)) == sorted(MODEL_FAULTS)


class Stub:
    """A provider that says one thing, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, call: Call) -> ProviderAnswer:
        """An answer."""
        self.asked += 1
        return ProviderAnswer(text="The order number 1 is A-7.")


@pytest.mark.parametrize("mode", ["transient", "persistent"])
@pytest.mark.parametrize("ref", ["rolling_summary", "layered:summary=on"])
def test_a_provider_that_fails_is_asked_again_a_bounded_number_of_times(
    ref: str, mode: Mode
) -> None:
    """At whichever call: what passes leaves no trace, what stays ends in one error, in no time."""
    waited: list[float] = []
    failures: list[object] = []

    def attempt(schedule: Schedule) -> None:
        provider = FailingAsker(Stub(), schedule, after=600.0)
        patience = RetryPolicy(attempts=3, longest=900.0)
        model = LiveModel(
            LiveRef(model="openai/gpt-4o-mini"),
            RetryClient(provider, patience=patience, wait=waited.append),
        )
        world = World(subject(ref), case(120))
        world.model.complete = model.complete  # type: ignore[method-assign]
        looked(world)
        failures.append(world.transcript.failed)
        assert len(schedule.seen) <= 3 * 20

    points = len(list(one_after_another(attempt, mode)))

    assert points >= 3
    assert len(waited) >= points
    assert min(waited) >= 600.0
    if mode == "transient":
        assert {None} == set(failures)
    else:
        assert all(error is None or isinstance(error, Outage) for error in failures)


def changed(ref: str) -> tuple[World, World]:
    """A memory whose embedder was replaced by one of the same dimension, and one that had it."""
    usual, other = CachedEmbedder(HashEmbedder()), CachedEmbedder(OtherEmbedder())
    before = World(subject(ref), case(600), embed=lambda: usual)
    before.play(before.case.events)
    native = World(subject(ref), case(600), embed=lambda: other)
    native.play(native.case.events)
    asked = Schedule()
    counted = FailingEmbedder(other, asked, "down")
    after = World(subject(ref), case(600), embed=lambda: counted)
    after.resume(before.saved(), before.case)
    for world in (native, after):
        world.ask("Which street does my order number 3 go to?", "ana")
        world.close()
    before.close()
    assert asked.seen
    return native, after


@pytest.mark.parametrize("ref", NAMING)
def test_vectors_of_another_model_are_made_anew(ref: str) -> None:
    """The same dimension, so that nothing but the name tells: they are never mixed."""
    native, after = changed(ref)

    assert [s.messages for s in native.transcript.sights][-1:] == [
        s.messages for s in after.transcript.sights
    ]


def test_prx_as_published_mixes_them() -> None:
    """It does not note whose vectors it has; `fixed` does."""
    native, after = changed("prx")

    assert native.transcript.sights[-1].messages != after.transcript.sights[-1].messages


def test_a_saved_memory_is_embedded_anew_by_another_model(tmp_path: Path) -> None:
    """As soon as it is asked by meaning: each entry is nearest to itself, by the vectors of now."""
    other = OtherEmbedder(16)
    for embedder in (HashEmbedder(16), other):
        memory = open_memory(tmp_path, now=lambda: EPOCH, embedder=embedder, tokenizer="chars/4")
        for turn in case(600).turns if embedder is not other else ():
            memory.observe(turn.heard[0])
            memory.end_turn()
        memory.context("My order number 3?", principal="ana", session="s2", budget=600)
        store = memory.vault.store
        said_by_ana = [e for e in memory.entries("ana") if e.layer == "episodic"]
        nearest = {
            e.text: store.nearest(embedder.embed([e.text])[0], EVERYTHING, 1)[0]
            for e in said_by_ana
        }
        memory.close()

        assert 6 == len(nearest)
        assert {e.text: e.id for e in said_by_ana} == {t: hit.id for t, hit in nearest.items()}
        assert min(hit.score for hit in nearest.values()) > 0.99
