"""Generated stories: their answers are proven, their dials are what they are said to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import memsim
from memsim.cli.program import program
from memsim.errors import ScenarioError
from memsim.scenario import ScenarioBuilder, load_scenario
from memsim.scenario.generator.dials import (
    ASKED,
    DIALS,
    FAMILIES,
    LANGUAGES,
    LOOK_ALIKE_KINDS,
    Generate,
)
from memsim.scenario.generator.event_log import SessionDays, Story
from memsim.scenario.generator.foreign_phrases import with_code_switching
from memsim.scenario.generator.language_frames import frames_of
from memsim.scenario.generator.look_alike_kinds import LookAlikes
from memsim.scenario.generator.question_forms import forms_of
from memsim.scenario.generator.random_draw import Draw
from memsim.scenario.generator.solver import (
    UnprovenAnswerError,
    proven,
    solved,
    without_evidence,
)
from memsim.scenario.generator.story_script import (
    StoryScript,
    defaults_of,
    family,
    generated_plan,
    most_of,
    story_of,
)
from memsim.scenario.script import Turn
from memsim.scenario.script_plan import Plan
from memsim.scoring.answer_score import judge_answer

DAYS = SessionDays(first=date(2026, 1, 5), apart=timedelta(days=7))
HIGH = {"facts": 12, "distance": 100, "updates": 12, "unreal": 6, "look_alikes": 8, "hops": 6}
HIGH |= {"items": 8, "removed": 5, "steps": 10, "unknown": 4, "noise": 100, "reverted": 4}
HIGH |= {"code_switching": 100, "asked": 3, "pronouns": 100, "interruptions": 100}
HIGH |= {
    "late": 6,
    "aliases": 4,
    "depends": 3,
    "speakers": 6,
    "result_size": 2_000,
    "instructions": 6,
}
HIGH |= {"notices": 12}
KINDS = LOOK_ALIKE_KINDS


def settings() -> Iterator[tuple[str, str, int]]:
    """Each dial of each family, at both ends."""
    for name in FAMILIES:
        for dial in defaults_of(name):
            most = getattr(family(name), "MOST", {}).get(dial, HIGH[dial])
            yield from ((name, dial, value) for value in (DIALS[dial].least, most))


SETTINGS = [*settings()]


@pytest.mark.parametrize(("name", "dial", "value"), SETTINGS)
def test_every_answer_is_proven(name: str, dial: str, value: int) -> None:
    """A replay gives it, and gives another without any one event that it needs."""
    for seed in range(3):
        turned: dict[str, Any] = {dial: value}
        story = story_of(Generate(line=None, family=name, seed=seed, **turned), DAYS)
        for question, found in zip(story.questions, proven(story), strict=True):
            assert bool(found.evidence) is bool(question.expect)
            assert found.answer not in without_evidence(story, question, found)
            assert not set(found.answer) & set(found.stale)


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_are_proven_with_every_dial_turned_up_at_once(name: str) -> None:
    """One dial does not break what another one says."""
    most = getattr(family(name), "MOST", {})
    turned: dict[str, Any] = {
        dial: min(most.get(dial, 3), DIALS[dial].most, 3) for dial in defaults_of(name)
    }
    for seed in range(5):
        story = story_of(Generate(line=None, family=name, seed=seed, **turned), DAYS)
        for question, found in zip(story.questions, proven(story), strict=True):
            assert bool(found.evidence) is bool(question.expect)
            assert not set(found.answer) & set(found.stale)


def test_an_answer_that_does_not_follow_is_refused() -> None:
    """Whoever writes a family is told at once."""
    story = story_of(Generate(line=None, family="updates"), DAYS)
    question = story.questions[0]
    wrong = replace(question, expect=("Elsewhere",))

    with pytest.raises(UnprovenAnswerError, match="'Elsewhere'"):
        proven(Story(events=story.events, questions=(wrong,)))


@pytest.mark.parametrize("name", FAMILIES)
def test_what_was_never_told_is_asked_as_well(name: str) -> None:
    """So many questions have no answer, and whoever makes one up answers wrongly."""
    step = Generate(line=None, family=name, unknown=2)
    scenario = ScenarioBuilder("x").generate(name, unknown=2, distance=6).build()
    never = [question for question in story_of(step, DAYS).questions if not question.expect]

    assert 2 == len(never) == sum(probe.unanswerable for probe in scenario.probes)
    found = memsim.run(scenario, "oracle", controls=False).to_pandas("probes")
    outcomes = found[found.recall.isna()].outcome
    assert {"ABSTAINED"} == {*outcomes}


def test_a_change_that_is_only_talked_about_changes_nothing() -> None:
    """The last thing said of a key is a joke, and the key lies where it lay."""
    step = Generate(line=None, family="updates", facts=1, updates=0, unreal=3)
    story = story_of(step, DAYS)

    assert ["is", "unreal", "unreal", "unreal"] == [event.kind for event in story.events]
    assert story.events[0].value == story.questions[0].expect[0]


def test_what_is_reverted_has_its_first_value_again() -> None:
    """The last statement does not say it; the first one and the last are the evidence."""
    step = Generate(
        line=None, family="updates", facts=1, updates=1, unreal=0, reverted=2, unknown=0
    )
    story = story_of(step, DAYS)
    (found,) = proven(story)

    assert ["is", "is", "is", "restores", "is", "restores"] == [e.kind for e in story.events]
    assert (story.events[0].value,) == found.answer
    assert found.answer[0] not in story.events[-1].text
    assert (0, 5) == found.evidence


def test_what_is_told_late_does_not_hold_now() -> None:
    """The last statement is of an earlier day, so the answer is the value of the latest day."""
    step = Generate(
        line=None, family="updates", facts=1, updates=2, unreal=0, unknown=0, late=2, noise=0
    )
    story = story_of(step, DAYS)
    (found,) = proven(story)
    *_, newest, older, oldest = story.events

    assert (newest.value,) == found.answer
    assert {older.value, oldest.value} < {*found.stale}
    assert older.session == oldest.session > newest.session
    days = [event.day for event in (older, newest) if event.day]
    assert days[0] < days[1]
    assert f"{days[0].day} January 2026" in older.text


def test_a_thing_is_told_and_asked_of_by_any_of_its_names() -> None:
    """Where the statement has another name than the question, what says the names is evidence."""
    step = Generate(line=None, family="updates", facts=8, unreal=0, unknown=0, aliases=3)
    story = story_of(step, DAYS)
    chains = 0
    for question, found in zip(story.questions, proven(story), strict=True):
        *names, told = (story.events[place] for place in found.evidence)
        assert {"names"} >= {event.kind for event in names}
        assert question.subject in question.ask
        assert told.subject in told.text
        said = {name for event in names for name in (event.subject, event.value)}
        assert said >= {question.subject, told.subject} or question.subject == told.subject
        chains += len(names) > 1

    assert chains


@pytest.mark.parametrize("dials", [{}, {"aliases": 2}, {"depends": 1}, {"noise": 100}])
def test_what_a_pronoun_stands_for_is_said_right_before(dials: dict[str, Any]) -> None:
    """In the same session, and it is evidence; the statement itself names no thing."""
    step = Generate(line=None, family="updates", facts=6, unreal=0, unknown=0, pronouns=60, **dials)
    story = story_of(step, DAYS)
    called = []
    for found in proven(story):
        for place in found.evidence:
            event, before = story.events[place], story.events[place - 1]
            if not event.subject.startswith("it "):
                continue
            called.append(event)
            assert event.subject == before.value
            assert (before.session, place - 1 in found.evidence) == (event.session, True)
            assert before.subject in before.text
            assert before.subject not in event.text
            assert "it" in event.text.lower().replace(".", " ").split()

    assert 0 < len(called) < 6


def test_all_or_none_are_called_it() -> None:
    """What is only talked about keeps its name, as do the other families."""
    plain, all_of_it = (
        story_of(Generate(line=None, family="updates", pronouns=percent), DAYS)
        for percent in (0, 100)
    )
    assert not any("it" in event.subject.split() for event in plain.events)
    assert all(event.subject.startswith("it ") for event in all_of_it.events if event.kind == "is")
    unreal = [event.text for event in plain.events if event.kind == "unreal"]
    assert unreal == [event.text for event in all_of_it.events if event.kind == "unreal"]
    assert ["updates"] == [name for name in FAMILIES if "pronouns" in defaults_of(name)]


def test_a_higher_setting_calls_more_of_the_same_things_it() -> None:
    """What is told of a thing by its pronoun stays so, and the mention has the same words."""
    texts = [
        {
            event.text
            for event in story_of(Generate(line=None, family="updates", pronouns=n), DAYS).events
            if event.attribute == "it" or event.subject.startswith("it ")
        }
        for n in (10, 40, 90)
    ]
    assert texts[0] < texts[1] < texts[2]


@pytest.mark.parametrize(
    "dials", [{}, {"noise": 100}, {"code_switching": 100}, {"interruptions": 100}, {"pronouns": 50}]
)
@pytest.mark.parametrize("name", ["updates", "aggregation", "multi_hop"])
def test_a_notice_is_sent_again_word_for_word_and_nothing_else_changes(
    name: str, dials: dict[str, Any]
) -> None:
    """So many times in each session that tells something, by a machine, and for no answer."""
    turned = {dial: value for dial, value in dials.items() if dial in defaults_of(name)}
    plain, told = (
        story_of(Generate(line=None, family=name, notices=n, **turned), DAYS) for n in (0, 5)
    )
    notices = [event for event in told.events if event.text.startswith("[Monitor] ")]
    sessions = Counter(event.session for event in notices)

    assert plain.events == tuple(event for event in told.events if event not in notices)
    assert plain.questions == told.questions
    assert 1 == len({event.text for event in notices})
    assert {5} == {*sessions.values()}
    assert sessions.keys() == {event.session for event in plain.events}
    needed = {place for found in proven(told) for place in found.evidence}
    assert not any(told.events[place] in notices for place in needed)


INTERRUPTED = ["updates", "aggregation", "multi_hop"]
INTERRUPTED_WITH: list[tuple[str, dict[str, int]]] = [
    *((name, {}) for name in INTERRUPTED),
    *((name, {"aliases": 2}) for name in INTERRUPTED),
    ("updates", {"pronouns": 50}),
    ("updates", {"noise": 100}),
    ("updates", {"code_switching": 100}),
    ("aggregation", {"look_alikes": 2, "removed": 2}),
]


@pytest.mark.parametrize(("name", "dials"), INTERRUPTED_WITH)
def test_an_interrupted_statement_is_two_messages_that_are_both_evidence(
    name: str, dials: dict[str, Any]
) -> None:
    """The first says the thing and the second the value; what is said between says neither."""
    step = Generate(line=None, family=name, interruptions=60, **dials)
    story = story_of(step, DAYS)
    parted = whole = 0
    for found in proven(story):
        for place in found.evidence:
            event = story.events[place]
            if not event.subject.startswith("... "):
                whole += event.kind == "is"
                continue
            parted += 1
            begins, between = story.events[place - 2 : place]
            assert event.subject == begins.value
            assert place - 2 in found.evidence
            assert place - 1 not in found.evidence
            assert {begins.session} == {between.session, event.session}
            assert (begins.text[-4:], event.text[:4]) == (" ...", "... ")
            assert event.value in event.text
            assert event.value not in begins.text + between.text
            assert begins.said in begins.text
            assert begins.said not in event.text.split(".")[0]
            assert between.kind == "unreal"

    assert parted
    assert whole or name == "aggregation"


def test_every_one_who_interrupts_is_played() -> None:
    """Others and notifications speak as the user does; the assistant and a tool as themselves."""
    step = Generate(line=None, family="updates", facts=12, interruptions=100)
    story = story_of(step, DAYS)
    between = [event for event in story.events if event.attribute == "talk"]
    assert {"speaker", "notification", "assistant", "tool"} == {event.by for event in between}

    scenario = ScenarioBuilder("x").generate("updates", facts=12, interruptions=100).build()
    turns = [event for event in scenario.events(0) if isinstance(event, Turn)]
    said = {(m.role, m.text) for turn in turns for m in (*turn.heard, *turn.reply)}
    roles = {"speaker": "user", "notification": "user", "assistant": "assistant", "tool": "tool"}
    assert {(roles[event.by], event.text) for event in between} <= said


def test_a_higher_setting_interrupts_more_of_the_same_statements() -> None:
    """What is interrupted stays so, by the same words; at nought nothing is."""
    texts = [
        {e.text for e in story_of(step, DAYS).events if e.part}
        for step in (
            Generate(line=None, family="updates", interruptions=n) for n in (0, 10, 40, 90)
        )
    ]
    assert not texts[0]
    assert texts[0] < texts[1] < texts[2] < texts[3]
    assert sorted(INTERRUPTED) == [n for n in FAMILIES if "interruptions" in defaults_of(n)]


def test_the_more_statements_are_interrupted_the_fewer_a_search_finds() -> None:
    """Who searches for words finds the half that has none of the answer."""
    none, half, every = (_held("updates", {"interruptions": n})["bm25", 1024] for n in (0, 50, 100))
    assert none > half + 0.2 > every + 0.4


@pytest.mark.parametrize("dials", [{}, {"distance": 0}, {"updates": 0}, {"late": 2}], ids=str)
def test_the_day_of_a_question_is_no_answer(dials: dict[str, Any]) -> None:
    """Without a memory nobody knows when it changed: whoever says "today" is wrong."""
    scenarios = [
        ScenarioBuilder(f"{name}_{seed}")
        .generate(name, form="when", seed=seed, **{"distance": 10, "facts": 2} | dials)
        .build()
        for name in ("updates", "temporal")
        for seed in range(1, 51)
        if {*dials} <= {*defaults_of(name)}
    ]
    probes = memsim.run(scenarios, "no_memory", controls=False).to_pandas("probes")
    held = probes[probes.answer_in_context.notna()].answer_in_context

    assert len(held) >= 100
    assert 0.0 == held.max()


def test_a_change_makes_what_depends_on_it_stale() -> None:
    """Nobody says that the room is another one: the carer of another drawer sits there."""
    step = Generate(line=None, family="updates", facts=4, updates=2, unknown=0, depends=2)
    story = story_of(step, DAYS)
    for found in proven(story):
        chain = [story.events[place] for place in found.evidence]
        assert ["carer", "room"] == [event.attribute for event in chain[1:]]
        assert [chain[0].value, chain[1].value] == [event.subject for event in chain[1:]]
        assert 2 == len(found.stale)
        rooms = {event.value for event in story.events if event.attribute == "room"}
        assert {*found.stale, *found.answer} < rooms


@pytest.mark.parametrize("dials", [{}, {"speakers": 2}, {"noise": 100}, {"updates": 0}])
def test_an_instruction_is_evidence_of_every_question_of_whoever_gave_it(
    dials: dict[str, Any],
) -> None:
    """It is told before all else, and questions and tastes are the same as without."""
    plain, told = (
        story_of(Generate(line=None, family="preferences", instructions=n, **dials), DAYS)
        for n in (0, 3)
    )
    orders, rest = told.events[:3], told.events[3:]
    wanted = tuple(event.value for event in orders)

    assert [event.value for event in plain.events] == [event.value for event in rest]
    assert {"instruction"} == {event.attribute for event in orders}
    for before, question, found in zip(plain.questions, told.questions, proven(told), strict=True):
        assert before.ask == question.ask
        own = question.subject == "me" and bool(before.expect)
        assert question.expect == before.expect + (wanted if own else ())
        assert own is ({0, 1, 2} <= {*found.evidence})


def test_more_instructions_are_those_of_a_lower_setting_and_others() -> None:
    """So that a memory that breaks at one setting breaks at the next as well."""
    texts = [
        [e.text for e in story_of(step, DAYS).events if e.attribute == "instruction"]
        for step in (Generate(line=None, family="preferences", instructions=n) for n in (2, 5, 10))
    ]

    assert texts[0] == texts[1][:2]
    assert texts[1] == texts[2][:5]
    assert 10 == len({*texts[2]})


@pytest.mark.parametrize("name", ["preferences", "temporal"])
def test_each_that_takes_part_says_as_much_as_the_user(name: str) -> None:
    """Nothing that is asked of them is left untold, or the dial would make nothing harder."""
    step = Generate(line=None, family=name, unknown=0, speakers=3)
    story = story_of(step, DAYS)
    told = Counter(event.subject for event in story.events)

    assert 4 == len(told)
    assert 1 == len({*told.values()})
    assert all(question.expect for question in story.questions)


def test_what_others_say_of_themselves_is_not_the_users() -> None:
    """Everybody has a value of each taste, and a question is about whoever asks it."""
    step = Generate(line=None, family="preferences", facts=4, unknown=0, speakers=2)
    story = story_of(step, DAYS)
    for question, found in zip(story.questions, proven(story), strict=True):
        (place,) = found.evidence
        own = question.subject == "me"
        assert own is (": " not in story.events[place].text[:20])
        assert own is not question.ask.startswith(f"{question.subject}: ")
        others = {e.value for e in story.events if e.attribute == question.path[0]}
        assert 12 == len(others)
        assert 3 == len(found.stale)

    assert {"me"} < {question.subject for question in story.questions}


def test_others_did_things_on_the_same_days() -> None:
    """In the same words, said by their names; the question is about the user's day."""
    step = Generate(line=None, family="temporal", facts=3, unknown=0, look_alikes=0, speakers=2)
    story = story_of(step, DAYS)
    for question, found in zip(story.questions, proven(story), strict=True):
        same = [event for event in story.events if event.day == question.day]
        assert 3 == len(same)
        assert (same[0].value,) == found.answer
        assert all(event.text.startswith(f"{event.subject}: ") for event in same[1:])


