"""Facts: the latest of a subject is in force, the others are history, and the gone stay gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.errors import StoreError
from memsim.memory.entry import Entry
from memsim.memory.layers.fact_subject import subject_of
from memsim.memory.layers.semantic import FactStatement, Semantic
from memsim.memory.permissions import Permissions, Where
from memsim.memory.vault import Vault
from memsim.message import EPOCH
from tests.memory.remembering import Faulty


def hours(moment: datetime) -> int:
    """Hours from the beginning."""
    return (moment - EPOCH) // timedelta(hours=1)


class Listener:
    """Keeps what facts say of the messages that state them."""

    def __init__(self) -> None:
        self.stated: dict[str, str | None] = {}
        self.stale: dict[tuple[str, str], tuple[str, ...]] = {}
        self.told: list[tuple[str, str, str | None]] = []
        self.changed: list[tuple[str, str, tuple[str, ...]]] = []

    def state(self, fact: str, owner: str, source: str | None) -> None:
        assert owner
        self.stated[fact] = source

    def state_all(self, owner: str, stated: Mapping[str, str]) -> None:
        assert owner
        self.stated |= stated

    def succeed(self, owner: str, source: str, successor: str | None) -> None:
        self.told.append((owner, source, successor))

    def amend(self, owner: str, source: str, changes: Sequence[str], stale: Sequence[str]) -> None:
        self.changed.append((owner, source, tuple(changes)))
        self.stale[owner, source] = tuple(stale)


class Facts:
    """A semantic layer, and when and by whom it is told what."""

    def __init__(self, store: Faulty | None = None) -> None:
        self.store = store or Faulty()
        self.vault = Vault(self.store, embed=None, permissions=Permissions())
        self.listener = Listener()
        self.told, self.changed = self.listener.told, self.listener.changed
        self.layer = Semantic(self.vault, self.listener)
        self.layer.restore()
        self.now = EPOCH
        self.count = 0

    def state(self, *texts: str, owner: str = "ana") -> list[Entry]:
        """State each of these an hour after the last; the facts that were superseded."""
        superseded = []
        for text in texts:
            self.now += timedelta(hours=1)
            self.count += 1
            superseded += self.say(text, at=self.now, source=f"m{self.count}", owner=owner)
        return superseded

    def say(self, *texts: str, at: datetime, source: str = "x", owner: str = "ana") -> list[Entry]:
        """State all of these in one message; the facts that were superseded."""
        stated = [FactStatement(text=text, sources=(source,), time=at) for text in texts]
        return self.layer.record(owner, "s1", stated)[1]

    def held(self, about: str) -> list[tuple[str, int, int | None]]:
        """The versions of a fact, with the hours from and until which they held."""
        return [
            (e.text, hours(e.created), None if e.superseded is None else hours(e.superseded))
            for e in self.layer.history("ana", subject_of(about))
        ]

    def hold(self, owner: str = "ana") -> list[str]:
        """What is in force."""
        return [e.text for e in self.layer.in_force(owner)]


EVERYTHING = Where(reader=None, layers=frozenset({"semantic"}), archived=None)


def changes(facts: Facts) -> dict[tuple[str, str], tuple[str, ...]]:
    """Which messages changed a part of which, of those of which facts are kept."""
    kept = {(e.owner, source) for e in facts.vault.each(EVERYTHING) for source in e.sources}
    last = {(owner, old): new for owner, old, new in facts.changed}
    return {about: new for about, new in last.items() if new and about in kept}


A, B, C = "My desk is 4A.", "My desk is 5B.", "My desk is 6C."


@pytest.mark.parametrize("text", [A, "Fresh figs are on the market again."])
def test_what_is_said_again_and_again_tells_of_the_new_message_alone(text: str) -> None:
    """Each time costs the same; a change then tells of all messages that said it."""
    facts = Facts()
    facts.state(*[text] * 5)
    before = len(facts.told)
    facts.state(text)
    assert facts.told[before:] == [("ana", "m6", None)]
    assert all(facts.layer._live.states("ana", f"m{n}") for n in range(1, 7))

    if text == A:
        facts.state(B)
        assert {(of, after) for _, of, after in facts.told[-6:]} == {
            (f"m{n}", "m7") for n in range(1, 7)
        }
    else:
        facts.say(text, at=EPOCH, source="m0")
        assert facts.told[before + 1 :] == [("ana", "m0", None)]


def test_the_latest_is_in_force_and_the_others_are_history() -> None:
    """With the instant until which they held."""
    facts = Facts()
    superseded = facts.state(A, B, "My bus is the 12.", C)

    assert [A, B] == [e.text for e in superseded]
    assert ["My bus is the 12.", C] == facts.hold()
    history = facts.layer.history("ana", superseded[0].subject)
    assert [(A, 2), (B, 4)] == [
        (e.text, (e.superseded - EPOCH) // timedelta(hours=1)) for e in history if e.superseded
    ]
    assert [] == facts.layer.in_force("ben")
    assert [] == facts.layer.history("ben", superseded[0].subject)


def test_what_is_restated_stays_one_fact() -> None:
    """It has all of its sources, and when it was first stated."""
    facts = Facts()
    facts.state(A, A)

    (fact,) = facts.layer.in_force("ana")
    assert (("m1", "m2"), EPOCH + timedelta(hours=1)) == (fact.sources, fact.created)
    assert EPOCH + timedelta(hours=2) == fact.updated


def test_there_and_back_again() -> None:
    """What was true once can be true again; when it was before, and what was between, is kept."""
    facts = Facts()
    facts.state(A, B, A)
    assert [A] == facts.hold()
    assert [(A, 1, 2), (B, 2, 3), (A, 3, None)] == facts.held(A)
    facts.state(C)
    assert [C] == facts.hold()
    assert {A, B} == {
        e.text for e in facts.vault.each(facts.vault.where("ana")) if e.superseded is not None
    }


def test_what_is_told_late_has_its_place_in_history() -> None:
    """It does not take the place of what was said after it, and ends where that began."""
    facts = Facts()
    facts.now += timedelta(hours=9)
    facts.state(B)
    assert [] == facts.say(A, at=EPOCH + timedelta(hours=3))
    facts.say(C, at=EPOCH + timedelta(hours=5))

    assert [B] == facts.hold()
    assert [(A, 3, 5), (C, 5, 10), (B, 10, None)] == facts.held(A)


def test_what_is_told_late_parts_what_was_so_before_and_after() -> None:
    """What was said once more afterwards is in force still."""
    facts = Facts()
    facts.state(A, B, B, B)

    assert [] == facts.say(C, at=EPOCH + timedelta(hours=3))
    assert [(A, 1, 2), (B, 2, 3), (C, 3, 4), (B, 4, None)] == facts.held(A)


def test_several_of_one_subject_in_one_breath() -> None:
    """The last of them is in force, wherever it was before."""
    for order, expected in (((A, B), B), ((B, A), A), ((A, B, A), A), ((A, B, A, B), B)):
        for before in ((), (A,), (B,), (A, B), (B, A), (C,)):
            facts = Facts()
            facts.state(*before)
            facts.say(*order, at=facts.now + timedelta(hours=1))
            assert [expected] == facts.hold(), (before, order)


def test_what_was_forgotten_does_not_come_back() -> None:
    """Neither does what it had superseded, until it is stated again."""
    facts = Facts()
    facts.state(A, B)
    (latest,) = facts.layer.in_force("ana")
    facts.vault.erase([latest.id])
    facts.layer.forgotten([latest])

    assert [] == facts.hold()
    facts.state(C)
    assert [C] == facts.hold()


@pytest.mark.parametrize("text", [A, B])
def test_a_fact_that_was_opened_to_others_is_closed_when_it_is_next_written(text: str) -> None:
    """Where it is stated anew, and where it is superseded."""
    facts = Facts()
    facts.state(A)
    facts.vault.put([e.shared_with("ben") for e in facts.layer.in_force("ana")])

    facts.state(text)

    assert [()] == [*{e.readers for e in facts.layer.history("ana", subject_of(A))}]
    assert text in facts.hold()


def test_facts_of_others_and_of_no_subject_supersede_nothing() -> None:
    """Keeping two costs tokens; dropping a true one costs recall."""
    facts = Facts()
    facts.state(A)
    facts.state(B, owner="ben")
    facts.state("Lovely weather.", "It rains.")

    assert [A, "Lovely weather.", "It rains."] == facts.hold()
    assert [B] == facts.hold("ben")


def test_a_store_that_fails_leaves_what_is_in_force_as_it_was() -> None:
    """The next fact of the subject supersedes the one that is really there."""
    facts = Facts()
    facts.state(A)
    facts.store.failing = True
    with pytest.raises(StoreError):
        facts.state(B)
    facts.store.failing = False

    facts.state(C)

    assert [C] == facts.hold()


def test_a_message_is_replaced_once_all_that_it_stated_is() -> None:
    """While one of its facts is in force, it is worth quoting."""
    facts = Facts()
    facts.say(A, "My bus is the 12.", at=facts.now)
    facts.state(B)
    assert not [told for told in facts.told if told[1] == "x" and told[2]]

    facts.state("My bus is the 15.")

    assert [("ana", "x", "m2")] == [told for told in facts.told if told[1] == "x" and told[2]]


def test_a_new_message_is_replaced_whatever_one_of_its_id_stated() -> None:
    """What an older message stated may hold on, when its time is over and its id is another's."""
    facts = Facts()
    facts.say("I live in Oslo.", at=facts.now, source="m1")
    facts.layer.free("ana", ["m1"])
    facts.say("My favorite color is red.", at=EPOCH + timedelta(hours=1), source="m1")
    facts.say("My favorite color is blue.", at=EPOCH + timedelta(hours=2), source="m2")

    assert ("ana", "m1", "m2") in facts.told


