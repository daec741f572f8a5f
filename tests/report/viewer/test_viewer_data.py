"""What the viewer is made from: all of a case, small, the failed ones first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memsim.report.html.page_content import Fragment
from memsim.report.playback import Playback
from memsim.report.viewer import fragment
from memsim.report.viewer.reels import Script, reel_of
from memsim.report.viewer.replay_pages import first_of_each
from memsim.runs import Run
from memsim.suite.cases import CaseResult
from tests.report.viewer.conftest import key


def made(run: Run, room: int = 1_500_000) -> Fragment:
    found = fragment(run, room=room)
    assert found is not None
    return found


def index(found: Fragment) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(found.data["reels"])["cases"]
    return cases


def test_every_case_is_there_with_its_scenarios_script_once(small: Run) -> None:
    """What was said is the same for all strategies, and stands in the page once."""
    found = made(small)

    assert [case.key for case in small.cases] == [entry["key"] for entry in index(found)]
    assert {"script-0"} == {entry["script"] for entry in index(found)}
    assert 1 == sum(text.count("My order is A-17.") for text in found.data.values())


def test_each_scenario_comes_before_a_second_case_of_any() -> None:
    """However small the page has to be, something of every conversation can be looked at."""
    ids = ("a.yaml::a[x@4k]", "a.yaml::a[y@4k]", "b.yaml::b[x@4k]", "b.yaml::b[y@4k]")
    cases = [CaseResult(id=name, scenario=name[0], strategy="x", budget=4096) for name in ids]

    assert [ids[0], ids[2], ids[1], ids[3]] == [case.id for case in first_of_each(cases)]


def test_a_context_is_told_as_it_was_recorded(small: Run) -> None:
    """The page's numbers stand for the messages that were sent, in their order."""
    case = key(small, "bm25:k=3")
    records = list(small.contexts(case))
    playback = Playback(records)
    frames = list(playback.frames())
    script = Script()
    reel = reel_of(records, list(small.turns(case)), list(small.probes(case)), script)

    before: dict[int, list[int]] = {}
    for frame, (turn, probe, _, sent) in zip(frames, reel["frames"], strict=True):
        assert (frame.turn, frame.probe) == (turn, probe)
        wanted = [[playback.messages[n].text for n in p.messages] for p in frame.sent or ()]
        told = []
        for layer, _, runs in sent or ():
            numbers = _numbers(runs, before.get(layer, []))
            before[layer] = numbers
            told.append([_text(reel, script, number) for number in numbers])
        assert wanted == told


def _numbers(runs: list[Any], before: list[int]) -> list[int]:
    found: list[int] = []
    for run in runs:
        found += [run] if isinstance(run, int) else before[run[0] : run[0] + run[1]]
    return found


def _text(reel: dict[str, Any], script: Script, number: int) -> str:
    if number >= 0:
        return str(script.messages[number][3])
    table: list[str] = []
    texts: list[str] = []
    for message in reel["made"]:
        lines = []
        for line in message[2]:
            if not isinstance(line, int):
                text = line if isinstance(line, str) else line[0] + script.messages[line[1]][3]
                table.append(text)
            lines.append(table[line] if isinstance(line, int) else table[-1])
        texts.append("\n".join(lines))
    return texts[-1 - number]


def test_what_another_strategys_tool_answered_is_its_own() -> None:
    """A script is shared for as long as the same was said."""
    turn = {"turn": 1, "session": "s", "principal": "p", "time": "t"}
    script = Script()
    reels = [
        reel_of([{"turn": 1, "said": 1, "new": [["m1", "tool", "p", [text]]]}], [turn], [], script)
        for text in ("here", "here", "there")
    ]

    assert [["m1", "tool", "p", "here", 0]] == script.messages
    assert [[], [], [["m1", "tool", ["there"], 0, 0, 0, []]]] == [reel["made"] for reel in reels]


