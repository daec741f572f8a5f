"""The step `conversation` plays a recorded conversation as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.clock import read_stamp, stamp
from memsim.errors import ScenarioError
from memsim.message import ToolResult, ToolUse
from memsim.scenario import Ask, ElapseEvent, Scenario, Turn

Load = Callable[[str], Scenario]

SCRIPT = """\
principals: [ana, ben]
start: 2026-03-02T09:00:00Z
turns:
  - conversation: talk.jsonl
probes:
  order: {ask: What is my order?, expect: A-17, after: 2, evidence: [m1]}
"""
HEAD = {"memsim_trace": 1, "format": "openai", "version": 1}
FIRST = [
    {"session": "s1", "principal": "ana"},
    {"role": "system", "text": "You help."},
    {"role": "user", "text": "My order is A-17.", "time": "2026-03-02T09:00:00Z"},
    {"role": "assistant", "text": "Noted.", "time": "2026-03-02T09:00:20Z"},
    {"role": "user", "text": "Find it.", "time": "2026-03-02T09:01:00Z"},
    {"role": "assistant", "calls": [{"id": "x", "name": "f"}, {"id": "y", "name": "g"}]},
    {"role": "tool", "text": "found", "answers": "x", "time": "2026-03-02T09:01:30Z"},
    {"role": "assistant", "text": "Here."},
]
SECOND = [
    {"session": "s2", "principal": "ana"},
    {"role": "user", "text": "And now?", "time": "2026-03-05T08:00:00Z", "speaker": "ben"},
    {"role": "recall", "text": "now", "documents": [{"text": "user: hm\nMy order is A-17."}]},
    {"role": "assistant", "text": "A-17."},
    {"role": "compaction", "text": "It was about A-17."},
    {"role": "user", "text": "Bye."},
]


@pytest.fixture
def talk(tmp_path: Path, load: Load) -> Callable[..., Scenario]:
    """Loads the script over a conversation file of these lines."""

    def made(*lines: object, script: str = SCRIPT) -> Scenario:
        text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
        (tmp_path / "talk.jsonl").write_text(text, encoding="utf-8")
        return load(script)

    return made


def test_it_is_played_as_it_was(talk: Callable[..., Scenario]) -> None:
    """A user's message begins a turn, no answer is invented, and each message has its time."""
    events = list(talk(HEAD, *FIRST, *SECOND).events(7))
    turns = [event for event in events if isinstance(event, Turn)]

    assert [(1, 1), (1, 3), (1, 1), (1, 0)] == [(len(t.heard), len(t.reply)) for t in turns]
    assert ["ana", "ana", "ben", "ana"] == [t.principal for t in turns]
    assert ["s1", "s1", "s2", "s2"] == [t.session for t in turns]
    assert "2026-03-02T09:00:20Z" == stamp(turns[0].reply[0].time)
    assert [f"m{n}" for n in range(1, 10)] == [m.id for t in turns for m in (*t.heard, *t.reply)]
    jumps = [stamp(event.now) for event in events if isinstance(event, ElapseEvent)]
    assert ["2026-03-02T09:00:00Z", "2026-03-05T08:00:00Z"] == jumps


def test_calls_without_a_result_become_text(talk: Callable[..., Scenario]) -> None:
    """The others are numbered anew, since agents use ids again."""
    _, turn, *_ = [e for e in talk(HEAD, *FIRST).events(7) if isinstance(e, Turn)]
    call, result, _ = turn.reply

    assert [ToolUse(id="call_1", name="f", arguments="{}")] == [
        b for b in call.blocks if isinstance(b, ToolUse)
    ]
    assert call.text.endswith("g({})")
    assert (ToolResult(id="call_1", text="found"),) == result.blocks


def test_it_tells_what_the_agent_sent(talk: Callable[..., Scenario]) -> None:
    """Instructions, what was recalled in the turn, and what stood for older messages."""
    turns = [e for e in talk(HEAD, *FIRST, *SECOND).events(7) if isinstance(e, Turn)]
    sent = [turn.sent for turn in turns if turn.sent]

    assert [("You help.", "m1"), ("You help.", "m1")] == [(s.system, s.since) for s in sent[:2]]
    assert (("user: hm\nMy order is A-17.", ("m1",)),) == sent[2].recalled
    assert ("It was about A-17.", "m9") == (sent[3].summary, sent[3].since)
    assert () == sent[3].recalled