def test_it_goes_on_where_the_store_left_off() -> None:
    """A layer over a store that was there before knows what is in force, and tells the same."""
    facts = Facts()
    facts.state(A, B)
    again = Facts(facts.store)
    again.now = facts.now
    again.state(C)

    assert [C] == again.hold()
    assert ("ana", "m1", "m2") in facts.told
    assert ("ana", "m1", "m2") in again.told


def successors(facts: Facts) -> dict[tuple[str, str], str]:
    """What gave way to what, of the messages that facts were taken from which are kept."""
    where = Where(reader=None, layers=frozenset({"semantic"}), archived=None)
    kept = {(e.owner, source) for e in facts.vault.each(where) for source in e.sources}
    last = {(owner, old): new for owner, old, new in facts.told}
    return {about: new for about, new in last.items() if new is not None and about in kept}


def test_each_version_gives_way_to_the_next_and_not_to_the_last() -> None:
    """Who may not see the last is still told which came before which; a restart changes nothing."""
    facts = Facts()
    facts.state(A, B, C)

    assert {("ana", "m1"): "m2", ("ana", "m2"): "m3"} == successors(facts)
    assert successors(facts) == successors(Facts(facts.store))


def test_what_gave_way_to_what_is_forgotten_gives_way_to_what_came_after() -> None:
    """A gap in between does not put the oldest in force again."""
    facts = Facts()
    facts.state(A, B, C)
    (gone,) = [e for e in facts.layer.history("ana", subject_of(A)) if e.text == B]
    facts.vault.erase([gone.id])
    facts.layer.forgotten([gone])

    assert {("ana", "m1"): "m3"} == successors(facts)
    assert successors(facts) == successors(Facts(facts.store))


