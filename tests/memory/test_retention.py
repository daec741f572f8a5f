"""Hygiene: exact to the second, its owner's alone, safe to stop and to do again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsim.errors import StoreError
from memsim.memory import deletion, expire
from memsim.memory.deletion import ErasureTier, erase_sources
from memsim.memory.entry import Entry, Layer
from memsim.memory.expire import RetentionOutcome, clean
from memsim.memory.permissions import Where
from memsim.memory.retention import RetentionPolicy
from memsim.memory.stores.in_memory import InMemory

if TYPE_CHECKING:
    from memsim.models import Vectors

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
EVERYTHING = Where(reader=None, archived=None)


def entry(key: str = "k", *, age: timedelta = DAY, **named: Any) -> Entry:  # noqa: ANN401 - any field
    """An entry of Ana's that was written so long ago."""
    fields: dict[str, Any] = {"owner": "ana", "category": "daily", "updated": NOW - age} | named
    return Entry(key=key, text=f"text of {key}", created=fields["updated"], **fields)


def message(key: str, *, age: timedelta = DAY, **named: Any) -> Entry:  # noqa: ANN401 - any field
    """A message of Ana's, as the episodic layer keeps it."""
    fields: dict[str, Any] = {"category": "conversation", "layer": "episodic"} | named
    return entry(key, age=age, sources=(key,), **fields)


def store_of(*entries: Entry) -> InMemory:
    """A store that holds these."""
    store = InMemory()
    store.write(entries)
    return store


def state(store: InMemory) -> dict[str, str]:
    """Whether each entry is there or put away, by its key."""
    return {e.key: "away" if e.archived else "there" for e in store.find(EVERYTHING, limit=9999)}


BOUNDARIES = [
    ("daily", 7, "there", "away"),
    ("daily", 30, "away", "gone"),
    ("conversation", 3, "there", "gone"),
    ("custom", 7, "there", "away"),
    ("recipes", 7, "there", "away"),
    ("recipes", 30, "away", "gone"),
    ("core", 9999, "there", "there"),
]


@pytest.mark.parametrize(("category", "days", "before", "after"), BOUNDARIES)
def test_each_category_is_due_from_exactly_its_day_on(
    category: str, days: int, before: str, after: str
) -> None:
    """A second before its day it is as it was; at it, and a second later, it is dealt with."""
    for more, expected in ((-SECOND, before), (0 * SECOND, after), (SECOND, after)):
        store = store_of(entry(category=category, age=days * DAY + more))
        clean(store, "ana", RetentionPolicy(), NOW)

        assert state(store).get("k", "gone") == expected


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", datetime(2026, 3, 27, 12)),  # noqa: DTZ001 - the zone is put in below
        ("Europe/Berlin", datetime(2026, 10, 23, 12)),  # noqa: DTZ001 - as above
        ("America/New_York", datetime(2028, 2, 26, 23, 30)),  # noqa: DTZ001 - as above
        ("Pacific/Apia", datetime(2011, 12, 28, 12)),  # noqa: DTZ001 - as above
        ("UTC", datetime(2028, 2, 27, 12)),  # noqa: DTZ001 - as above
    ],
)
def test_a_day_is_24_hours_whatever_clocks_are_put_to(zone: str, start: datetime) -> None:
    """Over a change of clocks, a leap day, or a day that a country left out."""
    written = start.replace(tzinfo=ZoneInfo(zone))
    due = written.astimezone(UTC) + 3 * DAY
    for now, expected in ((due - SECOND, {"k": "there"}), (due, {})):
        store = store_of(replace(entry(category="conversation"), created=written, updated=written))
        clean(store, "ana", RetentionPolicy(), now.astimezone(ZoneInfo(zone)))

        assert expected == state(store)


def test_a_clock_that_went_back_makes_nothing_due() -> None:
    """What was written in the future has no age; what was put away stays away."""
    store = store_of(entry("future", age=-99 * DAY), entry("old", age=8 * DAY))
    clean(store, "ana", RetentionPolicy(), NOW)
    clean(store, "ana", RetentionPolicy(), NOW - 99 * DAY)

    assert state(store) == {"future": "there", "old": "away"}


