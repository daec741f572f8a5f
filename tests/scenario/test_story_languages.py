"""Stories in many languages: their words are inflected, and their answers are proven."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import memsim
from memsim.cli.program import program
from memsim.language.word_forms import bare
from memsim.scenario import ScenarioBuilder, load_scenario
from memsim.scenario.generator.dials import LANGUAGES, Generate
from memsim.scenario.generator.event_log import SessionDays, Story
from memsim.scenario.generator.language_frames import frames_of
from memsim.scenario.generator.solver import proven, without_evidence
from memsim.scenario.generator.story_in_language import TOLD
from memsim.scenario.generator.story_script import story_of
from memsim.scenario.script import Turn
from memsim.scoring.answer_match import match_words
from memsim.scoring.answer_score import judge_answer

DAYS = SessionDays(first=date(2026, 1, 5), apart=timedelta(days=7))
CODES = tuple(code for code in LANGUAGES if code != "en")
ENDS: tuple[dict[str, Any], ...] = (
    {},
    {"facts": 1, "updates": 0, "unreal": 0, "unknown": 0},
    {"facts": 30, "updates": 8, "unreal": 4, "unknown": 4},
    {"facts": 4, "updates": 2, "reverted": 3},
    {"family": "look_alikes"},
    {"family": "look_alikes", "facts": 1, "look_alikes": 0, "unknown": 0},
    {"family": "look_alikes", "facts": 4, "look_alikes": 13, "unknown": 4},
)
UNINFLECTED = {"bg", "fa", "id", "ja", "th", "vi", "zh"}
"""Languages in which a place has the same form everywhere."""


def told(code: str, **given: object) -> Story:
    """A story of `updates`, or of another family."""
    dials: dict[str, Any] = {"family": "updates", "language": code, **given}
    return story_of(Generate(line=None, **dials), DAYS)


def test_there_are_thirty_languages_of_every_kind() -> None:
    """Agglutinative, Semitic, Indic, Slavic and East Asian ones are among them."""
    kinds = {"fi", "hu", "tr", "ar", "he", "hi", "ta", "ru", "pl", "de", "ko", "ja", "zh", "th"}

    assert len(CODES) >= 30
    assert kinds <= {*CODES}


def test_every_answer_is_proven(subtests: pytest.Subtests) -> None:
    """In each language a replay gives it, and gives another without an event that it needs."""
    for code in CODES:
        with subtests.test(language=code):
            for dials in ENDS:
                story = told(code, **dials)
                never = [question for question in story.questions if not question.expect]
                assert dials.get("unknown", 1) == len(never)
                for question, found in zip(story.questions, proven(story), strict=True):
                    assert bool(found.evidence) is bool(question.expect)
                    assert found.answer not in without_evidence(story, question, found)
                    assert not {*found.answer} & {*found.stale}


def test_sentences_are_filled_in(subtests: pytest.Subtests) -> None:
    """No two of them are alike, each says its place as the log has it, and no brace is left."""
    for code in CODES:
        with subtests.test(language=code):
            story = told(code, reverted=1, facts=12)
            texts = [event.text for event in story.events if event.kind != "restores"]
            asked = [question.ask for question in story.questions]
            assert len({*map(bare, (*texts, *asked))}) == len(texts) + len(asked)
            assert all(event.said in event.text for event in story.events)
            assert not any(mark in text for text in (*texts, *asked) for mark in "{}*%|")


def test_words_have_other_forms_in_the_question(subtests: pytest.Subtests) -> None:
    """A place is said in a form of its own, but where the language has one form."""
    for code in CODES:
        with subtests.test(language=code):
            events = told(code).events
            inflected = sum(event.said != event.value for event in events)
            assert bool(inflected) is (code not in UNINFLECTED)
            things = [
                (one.t, one.q.replace(one.g, "").strip()) for one in frames_of(code).things_of_all()
            ]
            assert any(kept != asked for kept, asked in things)


def test_an_answer_is_right_in_each_form_and_no_other_place_is(subtests: pytest.Subtests) -> None:
    """The dictionary form, the said one and the sentence are; what else was said is not."""
    for code in CODES:
        with subtests.test(language=code):
            dials: dict[str, Any] = {"facts": 6, "language": code, "unknown": 0, "distance": 0}
            scenario = ScenarioBuilder("x").generate("updates", **dials).build()
            story = told(code, facts=6, unknown=0)
            for probe, found in zip(scenario.probes, proven(story), strict=True):
                (place,) = found.evidence
                for answer in (story.events[place].text, *probe.expect):
                    assert judge_answer(probe, answer).outcome == "PASS"
                for number, event in enumerate(story.events):
                    if number != place:
                        assert not any(
                            match_words(form, event.text, probe.ask).right for form in probe.expect
                        )


def test_the_oracle_has_every_answer_and_no_memory_has_none() -> None:
    """In every language, of which the label of each probe is the code."""
    scenarios = [
        ScenarioBuilder(f"{code}-{family}")
        .generate(family, language=code, facts=4, distance=6)
        .build()
        for code in CODES
        for family in TOLD
    ]
    played = memsim.run(scenarios, ["oracle", "no_memory"], controls=False)
    probes = played.to_pandas("probes")
    held = probes.groupby(["strategy", "scenario"])["answer_in_context"].mean()
    passed = probes[probes.recall.notna()].groupby(["strategy", "case"])["passed"].mean()

    for shares in (held, passed):
        assert {1.0} == {*shares["oracle"]}
        assert {0.0} == {*shares["no_memory"]}
    assert all(
        probe.labels == {"language": s.name.partition("-")[0]}
        for s in scenarios
        for probe in s.probes
    )


def test_a_thing_is_among_others_of_its_owner_and_others_of_its_kind() -> None:
    """Each is told once, and who has it and what it is are both needed."""
    story = told("ru", family="look_alikes", facts=5, look_alikes=9, unknown=0)
    subjects = [event.subject for event in story.events]

    assert 50 == len({*subjects})
    for question, found in zip(story.questions, proven(story), strict=True):
        thing, owner = question.subject.split()
        assert 1 == len(found.evidence)
        assert any(thing in subject for subject in subjects if owner not in subject)
        assert any(owner in subject for subject in subjects if thing not in subject)


def test_other_talk_is_in_the_language() -> None:
    """No English stands between what is told."""
    scenario = ScenarioBuilder("x").generate("updates", language="el", distance=9).build()
    said = [event.heard[0].text for event in scenario.events(7) if isinstance(event, Turn)]

    assert not any("a" <= letter <= "z" for text in said for letter in text.lower())


def test_english_is_the_default() -> None:
    """To name it changes nothing that is said."""
    step, named = (Generate(line=None, family="updates", language=code) for code in (None, "en"))

    assert story_of(step, DAYS) == story_of(named, DAYS)


@pytest.mark.parametrize(
    ("given", "meant"), [("German", "'de'"), ("finish", "'fi'"), ("dee", "'de'"), ("xx", None)]
)
def test_an_unknown_language_is_named_with_what_was_meant(given: str, meant: str | None) -> None:
    """By its code or its name."""
    done = CliRunner().invoke(program, ["generate", "updates", "--language", given])

    assert 4 == done.exit_code
    assert f"no language is called {given!r}" in done.output
    assert (f"did you mean {meant}?" in done.output) is (meant is not None)


def test_a_story_that_is_written_out_plays_the_same(tmp_path: Path) -> None:
    """Statement for statement, with the same answers."""
    heard = []
    for flags in ([], ["--written"]):
        path = tmp_path / f"fi{len(flags)}.yaml"
        given = ["generate", "updates", "--language", "fi", "--distance", "6", "-o", str(path)]
        assert 0 == CliRunner().invoke(program, [*given, *flags]).exit_code
        scenario = load_scenario(path)
        turns = [event for event in scenario.events(7) if isinstance(event, Turn)]
        probes = [(p.ask, p.expect, p.forbid, p.labels) for p in scenario.probes]
        heard.append(([turn.heard[0].text for turn in turns], probes))

    assert heard[0] == heard[1]


def test_inflection_hides_what_is_told_from_search_by_words() -> None:
    """`bm25` and `vector` have fewer answers in their context than in English."""
    codes = ("en", "fi", "ko", "el")
    scenarios = [ScenarioBuilder(c).generate("updates", language=c).build() for c in codes]
    played = memsim.run(scenarios, ["bm25", "vector"], budgets=["1k"], controls=False)
    probes = played.to_pandas("probes")
    language = probes.scenario.str.removeprefix("<python>::")
    held = probes.groupby(["strategy", language])["answer_in_context"].mean()

    for strategy in ("bm25", "vector"):
        for code in codes[1:]:
            assert held[strategy, code] < held[strategy, "en"] - 0.05