BUS, TRAM = "My bus is the 12.", "My bus is the 15."


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from((A, B, C, BUS, TRAM)), min_size=1, max_size=3, unique=True),
            st.integers(-2, 2),
            st.sampled_from((False, False, False, True)),
        ),
        min_size=2,
        max_size=9,
    )
)
def test_a_restart_changes_nothing_of_what_gave_way_to_what(
    steps: list[tuple[list[str], int, bool]],
) -> None:
    """However often things were stated again, late, at the same time, together, or forgotten."""
    facts = Facts()
    facts.now += timedelta(days=1)
    for number, (texts, hours, forgets) in enumerate(steps):
        facts.now += timedelta(hours=hours)
        if forgets:
            gone = [e for text in texts for e in facts.layer.history("ana", subject_of(text))][:1]
            facts.vault.erase([e.id for e in gone])
            facts.layer.forgotten(gone)
        else:
            facts.say(*texts, at=facts.now, source=f"m{number}")

    assert successors(Facts(facts.store)) == successors(facts)
    for about in (A, BUS):
        assert 1 >= [until for _, _, until in facts.held(about)].count(None)


@pytest.mark.parametrize(
    ("earlier", "later", "same"),
    [
        ("I live in Oslo.", "Actually, I've moved to Bergen.", True),
        ("We're living in Graz now.", "I live in Linz.", True),
        ("I work at Siemens.", "Now I'm working for Acme.", True),
        ("I live in Oslo.", "I work in Oslo.", False),
        ("I live in Oslo.", "I live in fear.", False),
        ("I live in Oslo.", "I moved to the new office.", False),
    ],
)
def test_one_lives_and_works_in_one_place_at_a_time(earlier: str, later: str, same: bool) -> None:
    """Where a name says where; ways of living and moving are told apart from it."""
    assert subject_of(earlier)
    assert same == (subject_of(earlier) == subject_of(later))


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (
            ("My locker 7 animal is donkey.", "My workshop 15 animal is lizard."),
            ("My workshop 15 animal is iguana now.", "From today on my locker 7 animal is gibbon."),
        ),
        (
            ("My family 10 date is 3 May.", "My family 10 door date is 9 June."),
            ("My family 10 door date is 2 July now.", "From today on my family 10 date is 8 May."),
        ),
    ],
)
def test_two_things_of_one_kind_do_not_replace_each_other(
    first: tuple[str, str], later: tuple[str, str]
) -> None:
    """However alike they are called, with one word more too, and whatever announces the change."""
    facts = Facts()

    assert [*reversed(first)] == [e.text for e in facts.state(*first, *later)]
    assert [*later] == facts.hold()