def test_a_statement_stands_inside_of_a_large_tool_result() -> None:
    """Of so many characters at least, at another depth each time; the story is the same."""
    builder = ScenarioBuilder("x").generate("updates", facts=3, distance=4, result_size=3_000)
    turns = [e for e in builder.build().events(7) if isinstance(e, Turn) and e.facts]
    story = story_of(Generate(line=None, family="updates", facts=3), DAYS)
    told = [event for event in story.events if event.kind == "is"]
    depths = set()
    for turn, event in zip(turns, told, strict=True):
        (result,) = (m for m in turn.reply if m.role == "tool")
        assert {result.id} == {fact.source for fact in turn.facts}
        assert 2_500 < len(result.text) < 3_500
        depths.add(round(result.text.index(event.text) / len(result.text), 1))

    assert 4 <= len(depths)


FORMED = [(name, form) for name in FAMILIES for form in forms_of(name)[1:]]
COUNTED = {("temporal", "count"): {"late": 2}}
"""What a form needs before it can be asked."""


@pytest.mark.parametrize(("name", "form"), FORMED)
@pytest.mark.parametrize("dials", [{}, {"noise": 100}, {"facts": 3, "unknown": 0}])
def test_an_answer_in_another_form_is_proven(name: str, form: str, dials: dict[str, Any]) -> None:
    """A replay gives it, and gives another without the evidence; no statement is another one."""
    needs = COUNTED.get((name, form), {})
    for seed in range(3):
        step = Generate(line=None, family=name, seed=seed, form=form, **needs | dials)
        story = story_of(step, DAYS)
        assert story.events == story_of(replace(step, form=None), DAYS).events
        for question, found in zip(story.questions, proven(story), strict=True):
            assert bool(found.evidence) is bool(question.expect)
            assert found.answer not in without_evidence(story, question, found)


