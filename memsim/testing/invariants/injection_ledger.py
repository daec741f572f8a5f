"""The injection ledger, held against a model of it: what is visible, and what is known to be."""

from __future__ import annotations

from datetime import datetime, timedelta

from memsim.memory.entry import Conversation
from memsim.memory.ledger import Claim, InjectionLedger
from memsim.message import EPOCH
from memsim.testing.check_cases import LedgerCase, LedgerOp
from memsim.testing.invariant_catalogue import Violation, holds

_Key = tuple[str, str, str]


class Play:
    """A schedule, played: contexts are sets of items, and injectors may die anywhere.

    Attributes:
        visible: how many copies of each item stand in its conversation's context.
    """

    def __init__(self, case: LedgerCase) -> None:
        self.ttl = None if case.ttl is None else timedelta(minutes=case.ttl)
        self.ledger = InjectionLedger(ttl=self.ttl)
        self.now: datetime = EPOCH
        self.visible: dict[_Key, int] = {}
        self.claims: dict[_Key, Claim] = {}
        self.since: dict[_Key, datetime] = {}
        self.crashes = 0

    def step(self, op: LedgerOp) -> None:
        """Play one step."""
        of, key = Conversation(op.who, op.session), (op.who, op.session, op.item)
        if op.step == "claim":
            self._inject(of, key)
        elif op.step == "mark" and key in self.claims:
            if not self.ledger.mark(self.claims.pop(key), self.now):
                self.visible[key] -= 1
        elif op.step == "release" and key in self.claims:
            self.ledger.release(self.claims.pop(key))
            self.visible[key] -= 1
        elif op.step == "evict" and key not in self.claims:
            self.ledger.evict(of, op.item, self.now)
            self.visible[key] = 0
        elif op.step == "compact" and key not in self.claims:
            self.visible[key] = 0
            self.agree(of)
        elif op.step == "crash":
            self._crash(of, key, after=op.after)
        elif op.step == "agree":
            self.agree(of)
        elif op.step == "wait":
            self._wait(op.minutes)

    def agree(self, of: Conversation) -> None:
        """Bring the ledger in line with what is visible, as after a restart."""
        there = [i for (w, s, i), n in self.visible.items() if (w, s) == _named(of) and n > 0]
        for key in [k for k in self.claims if k[:2] == _named(of)]:
            del self.claims[key]
        self.ledger.agree(of, there, self.now)

    def _inject(self, of: Conversation, key: _Key) -> None:
        claim = self.ledger.claim(of, key[2], self.now)
        if claim is None:
            return
        if self.visible.get(key, 0) and self._expired(key):
            self.visible[key] = 0  # an id that is used again after its time starts clean
        self.claims[key] = claim
        self.visible[key] = self.visible.get(key, 0) + 1
        self.since[key] = self.now

    def _crash(self, of: Conversation, key: _Key, *, after: bool) -> None:
        claim = self.ledger.claim(of, key[2], self.now)
        if claim is None:
            return
        self.crashes += 1
        if self._expired(key):
            self.visible[key] = 0
        if after:
            self.visible[key] = self.visible.get(key, 0) + 1
            self.since[key] = self.now
        self.agree(of)

    def _wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        for key in [k for k in self.visible if self._expired(k)]:
            self.visible[key] = 0
            self.claims.pop(key, None)
            self.ledger.agree(Conversation(key[0], key[1]), self._there(key), self.now)

    def _there(self, key: _Key) -> list[str]:
        return [k[2] for k, n in self.visible.items() if k[:2] == key[:2] and n > 0]

    def _expired(self, key: _Key) -> bool:
        since = self.since.get(key)
        return self.ttl is not None and since is not None and self.now - since >= self.ttl


def played(case: LedgerCase) -> Play:
    """A schedule to its end."""
    play = Play(case)
    for op in case.ops:
        play.step(op)
    return play


@holds(35, "for all x: copies(x in context) in {0, 1}", on="ledger")
def exactly_once(case: LedgerCase) -> int:
    """However many want to inject it, and whatever is compacted, an item stands there once at most.

    Fails, for example, where two turns both find the item missing and both put it in.
    """
    play = Play(case)
    seen = 0
    for op in case.ops:
        play.step(op)
        for key, copies in play.visible.items():
            seen += copies > 0
            if not 0 <= copies <= 1:
                raise Violation(f"after {op.step} there are {copies} copies of {key}")
    return seen


@holds(36, "ledger(x) = injected => x visible, or re-injectable", on="ledger")
def agreement(case: LedgerCase) -> int:
    """After agreeing, what counts as injected is visible, and what is not can be injected again.

    Fails, for example, where a compaction removes a skill that is never injected any more.
    """
    play = played(case)
    seen = 0
    for who, session in sorted({(op.who, op.session) for op in case.ops}):
        of = Conversation(who, session)
        play.agree(of)
        there = {k[2] for k, n in play.visible.items() if k[:2] == (who, session) and n > 0}
        known = set(play.ledger.injected(of, play.now))
        seen += len(there | known)
        if there != known:
            raise Violation(f"{sorted(there)} are visible, and {sorted(known)} count as injected")
        for item in {op.item for op in case.ops} - there:
            claim = play.ledger.claim(of, item, play.now)
            if claim is None:
                raise Violation(f"{item} is not visible, and nobody may inject it")
            play.ledger.release(claim)
    return seen


@holds(37, "kill between inject and mark => one copy after recovery", on="ledger")
def crash_between(case: LedgerCase) -> int:
    """Whoever dies between injecting and saying so leaves one copy, or none and the right to it.

    Fails, for example, where a claim that nobody marked blocks the item for ever.
    """
    play = played(case)
    for op in case.ops:
        if op.step == "crash":
            crashes = play.crashes
            play.step(op)
            if play.crashes == crashes:
                continue
            of = Conversation(op.who, op.session)
            copies = play.visible.get((op.who, op.session, op.item), 0)
            state = play.ledger.state(of, op.item, play.now)
            if (copies, state) not in {(1, "injected"), (0, "free")}:
                raise Violation(
                    f"after a crash {op.item} stands there {copies} times and is {state}"
                )
    return play.crashes


@holds(38, "keys injective over (conversation, item); one wins a race", on="ledger")
def ledger_scope(case: LedgerCase) -> int:
    """Conversations do not touch each other, whatever their names hold, and of two one wins.

    Fails, for example, where `s1` with `s2:skill` and `s1:s2` with `skill` have the same key.
    """
    ledger = InjectionLedger()
    keys = sorted({(op.who, op.session, op.item) for op in case.ops})
    for who, session, item in keys:
        first = ledger.claim(Conversation(who, session), item, EPOCH)
        if first is None:
            raise Violation(f"{(who, session, item)} is taken, and nobody took it")
        if ledger.claim(Conversation(who, session), item, EPOCH) is not None:
            raise Violation(f"two have the right to {(who, session, item)}")
    of = Conversation(keys[0][0], keys[0][1])
    ledger.end(of)
    left = {(w, s) for w, s, _ in keys} - {_named(of)}
    if {_named(c) for c in ledger.store.conversations()} != left:
        raise Violation(f"ending {of} ended another conversation, too")
    return len(keys)


def _named(of: Conversation) -> tuple[str, str]:
    return of.principal, of.session