@pytest.mark.parametrize("years", [0, 10, 7000])
def test_core_and_pinned_are_never_touched(years: int) -> None:
    """At no clock, under no policy, put away or not."""
    held = [
        entry("a", category="core"),
        entry("b", layer="core"),
        entry("c", pinned=True),
        entry("d", pinned=True, archived=True),
        message("e", pinned=True),
    ]
    store = store_of(*held)
    strict = RetentionPolicy(
        retention={"conversation": 1, "daily": 1, "custom": 1},
        erased=frozenset({"core", "daily", "conversation"}),
        archive_after=1,
        purge_after=1,
        layers=frozenset(("core", "episodic", "semantic", "long_term")),
    )

    assert clean(store, "ana", strict, NOW + 365 * years * DAY) == RetentionOutcome()
    assert sorted(store.find(EVERYTHING), key=lambda e: e.key) == held


@pytest.mark.parametrize("never", [0, None])
def test_no_days_mean_never(never: int | None) -> None:
    """For retention, for putting away and for erasing what was put away."""
    policy = RetentionPolicy(
        retention={"conversation": never, "daily": never}, archive_after=never, purge_after=never
    )
    old = [entry(c, category=c, age=9999 * DAY) for c in ("daily", "conversation", "recipes")]
    store = store_of(*old, entry("away", archived=True, age=9999 * DAY))

    assert clean(store, "ana", policy, NOW).complete
    assert {*state(store)} == {"daily", "conversation", "recipes", "away"}


def test_a_category_may_have_days_of_its_own() -> None:
    """Before those of custom, and those before daily's."""
    policy = RetentionPolicy(retention={"daily": 7, "custom": 5, "recipes": 90}, archive_after=None)

    names = ("daily", "custom", "recipes", "songs", "conversation", "core")
    assert [7 * DAY, 5 * DAY, 90 * DAY, 5 * DAY, None, None] == [policy.found_for(n) for n in names]
    assert RetentionPolicy(retention={"daily": 7, "custom": 0}).found_for("songs") is None


def test_a_category_may_have_an_end_of_its_own() -> None:
    """In place of the one for all, none at all too, and to the second."""
    half = timedelta(hours=12)
    policy = RetentionPolicy(
        retention={"daily": 3, "keep": 5, "half": half},
        purged={"daily": 10, "keep": None, "half": 3 * half},
        archive_after=None,
    )
    ends = {"daily": (3, 10), "keep": (5, 400), "half": (0.5, 1.5), "songs": (3, 10)}
    for category, (served, kept) in ends.items():
        for age, expected in (
            (served * DAY - SECOND, "there"),
            (served * DAY, "away"),
            (kept * DAY - SECOND, "away"),
            (kept * DAY, "away" if category == "keep" else "gone"),
        ):
            store = store_of(entry(category=category, age=age))
            clean(store, "ana", policy, NOW)

            assert expected == state(store).get("k", "gone"), (category, age)


