"""What bm25, vector and hybrid find, and how they show it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsim.language.text import speaker_label
from memsim.message import Message, said
from memsim.scenario.script import Turn
from memsim.strategy import Forget, Strategy
from tests.strategies.conversations import (
    TRACKING,
    ask,
    conversations,
    messages_of,
    play,
    probes,
    saved,
    shown,
    strategy,
    talk,
    variants,
)

Turns = tuple[Turn, ...]
each = pytest.mark.parametrize("ref", variants(TRACKING))
SHARED = [ref for ref in TRACKING if "scope" not in ref]
few = settings(max_examples=10)
words = st.sampled_from(("order A-17 Oslo", "Bergen", "dentist Tuesday", "parcel call-3-0"))
SUBJECTS = ("kettle", "bicycle", "garden", "violin", "passport", "harbour", "library", "scooter")


def number(source: str) -> int:
    """A message's place in its conversation."""
    return int(source.removeprefix("m"))


def parameter(ref: str, name: str, default: int) -> int:
    """A number that a ref gives."""
    return int((ref.partition(f"{name}=")[2] or str(default)).partition(",")[0])


def recalled(memory: Strategy, text: str, budget: int) -> tuple[Message | None, list[str]]:
    """What was brought up, and the ids of the window."""
    context = memory.context(ask(memory, text, budget=budget))
    found = [m for s in context.sections if s.layer == "recalled" for m in s.messages]
    window = [m.id for s in context.sections if s.layer == "window" for m in s.messages]
    return (found[0] if found else None), window


@each
@few
@given(turns=conversations(4), text=words, budget=st.integers(256, 8192))
def test_recalled_is_the_best_of_the_rest_as_it_was_said(
    ref: str, turns: Turns, text: str, budget: int
) -> None:
    """Not what the window shows anyway; the first k of the ranking; in the order of time."""
    memory = strategy(ref)
    play(memory, turns)
    found, window = recalled(memory, text, budget)
    ranking = memory.context(ask(memory, text, budget=budget)).ranked().ranking

    if found is not None:
        ids = [*found.quotes, *found.derived_from]
        best = [i for i in ranking if i not in window][: parameter(ref, "k", 10)]
        assert not set(ids) & set(window)
        assert set(ids) <= set(best)
        assert sorted(found.quotes, key=number) == list(found.quotes)
        if budget == 8192:
            assert set(best) == set(ids)


@each
def test_all_of_the_best_are_shown_where_there_is_room(ref: str) -> None:
    """As many as k, verbatim, each line led by its day and speaker."""
    memory = strategy(ref)
    turns = talk(*(f"My {word} is in Oslo." for word in SUBJECTS * 3))
    play(memory, turns)
    said_by_id = {m.id: m for m in messages_of(turns)}

    found, _ = recalled(memory, "Where is my violin in Oslo?", 8192)

    assert found is not None
    assert () == found.derived_from
    assert parameter(ref, "k", 10) == len(found.quotes)
    quoted = [said_by_id[i] for i in found.quotes]
    expected = [f"[2026-01-05] {speaker_label(m.role, 'ana')}: {m.text}" for m in quoted]
    assert expected == found.text.splitlines()[1:]


@each
def test_the_message_asked_for_comes_first(ref: str, subtests: pytest.Subtests) -> None:
    """The ranking is best first: the one message that speaks of it, and its reply."""
    memory = strategy(ref)
    play(memory, talk(*(f"The {word} costs {len(word)} crowns." for word in SUBJECTS)))

    for place, subject in enumerate(SUBJECTS):
        with subtests.test(subject=subject):
            asked = ask(memory, f"What does the {subject} cost?")
            ranking = memory.context(asked).ranked().ranking

            assert ranking[0] in {f"m{2 * place + 1}", f"m{2 * place + 2}"}


@pytest.mark.parametrize("ref", variants(SHARED))
@few
@given(turns=conversations(4), text=words)
def test_the_window_holds_the_latest(ref: str, turns: Turns, text: str) -> None:
    """A run of messages that ends with the newest, whatever is found beside it."""
    memory = strategy(ref)
    play(memory, turns)
    everything = [m.id for m in messages_of(turns)]

    _, window = recalled(memory, text, 10**6)

    assert everything[-len(window) :] == window


LONG = talk(*(f"Note {n}: the {SUBJECTS[n % 8]} number {n * 37 % 101} is red." for n in range(120)))


@pytest.mark.parametrize("ref", variants(SHARED))
def test_a_long_conversation_ranks_the_same_however_often_it_was_asked(ref: str) -> None:
    """Indexing in other batches, or all at once after a restart, moves no rank."""
    plain, asked, restarted = strategy(ref), strategy(ref), strategy(ref)
    play(plain, LONG)
    play(asked, LONG, between=search_now_and_then)

    restarted.env.clock.set(LONG[-1].time)
    restarted.load(plain.save())

    assert repr(probes(plain, LONG)) == repr(probes(asked, LONG))
    assert repr(probes(plain, LONG)) == repr(probes(restarted, LONG))
    assert saved(plain) == saved(asked)


def search_now_and_then(memory: Strategy, step: int) -> None:
    """Makes the indexes work at odd times."""
    if step % 7 == 0:
        memory.context(ask(memory, "the red violin"))


DEEP = [f"{ref}:k=2,window=2,depth=6" for ref in ("bm25", "vector", "hybrid")]
DEEP += [f"{ref},fusion={how},neighbours=0.5" for ref in DEEP[2:] for how in ("weights", "zscore")]


@pytest.mark.parametrize("ref", DEEP)
def test_a_rank_beyond_the_depth_agrees_with_the_ranking(ref: str) -> None:
    """The ranks that are told are those by which messages were chosen."""
    memory = strategy(ref)
    play(memory, LONG)
    query = ask(memory, "What number is the red violin?", budget=8192)
    ranking = memory.context(query).ranked().ranking

    told = {source: memory.locate(source, query) for source in ranking}

    places = {i: place.rank for i, place in told.items() if place and place.tier == "index"}
    assert {i: rank for rank, i in enumerate(ranking, 1) if i in places} == places


@each
def test_what_shares_nothing_with_the_question_is_told_so(ref: str) -> None:
    """A message that no ranker brings up has a place, and the reason."""
    memory = strategy(ref)
    for place, word in enumerate(SUBJECTS, 1):
        memory.observe(said("user", word, id=f"m{place}", principal="ana"))

    location = memory.locate("m1", ask(memory, "violin"))

    assert location is not None
    assert "index" == location.tier
    assert location.rank is not None or "nothing in common" in location.detail


@each
def test_one_question_finds_the_same_after_others_were_forgotten(ref: str) -> None:
    """Messages that are gone leave no weight behind in any index."""
    memory, never_heard = strategy(ref), strategy(ref)
    turns = talk(*(f"My {word} is in Oslo." for word in SUBJECTS * 2))
    gone = {m.id for m in messages_of(turns) if "garden" in m.text}
    for message in messages_of(turns):
        memory.observe(message)
        if message.id not in gone:
            never_heard.observe(message)

    memory.forget(Forget(principal="ana", text="", sources=tuple(sorted(gone))))

    assert repr(probes(never_heard, turns)) == repr(probes(memory, turns))
    assert not gone & shown(memory.context(ask(memory, "garden")))