def test_a_memory_may_be_asked_before_the_message_is_told(talk: Callable[..., Scenario]) -> None:
    """A trace tells a message with the call that answers it, and the memory was asked before."""
    user, recall, answer = SECOND[1:4]
    lines = (SECOND[0], recall, user, answer, {"role": "user", "text": "Thanks."})
    turns = [e for e in talk(HEAD, *FIRST, *lines).events(7) if isinstance(e, Turn)]

    assert [0, 0, 1, 0] == [len(t.sent.recalled) for t in turns if t.sent]


def test_a_probe_is_told_what_was_sent_next(talk: Callable[..., Scenario]) -> None:
    """It stands for what the agent needed in the turn after it."""
    [ask] = [e for e in talk(HEAD, *FIRST, *SECOND).events(7) if isinstance(e, Ask)]

    assert (2, 1) == (ask.turn, len(ask.sent.recalled if ask.sent else ()))


def test_other_steps_may_stand_beside_it(talk: Callable[..., Scenario]) -> None:
    """Time goes on from the recorded one."""
    script = SCRIPT.replace("probes:", "  - gap: 2d\n  - user: Still there?\nprobes:")
    scenario = talk(HEAD, *FIRST, script=script)
    last = [e for e in scenario.events(7) if isinstance(e, Turn)][-1]

    assert (3, read_stamp("2026-03-04T09:01:30Z"), "m7") == (
        last.number,
        last.time,
        last.heard[0].id,
    )
    assert () == scenario.recorded


def test_the_file_counts_and_its_name_does_not(talk: Callable[..., Scenario]) -> None:
    """Another conversation is another script."""
    one, other = talk(HEAD, *FIRST), talk(HEAD, *FIRST[:-1])

    assert one.fingerprint == talk(HEAD, *FIRST).fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), "talk.jsonl:1: not JSON"),
        (({"memsim_trace": 2},), "talk.jsonl:1: does not begin with memsim_trace 1"),
        ((HEAD, FIRST[2]), "talk.jsonl:2: a message stands before its session"),
        ((HEAD, FIRST[0], {"role": "cat"}), "talk.jsonl:3: .*role 'cat' is unknown"),
        ((HEAD, FIRST[0], {"role": "user", "txt": "x"}), "talk.jsonl:3: .*unexpected .*'txt'"),
        ((HEAD, FIRST[0], {"role": "user", "text": 7}), "talk.jsonl:3: .*int '7' is not allowed"),
        ((HEAD, FIRST[0], {"role": "user", "time": "soon"}), "talk.jsonl:3: .*isoformat"),
        ((HEAD, {"session": "s1"}), "talk.jsonl:2: .*principal"),
        ((HEAD, {"session": "s1", "principal": "eve"}, FIRST[2]), "unknown principal 'eve'"),
        ((HEAD, FIRST[0], '{"role": "user", "text": "\\ud800"}'), "talk.jsonl:3: .*surrogate"),
    ],
)
def test_a_damaged_file_has_its_line(
    talk: Callable[..., Scenario], lines: tuple[object, ...], said: str
) -> None:
    """One line says where and what."""
    with pytest.raises(ScenarioError, match=said) as caught:
        talk(*lines)

    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("gone.jsonl", ":4: the conversation 'gone.jsonl' is not beside this file"),
        ("../talk.jsonl", "must not contain '/'"),
        ("/etc/passwd", "does not end in .jsonl"),
        ("folder.jsonl", "the conversation 'folder.jsonl' cannot be read: Is a directory"),
    ],
)
def test_only_a_file_beside_the_script_is_read(
    load: Load, tmp_path: Path, written: str, said: str
) -> None:
    """A scenario of a stranger reads nothing else."""
    (tmp_path / "folder.jsonl").mkdir()

    with pytest.raises(ScenarioError, match=said):
        load(f"turns:\n  - user: hi\n  - conversation: {written}\n".replace("- user: hi\n  ", ""))


def test_it_cannot_be_repeated(talk: Callable[..., Scenario]) -> None:
    """A recording was made once."""
    script = "turns:\n  - repeat: {times: 2, turns: [{conversation: talk.jsonl}]}\n"

    with pytest.raises(ScenarioError, match="a repeat must not contain a conversation"):
        talk(HEAD, *FIRST, script=script)
