"""Probes: when they are asked, by whom, about what; what makes them unanswerable."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsim.errors import ScenarioError
from memsim.scenario import Ask, Probe, Scenario, Turn

Load = Callable[[str], Scenario]

STORY = (
    "turns:\n"
    "  - user: I live in Bergen.\n"  # turn 1, m1
    "    facts: {city: Bergen}\n"
    "  - filler: 3\n"  # turns 2 to 4
    "  - user: I have moved to Oslo.\n"  # turn 5, m9
    "    facts: {city: {value: Oslo, replaces: city}}\n"
    "  - assistant: Oslo is lovely. My cousin Edda lives there.\n"
    "  - filler: 3\n"  # turns 6 to 8
    "probes:\n"
)


def only(scenario: Scenario) -> Probe:
    """The one probe of a scenario."""
    (probe,) = scenario.probes
    return probe


class TestWhen:
    """The point at which a probe is asked."""

    @pytest.mark.parametrize(
        ("after", "turn"),
        [
            ("end", 8),
            ("5", 5),
            ("city", 5),
            ("{fact: city}", 5),
            ("{fact: city, turns: 2}", 7),
        ],
    )
    def test_after(self, load: Load, after: str, turn: int) -> None:
        """The end, a turn, a fact, or some turns after it."""
        scenario = load(f"{STORY}  city: {{after: {after}, ask: Where?, expect: Oslo}}\n")

        (ask,) = (event for event in scenario.events(0) if isinstance(event, Ask))
        assert turn == ask.turn

    def test_after_a_fact_means_the_version_that_is_expected(self, load: Load) -> None:
        """A probe for the first value comes after the first statement."""
        scenario = load(f"{STORY}  first: {{after: city, ask: Where?, expect: Bergen}}\n")

        (ask,) = (event for event in scenario.events(0) if isinstance(event, Ask))
        assert (1, ("city",)) == (ask.turn, ask.probe.facts)

    def test_probes_come_right_after_their_turn_and_in_the_order_written(self, load: Load) -> None:
        """Inside a filler too, and before whatever step comes next."""
        scenario = load(
            f"{STORY}  z: {{after: 3, ask: Where?, expect: Bergen}}\n"
            "  a: {after: 3, ask: Where?, expect: Bergen}\n"
            "  e: {ask: Where?, expect: Oslo}\n"
            "  b: {after: 2, ask: Where?, expect: Bergen}\n"
        )

        events = [
            event.number if isinstance(event, Turn) else event.probe.id
            for event in scenario.events(0)
            if isinstance(event, Turn | Ask)
        ]
        assert [1, 2, "b", 3, "z", "a", 4, 5, 6, 7, 8, "e"] == events
        assert ["b", "z", "a", "e"] == [probe.id for probe in scenario.probes]

    def test_ask_steps_come_where_they_stand(self, load: Load) -> None:
        """After what is due at the same turn, and in the order of the steps, not of the probes."""
        scenario = load(
            "turns:\n  - user: Hello Oslo.\n  - ask: [c, d]\n  - gap: 1h\n  - ask: b\n"
            "probes:\n"
            "  b: {ask: Where?, expect: Oslo}\n"
            "  d: {ask: Where?, expect: Oslo}\n"
            "  c: {ask: Where?, expect: Oslo}\n"
            "  end: {ask: Where?, expect: Oslo}\n"
            "  a: {after: 1, ask: Where?, expect: Oslo}\n"
        )

        asked = [event.probe.id for event in scenario.events(0) if isinstance(event, Ask)]
        assert ["a", "c", "d", "b", "end"] == asked
        assert asked == [probe.id for probe in scenario.probes]

    def test_a_probe_knows_its_line(self, load: Load) -> None:
        """Failures point into the file."""
        assert 12 == only(load(f"{STORY}  city: {{ask: Where?, expect: Oslo}}\n")).line


class TestAbout:
    """The facts and messages that hold the answer."""

    def test_a_probe_named_like_a_fact_is_about_it(self, load: Load) -> None:
        """The short way to write it."""
        probe = only(load(f"{STORY}  city: {{ask: Where do I live?, expect: [Oslo, in Oslo]}}\n"))

        assert (("city",), (), "") == (probe.facts, probe.evidence, probe.excluded)

    def test_else_it_is_about_the_facts_that_have_the_value_now(self, load: Load) -> None:
        """Case and punctuation do not matter."""
        assert ("city",) == only(load(f"{STORY}  q: {{ask: Where?, expect: oslo}}\n")).facts

    def test_an_older_value_has_its_own_message_as_evidence(self, load: Load) -> None:
        """The fact's name would mean its present value."""
        probe = only(load(f"{STORY}  q: {{ask: Where before?, expect: Bergen}}\n"))

        assert ((), ("m1",)) == (probe.facts, probe.evidence)

    def test_an_answer_said_once_has_that_message_as_evidence(self, load: Load) -> None:
        """Not everything that is asked was planted."""
        probe = only(load(f"{STORY}  q: {{ask: Who is the cousin?, expect: Edda}}\n"))

        assert ("m10",) == probe.evidence

    def test_an_answer_said_often_has_no_evidence_and_says_why(self, load: Load) -> None:
        """Which message was meant would be a guess."""
        probe = only(
            load(
                "turns:\n  - user: Edda came.\n  - user: Edda left.\n"
                "probes:\n  q: {ask: Who?, expect: Edda}\n"
            )
        )

        assert ((), (), "several messages say the answer and no fact is named") == (
            probe.facts,
            probe.evidence,
            probe.excluded,
        )

    def test_named_facts_and_messages_win(self, load: Load) -> None:
        """The author knows best."""
        probe = only(load(f"{STORY}  q: {{ask: Where?, expect: Oslo, evidence: [m9, m10]}}\n"))

        assert ((), ("m9", "m10")) == (probe.facts, probe.evidence)

    def test_a_derived_answer_need_not_be_said(self, load: Load) -> None:
        """Arithmetic, inference and the like are marked as such."""
        text = f"{STORY}  q: {{ask: Which country?, expect: Norway%s}}\n"

        probe = only(load(text % ", derived: true, facts: city"))
        assert (("Norway",), ("city",), "") == (probe.expect, probe.facts, probe.excluded)
        assert only(load(text % ", derived: true")).excluded
        with pytest.raises(ScenarioError, match="which no message says"):
            load(text % "")

    def test_a_derived_answer_follows_from_what_its_question_names(self, load: Load) -> None:
        """Every version by then is evidence, and no more than what is said in the question."""
        text = (
            "turns:\n"
            "  - user: I paid for the kayak on Monday.\n    facts: {boat: the kayak}\n"
            "  - user: And for the tent on Friday.\n    facts: {shelter: the tent}\n"
            "  - user: No, the canoe it is.\n    facts: {boat: the canoe}\n"
            "  - user: The stove is from Monday as well.\n    facts: {stove: the stove}\n"
            "probes:\n"
            "  q: {ask: 'How many days lie between the kayak, the canoe and the tent?',"
            " expect: four, derived: true}\n"
        )

        probe = only(load(text))

        assert ((), ("m1", "m3", "m5"), "") == (probe.facts, probe.evidence, probe.excluded)

    def test_all_of_several_answers_must_be_said_for_match_all(self, load: Load) -> None:
        """For any other match one is enough."""
        text = f"{STORY}  q: {{ask: Where?, expect: [Oslo, Trondheim], match: %s}}\n"

        assert ("Oslo", "Trondheim") == only(load(text % "any")).expect
        with pytest.raises(ScenarioError, match="expects 'Trondheim'"):
            load(text % "all")