@pytest.mark.parametrize("dials", [{"updates": 0}, {"reverted": 2, "updates": 1}, {"late": 2}])
@pytest.mark.parametrize("form", ["yes_no", "count", "when", "before", "list", "order"])
def test_a_form_is_proven_however_a_value_came_about(form: str, dials: dict[str, Any]) -> None:
    """Also where it never changed, came back, or was told late; else it is refused."""
    step = Generate(line=None, family="updates", form=form, **dials)
    if "late" in dials and form in {"count", "before", "order"}:
        with pytest.raises(ScenarioError, match="which late leaves open"):
            story_of(step, DAYS)
        return
    story = story_of(step, DAYS)
    for question, found in zip(story.questions, proven(story), strict=True):
        assert bool(found.evidence) is bool(question.expect)


def test_a_form_in_order_wants_the_list_from_the_first_to_the_last() -> None:
    """The same values as the form `list` does, in the order in which they held."""
    listed, ordered = (
        story_of(Generate(line=None, family="updates", form=form), DAYS)
        for form in ("list", "order")
    )
    for one, other in zip(listed.questions, ordered.questions, strict=True):
        told = [e.value for e in listed.events if e.kind == "is" and e.subject == one.subject]
        assert tuple(told) == one.expect == other.expect
        assert f"{one.ask[:-1]}, in order." == other.ask


