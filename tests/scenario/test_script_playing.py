"""Playing: which events a script makes, in which order, with which ids and times."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import timedelta

import pytest

from memsim.message import EPOCH, Text, ToolResult, ToolUse
from memsim.scenario import (
    Ask,
    ElapseEvent,
    ForgetEvent,
    GrantEvent,
    RestartEvent,
    Scenario,
    ScriptEvent,
    Turn,
)

Load = Callable[[str], Scenario]


def play(scenario: Scenario, seed: int = 0) -> list[ScriptEvent]:
    """All events."""
    return list(scenario.events(seed))


def turns(scenario: Scenario) -> list[Turn]:
    """All turns."""
    return [event for event in play(scenario) if isinstance(event, Turn)]


def shape(turn: Turn) -> list[str]:
    """The roles of a turn's messages, those of the reply after a bar."""
    return [message.role for message in turn.heard] + ["|"] + [m.role for m in turn.reply]


class TestTurns:
    """Utterances become turns."""

    def test_a_user_and_an_assistant_make_one_turn(self, load: Load) -> None:
        """One utterance and its answer."""
        (turn,) = turns(load("turns:\n  - user: Hello.\n  - assistant: Hello you.\n"))

        assert ["Hello.", "Hello you."] == [turn.heard[0].text, turn.reply[0].text]
        assert ["m1", "m2"] == [turn.heard[0].id, turn.reply[0].id]

    def test_an_unanswered_user_gets_a_short_reply(self, load: Load) -> None:
        """Turns are complete, so that a model is asked in each."""
        first, second = turns(load("turns:\n  - user: One.\n  - user: Two.\n"))

        assert ["user", "|", "assistant"] == shape(first) == shape(second)
        assert 0 < len(first.reply[0].text) < 60

    def test_an_assistant_may_begin(self, load: Load) -> None:
        """Its turn has nothing heard; a second utterance is a turn of its own as well."""
        text = (
            "turns:\n  - assistant: Welcome.\n  - user: Hi.\n  - assistant: A.\n  - assistant: B.\n"
        )

        assert [["|", "assistant"], ["user", "|", "assistant"], ["|", "assistant"]] == [
            shape(turn) for turn in turns(load(text))
        ]

    def test_other_steps_part_turns(self, load: Load) -> None:
        """An answer after a gap is not the answer of the turn before."""
        events = play(load("turns:\n  - user: One.\n  - gap: 1h\n  - assistant: Two.\n"))

        assert ["Turn", "ElapseEvent", "Turn"] == [type(event).__name__ for event in events]


