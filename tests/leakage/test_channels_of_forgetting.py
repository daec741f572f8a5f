"""L6 to L9: what was forgotten, what is over, and what is no longer so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from memsim.context import Context
from memsim.leakage.attempt import Attempt
from memsim.leakage.channel import ChannelRun
from memsim.leakage.forget_targets import check_targets, forget_targets, forget_ways, plant_target
from memsim.leakage.lab import Lab, tier_of
from memsim.leakage.residue_text import readable_text
from memsim.leakage.scores import TIER, ChannelScore
from memsim.message import Message
from memsim.strategy import Environment, Forget, ForgetOutcome, Query, Retention, Strategy
from tests.doubles.forget_faults import (
    FirstPage,
    HistoryKept,
    IndexGhost,
    PrefixDedup,
    PurgesLate,
    Resurrecting,
    StaleFirst,
    SummaryKept,
)
from tests.doubles.honest import Honest

Play = Callable[..., ChannelRun]
Score = Callable[[str, ChannelRun], ChannelScore]
Labs = Callable[..., Lab]


class KeepsFiles(Strategy):
    """Forgets in memory what it goes on keeping in files."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._honest = Honest(env)
        self._lines = b"SQLite\x00\xff\xfe\x01"

    def observe(self, message: Message) -> None:
        self._honest.observe(message)
        self._lines += message.text.encode() + b"\x00\x03\xff"
        (self.env.folder() / "memory.db-wal").write_bytes(self._lines)

    def context(self, query: Query) -> Context:
        return self._honest.context(query)

    def forget(self, request: Forget) -> ForgetOutcome:
        return self._honest.forget(request)

    def end_turn(self) -> None:
        self._honest.end_turn()


class BlackBox(Strategy):
    """A list that shows nothing, cannot forget, and is gone with its process."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._said: list[Message] = []

    def observe(self, message: Message) -> None:
        logging.getLogger("box").debug("one more")
        self._said.append(message)

    def context(self, query: Query) -> Context:
        return self.env.build.context(self.env.build.section("window", self._said))


class ExpiresEarly(Honest):
    """What has a term is gone a minute before it is over."""

    def elapse(self, now: datetime) -> None:
        super().elapse(now + timedelta(minutes=1))


@pytest.mark.parametrize("channel", ["L6", "L7", "L8"])
@pytest.mark.parametrize("strategy", ["layered:acl=on", "layered:acl=on,mode=both"])
def test_the_reference_forgets(play: Play, scored: Score, channel: str, strategy: str) -> None:
    """With the framework in control, and with tools."""
    found = scored(channel, play(channel, strategy, 16))

    assert ("safe", 16) == (found.verdict, found.leaks.n)


def test_the_reference_serves_present_values(play: Play, scored: Score) -> None:
    """Old ones may stand beside them, marked or not."""
    found = scored("L9", play("L9", "layered:acl=on", 20))

    assert "safe" == found.verdict
    assert 0 == found.measures["current_lost"][0]
    assert found.measures["served_alongside"][1] == 20


@pytest.mark.parametrize("channel", ["L6", "L7", "L8", "L9"])
def test_an_amnesiac_has_no_number(play: Play, scored: Score, channel: str) -> None:
    """Who remembers nothing has nothing to forget."""
    assert "n/a" == scored(channel, play(channel, "no_memory", 12)).verdict


@pytest.mark.parametrize(
    ("channel", "count", "double", "label", "values"),
    [
        ("L6", 8, FirstPage, "way", {"everything"}),
        ("L6", 8, Resurrecting, "then", {"consolidation"}),
        ("L8", 15, PurgesLate, "moment", {"at", "purged"}),
        ("L9", 12, StaleFirst, "phrasing", {"long", "short"}),
        ("L9", 12, PrefixDedup, "phrasing", {"long"}),
    ],
)
def test_what_is_broken_is_named(
    shared: Play, channel: str, count: int, double: type[Strategy], label: str, values: set[str]
) -> None:
    """The slices of a leak say what brought it about."""
    usual = {a.id for a in _leaks(shared(channel, Honest, count))}

    leaked = {a.labels[label] for a in _leaks(shared(channel, double, count)) if a.id not in usual}

    assert values == leaked


@pytest.mark.parametrize(
    ("double", "tier"),
    [(IndexGhost, "index"), (SummaryKept, "summary"), (HistoryKept, "changes")],
)
def test_residue_is_told_by_tier(
    play: Play, scored: Score, double: type[Strategy], tier: str
) -> None:
    """The tier that is broken holds what is gone from every other, and the secret is not erased."""
    found = scored("L7", play("L7", double, 30))

    assert {tier} == {name for name, tally in found.residue.items() if tally.k} - {"export"}
    assert found.frs is not None
    assert found.frs > 0
    assert found.gated.k, "it said that this is gone"


def test_what_is_gone_at_once_takes_no_time(shared: Play, scored: Score) -> None:
    """Every tier is clean at the first look, so erasure took no turn and no hour."""
    found = scored("L7", shared("L7", "layered:acl=on", 24))

    assert 0 == found.frs
    assert (0.0, 0.0) == found.erasure.turns == found.erasure.hours
    assert {"episodic", "window", "export"} <= found.residue.keys()


def test_erasure_takes_as_long_as_the_last_tier(play: Play, scored: Score) -> None:
    """PRX keeps what was forgotten in the chat until that has moved on."""
    found = scored("L7", play("L7", "prx:acl=on", 10))

    assert found.residue["window"].k
    assert found.erasure.turns[1] > 0
    assert 0 == scored("L7", play("L7", "prx:acl=on,fixed=true", 10)).residue["window"].k


def test_files_are_read_byte_by_byte(play: Play, scored: Score) -> None:
    """A write-ahead log is no text, and nobody was shown it."""
    played = play("L7", KeepsFiles, 10)
    found = scored("L7", played)

    assert found.residue["wal"].k == found.residue["wal"].n
    shown = {a.state for a in _attempts(played) if a.labels["where"] == "shown"}
    assert {"not_inspectable"} == shown


def test_a_black_box_has_no_residue_and_nothing_gone(play: Play, scored: Score) -> None:
    """Neither a clean log nor the harness's own events tell what it keeps."""
    played = play("L7", BlackBox, 10)
    found = scored("L7", played)

    assert "n/a" == found.verdict
    assert (None, 0, {}) == (found.frs, found.erasure.gone.n, dict(found.residue))
    assert {"not_inspectable"} == {a.state for a in _attempts(played)}