def test_what_came_up_is_what_the_last_session_told_of() -> None:
    """One question for all lockers, and one about boats, of which nobody ever spoke."""
    step = Generate(line=None, family="look_alikes", form="mentioned", facts=4, unknown=2)
    story = story_of(step, DAYS)
    asked, never = story.questions
    last = [event.subject for event in story.events if event.session == 1]
    (found, none) = proven(story)

    assert tuple(last) == asked.expect == found.answer
    assert 2 * len(last) == len(found.evidence)
    assert () == never.expect == none.answer
    assert not {*asked.ask.lower().split()} & {"code", "locker"}


@pytest.mark.parametrize("name", ["updates", "aggregation", "temporal"])
def test_a_guess_of_yes_or_no_is_right_for_half_of_them(name: str) -> None:
    """Who always says yes, or always no, passes every other question."""
    scenario = ScenarioBuilder("x").generate(name, form="yes_no", unknown=0).build()
    for guess in ("Yes.", "No."):
        passed = [judge_answer(probe, guess).outcome == "PASS" for probe in scenario.probes]
        assert len(passed) - 2 * sum(passed) in {0, 1, -1}
    assert {"yes_no"} == {probe.labels["form"] for probe in scenario.probes}


@pytest.mark.parametrize("name", ["updates", "aggregation", "temporal", "look_alikes"])
def test_a_form_has_its_evidence_in_the_context_of_the_oracle(name: str) -> None:
    """All of it for each question, and none without a memory; a short window has less."""
    dials = {"late": 2} if name == "temporal" else {}
    scenarios = [
        ScenarioBuilder(form).generate(name, form=form, **dials).build() for form in forms_of(name)
    ]
    played = memsim.run(
        scenarios, ["oracle", "no_memory", "sliding_window:messages=40"], controls=False
    )
    probes = played.to_pandas("probes")
    told = probes[probes.evidence_all.notna()]
    held = told.groupby(["strategy", "scenario"])["evidence_all"].mean()

    assert {1.0} == {*held["oracle"]}
    assert {0.0} == {*held["no_memory"]}
    assert max(held["sliding_window:messages=40"]) < 0.9


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Generate(line=3, family="multi_hop", form="count"), "multi_hop has no form count"),
        (Generate(line=3, family="updates", form="when", depends=1), "give one of them"),
        (Generate(line=3, family="aggregation", form="yes_no", removed=0), "removed is 1 or more"),
        (Generate(line=3, family="temporal", form="count"), "late is 1 or more"),
    ],
)
def test_a_form_that_cannot_be_asked_is_refused(step: Generate, said: str) -> None:
    """With what can."""
    with pytest.raises(ScenarioError, match=said):
        story_of(step, DAYS)


def test_a_day_is_told_of_in_later_sessions_as_well() -> None:
    """All of its statements are needed, and the later ones name the date."""
    step = Generate(line=None, family="temporal", facts=2, look_alikes=0, unknown=0, late=2)
    for question, found in zip(
        (story := story_of(step, DAYS)).questions, proven(story), strict=True
    ):
        first, *late = (story.events[place] for place in found.evidence)
        assert 2 == len(late)
        assert all(event.session > first.session for event in late)
        assert all(question.ask[-15:-1].split()[-2] in event.text for event in late)