def test_a_failed_question_leads_to_the_turn_in_which_its_fact_was_lost(small: Run) -> None:
    """With four messages in the window, the first is gone two turns later."""
    case = key(small, "sliding_window:messages=4")
    reel = reel_of(
        small.contexts(case), list(small.turns(case)), list(small.probes(case)), Script()
    )

    probes = {probe["probe"]: probe for probe in reel["probes"]}
    ways = {name: stops for name, _, _, stops, _ in reel["ways"]}
    assert (True, 3) == (probes["order"]["failed"], probes["order"]["lost"])
    assert [[1, "window"], [3, "lost"]] == ways["order"]
    assert probes["city"]["lost"] is None


def test_what_an_agent_did_is_there_with_its_turn_and_its_question(small: Run) -> None:
    """Long texts are cut, and say so."""
    case = key(small, "bm25:k=3")
    call = {"tool": "memory_search", "arguments": "{}", "outcome": "done", "result": "x" * 2_500}
    rounds = [{"round": 1, "calls": [call | {"cut": 7}]}, {"round": 2, "said": "Ah.", "note": "n"}]
    turns = [{**line, "agent": rounds} for line in small.turns(case)]
    probes = [{**line, "agent": rounds[1:]} for line in small.probes(case)]

    reel = reel_of(small.contexts(case), turns, probes, Script())

    result = "x" * 2_000 + " [500 more characters]"
    second = [2, "Ah.", [], "n"]
    told = [[1, "", [["memory_search", "{}", "done", result, 7]], ""], second]
    assert told == reel["extras"]["1"]["agent"]
    assert [second] == reel["probes"][0]["agent"]


def test_where_there_is_no_room_the_failed_cases_are_kept(small: Run) -> None:
    """What is not in the page is named in it, and how many of that failed."""
    failed = {case.key for case in small.cases if case.counts["failed"] and not case.control}
    found = made(small, room=5_000)

    kept = {entry["key"] for entry in index(found)}
    assert 0 < len(failed) <= len(kept) < len(small.cases) - 1
    assert failed <= kept
    assert f"{len(small.cases) - len(kept)} cases cannot be replayed here" in found.html
    assert fragment(small, room=10) is None


def test_no_credential_is_recorded(small: Run) -> None:
    """What was said goes through the same sieve as every record."""
    data = (small.folder / "contexts.jsonl").read_text(encoding="utf-8")

    assert "The key is [github-token]." in data
    assert "ghp_" not in data


def test_the_same_run_makes_the_same_data(small: Run) -> None:
    """No clock, no order of sets."""
    assert made(small) == made(small)


def test_a_run_without_contexts_is_replayed_without_them(small: Run) -> None:
    """What an earlier memsim played still shows its turns, tokens and facts."""
    case = key(small, "sliding_window:messages=4")
    reel = reel_of([], list(small.turns(case)), list(small.probes(case)), script := Script())

    assert len(list(small.turns(case))) == len(script.turns)
    assert all("tokens" in extra for extra in reel["extras"].values())
    assert [] == reel["frames"]


def test_scripts_keep_the_pages_rules(small: Run) -> None:
    """Data reaches the page as text alone."""
    script = made(small).script

    for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval(", "fetch(", "document.write"):
        assert word not in script


TURN = {"turn": 1, "said": 1, "new": [["m1", "user", "ana", ["x" * 1000]]]}


@pytest.mark.parametrize(
    "lines",
    [
        [{**TURN, "said": 10**12}],
        [{**TURN, "new": [["m1", "user", "ana", [7]]]}],
        [TURN, {"turn": 2, "new": [["m2", "user", "ana", [0] * 100_000]]}],
        [{**TURN, "sent": [["window", 1, [5]]]}],
        [{**TURN, "sent": [["window", 1, [-1]]]}],
        # Each turn would hold twice the messages of the one before it.
        [{**TURN, "sent": [["window", 1, [0]]]}]
        + [{"turn": n, "sent": [["window", 1, [[0, 2**n], [0, 2**n]]]]} for n in range(2, 60)],
    ],
)
def test_records_that_do_not_fit_together_are_refused(lines: list[dict[str, object]]) -> None:
    """Before they take the room that a few bytes can ask for."""
    with pytest.raises((ValueError, LookupError)):
        list(Playback(lines).frames())