def test_one_word_more_is_another_thing() -> None:
    """A change of the longer leaves what was said of the shorter in force."""
    facts = Facts()
    said = "My family 10 date is 3 May.", "My family 10 door date is 9 June now."

    assert not facts.state(*said)
    assert [*said] == facts.hold()


# Replaced by meaning: no subject is plain, and the words differ.


RAIN = "Wake me at 6:40 with the sound of rain."
EARLY = "Wake me at 5:55 from now on."
BUS_14, BUS_38 = "I take the number 14 bus to work.", "I take the number 38 bus to work now."


def test_a_statement_replaces_what_it_changes() -> None:
    """The message of the one gives way to the message of the other, after a restart as well."""
    facts = Facts()
    (gone,) = facts.state(BUS_14, "The garden looks lovely.", BUS_38)

    assert BUS_14 == gone.text
    assert ["The garden looks lovely.", BUS_38] == facts.hold()
    assert {("ana", "m1"): "m3"} == successors(facts) == successors(Facts(facts.store))


def test_what_was_so_before_is_so_again() -> None:
    """In the same words: it has a version for each time."""
    facts = Facts()
    facts.state(BUS_14, BUS_38, BUS_14)

    assert [BUS_14] == facts.hold()
    (now,) = facts.layer.in_force("ana")
    history = facts.layer.history("ana", now.subject)
    assert [BUS_14, BUS_38, BUS_14] == [entry.text for entry in history]


def test_what_changes_a_part_leaves_the_rest_in_force() -> None:
    """Both are kept; the message of the one is recalled together with that of the other."""
    facts = Facts()
    facts.state(RAIN, EARLY)
    again = Facts(facts.store)

    assert [RAIN, EARLY] == facts.hold() == again.hold()
    assert changes(facts) == changes(again) == {("ana", "m1"): ("m2",)}

    (_, change) = facts.layer.in_force("ana")
    facts.vault.erase([change.id])
    facts.layer.forgotten([change])
    assert {} == changes(facts)