@pytest.mark.parametrize("name", FAMILIES)
def test_noise_changes_words_and_never_a_value(name: str) -> None:
    """Each value stands in its statement, the story beneath is the same, and so is a repetition."""
    plain, noisy, again = (
        story_of(Generate(line=None, family=name, noise=noise), DAYS) for noise in (0, 100, 100)
    )

    assert noisy == again
    assert noisy.questions == plain.questions
    for clean, careless in zip(plain.events, noisy.events, strict=True):
        assert careless == replace(clean, text=careless.text)
        assert careless.text != clean.text
        assert clean.value in careless.text
        if clean.subject in clean.text:
            assert clean.subject.split("'")[0] in careless.text


def test_a_higher_setting_of_noise_keeps_the_slips_of_a_lower_one() -> None:
    """So that a memory that breaks at one setting mostly breaks at the next as well."""
    plain, few, many = (
        [e.text for e in story_of(Generate(line=None, family="updates", noise=n), DAYS).events]
        for n in (0, 30, 70)
    )
    changed = [place for place, text in enumerate(few) if text != plain[place]]

    assert [few[place] for place in changed] == [many[place] for place in changed]
    assert 0 < len(changed) < sum(text != plain[place] for place, text in enumerate(many))


@pytest.mark.parametrize("name", FAMILIES)
def test_words_of_another_language_leave_a_statement_whole(name: str) -> None:
    """The statement stands between them, and the story beneath is the same."""
    plain, mixed, again = (
        story_of(Generate(line=None, family=name, code_switching=part), DAYS)
        for part in (0, 100, 100)
    )
    thanks = {frames_of(code).thanks: frames_of(code) for code in LANGUAGES if code != "en"}

    assert mixed == again
    assert mixed.questions == plain.questions
    for clean, switched in zip(plain.events, mixed.events, strict=True):
        assert switched == replace(clean, text=switched.text)
        before, behind = switched.text.split(clean.text.rstrip(".?"))
        said = behind[2:].partition(f"{clean.text[-1]} ")[0]
        language = thanks[said]
        around = {f"{language.hello}!", *language.talk}
        assert before.strip() in around
        assert behind.split(clean.text[-1], 1)[1].strip() in around - {before.strip()}


def test_a_part_of_the_statements_has_words_of_one_other_language() -> None:
    """About as many of a hundred as the dial says, and another language for another seed."""
    used: set[str] = set()
    for seed in range(12):
        plain, mixed = (
            story_of(Generate(line=None, family="updates", seed=seed, code_switching=part), DAYS)
            for part in (0, 30)
        )
        both = zip(plain.events, mixed.events, strict=True)
        switched = [new.text for old, new in both if new != old]
        assert 0.1 < len(switched) / len(plain.events) < 0.5
        thanks = {frames_of(code).thanks for code in LANGUAGES if code != "en"}
        (said,) = {max((w for w in thanks if f", {w}" in text), key=len) for text in switched}
        used.add(said)

    assert len(used) > 6


def test_another_language_whose_words_are_in_the_story_is_not_taken() -> None:
    """Or it would say a value."""
    story = story_of(Generate(line=None, family="updates", facts=1, updates=0), DAYS)
    words = {w for c in LANGUAGES if c not in {"en", "ja"} for w in frames_of(c).thanks.split()}
    named = tuple(replace(story.events[0], kind="unreal", value=word) for word in sorted(words))
    told = replace(story, events=(*story.events, *named))

    for seed in range(5):
        mixed = with_code_switching(told, 100, Draw(str(seed)))
        assert "ありがとう" in mixed.events[0].text


def test_who_speaks_stands_before_what_is_written_carelessly() -> None:
    """A greeting before the name would make it the user's."""
    for noise, switching in ((100, 0), (0, 100), (100, 100)):
        step = Generate(
            line=None, family="temporal", speakers=2, noise=noise, code_switching=switching
        )
        events = [event for event in story_of(step, DAYS).events if event.subject != "me"]
        assert events
        assert all(event.text.startswith(f"{event.subject}: ") for event in events)


def test_a_seed_tells_one_story() -> None:
    """The same fingerprint and the same words, and others for another seed."""
    one, again, other = (
        ScenarioBuilder("x").generate("temporal", seed=seed).build() for seed in (1, 1, 2)
    )

    assert one.fingerprint == again.fingerprint != other.fingerprint
    assert [*one.events(7)] == [*again.events(7)]
    assert {p.expect for p in one.probes}.isdisjoint({p.expect for p in other.probes if p.expect})


@pytest.mark.parametrize("name", FAMILIES)
def test_the_evidence_holds_every_answer_and_nobody_guesses_one(name: str) -> None:
    """At both ends of each dial: all answers in the oracle's context, none without a memory."""
    ends = [(dial, value) for n, dial, value in SETTINGS if n == name and dial != "distance"]
    scenarios = [
        ScenarioBuilder(f"{dial}-{value}").generate(name, distance=6, **{dial: value}).build()
        for dial, value in ends
    ]
    played = memsim.run(scenarios, ["oracle", "no_memory"], controls=False)
    probes = played.to_pandas("probes")
    held = probes.groupby("strategy")["answer_in_context"].mean()
    passed = probes[probes.recall.notna()].groupby("strategy")["passed"].mean()

    assert 1.0 == held["oracle"]
    assert 0.0 == held["no_memory"] == passed["no_memory"]


@pytest.mark.parametrize(
    ("name", "dial"), sorted({(n, d) for n, d, _ in SETTINGS if d not in ASKED})
)
def test_a_dial_makes_it_harder(name: str, dial: str) -> None:
    """At its upper end some simple memory has fewer of the answers in its context."""
    low, high = (value for n, d, value in SETTINGS if (n, d) == (name, dial))
    plain = {"distance": 0} | ({"facts": 2} if name in {"aggregation", "multi_hop"} else {})
    least, most = (_held(name, plain | {dial: value}) for value in (low, high))

    assert any(most[key] < least[key] - 0.05 for key in least), (least, most)


_PLAYED: dict[str, pd.DataFrame] = {}
"""By the scenario's fingerprint: many dials start from the same story."""


