"""Opinions on an answer, what they come to, and how far two judges agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsim.models.offline.judge import write_verdict
from memsim.scenario import Scenario, ScenarioBuilder
from memsim.scenario.script import Probe
from memsim.scoring.calibration import question_of, to_be_judged, vote_of
from memsim.scoring.votes import Ballot, agreement, flipped, majority, votes_in, words_of

VOTES = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ([True, True, False], True),
        ([False, True, False], False),
        ([True, None, True], True),
        ([True, None, None], None),
        ([True, None, False], None),
        ([None, None, None], None),
        ([False, False, None], False),
        ([True], True),
        ([], None),
    ],
)
def test_more_than_half_of_all_draws_decide(votes: list[bool | None], verdict: bool | None) -> None:
    """A draw that cannot be read is still a draw: it is on nobody's side."""
    assert verdict is majority(votes)
    assert verdict is Ballot(votes=tuple(votes)).verdict


@given(VOTES)
def test_garbage_never_makes_an_answer_right(votes: list[bool | None]) -> None:
    """Where a readable vote turns unreadable, a verdict may be lost, and none is won."""
    for place in range(len(votes)):
        blurred = [*votes[:place], None, *votes[place + 1 :]]
        assert majority(blurred) in {majority(votes), None}
    assert votes == list(votes_in(words_of(votes)))


def test_a_reply_is_a_vote_only_if_it_is_a_verdict() -> None:
    """No reply is none either."""
    said = [write_verdict(right=True), write_verdict(right=False), "right", "", None]

    assert [True, False, None, None, None] == list(map(vote_of, said))


@pytest.mark.parametrize(
    ("votes", "flips"),
    [
        ([True, True, True], False),
        ([True, False, True], True),
        ([True, None, True], False),
        ([True, None, None], None),
        ([None, None, None], None),
    ],
)
def test_opinions_flip_where_two_that_can_be_read_differ(
    votes: list[bool | None], flips: bool | None
) -> None:
    """What cannot be read is counted elsewhere."""
    assert flips is flipped(votes)


def test_agreement_is_raw_and_beyond_chance() -> None:
    """Cohen's own example: 50 answers, 35 alike, half of that by chance."""
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10
    found = agreement(pairs + [(False, False)] * 15)

    assert (50, 0.7) == (found.n, found.raw)
    assert pytest.approx(0.4) == found.kappa


def test_a_judge_that_always_says_the_same_agrees_by_chance() -> None:
    """Nine of ten alike say nothing where one side has no opinion."""
    found = agreement([(True, True)] * 9 + [(True, False)])

    assert (0.9, None) == (found.raw, found.kappa)
    assert (0, None, None) == (agreement([]).n, agreement([]).raw, agreement([]).kappa)


def probe(name: str, *, judge: bool | None = None, unanswerable: bool = False) -> Probe:
    """A question that has an answer or not."""
    expect = () if unanswerable else ("Oslo",)
    return Probe(id=name, ask="Where?", expect=expect, unanswerable=unanswerable, judge=judge)


def test_all_that_have_an_answer_are_judged_unless_the_script_chooses() -> None:
    """Marked ones alone, where there are any; never one that says no, or has no answer."""
    plain, other = probe("plain"), probe("other")
    no, yes, none = (
        probe("no", judge=False),
        probe("yes", judge=True),
        probe("u", unanswerable=True),
    )

    assert {"plain", "other"} == to_be_judged([plain, other, no, none])
    assert {"yes"} == to_be_judged([plain, other, no, yes, none])
    assert set() == to_be_judged([none, no])


def test_a_script_says_which_answers_are_judged() -> None:
    """Like any other key of a probe; saying nothing leaves the script's fingerprint as it is."""

    def script(**said: bool) -> Scenario:
        builder = ScenarioBuilder("desk").user("My order is A-17.", facts={"order": "A-17"})
        builder.probe("order", ask="What is my order?", expect="A-17", **said)
        return builder.probe("again", ask="My order?", expect="A-17").build()

    marked, plain = script(judge=True), script()

    assert {"order"} == to_be_judged(marked.probes)
    assert {"again"} == to_be_judged(script(judge=False).probes)
    assert {"order", "again"} == to_be_judged(plain.probes)
    assert marked.fingerprint != plain.fingerprint


def test_a_judge_is_asked_with_what_is_expected_and_what_is_old() -> None:
    """One answer a line; all of them on one where all are needed; nothing old that still holds."""
    asked = Probe(id="p", ask="Where?", expect=("Oslo", "the\ncapital"), forbid=("Bergen", "OSLO"))
    every = Probe(id="p", ask="Where?", expect=("Oslo", "Rome"), match="all", choices=("a", "b"))
    request = question_of(asked, "There.", ["Bonn", "Bergen"], repeat=2)

    assert "Oslo\nthe capital" == request.expected
    assert "Bergen\nBonn" == request.outdated
    assert ("There.", 2, 0) == (request.given, request.repeat, request.draw)
    assert "Oslo and Rome" == question_of(every, "?").expected
    assert "Where?\n- a\n- b" == question_of(every, "?").question