def test_a_number_stands_for_what_two_statements_are_about() -> None:
    """One may be erased, and what the other keeps says nothing of it."""
    facts = Facts()
    facts.state(BUS_14, BUS_38, RAIN, EARLY)

    kept = [(entry.subject, entry.attributes) for entry in facts.vault.each(EVERYTHING)]
    followed = {("~1", ()), ("~1", (("replaces", "value"),))}
    assert followed | {("", (("amended", "~2"),)), ("", (("revalues", "~2"),))} == set(kept)
    again = Facts(facts.store)
    again.now = facts.now
    again.state("The rent is 900 euros a month.", "From now on the rent is 950 euros a month.")
    assert "~3" in {entry.subject for entry in again.vault.each(EVERYTHING)}


def test_a_message_gives_way_to_another_value_and_not_to_a_near_meaning() -> None:
    """Which may be wrong: the fact alone is superseded then, also after a restart."""
    for old, new, successor in (
        (BUS_14, BUS_38, "m2"),
        ("I drink coffee every morning.", "I drink tea every morning instead of coffee.", None),
    ):
        facts = Facts()
        assert [old] == [entry.text for entry in facts.state(old, new)]
        again = Facts(facts.store)
        for told in (facts.told, again.told):
            assert ("ana", "m1", successor) == [heard for heard in told if heard[1] == "m1"][-1]


def test_what_others_say_replaces_nothing() -> None:
    """Facts are their owner's, whoever else was there."""
    facts = Facts()
    facts.state(BUS_14)
    facts.state(BUS_38, owner="ben")

    assert [BUS_14] == facts.hold()


def test_what_was_not_written_replaces_nothing() -> None:
    """A store that fails leaves what can be replaced as it was."""
    facts = Facts()
    facts.state(BUS_14)
    facts.store.failing = True
    with pytest.raises(StoreError):
        facts.state(BUS_38)
    facts.store.failing = False

    assert [BUS_14] == [entry.text for entry in facts.state(BUS_38)]
    assert [BUS_38] == facts.hold()


def test_a_value_of_a_tool_is_replaced_by_the_next_answer_to_the_call() -> None:
    """What people say of the same matter is kept beside it."""
    facts = Facts()
    for number, line in enumerate(("tool: status port: 80", "tool: status port: 81")):
        fact = FactStatement(
            text=line,
            sources=(f"t{number}",),
            time=EPOCH + timedelta(hours=number),
            subject="status {} port",
        )
        facts.layer.record("ana", "s1", [fact])
    facts.now += timedelta(days=1)
    facts.state("The status port is 82 now.")

    assert ["tool: status port: 81", "The status port is 82 now."] == facts.hold()
    assert ("ana", "t0", "t1") in facts.told


def test_a_very_long_statement_replaces_nothing() -> None:
    """Nor is it looked into for long, or replaced."""
    facts = Facts()
    facts.state(BUS_14, "I take the bus 38 to work now, " + "a-" * 50_000, BUS_14 + " a" * 400)

    assert 3 == len(facts.hold())


def test_a_request_to_forget_replaces_nothing() -> None:
    """It erases, and states nothing in the place of what it names."""
    facts = Facts()
    facts.state("I see Dr. Berg every week.")
    facts.say("I do not need Dr. Berg any more.", "Please erase Dr. Berg.", at=facts.now)

    assert "I see Dr. Berg every week." in facts.hold()


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from((BUS_14, BUS_38, RAIN, EARLY, A, B)), min_size=1, max_size=2),
            st.sampled_from((1, 2)),
            st.sampled_from((False, False, True)),
        ),
        min_size=2,
        max_size=7,
    )
)
def test_a_restart_changes_nothing_of_what_was_replaced(
    steps: list[tuple[list[str], int, bool]],
) -> None:
    """By meaning and by subject, in part and as a whole, and where facts are erased."""
    facts = Facts()
    for number, (texts, hours, forgets) in enumerate(steps):
        facts.now += timedelta(hours=hours)
        if forgets:
            gone = [entry for entry in facts.vault.each(EVERYTHING) if entry.text in texts][:1]
            facts.vault.erase([entry.id for entry in gone])
            facts.layer.forgotten(gone)
        else:
            facts.say(*texts, at=facts.now, source=f"m{number}")
    again = Facts(facts.store)

    assert successors(again) == successors(facts)
    assert changes(again) == changes(facts)