def _held(
    name: str, dials: dict[str, Any], metric: str = "answer_in_context"
) -> dict[tuple[str, int], float]:
    scenario = ScenarioBuilder("x").generate(name, **dials).build()
    simple = ["full_context", "bm25", "sliding_window"]
    if scenario.fingerprint not in _PLAYED:
        found = memsim.run(scenario, simple, budgets=["128", "512", "1k"], controls=False)
        _PLAYED[scenario.fingerprint] = found.to_pandas("probes")
    probes = _PLAYED[scenario.fingerprint]
    held = probes.groupby(["strategy", "budget"])[metric].mean()
    return {(s, b): float(held[s, b]) for s in simple for b in (128, 512, 1024)}


ALIKE = [(name, kind) for name in FAMILIES if "look_alikes" in defaults_of(name) for kind in KINDS]


def _alike(name: str, kind: str, count: int = 3, seed: int = 0) -> Story:
    step = Generate(
        line=None, family=name, facts=3, seed=seed, look_alikes=count, look_alike_kind=kind
    )
    return story_of(step, DAYS)


@pytest.mark.parametrize(("name", "kind"), ALIKE)
@pytest.mark.parametrize("seed", range(3))
def test_no_look_alike_entails_an_answer(name: str, kind: str, seed: int) -> None:
    """Without its evidence no question has its answer, whatever look-alikes say."""
    story = _alike(name, kind, seed=seed)
    found = proven(story)
    needed = {place for one in found for place in one.evidence}
    others = tuple(event for place, event in enumerate(story.events) if place not in needed)

    for question, left in zip(story.questions, solved(replace(story, events=others)), strict=True):
        assert not set(left.answer) & set(question.expect)
    for question, one in zip(story.questions, found, strict=True):
        assert one.answer not in without_evidence(story, question, one)


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, k in ALIKE if k != "entity"])
def test_a_look_alike_shares_what_its_kind_says(name: str, kind: str) -> None:
    """The entity with another attribute, the value of something else, or each in turn."""
    story = _alike(name, kind)
    for place in {place for found in proven(story) for place in found.evidence}:
        told = story.events[place]
        same = [event for event in story.events if event.session == told.session]
        of_entity = {e for e in same if e.subject == told.subject and e.attribute != told.attribute}
        of_value = {e for e in same if e.value == told.value and e.subject != told.subject}
        if name in {"temporal", "implicit"}:
            # All of these are the user's: the day, or the form, says of which fact it is.
            of_entity = {e for e in of_entity if (e.day, e.attribute) != (None, "hint")}
        least = 1 if kind == "mixed" else 3
        assert kind == "value" or len(of_entity) >= least
        assert kind == "attribute" or len(of_value) == least


def test_an_answer_that_look_alikes_give_as_well_is_refused() -> None:
    """Whoever writes a look-alike that entails the answer is told at once."""
    story = _alike("multi_hop", "value")
    found = proven(story)
    twice = tuple(story.events[place] for place in found[0].evidence)

    with pytest.raises(UnprovenAnswerError, match="without its evidence"):
        proven(replace(story, events=(*twice, *story.events)))


@pytest.mark.parametrize(
    ("name", "dials"),
    [
        ("aggregation", {"form": "count", "items": 4, "removed": 4}),
        ("updates", {"form": "yes_no", "aliases": 3}),
    ],
)
def test_an_answer_that_chance_gives_as_well_is_proven(name: str, dials: dict[str, Any]) -> None:
    """An equal number of other things, or a "no" about another value, entails nothing."""
    for seed in range(20):
        proven(story_of(Generate(line=None, family=name, seed=seed, **dials), DAYS))


@pytest.mark.parametrize("name", sorted({name for name, _ in ALIKE}))
def test_look_alikes_of_every_kind_keep_the_bounds(name: str) -> None:
    """All evidence and all answers in the oracle's context, and none without a memory."""
    scenarios = [
        ScenarioBuilder(f"{kind}-{count}")
        .generate(name, facts=4, distance=6, look_alikes=count, look_alike_kind=kind)
        .build()
        for kind in KINDS
        for count in (0, getattr(family(name), "MOST", {}).get("look_alikes", 8))
    ]
    played = memsim.run(scenarios, ["oracle", "no_memory"], controls=False)
    probes = played.to_pandas("probes")
    told = probes[probes.evidence_all.notna()]
    held = told.groupby("strategy")[["evidence_all", "answer_in_context"]].mean()

    assert [1.0, 1.0] == [*held.loc["oracle"]]
    assert [0.0, 0.0] == [*held.loc["no_memory"]]


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, k in ALIKE if k != "entity"])
def test_look_alikes_of_every_kind_make_it_harder(name: str, kind: str) -> None:
    """Counted by evidence: the same value elsewhere in a context is no memory of the answer."""
    most = getattr(family(name), "MOST", {}).get("look_alikes", HIGH["look_alikes"])
    plain = {"distance": 0, "facts": 4, "look_alike_kind": kind} | (
        {"facts": 2} if name == "aggregation" else {}
    )
    low, high = (_held(name, plain | {"look_alikes": count}, "evidence_all") for count in (0, most))

    assert any(high[key] < low[key] - 0.05 for key in low), (low, high)


def test_mixed_look_alikes_take_the_kinds_in_turn() -> None:
    """None is lost, and the first are of other entities."""
    counts = [LookAlikes.of("mixed", count) for count in range(7)]

    assert [0, 1, 2, 3, 4, 5, 6] == [sum(count) for count in counts]
    assert (2, 1, 1) == counts[4]
    assert (5, 0, 0) == LookAlikes.of(None, 5) == LookAlikes.of("entity", 5)


def test_some_of_the_questions_are_asked_of_all_that_is_told() -> None:
    """Chance takes them, in their order and the same ones again; what has no answer stays."""
    all_of, some, again, other = (
        story_of(Generate(line=None, family="updates", facts=40, asked=asked, unknown=2), DAYS)
        for asked in (40, 5, 5, 6)
    )

    assert all_of.events == some.events
    assert some == again
    assert 7 == len(some.questions)
    assert all_of.questions[-2:] == some.questions[-2:]
    places = [all_of.questions.index(question) for question in some.questions]
    assert places == sorted(places) != [*range(5), 40, 41]
    assert 8 == len(other.questions)


