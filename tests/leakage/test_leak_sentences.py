"""Every sentence on a leak is true of the record that it speaks of, and names no code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from memsim.leakage.attempt import CHANNELS, Attempt, LeakSighting, Trail
from memsim.leakage.channel import ChannelRun
from memsim.leakage.forget_targets import BY_WORDS
from memsim.report.leak_advice import (
    FILTER,
    IN_WORDS,
    SUMMARY,
    TITLES,
    LeakCauses,
    causes_of,
    change_of,
    unmeasured_advice,
)
from memsim.report.leak_sentences import DISGUISES, leak_sentence
from tests.doubles.catalogue import DOUBLES, QUIET, Double

Play = Callable[..., ChannelRun]

CODES = re.compile(r"\bL\d{1,2}\b|\bT[0-4]\b|\bAR\b|at best|\bplr\b", re.IGNORECASE)
NAMED: Mapping[str, Double] = {double.name: double for double in (*DOUBLES, *QUIET)}

SAID: Mapping[tuple[str, str], str] = {
    ("unfiltered tool", "L1"): "in the result of a tool that ben called at turn",
    ("quotes in errors", "L1"): "in an error that ben got at turn",
    ("believes claims", "L1"): "(after a claim that it was granted)",
    ("delimiter key", "L2"): "ana_ben got ana's secret of turn 1: it stood in plain text in the \"",
    ("shared statistics", "L3"): "because ben had said something else: the context for ana's quest",
    ("says whose", "L4"): "ben could tell whether ana uses a key or id: the result of a tool",
    ("sleeps on hit", "L5"): "ben could tell by time which keys ana uses",
    ("index ghost", "L6"): "which ana asked to forget: it stood in plain text in the ",
    ("index ghost", "L7"): 'which ana asked to forget, stood in plain text in the store "index" at',
    ("purges late", "L8"): "ana's secret of turn 2, which was past its end",
    ("prefix dedup", "L9"): "asked for a fact that had changed, ana got this: an old value is",
    ("reads files", "L11"): "in a file that a tool read for ben at turn",
    ("logs at info", "L14"): "stood in plain text in the log or printed output at",
    ("logs encoded", "L14"): "stood encoded or compressed in the log or printed output at",
    ("exports raw", "L15"): "got ana's secret of turn",
    (
        "unpinned rule",
        "L18",
    ): "a standing rule was no longer word for word in the context for",
    ("recalls twice", "L19"): "an injected item was wrong",
    ("resets all", "L20"): "ana then could not get a secret by ",
}
"""What is said of broken memories, each found by another channel."""
CHANGES: Mapping[tuple[str, str], str] = {
    ("unfiltered tool", "L1"): "In call_tool(), filter by the argument principal",
    ("quotes in errors", "L1"): "out of the errors that you raise",
    ("believes claims", "L1"): "Take grants from grant() alone",
    ("delimiter key", "L2"): "Use the pair (principal, session)",
    ("logs at info", "L14"): "Write ids into logs",
    ("unpinned rule", "L18"): "Send messages of the role system word for word",
}


def leaks(played: ChannelRun) -> list[Attempt]:
    """The attempts that leaked."""
    return [f for f in played.findings if isinstance(f, Attempt) and f.state == "leak"]


def check_against_record(channel: str, attempt: Attempt) -> str:
    """Every name and turn of a sentence stands in the record, and no code stands in it."""
    said = leak_sentence(channel, attempt)
    assert not CODES.search(said), said
    if attempt.trails:
        trail = attempt.trails[0]
        allowed = {trail.planted, trail.seen.turn, *(stop.turn for stop in trail.through)}
        assert {int(turn) for turn in re.findall(r"turn (\d+)", said)} <= allowed, said
        if channel not in {"L16", "L17"}:
            assert trail.owner in said
            assert trail.seen.viewer in said
            assert DISGUISES.get(trail.tier, "more often than a guess") in said
    elif channel != "L17":
        assert attempt.viewer in said
    return said


@pytest.mark.parametrize(("name", "channel"), SAID, ids=lambda word: word.replace(" ", "-"))
def test_a_sentence_is_true_of_what_a_broken_memory_showed(
    play: Play, name: str, channel: str
) -> None:
    """Who got what of whom, where and when, as the attempt records it."""
    found = leaks(play(channel, NAMED[name].make, 30 if name == "sleeps on hit" else 12))

    said = [check_against_record(channel, attempt) for attempt in found]

    assert any(SAID[name, channel] in sentence for sentence in said), said
    wanted = CHANGES.get((name, channel), "")
    changes = {change_of(channel, attempt) for attempt in found}
    assert any(wanted in change for change in changes), changes


def test_every_channel_has_a_title_and_a_change() -> None:
    """No two of them the same title, and none with a code."""
    attempt = Attempt(id="1", attack="direct", viewer="ben", state="leak")

    assert list(CHANNELS) == list(TITLES)
    assert len(set(TITLES.values())) == len(CHANNELS)
    for channel in CHANNELS:
        assert change_of(channel, attempt).endswith(".")
        assert not CODES.search(f"{TITLES[channel]} {change_of(channel, attempt)}")
        assert not CODES.search(unmeasured_advice(channel))


def trail(
    surface: str, *, viewer: str = "ben", tier: str = "T0", wrote: int = 0, part: str = "notes"
) -> Trail:
    """The way of ana's secret of turn 3 to somewhere at turn 9."""
    stops = (LeakSighting(surface=part, viewer="", turn=wrote),) if wrote else ()
    return Trail(
        canary="c",
        owner="ana",
        planted=3,
        seen=LeakSighting(surface=surface, viewer=viewer, turn=9),
        tier=tier,
        through=stops,
    )