class TestTools:
    """Calls and results."""

    def test_a_call_its_result_and_a_closing_word(self, load: Load) -> None:
        """A tool step is two messages; the assistant says something at the end."""
        (turn,) = turns(
            load(
                "turns:\n  - user: Read it.\n"
                "  - tool: {name: read, arguments: {path: a.py, n: 20, deep: true}, "
                "result: x = 1}\n"
            )
        )

        call, result, _ = turn.reply
        assert ["user", "|", "assistant", "tool", "assistant"] == shape(turn)
        assert (
            ToolUse(id="call_1", name="read", arguments='{"deep":true,"n":20,"path":"a.py"}'),
        ) == call.blocks
        assert (ToolResult(id="call_1", text="x = 1"),) == result.blocks

    def test_words_before_a_call_stand_in_its_message(self, load: Load) -> None:
        """As providers send it: text and calls of one message."""
        (turn,) = turns(
            load(
                "turns:\n  - user: Read it.\n  - assistant: Let me see.\n"
                "  - tool: {name: read}\n  - assistant: Done.\n"
            )
        )

        assert [Text, ToolUse] == [type(block) for block in turn.reply[0].blocks]
        assert "Done." == turn.reply[-1].text

    def test_parallel_calls_share_a_message_and_fail_apart(self, load: Load) -> None:
        """One message calls, one answers each."""
        (turn,) = turns(
            load(
                "turns:\n  - user: Go.\n"
                "  - tools: [{name: a}, {name: b, error: true, result: no}]\n"
            )
        )

        call, first, second, _ = turn.reply
        assert ("call_1", "call_2") == call.calls
        assert [False, True] == [m.blocks[0].is_error for m in (first, second)]  # type: ignore[union-attr]

    def test_calls_are_numbered_throughout(self, load: Load) -> None:
        """No two calls of a script share an id."""
        text = "turns:\n  - user: One.\n  - tool: {name: a}\n  - user: Two.\n  - tool: {name: b}\n"

        assert [("call_1",), ("call_2",)] == [turn.reply[0].calls for turn in turns(load(text))]

    def test_json_arguments_are_read_as_json(self, load: Load) -> None:
        """Here alone plain words are values: a tool takes JSON."""
        (turn,) = turns(
            load(
                "turns:\n  - tool: {name: t, arguments: "
                "{a: 1, b: -2.5, c: null, d: no, e: '1', f: 010, g: [x, {y: false}]}}\n"
            )
        )

        assert (
            't({"a":1,"b":-2.5,"c":null,"d":"no","e":"1","f":"010","g":["x",{"y":false}]})'
            == turn.reply[0].text
        )

    @pytest.mark.parametrize(("depth", "place"), [("0", 0), ("0.5", 200), ("1", 399)])
    def test_generated_lines_surround_the_result(self, load: Load, depth: str, place: int) -> None:
        """A needle of one line in 400, as deep as is written."""
        (turn,) = turns(
            load(
                f"turns:\n  - tool: {{name: log, result: code Z-9, lines: 400, depth: {depth}, "
                "facts: {code: Z-9}}\n"
            )
        )

        lines = turn.reply[1].text.split("\n")
        assert (400, "code Z-9") == (len(lines), lines[place])
        assert "m2" == turn.facts[0].source

    def test_generated_characters_keep_to_their_number(self, load: Load) -> None:
        """About as many as are asked for and no more; a result of several lines stays whole."""
        (turn,) = turns(
            load('turns:\n  - tool: {name: log, result: "a\\r\\n  b\\n", characters: 20000}\n')
        )

        text = turn.reply[1].text
        assert 19_800 < len(text) <= 20_000
        assert "\na\r\n  b\n\n" in text

    def test_a_fact_in_the_arguments_belongs_to_the_call(self, load: Load) -> None:
        """A fact's source is the message that says it."""
        (turn,) = turns(
            load(
                "turns:\n  - tool: {name: book, arguments: {seat: 14C}, result: booked as Q7, "
                "facts: {seat: 14C, booking: Q7}}\n"
            )
        )

        assert {"seat": "m1", "booking": "m2"} == {f.id: f.source for f in turn.facts}


class TestTime:
    """Gaps, sessions and the clock."""

    def test_gaps_and_sessions_add_to_the_pace(self, load: Load) -> None:
        """Elapsed tells the time after the jump; the next turn is then."""
        events = play(
            load(
                "turns:\n  - user: One.\n  - gap: 1d 6h\n  - session: {after: 2h}\n"
                "  - session: {at: 2026-02-01T00:00:00Z}\n  - user: Two.\n"
            )
        )

        minute = timedelta(minutes=1)
        jumps = [event.now for event in events if isinstance(event, ElapseEvent)]
        assert EPOCH + minute + timedelta(hours=30) == jumps[0]
        assert jumps[0] + timedelta(hours=2) == jumps[1]
        last = events[-1]
        assert isinstance(last, Turn)
        assert "2026-02-01T00:00:00+00:00" == jumps[2].isoformat() == last.time.isoformat()

    def test_sessions_number_themselves_and_can_go_on(self, load: Load) -> None:
        """A session keeps its principal; one without a principal keeps the one before."""
        scenario = load(
            "principals: [ana, ben]\nturns:\n  - user: One.\n  - session: {principal: ben}\n"
            "  - user: Two.\n  - session: {}\n  - user: Three.\n  - session: s1\n  - user: Four.\n"
        )

        assert [("s1", "ana"), ("s2", "ben"), ("s3", "ben"), ("s1", "ana")] == [
            (turn.session, turn.principal) for turn in turns(scenario)
        ]

    def test_someone_else_may_speak_in_a_session(self, load: Load) -> None:
        """`as` names the speaker of one turn, whose facts they are."""
        (first, second) = turns(
            load(
                "principals: [ana, ben]\nturns:\n"
                "  - user: I row.\n    as: ben\n    facts: {sport: row}\n  - user: I swim.\n"
            )
        )

        assert ("ben", "ben", "ana") == (
            first.principal,
            first.facts[0].principal,
            second.principal,
        )