@pytest.mark.parametrize(
    ("dials", "pace", "apart"),
    [
        ({"facts": 8, "distance": 80}, "1m", 7),
        ({"facts": 300, "distance": 0, "updates": 1, "unreal": 0}, "30m", 13),
        ({"facts": 2, "distance": 600, "updates": 1, "unreal": 0}, "30m", 13),
        ({"facts": 600, "distance": 0, "updates": 1, "unreal": 0, "late": 1}, "1h", 32),
    ],
)
def test_sessions_are_as_far_apart_as_what_they_hold(
    dials: dict[str, Any], pace: str, apart: int
) -> None:
    """A week, and the days that the longest of them takes; dates in the text go by it."""
    scenario = ScenarioBuilder("x", pace=pace).generate("updates", **dials).build()
    turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
    begins = {turn.session: turn.time for turn in reversed(turns)}
    first, second, *_ = sorted(begins.values())

    assert timedelta(days=apart) == second - first
    assert all(a.time <= b.time for a, b in pairwise(turns))


def test_a_story_that_outlasts_the_calendar_is_refused() -> None:
    """With what to turn down, and no traceback."""
    step = Generate(line=3, family="temporal", facts=10_000, asked=1)
    begins = datetime(2026, 1, 5, tzinfo=UTC)
    for pace in (timedelta(days=300), timedelta(days=100_000_000)):
        with pytest.raises(ScenarioError, match="outlasts the year 9999"):
            StoryScript(step, "g1_", begins, pace)


def test_codes_get_longer_before_they_are_used_up() -> None:
    """There are 9,000 of four digits; the first 8,000 are of them."""
    draw = Draw("codes")
    codes = [draw.code() for _ in range(8_500)]

    assert len({*codes}) == len(codes)
    assert ({4}, {5}) == ({*map(len, codes[:8_000])}, {*map(len, codes[8_000:])})


BIG: dict[str, dict[str, int]] = {
    "aggregation": {"items": 1, "removed": 0, "look_alikes": 0},
    "look_alikes": {},
    "multi_hop": {"hops": 1, "look_alikes": 0},
    "procedures": {"steps": 2, "updates": 0},
    "temporal": {},
    "updates": {"updates": 0, "unreal": 0},
}
"""Families of ten thousand facts; the one with the most statements stands where it does."""


def test_every_family_but_those_of_few_frames_has_ten_thousand_facts() -> None:
    """The others have as many as they have sentences."""
    assert {*BIG} == {*FAMILIES} - {"implicit", "preferences"}
    assert {10_000} == {most_of(name, "facts") for name in BIG}


@pytest.mark.parametrize("name", BIG)
def test_ten_thousand_facts_are_told_and_some_are_asked(name: str) -> None:
    """A story of them loads, and each of its questions is proven."""
    dials = BIG[name] | {"facts": 10_000, "asked": 20, "unknown": 2}
    scenario = ScenarioBuilder("x").generate(name, **dials).build()

    assert scenario.turns >= 10_000
    assert 22 == len(scenario.probes)
    assert all(probe.facts for probe in scenario.probes if not probe.unanswerable)


def test_the_oracle_answers_of_ten_thousand_facts() -> None:
    """All of the questions that are asked; no memory has an answer, and search has many."""
    dials = {"facts": 10_000, "updates": 0, "unreal": 0, "asked": 50, "distance": 20}
    scenario = ScenarioBuilder("x").generate("updates", **dials).build()
    played = memsim.run(scenario, ["oracle", "bm25", "no_memory"], controls=False)
    probes = played.to_pandas("probes")
    told = probes[probes.evidence_all.notna()]
    held = told.groupby("strategy")[["evidence_all", "answer_in_context", "passed"]].mean()

    assert [1.0, 1.0, 1.0] == [*held.loc["oracle"]]
    assert [0.0, 0.0, 0.0] == [*held.loc["no_memory"]]
    assert held.answer_in_context["bm25"] > 0.5


class CountedDraw(Draw):
    """Chance whose words are counted."""

    def __init__(self, seed: str, draws: list[CountedDraw]) -> None:
        super().__init__(seed)
        draws.append(self)

    @property
    def made(self) -> int:
        """Words that were made up so far."""
        return len(self._used)