def test_every_attempt_that_counts_has_looked_at_something(shared: Play) -> None:
    """What keeps no files and logs nothing is only looked at where it shows itself."""
    attempts = _attempts(shared("L7", "layered:acl=on", 24))

    assert 24 == len({a.targets for a in attempts})
    assert {"shown"} == {a.labels["where"] for a in attempts}
    assert all(any(name.startswith(TIER) for name in a.measures) for a in attempts)


def test_what_cannot_forget_says_so(play: Play) -> None:
    """A leak that follows from an erasure that nobody carried out is told apart."""
    leaks = _leaks(play("L6", "aegis", 8))

    assert leaks
    assert {"it says that it cannot forget"} == {a.detail for a in leaks}
    assert not _leaks(play("L6", "aegis:fixed=true", 8))


def test_without_a_term_expiry_does_not_apply(play: Play, scored: Score) -> None:
    """It is not green, and says why."""
    found = scored("L8", play("L8", "bm25", 15))

    assert ("n/a", "nothing that it keeps has a term") == (found.verdict, found.why)


def test_who_loses_the_living_is_caught(play: Play, scored: Score) -> None:
    """To purge too early is as wrong as to purge too late."""
    played = play("L8", ExpiresEarly, 15)
    found = scored("L8", played)

    assert {"before"} == {a.labels["moment"] for a in _leaks(played)}
    assert found.measures["live_lost"][0] == 1
    assert found.measures["expired_served"][0] == 0


def test_hygiene_that_is_done_twice_a_day_is_late(play: Play) -> None:
    """PRX's terms are of days, but it looks no more than every twelve hours."""
    leaked = {a.labels["moment"] for a in _leaks(play("L8", "prx:acl=on", 15))}

    assert {"at", "after", "purged"} == leaked


def test_terms_are_those_of_the_strategy(lab: Labs) -> None:
    """One that can be told holds to what it is told; PRX has its own; most have none."""
    wanted: Retention = {"conversation": (timedelta(days=2), timedelta(days=2))}
    with lab("layered:acl=on").world() as world:
        assert {} == world.strategy.retention()
        assert wanted == world.strategy.retention(wanted) == world.strategy.retention()
    with lab("prx").world() as world:
        assert timedelta(days=3) == world.strategy.retention(wanted)["conversation"][0]
    with lab("prx:hygiene_enabled=off").world() as world:
        assert {} == world.strategy.retention(wanted)


def test_eighty_alike_characters_cost_agenticx_the_present_value(play: Play, scored: Score) -> None:
    """Of facts that begin alike its notes keep the first; repaired, they keep all of them.

    Others are no part of that number.
    """
    broken = scored("L9", play("L9", "agenticx", 8)).measures
    repaired = scored("L9", play("L9", "agenticx:fixed=true", 8)).measures

    assert (0.0, 5) == broken["current_in_notes"]
    assert (1.0, 5) == repaired["current_in_notes"]
    assert broken["current_lost"][0] >= 0.5


def test_each_way_of_asking_reaches_its_own(lab: Labs) -> None:
    """By id, by words, with another of nearly the same name beside it, in another language, by key.

    And what was not meant stays.
    """
    from memsim.leakage.attack_files import channel_header
    from memsim.leakage.channels import load_channel

    bench = lab("layered:acl=on,mode=both", "L6")
    with bench.world() as world:
        names = forget_ways(world, "ana")
        planted = [
            plant_target(bench, world, "ana", f"garage {n}", way) for n, way in enumerate(names)
        ]
        targets = list(check_targets(bench, world, planted))
        after = list(
            check_targets(
                bench, world, forget_targets(world, channel_header(load_channel("L6").id), targets)
            )
        )
        twin = next(t.twin for t in targets if t.twin)
        seen = world.ask("ana", twin.question)

    assert "by key" in names
    assert all(target.held for target in targets)
    assert not [target.way for target in after if target.held]
    assert bench.holds(seen, twin)


def test_tiers_of_files_go_by_their_names() -> None:
    """What SQLite keeps beside its file is a tier of its own."""
    names = ["a/memory.db", "memory.db-wal", "2026-01-05.md", "notes", "x.db.bak"]

    assert ["database", "wal", "markdown", "file", "backup"] == [tier_of(n) for n in names]


def test_binary_files_are_read_by_their_runs() -> None:
    """Numbers are no letters, however they look."""
    assert "Grüße\n" == readable_text("Grüße\n".encode())
    assert "a secret as long" == readable_text(b"\xff\x00AB12\x00a secret as long\x00\xfeXYZ")


def _attempts(played: ChannelRun) -> list[Attempt]:
    return [f for f in played.findings if isinstance(f, Attempt)]


def _leaks(played: ChannelRun) -> list[Attempt]:
    return [a for a in _attempts(played) if a.state == "leak"]
