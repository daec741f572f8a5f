"""The whole memory as a strategy: its switches, its tools, its sharing, and what it tells."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest

from memsim.errors import MemsimError
from memsim.memory.options import RecallPolicy
from memsim.message import TokenCounter, load_tokenizer, said
from memsim.models import Reply, Request
from memsim.models.registry import load_model
from memsim.strategy import Event, Forget, Grant
from tests.strategies.conversations import (
    Said,
    ask,
    held,
    play,
    probes,
    saved,
    scripted,
    strategy,
    talk,
)

REF = "layered:store=memory,window=3,k=4,vectors=off"


class Noting:
    """The offline model, which notes what it is asked for."""

    name = "noting"

    def __init__(self) -> None:
        self.tasks: set[str] = set()
        self._model = load_model("offline", TokenCounter(load_tokenizer("chars/4")))

    def complete(self, request: Request) -> Reply:
        """What the offline model says."""
        self.tasks.add(request.task)
        return self._model.complete(request)


@pytest.mark.parametrize(
    "wrong",
    [
        "summary=maybe",
        "mode=nobody",
        "store=paper",
        "window=0",
        "acl=1",
        "floor=2",
        "k=0",
        "half_life=1e99",
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong: str) -> None:
    """Before anything is said."""
    ref = f"layered:{wrong}" if "store" in wrong else f"layered:store=memory,{wrong}"
    with pytest.raises(MemsimError):
        strategy(ref)


def test_notes_last_longer_for_whose_context_they_were_in() -> None:
    """Whoever spoke last."""
    memory = strategy(f"{REF},mode=both")
    for number, who in enumerate(("ana", "ben")):
        time = memory.env.clock.now()
        memory.observe(said("user", "Hello.", id=f"m{number}", principal=who, time=time))
        memory.call_tool("scratchpad_write", '{"text": "call Bauer"}', who)
    shown: list[str] = []
    for _ in range(2):
        memory.env.clock.advance(timedelta(hours=20))
        context = memory.context(ask(memory, who="ana"))
        memory.delivered(context)
        shown.append(context.text())

    assert all("call Bauer" in text for text in shown)
    assert "call Bauer" not in memory.context(ask(memory, who="ben")).text()


DESK = scripted(
    [
        Said("ana", 60 * 24 * 3, "talk", "My desk is in room 1.", 1, 1),
        Said("ben", 60 * 24 * 3, "talk", "Ben sits near my desk, by the window.", 1, 1),
        Said("ana", 60 * 24 * 3, "talk", "The lamps in the hall are broken. " * 4, 1, 1),
        Said("ana", 60 * 24 * 3, "talk", "My desk is in room 2.", 1, 1),
        Said("ben", 60 * 24 * 3, "talk", "Lovely weather.", 1, 1),
        Said("ana", 60 * 24 * 3, "talk", "Where is the key?", 1, 1),
        Said("ana", 60 * 24 * 3, "talk", "Yes, the green one.", 1, 1),
    ]
)


def _desk(params: str = "") -> tuple[tuple[str, ...] | None, str]:
    """What is found, and what of it is quoted, for one question after one conversation."""
    memory = strategy(f"layered:window=1,acl=off,episodes=off,floor=0{params}", budget=600)
    play(memory, DESK)
    question = "What did Ben say on 14 January 2026 of the desk in room 1?"
    context = memory.context(replace(ask(memory, question, turn=7), session="s9")).ranked()
    return context.ranking, context.text()


@pytest.mark.parametrize(
    "param",
    [
        *(f"fusion={fusion}" for fusion in ("rrf", "zscore", "weights")),
        *("vector=1", "depth=2", "least=0.9", "least_cosine=0.4", "least_bm25=9"),
        *("neighbours=0", "lenders=1", "halving=0", "named=3", "dated=9", "half_life=1"),
        *("superseded=keep", "share=0.4", "sure=1"),
    ],
)
def test_each_parameter_of_recall_matters(param: str) -> None:
    """Each alone changes what is found, or its order, or what is quoted of it."""
    assert _desk() != _desk(f",{param}")


def test_recall_goes_by_its_policy_where_nothing_else_is_said() -> None:
    """The parameters have the defaults of the policy, whose names are theirs."""
    policy = RecallPolicy()
    names = [f.name for f in fields(policy) if f.name not in {"floor", "limit"}]

    assert _desk() == _desk("".join(f",{name}={getattr(policy, name)}" for name in names))


def test_each_sees_their_own_and_what_is_shared_with_them() -> None:
    """Until it is taken back; without access control, everybody sees everything."""
    memory, open_ = strategy(REF), strategy(f"{REF},acl=off")
    turns = talk("The code of my locker is 7741.", "Lovely weather.")
    for one in (memory, open_):
        play(one, turns)
    grant = Grant(owner="ana", viewer="ben", sources=("m1",))

    def seen() -> bool:
        query = replace(ask(memory, "code of the locker", who="ben"), session="s9")
        return "7741" in memory.context(query).text() and "m1" in held(memory, "ben")

    assert not seen()
    memory.grant(grant)
    assert seen()
    assert "m3" not in held(memory, "ben")
    memory.grant(replace(grant, revoked=True))
    assert not seen()
    assert held(open_, "ben") == held(open_, None)


def test_tools_are_offered_where_the_agent_has_a_say() -> None:
    """Not where the framework does it all."""
    assert () == tuple(strategy(REF).tools("ana"))
    memory = strategy(f"{REF},mode=agent")
    play(memory, talk("The code of my locker is 7741."))

    assert "memory_search" in {t.name for t in memory.tools("ana")}
    assert "7741" in memory.call_tool("memory_search", '{"query": "locker code"}', "ana")
    assert "7741" not in memory.call_tool("memory_search", '{"query": "locker code"}', "ben")
    query = replace(ask(memory, "locker code"), session="s9")
    assert () == memory.context(query).sections


@pytest.mark.parametrize(
    ("mode", "tasks", "layers"),
    [
        ("framework", {"extract", "summarise"}, {"episodic", "semantic"}),
        ("agent", set(), {"episodic", "long_term"}),
        ("both", {"extract", "summarise"}, {"episodic", "semantic", "long_term"}),
    ],
)
def test_the_mode_says_who_stores(mode: str, tasks: set[str], layers: set[str]) -> None:
    """Left to the agent, the framework asks no model, and keeps but what was said."""
    memory = strategy(f"{REF},mode={mode}", model=(model := Noting()))
    play(memory, talk("My name is Tom. I live in Graz.", *["And now?"] * 4))
    memory.call_tool("memory_store", '{"key": "home", "value": "Graz"}', "ana")

    assert tasks == model.tasks
    assert layers == {entry.tier for entry in memory.surfaces("ana")} - {"window"}


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_agents_have_a_workspace(store: str) -> None:
    """Wherever entries are kept."""
    memory = strategy(f"layered:vectors=off,mode=both,store={store}")
    memory.call_tool("memory_append", '{"text": "The locker is blue."}', "ana")

    assert {"workspace"} == {s.tier for s in memory.surfaces("ana")}
    memory.close()


def test_forgetting_what_was_shared_takes_it_from_the_reader_too() -> None:
    """Nobody keeps a copy."""
    memory = strategy(REF)
    play(memory, talk("The code of my locker is 7741."))
    memory.grant(Grant(owner="ana", viewer="ben", sources=("m1",)))

    outcome = memory.forget(Forget(principal="ana", text="", sources=("m1",)))

    assert "m1" in outcome.removed
    assert "7741" not in "".join(c.text() for c in probes(memory, talk("x"), whose=["ben"]))
    assert "7741" not in saved(memory)


def test_what_it_does_of_its_own_accord_is_told_without_content() -> None:
    """Compactions and supersessions, with the messages that they were about."""
    log: list[Event] = []
    memory = strategy(f"{REF},summary=on", budget=256, log=log.append)
    play(memory, talk(*(f"My desk is in room {n}." for n in range(12))))

    assert {"compaction", "superseded"} <= {e.kind for e in log}
    assert all(e.sources for e in log)
    assert "room" not in "".join(e.detail for e in log)


@pytest.mark.parametrize(
    ("back", "shown", "gone"),
    [
        ("The standup is back at the time that it had originally.", "9:15", ("11:40", "14:05")),
        ("Never mind, leave the standup as it was before.", "11:40", ("9:15", "14:05")),
    ],
)
def test_what_goes_back_is_shown_in_the_words_of_the_earlier_message(
    back: str, shown: str, gone: tuple[str, ...]
) -> None:
    """Unmarked, beside the message that says so, and without the values that hold no more."""
    memory = strategy("layered:store=memory,window=2")
    told = [f"Our standup is at {time}." for time in ("9:15", "11:40", "14:05")]
    other = [f"The {thing} in the hall looks fine." for thing in ("fern", "rug", "clock", "lamp")]
    play(memory, talk(*told, back, *other))

    query = replace(ask(memory, "When is our standup?"), session="s9")
    lines = [x for x in memory.context(query).text().splitlines() if "] ana:" in x]
    assert any(shown in line and "replaced" not in line for line in lines)
    assert any(back in line for line in lines)
    assert not any(value in line for line in lines for value in gone)


def test_a_standing_rule_stays_and_can_be_erased() -> None:
    """What the operator says is in every context of whom it is said to, whatever is compacted."""
    rule = "Never send mail before the owner has said go."
    memory = strategy(f"{REF},summary=on", budget=512)
    memory.observe(said("system", rule, id="r1", principal="ana"))
    play(memory, talk(*(f"My desk is in room {n}." for n in range(20))))

    def rules(who: str) -> list[str]:
        query = replace(ask(memory, "How are you?", who=who), session="s9")
        shown = memory.context(query).messages()
        return [m.text for m in shown if m.role == "system" and "r1" in m.quotes]

    assert [rule] == rules("ana")
    assert [] == rules("ben")
    memory.forget(Forget(principal="ana", text="", sources=("r1",)))
    assert [] == rules("ana")


def test_each_category_is_kept_for_its_own_terms() -> None:
    """Out of sight from the first on and off the disk from the second, to the second."""
    day, second = timedelta(days=1), timedelta(seconds=1)
    terms = {
        "daily": (3 * day, 10 * day),
        "notes": (7 * day, 30 * day),
        "keep": (5 * day, None),
        "half": (day / 2, 3 * day / 2),
    }
    memory = strategy("layered:store=memory,vectors=off,mode=agent")
    assert terms == memory.retention(terms)
    play(memory, talk("Hello."))
    start = memory.env.clock.now()
    for name in terms:
        stored = f'{{"key": "{name}", "value": "The word is {name}.", "category": "{name}"}}'
        memory.call_tool("memory_store", stored, "ana")
    moments = sorted({m for ends in terms.values() for m in ends if m} | {400 * day})
    for moment in (m - early for m in moments for early in (second, 0 * second)):
        memory.env.clock.set(start + moment)
        memory.elapse(start + moment)
        found = memory.call_tool("memory_search", '{"query": "word"}', "ana")
        there = {s.text for s in memory.surfaces()}
        for name, (served, until) in terms.items():
            assert (f"is {name}." in found) == (moment < served), (name, moment)
            assert (f"The word is {name}." in there) == (until is None or moment < until), name