@pytest.mark.parametrize("bound", ["random_draw.MOST_WORDS", "story_script.MAX_TEXT"])
def test_a_story_that_is_too_long_is_refused_before_it_is_proven(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its words while it is told, and by its characters then; with the line of the step."""
    proofs: list[Story] = []
    monkeypatch.setattr("memsim.scenario.generator.story_script.proven", proofs.append)
    monkeypatch.setattr(f"memsim.scenario.generator.{bound}", 50)
    step = Generate(line=3, family="look_alikes")
    plan = Plan(line=None, memsim=1, name="long", turns=(step,))
    with pytest.raises(ScenarioError, match="the story says more than") as refused:
        generated_plan(plan)

    assert (refused.value.line, proofs) == (3, [])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_made_up_word_stands_in_at_least_ten_characters_of_text(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a story of too many words has too many characters as well."""
    draws: list[CountedDraw] = []
    monkeypatch.setattr(
        "memsim.scenario.generator.story_script.Draw", lambda seed: CountedDraw(seed, draws)
    )
    for dial in (None, *(dial for dial in HIGH if dial in defaults_of(family))):
        draws.clear()
        dials: dict[str, Any] = {dial: min(HIGH[dial], most_of(family, dial))} if dial else {}
        story = story_of(Generate(line=None, family=family, **dials), DAYS)
        assert sum(len(event.text) for event in story.events) >= 10 * draws[0].made, dial


def test_a_story_may_stand_among_other_turns() -> None:
    """Two of them, too; each has its own sessions, and what is written comes after them."""
    scenario = (
        ScenarioBuilder("mixed")
        .generate("updates", facts=1, updates=1, distance=4, unknown=0)
        .generate("procedures", facts=1, updates=0, distance=4, unknown=0)
        .user("My order is A-17.", facts={"order": "A-17"})
        .probe("order", ask="What is my order?", expect="A-17")
        .build()
    )

    assert ["order", "g1_q1", "g2_q1"] == [probe.id for probe in scenario.probes]
    with pytest.raises(ScenarioError, match="comes before all other turns"):
        ScenarioBuilder("late").user("Hello.").generate("updates").build()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("{family: updates, hops: 2}", "updates has no dial hops; its dials: facts, distance"),
        ("{family: updates, look_alike_kind: value}", "updates has no look-alikes, so no"),
        ("{family: preferences, speaker_kind: private}", "speakers of preferences is 0: give"),
        ("{family: look_alikes, language: de, look_alike_kind: value}", "told in en alone"),
        ("{family: implicit, facts: 11}", "facts of implicit is at most 10, not 11"),
        ("{family: update}", "did you mean 'updates'?"),
        ("{family: updates, updates: 401}", "updates"),
        ("{seed: 3}", "family"),
        ("{family: multi_hop, language: de}", "multi_hop has no language de; families that have"),
        ("{family: updates, language: dee}", "did you mean 'de'?"),
        ("{family: updates, language: de, late: 1}", "late is told in en alone"),
        ("{family: updates, language: de, code_switching: 5}", "code_switching is told in en"),
        ("{family: updates, language: de, noise: 5}", "noise is told in en alone"),
        ("{family: updates, language: de, pronouns: 5}", "pronouns is told in en alone"),
        ("{family: updates, language: de, interruptions: 5}", "interruptions is told in en alone"),
        ("{family: multi_hop, pronouns: 5}", "multi_hop has no dial pronouns"),
        ("{family: updates, language: de, form: count}", "form count is told in en alone"),
        (
            "{family: updates, language: de, facts: 60}",
            "de has 60 things to tell of, and facts, unknown need 61",
        ),
        (
            "{family: look_alikes, language: de, look_alikes: 9}",
            "facts, look_alikes, unknown need 81",
        ),
        ("{family: updates, language: vi, facts: 50, updates: 30}", "no more names of places"),
    ],
)
def test_a_wrong_step_is_named_with_its_line(step: str, said: str, tmp_path: Path) -> None:
    """As any other step is."""
    path = tmp_path / "wrong.yaml"
    path.write_text(f"memsim: 1\nname: x\nturns:\n  - generate: {step}\n", encoding="utf-8")

    with pytest.raises(ScenarioError) as refused:
        load_scenario(path)

    assert said in str(refused.value)
    assert f"{path}:4" in str(refused.value)


@pytest.mark.parametrize(
    ("dials", "said"),
    [
        (("hops: 2",), "updates has no dial hops"),
        (("facts: 2", "look_alike_kind: value"), "updates has no look-alikes"),
        (("language: fi", "", "late: 2"), "late is told in en alone"),
        (("depends: 1", "form: when"), "give one of them"),
    ],
)
def test_a_wrong_dial_is_named_with_its_own_line(
    dials: Sequence[str], said: str, tmp_path: Path
) -> None:
    """Where each dial stands on a line of its own."""
    path = tmp_path / "wrong.yaml"
    below = "".join(f"      {dial}\n" for dial in ("family: updates", *dials))
    path.write_text(f"memsim: 1\nname: x\nturns:\n  - generate:\n{below}", encoding="utf-8")

    with pytest.raises(ScenarioError, match=said) as refused:
        load_scenario(path)

    assert f"{path}:{5 + len(dials)}" in str(refused.value)


def test_a_story_cannot_be_repeated() -> None:
    """Its facts would have the same names."""
    builder = ScenarioBuilder("x").repeat(2, lambda steps: steps.generate("updates"))

    with pytest.raises(ScenarioError, match="must not contain a generated story"):
        builder.build()


def test_what_is_written_out_plays_the_same(tmp_path: Path) -> None:
    """Statement for statement and question for question, for every family."""
    for name in FAMILIES:
        paths = []
        for flags in ([], ["--written"]):
            path = tmp_path / str(len(flags)) / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            paths.append(path)
            done = CliRunner().invoke(
                program, ["generate", name, "--seed", "3", "-o", str(path), *flags]
            )
            assert 0 == done.exit_code, done.output
        short, long = map(load_scenario, paths)

        assert [_plain(event) for event in short.events(7)] == [
            _plain(event) for event in long.events(7)
        ]


def _plain(event: object) -> object:
    if isinstance(event, memsim.scenario.script.Ask):
        return replace(event, probe=replace(event.probe, line=None))
    return event


def test_the_families_are_listed_and_a_slip_is_named(tmp_path: Path) -> None:
    """Each with its dials; a file that is there stays."""
    listed = CliRunner().invoke(program, ["generate"])
    there = tmp_path / "there.yaml"
    there.write_text("mine", encoding="utf-8")

    refused = CliRunner().invoke(program, ["generate", "updates", "-o", str(there)])
    slip = CliRunner().invoke(program, ["generate", "multihop"])

    assert all(name in listed.output for name in FAMILIES)
    assert "facts is 10,000 at most, but 10 in implicit, 10 in preferences" in listed.output
    assert (4, "mine") == (refused.exit_code, there.read_text(encoding="utf-8"))
    assert (4, True) == (slip.exit_code, "did you mean 'multi_hop'?" in slip.output)


@pytest.mark.parametrize("flags", [("--updates", "0"), ("--form", "count"), ("--written",)])
def test_what_is_told_of_no_family_is_refused(flags: tuple[str, ...]) -> None:
    """A dial without a family would be left out without a word."""
    done = CliRunner().invoke(program, ["generate", *flags])

    assert 4 == done.exit_code
    assert f"name a family of stories: {', '.join(FAMILIES)}" in done.output


def test_a_story_that_cannot_be_told_is_refused_without_a_line() -> None:
    """There is no file yet that could have one."""
    done = CliRunner().invoke(program, ["generate", "preferences", "--form", "count"])

    said = "preferences has no form count; its forms: value"
    assert (4, said) == (done.exit_code, done.output.strip().removeprefix("memsim: "))