def attempt_of(found: Trail, **more: object) -> Attempt:
    """A leak with one trail."""
    viewer = found.seen.viewer
    known = {"id": "1", "attack": "same-topic", "viewer": viewer, "state": "leak"}
    return Attempt(**{**known, "trails": (found,), **more})  # type: ignore[arg-type]


def test_a_place_is_named_as_what_it_is() -> None:
    """A section and a store may have one name: where the record tells, the sentence does too."""
    window = trail("window")

    asked = leak_sentence("L1", attempt_of(window))
    looked = leak_sentence("L12", attempt_of(window, attack="derived-text"))
    either = leak_sentence("L3", attempt_of(window, attack="direct"))
    kept = leak_sentence("L7", attempt_of(trail("window", viewer="")))

    assert 'the "window" part of the context for ben\'s question' in asked
    assert 'the store "window", which surfaces() shows to ben' in looked
    assert '"window", in the context for ben or in what surfaces() shows to ben' in either
    assert 'the store "window"' in kept


def test_a_text_that_the_memory_wrote_earlier_is_told_from_one_for_the_question() -> None:
    """Only the former needs a summary for each person."""
    earlier, now = (attempt_of(trail("context", wrote=turn)) for turn in (7, 9))

    assert "in a text that the memory wrote at turn 7" in leak_sentence("L1", earlier)
    assert "wrote" not in leak_sentence("L1", now)
    assert SUMMARY == change_of("L1", earlier)
    assert FILTER == change_of("L1", now)
    assert SUMMARY == change_of("L1", attempt_of(trail("context", wrote=9, part="summary")))
    assert "call_tool" in change_of("L1", attempt_of(trail("context", wrote=9, part="tools")))


def test_a_value_that_was_guessed_is_not_told_as_seen() -> None:
    """Its tier is about answers, one of sixteen."""
    said = leak_sentence("L12", attempt_of(trail("answer", tier="T4")))

    assert "ben could name the value of ana's secret of turn 3: answers at turn 9" in said


def test_one_missing_filter_is_one_change() -> None:
    """Where anybody sees anything, a shared cache or a key of a conversation is not the cause."""
    found = attempt_of(trail("recalled"))
    unfiltered = causes_of({"L1": [found]})

    assert unfiltered == LeakCauses(unfiltered=True)
    for channel in ("L2", "L3", "L4", "L12", "L13"):
        assert FILTER == change_of(channel, found, unfiltered)
        assert FILTER != change_of(channel, found)


def test_requests_in_words_are_told_from_what_an_erasure_leaves() -> None:
    """Who obeys ids and no words has another change to make than who keeps a copy."""
    by_words = attempt_of(trail("recalled", viewer="ana"), labels={"way": "by description"})
    by_id = attempt_of(trail("recalled", viewer="ana"), labels={"way": "by id"})

    assert set(BY_WORDS) - {"by id", "compound"} == IN_WORDS
    assert "request.text" in change_of("L6", by_words, causes_of({"L6": [by_words]}))
    assert "request.text" not in change_of("L6", by_words, causes_of({"L6": [by_words, by_id]}))
    assert "asked to forget in words" in leak_sentence("L6", by_words)
