"""The injection ledger: each item once per conversation, whatever crashes, compacts or races."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memsim.errors import StateError
from memsim.memory.entry import Conversation
from memsim.memory.history.working_memory import InProcessTexts
from memsim.memory.ledger import Claim, InjectionLedger, LedgerAgreement

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
ANA, BO = Conversation("ana", "1"), Conversation("bo", "1")

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


def injected(ledger: InjectionLedger, item: str, now: datetime = NOW) -> Claim:
    """Claim and mark an item, as one does who was not interrupted."""
    claim = ledger.claim(ANA, item, now)
    assert claim is not None
    assert ledger.mark(claim, now)
    return claim


def test_an_item_is_claimed_once() -> None:
    """Neither while it is being injected nor afterwards is there another claim."""
    ledger = InjectionLedger()
    claim = ledger.claim(ANA, "skill:a", NOW)
    assert claim is not None

    assert ledger.claim(ANA, "skill:a", NOW) is None
    assert ledger.state(ANA, "skill:a", NOW) == "claimed"
    assert ledger.mark(claim, NOW)
    assert ledger.claim(ANA, "skill:a", NOW) is None
    assert ledger.injected(ANA, NOW) == ["skill:a"]


def test_one_of_many_that_race_has_the_claim() -> None:
    """Test and set are one step: of sixteen threads, one injects each of fifty items."""
    ledger = InjectionLedger()
    wanted = [f"skill:{n % 50}" for n in range(800)]
    with ThreadPoolExecutor(16) as pool:
        claims = [c for c in pool.map(lambda i: ledger.claim(ANA, i, NOW), wanted) if c]

    assert sorted(set(wanted)) == sorted(c.item for c in claims)
    assert len({c.record for c in claims}) == 50


def test_a_claim_between_the_look_and_the_swap_is_seen() -> None:
    """Who looks and then writes without comparing would inject a second copy."""

    class Raced(InProcessTexts):
        """A store in which another is a little faster."""

        armed = False
        rival: Claim | None = None

        def read(self, of: Conversation) -> dict[str, str]:
            """What is there before the other has claimed."""
            texts = super().read(of)
            if self.armed:
                self.armed = False
                other = InProcessTexts()
                other._texts = self._texts
                self.rival = InjectionLedger(other).claim(of, "a", NOW)
            return texts

    store = Raced()
    ledger = InjectionLedger(store)
    injected(ledger, "first")
    store.armed = True

    assert ledger.claim(ANA, "a", NOW) is None
    assert store.rival is not None


def test_an_evicted_item_is_injected_once_more_and_not_twice() -> None:
    """Eviction frees it; the claim before it is worth nothing any more."""
    ledger = InjectionLedger()
    old = injected(ledger, "a")

    assert ledger.evict(ANA, "a", NOW)
    assert not ledger.evict(ANA, "a", NOW)
    again = ledger.claim(ANA, "a", NOW)
    assert again is not None
    assert not ledger.mark(old, NOW)
    assert ledger.mark(again, NOW)
    assert ledger.claim(ANA, "a", NOW) is None


def test_a_claim_that_was_overtaken_says_so_when_it_is_marked() -> None:
    """At the same instant and by the same hand, the second claim is still another one."""
    ledger = InjectionLedger()
    slow = ledger.claim(ANA, "a", NOW)
    assert slow is not None
    ledger.evict(ANA, "a", NOW)
    fast = ledger.claim(ANA, "a", NOW)
    assert fast is not None

    assert slow.record != fast.record
    assert not ledger.mark(slow, NOW)
    assert not ledger.release(slow)
    assert ledger.mark(fast, NOW)


def test_a_released_item_is_free() -> None:
    """Who could not inject gives the claim back."""
    ledger = InjectionLedger()
    claim = ledger.claim(ANA, "a", NOW)
    assert claim is not None

    assert ledger.release(claim)
    assert ledger.claim(ANA, "a", NOW) is not None


def test_what_was_compacted_away_can_be_injected_again() -> None:
    """After a compaction the ledger says injected of what is visible, and of nothing else."""
    ledger = InjectionLedger()
    for item in ("a", "b", "c"):
        injected(ledger, item)

    assert ledger.agree(ANA, {"b"}, NOW) == LedgerAgreement(found=(), freed=("a", "c"))
    assert ledger.injected(ANA, NOW) == ["b"]
    assert ledger.agree(ANA, {"b"}, NOW) == LedgerAgreement(found=(), freed=())


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("shown", [False, True])
def test_a_crash_anywhere_is_put_right(marked: bool, shown: bool) -> None:
    """Claimed and shown or not, marked and shown or not: afterwards there is one copy, or a way."""
    ledger = InjectionLedger()
    claim = ledger.claim(ANA, "a", NOW)
    assert claim is not None
    if marked:
        ledger.mark(claim, NOW)
    ledger.agree(ANA, {"a"} if shown else set(), NOW)

    assert (ledger.claim(ANA, "a", NOW) is None) == shown
    assert (ledger.state(ANA, "a", NOW) == "injected") == shown


def test_what_is_visible_counts_although_the_ledger_was_lost() -> None:
    """A history that outlived its ledger is not given its items twice."""
    ledger = InjectionLedger()

    assert ledger.agree(ANA, {"a"}, NOW) == LedgerAgreement(found=("a",), freed=())
    assert ledger.claim(ANA, "a", NOW) is None


def test_a_claim_under_lease_is_left_to_its_holder() -> None:
    """Until the lease ends somebody may still be injecting; from then on it was a crash."""
    ledger = InjectionLedger(lease=HOUR)
    claim = ledger.claim(ANA, "a", NOW)
    assert claim is not None

    for now in (NOW, NOW + HOUR - SECOND, NOW - HOUR + SECOND):
        assert ledger.agree(ANA, (), now) == LedgerAgreement(found=(), freed=())
    assert ledger.agree(ANA, (), NOW + HOUR) == LedgerAgreement(found=(), freed=("a",))
    assert not ledger.mark(claim, NOW + HOUR)


def test_a_lease_is_on_claims_alone() -> None:
    """What was injected a moment ago and compacted away since is free at once."""
    ledger = InjectionLedger(lease=HOUR)
    injected(ledger, "a")

    assert ledger.agree(ANA, (), NOW) == LedgerAgreement(found=(), freed=("a",))


def test_what_was_injected_after_the_look_is_left_alone() -> None:
    """A view of the context that is older than a copy does not make room for a second one."""
    ledger = InjectionLedger()
    injected(ledger, "old")
    seen = ledger.look(ANA)
    injected(ledger, "new")

    assert ledger.agree(ANA, (), NOW, seen=seen) == LedgerAgreement(found=(), freed=("old",))
    assert ledger.injected(ANA, NOW) == ["new"]


def test_an_item_is_free_from_its_time_to_live_on() -> None:
    """Just before, it is not; at it, it starts clean, and the claim of before is void."""
    ledger = InjectionLedger(ttl=HOUR)
    old = ledger.claim(ANA, "a", NOW)
    assert old is not None

    assert ledger.claim(ANA, "a", NOW + HOUR - SECOND) is None
    new = ledger.claim(ANA, "a", NOW + HOUR)
    assert new is not None
    assert not ledger.mark(old, NOW + HOUR)
    assert ledger.mark(new, NOW + HOUR)


def test_without_a_time_to_live_an_item_stays() -> None:
    """Until its conversation ends."""
    ledger = InjectionLedger()
    injected(ledger, "a")

    assert ledger.claim(ANA, "a", NOW + 99_999 * HOUR) is None
    assert ledger.end(ANA) == 1
    assert ledger.claim(ANA, "a", NOW) is not None


def test_a_sweep_drops_what_has_expired_and_keeps_no_key() -> None:
    """Nothing of a conversation stays behind for ever."""
    ledger = InjectionLedger(ttl=HOUR)
    injected(ledger, "a")
    injected(ledger, "b", NOW + HOUR)

    assert [0, 1, 1] == [ledger.sweep(NOW + n * HOUR) for n in range(3)]
    assert ledger.store.conversations() == []


def test_conversations_have_ledgers_of_their_own() -> None:
    """The same item, for a principal or session of like name, is another one."""
    ledger = InjectionLedger()
    injected(ledger, "a")

    for of in (BO, Conversation("ana", "11"), Conversation("ana1", "1")):
        assert ledger.claim(of, "a", NOW) is not None
    assert ledger.forget("ana") == 2
    assert ledger.store.conversations() == [Conversation("ana1", "1"), BO]


@pytest.mark.parametrize("item", ["", "\ud800"])
def test_an_item_without_a_usable_name_is_refused(item: str) -> None:
    """The empty name belongs to the ledger itself."""
    ledger = InjectionLedger()
    with pytest.raises(ValueError, match="an item's name"):
        ledger.claim(ANA, item, NOW)
    with pytest.raises(ValueError, match="an item's name"):
        ledger.agree(ANA, [item], NOW)

    assert not ledger.evict(ANA, item, NOW)
    assert ledger.state(ANA, item, NOW) == "free"


@given(st.dictionaries(st.builds(Conversation, names, names), st.sets(names), max_size=3))
def test_a_saved_ledger_is_the_same_when_loaded(items: dict[Conversation, set[str]]) -> None:
    """Claims that were open are still open, and can be marked by who has them."""
    ledger = InjectionLedger(ttl=HOUR)
    claims = [c for of in items for i in sorted(items[of]) if (c := ledger.claim(of, i, NOW))]
    saved = json.loads(json.dumps(ledger.save()))
    loaded = InjectionLedger(ttl=HOUR)
    loaded.claim(ANA, "older state", NOW)
    loaded.load(saved)

    assert ledger.save() == loaded.save() == saved
    assert all(loaded.mark(claim, NOW) for claim in claims)


@pytest.mark.parametrize(
    "saved",
    [
        None,
        {},
        [["ana"]],
        [["ana", "1", {"a": "injected"}]],
        [["ana", "1", {"a": {"state": "lost", "at": NOW.isoformat(), "number": 1}}]],
        [["ana", "1", {"a": {"state": "claimed", "at": "soon", "number": 1}}]],
        [["ana", "1", {"a": {"state": "claimed", "at": NOW.isoformat(), "number": "1"}}]],
        [["ana", "1", {"": "many"}]],
    ],
)
def test_what_is_no_ledger_is_not_loaded(saved: Any) -> None:  # noqa: ANN401
    """A damaged state is a typed error, and changes nothing."""
    ledger = InjectionLedger()
    injected(ledger, "a")
    with pytest.raises(StateError):
        ledger.load(saved)

    assert ledger.injected(ANA, NOW) == ["a"]


class Turns(RuleBasedStateMachine):
    """A conversation whose context is compacted and whose process crashes at any point."""

    items = st.sampled_from("abc")

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.ledger = InjectionLedger(ttl=HOUR)
        self.context: list[str] = []
        self.recover()

    def recover(self) -> None:
        """What a process does when it starts, from what was saved."""
        saved = json.loads(json.dumps(self.ledger.save()))
        self.ledger = InjectionLedger(ttl=HOUR)
        self.ledger.load(saved)
        self.ledger.agree(ANA, set(self.context), self.now)

    @rule(item=items, crash=st.sampled_from(["", "claimed", "shown", "marked"]))
    def want(self, item: str, crash: str) -> None:
        """Inject an item where it is free, crashing at one of the steps or at none."""
        claim = self.ledger.claim(ANA, item, self.now)
        if claim is not None:
            if crash != "claimed":
                self.context.append(item)
            if crash in {"", "marked"}:
                assert self.ledger.mark(claim, self.now)
        if crash:
            self.recover()

    @rule(kept=st.sets(items))
    def compact(self, kept: set[str]) -> None:
        """Keep some items in the context, and lose the others."""
        self.context = [item for item in self.context if item in kept]
        self.ledger.agree(ANA, set(self.context), self.now)

    @rule(minutes=st.integers(-30, 70))
    def wait(self, minutes: int) -> None:
        """Time passes, or goes back; what the ledger forgets by it leaves the context too."""
        self.now += timedelta(minutes=minutes)
        known = set(self.ledger.injected(ANA, self.now))
        self.context = [item for item in self.context if item in known]
        self.ledger.agree(ANA, set(self.context), self.now)

    @rule(item=items)
    def evict(self, item: str) -> None:
        """Take an item out, and allow it in again."""
        self.context = [other for other in self.context if other != item]
        self.ledger.evict(ANA, item, self.now)

    @invariant()
    def one_copy_at_most(self) -> None:
        """No item stands in the context twice."""
        assert len(self.context) == len(set(self.context))

    @invariant()
    def agreement(self) -> None:
        """What counts as injected is visible, and what is visible counts as injected."""
        assert sorted(self.context) == self.ledger.injected(ANA, self.now)


TestTurns = Turns.TestCase
TestTurns.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
