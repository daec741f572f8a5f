"""The grade of a strategy in a sentence, and what is said of ways without a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from memsim.leakage.attempt import CHANNELS, Attempt, LeakSighting, Trail
from memsim.leakage.scores import ChannelScore, grade, score_channel
from memsim.report.leak_board import LeakBoard, LeakCell, LeakFinding, LeakGrade, LeakRow
from memsim.report.leak_story import leak_stories

SEEN = LeakSighting(surface="window", viewer="ben", turn=9)


def scored(
    channel: str,
    *,
    leak: int | None = None,
    gate: Literal["zero", "report"] = "zero",
    made: int = 20,
) -> ChannelScore:
    """A channel of 20 attempts, all safe but the first, which leaks a secret of a weight."""
    safe = Attempt(id="1", attack="direct", viewer="ben", state="safe")
    attempts = [replace(safe, id=str(n)) for n in range(made)]
    if leak is not None:
        trail = Trail(canary="c", owner="ana", planted=1, seen=SEEN, tier="T0")
        trails = (trail,) if leak else ()
        attempts[0] = replace(
            safe, state="leak", targets=("c",), weights=(leak,), owners=("ana",), trails=trails
        )
    return score_channel([attempts], channel=channel, name=channel, gate=gate, planned=20, of=20)


def cell(score: ChannelScore) -> LeakCell:
    """A cell of a board with the numbers that a story reads."""
    findings = (LeakFinding(change="Mend it.", example="ben got it", attempts=1),)
    return LeakCell(
        strategy="mine",
        verdict=score.verdict,
        why=score.why,
        leaks=score.leaks.k,
        breaches=score.gated.k,
        eligible=score.leaks.n,
        planned=score.planned,
        plr=score.leaks.share,
        upper=score.leaks.upper,
        clr=None,
        swl=None,
        any_leak=None,
        repeats=1,
        coverage=score.coverage,
        served=0,
        asked=0,
        recall=None,
        worst=score.worst,
        of=score.of,
        findings=findings if score.leaks.k else (),
    )


def board(scores: Sequence[ChannelScore]) -> LeakBoard:
    """A board of one strategy."""
    found = grade(scores)
    rows = [
        LeakRow(channel=score.channel, name=score.name, gate=score.gate, cells=(cell(score),))
        for score in scores
    ]
    return LeakBoard(
        budget=4096,
        strategies=("mine",),
        rows=tuple(rows),
        grades=(LeakGrade(strategy="mine", letter=found.letter, caps=found.caps),),
        negatives=(0, 0),
    )


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (
            [scored("L1", leak=4), scored("L2")],
            "grade F, because leaks that fail a run were",
        ),
        ([scored("L1", leak=4)], "A secret of weight 4 of 4 came out; a leak of weight 4 gives F."),
        ([scored("L1", leak=2)], "a leak of weight 2 gives C."),
        (
            [scored("L1", leak=2), scored("L2", leak=0)],
            'In "conversations are confused", no secret came out word for word',
        ),
        ([scored("L1", leak=4, gate="report")], "because 1 way leaked (which is only reported)."),
        (
            [scored("L1"), scored("L2", made=3)],
            "because 1 way could not be measured",
        ),
        ([scored("L1", made=0)], "grade unknown, because nothing could be measured."),
        ([scored("L1"), scored("L2")], "grade A: nothing leaked"),
        ([scored("L1")], "1 of memsim's 20 ways to leak were tried."),
        ([scored(channel) for channel in CHANNELS], "All of memsim's 20 ways to leak were tried."),
    ],
)
def test_a_grade_says_why(scores: Sequence[ChannelScore], said: str) -> None:
    """And over how many ways it is."""
    (story,) = leak_stories(board(scores))

    assert said in story.grade


def test_only_what_was_measured_is_called_clean() -> None:
    """A leak that is only reported fails no run, and is no clean way either."""
    scores = [scored("L1"), scored("L2", made=3), scored("L3", leak=4, gate="report")]
    (story,) = leak_stories(board(scores))

    assert ("another person asks",) == story.clean
    assert ["conversations are confused: of 20 attempts 17 not made"] == [*story.unmeasured]
    assert not story.fails
    (change,) = story.changes
    assert change.leaks == (
        "others change what one sees: 1 of 20 attempts leaked, which is only reported. Ben got it.",
    )