class TestOtherSteps:
    """Steps that are events of their own."""

    SCRIPT = (
        "principals: [ana, ben]\n"
        "turns:\n"
        "  - user: The code is X-1.\n"
        "    facts: {code: {value: X-1, private: true}}\n"
        "  - user: The code is X-2 now.\n"
        "    facts: {code: {value: X-2, private: true}}\n"
        "  - grant: {from: ana, to: ben, facts: code}\n"
        "  - ask: q\n"
        "  - revoke: {from: ana, to: ben, facts: [code]}\n"
        "  - forget: {facts: code}\n"
        "  - restart\n"
        "  - user: Bye.\n"
        "probes:\n"
        "  q: {ask: What is the code?, expect: X-2, as: ben}\n"
        "  gone: {ask: What is the code?, expect: unknown, not: [X-1, X-2]}\n"
    )

    def test_they_come_in_the_order_written(self, load: Load) -> None:
        """Nothing is moved."""
        events = play(load(self.SCRIPT))

        assert [
            Turn, Turn, GrantEvent, Ask, GrantEvent, ForgetEvent, RestartEvent, Turn, Ask,
        ] == [type(event) for event in events]  # fmt: skip
        assert GrantEvent(owner="ana", viewer="ben", facts=("code",)) == events[2]
        assert GrantEvent(owner="ana", viewer="ben", facts=("code",), revoked=True) == events[4]

    def test_a_request_to_forget_names_every_message_that_said_it(self, load: Load) -> None:
        """Superseded versions must go as well."""
        (event,) = (e for e in play(load(self.SCRIPT)) if isinstance(e, ForgetEvent))

        assert (("m1", "m3"), ("code",), "ana") == (
            event.request.sources,
            event.facts,
            event.request.principal,
        )
        assert "code" in event.request.text


class TestRepeat:
    """Steps that come again."""

    def test_the_count_makes_names_and_texts(self, load: Load) -> None:
        """`$i` counts from 1, in text, values and names."""
        scenario = load(
            "turns:\n  - repeat:\n      times: 3\n      turns:\n"
            "        - user: Room $i has key K$i-$i0, not $in.\n"
            "          facts: {room_$i: K$i-$i0}\n"
        )

        assert [("room_1", "K1-10"), ("room_2", "K2-20"), ("room_3", "K3-30")] == [
            (f.id, f.value) for turn in turns(scenario) for f in turn.facts
        ]
        assert "Room 3 has key K3-30, not $in." == turns(scenario)[2].heard[0].text

    def test_fillers_differ_each_time(self, load: Load) -> None:
        """Repeated small talk would be recognised as such."""
        scenario = load("turns:\n  - repeat: {times: 20, turns: [{filler: 1}]}\n")

        assert len({turn.heard[0].text for turn in turns(scenario)}) > 15


class TestSeeds:
    """Chance is the seed's."""

    SCRIPT = "turns:\n  - user: Hello.\n  - filler: 20\n  - tool: {name: t, lines: 20}\n"

    def test_the_same_seed_says_the_same(self, load: Load) -> None:
        """Word for word, and each play afresh."""
        scenario = load(self.SCRIPT)

        assert play(scenario, 7) == play(scenario, 7)
        assert play(scenario, 7) == play(load(self.SCRIPT), 7)

    def test_another_seed_says_something_else_under_the_same_ids(self, load: Load) -> None:
        """Evidence can be named by message, whatever the seed."""
        one, two = play(load(self.SCRIPT), 1), play(load(self.SCRIPT), 2)

        assert one != two
        assert [[m.id for m in (*a.heard, *a.reply)] for a in one if isinstance(a, Turn)] == [
            [m.id for m in (*b.heard, *b.reply)] for b in two if isinstance(b, Turn)
        ]

    def test_the_scripts_own_seed_is_added(self, load: Load) -> None:
        """A script that is easy by chance can be moved away from it."""
        assert play(load(self.SCRIPT), 5) == play(load("seed: 2\n" + self.SCRIPT), 3)

    def test_a_scenario_can_cross_to_another_process(self, load: Load) -> None:
        """Workers may be handed a scenario."""
        scenario = load(self.SCRIPT)

        assert play(scenario) == play(pickle.loads(pickle.dumps(scenario)))  # noqa: S301 - our own bytes

    def test_a_long_script_is_played_lazily(self, load: Load) -> None:
        """The first of a million turns comes without the others."""
        events = load("turns:\n  - filler: 1000000\n").events(0)

        assert isinstance(next(events), Turn)