@pytest.mark.parametrize(
    "bad",
    [
        {"archive_after": -1},
        {"retention": {"daily": -1}},
        {"retention": {"core": 3}},
        {"retention": {"daily": 10**12}},
        {"purged": {"daily": -SECOND}},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(bad: dict[str, Any]) -> None:
    """Days run forwards, and core is kept."""
    expected = r"^days are negative$|^core has no retention|^10+ days are more than can be counted"
    with pytest.raises(ValueError, match=expected):
        RetentionPolicy(**bad)


def test_only_the_owners_entries_are_looked_at_and_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Across pages, and whoever else's are older."""
    monkeypatch.setattr(expire, "PAGE", 7)
    mine = [entry(f"m{n}", age=(8 + n % 2 * 30) * DAY) for n in range(1203)]
    theirs = [entry(f"t{n}", age=99 * DAY, owner=o) for n, o in enumerate(("bo", "ana ", "an"))]
    store = store_of(*mine, *theirs)
    outcome = clean(store, "ana", RetentionPolicy(), NOW)

    assert (602, 601) == (outcome.archived, len(outcome.erased.entries))
    assert outcome.complete
    assert [e for e in store.find(EVERYTHING, limit=9999) if e.owner != "ana"] == sorted(
        theirs, key=lambda e: (e.created, e.id)
    )


def test_a_pass_done_again_finds_nothing_to_do() -> None:
    """Within the same window the second pass is a no-op."""
    store = store_of(entry("a", age=8 * DAY), entry("b", age=31 * DAY), message("c", age=4 * DAY))
    first = clean(store, "ana", RetentionPolicy(), NOW)
    before = store.find(EVERYTHING)

    assert (1, 2) == (first.archived, len(first.erased.entries))
    assert clean(store, "ana", RetentionPolicy(), NOW) == RetentionOutcome()
    assert before == store.find(EVERYTHING)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(-2, 40),
            st.sampled_from(("core", "daily", "conversation", "songs")),
            st.booleans(),
        ),
        max_size=8,
    ),
    st.lists(st.integers(0, 45), max_size=4).map(sorted),
)
def test_it_makes_no_difference_how_often_it_is_done(
    entries: list[tuple[int, str, bool]], visits: list[int]
) -> None:
    """A memory that is cleaned every night and one that was away for a month end up the same."""
    made = [
        entry(f"k{n}", age=-days * DAY, category=category, pinned=pinned)
        for n, (days, category, pinned) in enumerate(entries)
    ]
    often, once = store_of(*made), store_of(*made)
    for days in visits:
        clean(often, "ana", RetentionPolicy(), NOW + days * DAY)
    for store in (often, once):
        clean(store, "ana", RetentionPolicy(), NOW + 45 * DAY)

    assert often.find(EVERYTHING) == once.find(EVERYTHING)


def test_putting_away_changes_nothing_else() -> None:
    """Age goes on counting, and the writer that keeps vectors is the one that writes."""
    store = store_of(entry(age=8 * DAY))
    written: list[Entry] = []

    def put(entries: Sequence[Entry]) -> None:
        written.extend(entries)
        store.write(entries)

    clean(store, "ana", RetentionPolicy(), NOW, put=put)

    assert written == store.find(EVERYTHING) == [entry(age=8 * DAY, archived=True)]