class TestWhom:
    """Who asks."""

    STORY = (
        "principals: [ana, ben]\n"
        "turns:\n"
        "  - user: My code is X-1.\n"
        "    facts: {code: X-1}\n"
        "  - session: {principal: ben}\n"
        "  - user: Hello.\n"
        "probes:\n"
    )

    def test_the_owner_of_the_facts_asks(self, load: Load) -> None:
        """`What is my code?` is Ana's question, even when Ben speaks last."""
        probe = only(load(f"{self.STORY}  code: {{ask: What is my code?, expect: X-1}}\n"))

        assert "ana" == probe.principal

    def test_without_facts_the_session_asks(self, load: Load) -> None:
        """Whose session it is at that point."""
        text = f"{self.STORY}  q: {{after: %s, ask: What?, expect: unknown}}\n"

        assert ["ben", "ana"] == [only(load(text % after)).principal for after in ("end", "1")]

    def test_as_names_who_asks(self, load: Load) -> None:
        """For questions about someone else."""
        probe = only(load(f"{self.STORY}  code: {{ask: What?, expect: X-1, as: ben}}\n"))

        assert "ben" == probe.principal


class TestExpected:
    """What the answer is held against."""

    def test_unknown_makes_a_probe_unanswerable(self, load: Load) -> None:
        """It then expects nothing and tests abstention."""
        probe = only(load(f"{STORY}  hat: {{ask: My hat?, expect: unknown}}\n"))

        assert ((), True, "abstain") == (probe.expect, probe.unanswerable, probe.ability)

    def test_choices_make_a_choice(self, load: Load) -> None:
        """The match need not be named."""
        probe = only(load(f"{STORY}  city: {{ask: Where?, expect: Oslo, choices: [Oslo, Rome]}}\n"))

        assert ("choice", ("Oslo", "Rome")) == (probe.match, probe.choices)

    def test_everything_else_is_carried_over(self, load: Load) -> None:
        """Forbidden answers, ability, match, tolerance and labels."""
        probe = only(
            load(
                "turns:\n  - user: It cost 12 euros.\n"
                "probes:\n  q: {ask: How much?, expect: '12', not: ['13', '14'], ability: update, "
                "match: number, tolerance: 0.05, labels: {kind: price}}\n"
            )
        )

        assert (("13", "14"), "update", "number", 0.05, {"kind": "price"}) == (
            probe.forbid,
            probe.ability,
            probe.match,
            probe.tolerance,
            probe.labels,
        )

    def test_a_forgotten_fact_can_be_stated_anew(self, load: Load) -> None:
        """Forgetting is not for ever."""
        scenario = load(
            "turns:\n  - user: My code is X-1.\n    facts: {code: X-1}\n  - forget: {facts: code}\n"
            "  - user: Again, my code is X-1.\n    facts: {code: X-1}\n"
            "probes:\n  code: {ask: What is my code?, expect: X-1}\n"
        )

        assert ("X-1",) == only(scenario).expect