class Shaky(InMemory):
    """A store whose k-th operation fails, and every one after it while it is out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 10**9
        self.down = False

    def step(self) -> None:
        """One operation less until it fails."""
        self.left -= 1
        if self.left < 0 and (self.down or self.left == -1):
            raise StoreError("the store is out of order")

    def write(self, entries: Sequence[Entry], vectors: Vectors | None = None) -> None:
        """As the store does."""
        self.step()
        super().write(entries, vectors)

    def erase(self, ids: Collection[str]) -> int:
        """As the store does."""
        self.step()
        return super().erase(ids)

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """As the store does."""
        self.step()
        return super().get(ids)

    def find(self, where: Where, *, after: Entry | None = None, limit: int = 3) -> list[Entry]:
        """As the store does, in small pages."""
        self.step()
        return super().find(where, after=after, limit=limit)


@pytest.mark.parametrize("down", [False, True])
def test_a_pass_that_fails_anywhere_says_so_and_can_be_finished(
    monkeypatch: pytest.MonkeyPatch, down: bool
) -> None:
    """Whichever operation fails: what is not due is there, and what was not done not counted."""
    monkeypatch.setattr(expire, "PAGE", 2)
    made = [
        *(entry(f"away{n}", age=8 * DAY) for n in range(3)),
        *(entry(f"gone{n}", age=31 * DAY) for n in range(3)),
        message("m1", age=4 * DAY),
        entry("fact", layer="semantic", sources=("m1",)),
        entry("fresh", sources=("m1",)),
    ]
    expected = {"away0": "away", "away1": "away", "away2": "away", "fresh": "there"}
    failed = 0
    for operations in range(1000):
        store = Shaky()
        store.write(made)
        store.left, store.down = operations, down
        outcome = clean(store, "ana", RetentionPolicy(), NOW)
        store.left = 10**9
        now = state(store)
        assert now["fresh"] == "there"
        assert outcome.archived == sum(where == "away" for where in now.values())
        assert not now.keys() & {e.key for e in outcome.erased.entries}
        if outcome.error is None:
            assert outcome.complete
            break
        failed += 1
        assert not outcome.complete
        assert outcome.left is None if down else outcome.left is not None
        assert clean(store, "ana", RetentionPolicy(), NOW).complete
        assert expected == state(store)
        assert [] == [e for e in InMemory.find(store, EVERYTHING, limit=99) if e.sources]

    assert expected == state(store)
    assert failed > 15


def test_what_is_left_is_counted() -> None:
    """After a failure the outcome says how many entries are still due; the rest was done."""
    store = Shaky()
    store.write([entry("a", age=8 * DAY), entry("b", age=31 * DAY)])
    store.write = lambda *_: store.step()  # type: ignore[method-assign]
    store.left = 3  # the listing of what is due, its end, and the look just before the write
    outcome = clean(store, "ana", RetentionPolicy(), NOW)

    assert (0, 1) == (outcome.archived, outcome.left)
    assert ["b"] == [e.key for e in outcome.erased.entries]
    assert str(outcome.error) == "the store is out of order"


def test_what_was_written_to_meanwhile_is_left_alone() -> None:
    """Between the listing and the write an entry may be used again; then it is not due."""

    class Used(InMemory):
        """A store in which somebody writes while entries are being listed."""

        def get(self, ids: Sequence[str]) -> list[Entry]:
            """What there is, after the other has written."""
            used = [replace(e, updated=NOW) for e in super().get(ids)]
            self.write(used)
            return super().get(ids)

    store = Used()
    store.write([entry("a", age=8 * DAY), entry("b", age=31 * DAY)])

    assert clean(store, "ana", RetentionPolicy(), NOW).archived == 0
    assert state(store) == {"a": "there", "b": "there"}


class Blobs:
    """A tier beside the store."""

    name = "offload"

    def __init__(self) -> None:
        self.erased: list[str] = []

    def erase(self, sources: Collection[str]) -> int:
        """Note what was to be erased."""
        self.erased += sources
        return len(sources)


def test_what_was_derived_goes_with_its_message() -> None:
    """Facts and summaries that an erased message is a source of, and what they led to in turn.

    What somebody stored has a term of its own.
    """
    fact = entry("fact", layer="semantic", sources=("m1", "m2"))
    blobs = Blobs()
    store = store_of(
        message("m1", age=4 * DAY),
        message("m2"),
        fact,
        entry("deeper", layer="semantic", sources=(fact.id,)),
        entry("stored", sources=("m1",)),
        entry("core", layer="core", sources=("m1",)),
        entry("pinned", pinned=True, sources=("m1",)),
        entry("theirs", owner="bo", sources=("m1",)),
        entry("other", sources=("m2",)),
    )
    outcome = clean(
        store, "ana", RetentionPolicy(), NOW, tiers=[ErasureTier(blobs.name, blobs.erase)]
    )

    assert {*state(store)} == {"m2", "stored", "core", "pinned", "theirs", "other"}
    assert outcome.erased.by_tier == {"episodic": 1, "offload": 1, "semantic": 2}
    assert blobs.erased == ["m1"]


@pytest.mark.parametrize("derived", [True, False])
def test_what_stays_is_of_no_message_that_is_gone(derived: bool) -> None:
    """Another may be given its id, and go alone; of one that stays in part, nothing is parted."""
    store = store_of(
        message("m1", age=4 * DAY),
        message("m2"),
        entry("stored", sources=("m1", "m2")),
        entry("pinned", pinned=True, sources=("m1",)),
        entry("theirs", owner="bo", sources=("m1",)),
        message("m3", age=4 * DAY),
        message("m3\n1", pinned=True),
        entry("long", sources=("m3",)),
    )
    (part,) = [e for e in store.find(EVERYTHING) if e.key == "m3\n1"]
    store.write([replace(part, sources=("m3",))])
    clean(store, "ana", RetentionPolicy(derived=derived), NOW)

    left = {e.key: e.sources for e in store.find(EVERYTHING) if e.layer == "long_term"}
    assert left == {"stored": ("m2",), "pinned": (), "theirs": ("m1",), "long": ("m3",)}
    store.write([message("m1")])
    assert erase_sources(store, ["m1"], owners=["ana"]).by_tier == {"episodic": 1}


def test_what_was_derived_may_stay() -> None:
    """Where facts are to outlive the words that they were said in."""
    store = store_of(message("m1", age=4 * DAY), entry("fact", layer="semantic", sources=("m1",)))
    clean(store, "ana", RetentionPolicy(derived=False), NOW)

    assert {*state(store)} == {"fact"}


def test_a_fact_that_is_erased_takes_no_message_along() -> None:
    """What came of a message is not the message."""
    store = store_of(message("m1"), entry("fact", age=31 * DAY, sources=("m1",)))
    clean(store, "ana", RetentionPolicy(), NOW)

    assert state(store) == {"m1": "there"}


def test_what_a_conversation_came_to_is_no_message_either() -> None:
    """Other tiers are asked to erase messages, and nothing that only stands beside them."""
    blobs = Blobs()
    episode = entry("episode", layer="episodic", age=31 * DAY, sources=("m1",))
    outcome = clean(
        store_of(message("m1"), episode),
        "ana",
        RetentionPolicy(),
        NOW,
        tiers=[ErasureTier(blobs.name, blobs.erase)],
    )

    assert outcome.erased.by_tier == {"episodic": 1}
    assert blobs.erased == []


def test_forgetting_a_message_reaches_everything_that_it_led_to() -> None:
    """Core and pinned too, put away or superseded, of those principals who are named."""
    layers: tuple[Layer, ...] = ("core", "semantic", "long_term", "workspace")
    made = [
        message("m1"),
        *(entry(layer, layer=layer, sources=("m0", "m1")) for layer in layers),
        entry("pinned", pinned=True, sources=("m1",)),
        entry("archived", archived=True, sources=("m1",)),
        entry("superseded", superseded=NOW, sources=("m1",)),
        entry("theirs", owner="bo", sources=("m1",)),
        entry("other", sources=("m11", "M1", "m")),
    ]
    store = store_of(*made)
    erased = erase_sources(store, ["m1"], owners=["ana"])

    assert {*state(store)} == {"theirs", "other"}
    assert erased.by_tier == {
        "core": 1,
        "episodic": 1,
        "long_term": 4,
        "semantic": 1,
        "workspace": 1,
    }
    assert erase_sources(store, ["m1"], owners=["ana"]).by_tier == {}
    assert erase_sources(store, ["m1"], owners=None).by_tier == {"long_term": 1}


def test_forgetting_nothing_erases_nothing() -> None:
    """No source, no owner: no entry."""
    store = store_of(message("m1"), entry("lone"))

    assert erase_sources(store, [], owners=None).entries == ()
    assert erase_sources(store, ["m1"], owners=[]).entries == ()


@pytest.mark.parametrize("operations", range(9))
def test_forgetting_that_fails_can_be_finished(
    monkeypatch: pytest.MonkeyPatch, operations: int
) -> None:
    """The message itself goes last, so that it is found again, and all that is left with it."""
    monkeypatch.setattr(deletion, "PAGE", 1)
    store = Shaky()
    facts = [entry(f"f{n}", layer="semantic", sources=("m1",)) for n in range(3)]
    store.write([message("m1"), *facts])
    store.left = operations
    try:
        erase_sources(store, ["m1"], owners=["ana"])
    except StoreError:
        assert "m1" in state(store)
    store.left = 9999
    erase_sources(store, ["m1"], owners=["ana"])

    assert state(store) == {}
