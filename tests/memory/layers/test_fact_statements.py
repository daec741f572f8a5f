"""Statements that are read off messages by rules."""

from __future__ import annotations

import pytest

from memsim.memory.layers.fact_statements import statements, tool_rows
from memsim.message import Message, ToolResult, ToolUse, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Set the bedroom to nineteen degrees, will you?",
            ["Set the bedroom to nineteen degrees, will you?"],
        ),
        (
            "I hate that rain by now. Take birdsong as alarm.",
            ["I hate that rain by now.", "Take birdsong as alarm."],
        ),
        ("Is the deadline on 14 May?", []),
        ("The garden looks lovely.", []),
        ("Undo that.", ["Undo that."]),
        (
            "The rug goes to the cellar. The sofa is back where it was.",
            ["The rug goes to the cellar.", "The sofa is back where it was."],
        ),
        ("", []),
    ],
)
def test_sentences_that_state_a_value_or_a_change(text: str, expected: list[str]) -> None:
    """A request is a statement; a question is none."""
    assert expected == [*statements(said("user", text, id="m1"))]


def answered(text: str, arguments: str = "{}", *, error: bool = False) -> list[Message]:
    """A call of a tool and its result."""
    call = ToolUse(id="c1", name="status", arguments=arguments)
    result = ToolResult(id="c1", text=text, is_error=error)
    return [
        Message(id="m1", role="assistant", blocks=(call,), principal="ana"),
        Message(id="m2", role="tool", blocks=(result,), principal="ana"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"health": "ok", "port": 8443, "tags": ["a"]}', ["health: ok", "port: 8443"]),
        ("oil pressure: 3.9 bar\nspeed = 11 knots", ["oil pressure: 3.9 bar", "speed: 11 knots"]),
        ("| captain | Moe |", ["captain: Moe"]),
        ("queue: 1\nqueue: 2", []),
        ("size: 1\nand that is all of it", []),
        ("accepted", []),
        (r'{"a": "\ud800", "b": "\u0000", "": "x"}', []),
        ("{", []),
        ("[" * 100_000, []),
        ("{" + '"a":{' * 100_000, []),
        ("\n".join(f"row{chr(97 + n)}: {n}" for n in range(13)), []),
        ("", []),
    ],
)
def test_rows_of_a_short_record(text: str, expected: list[str]) -> None:
    """A listing, a log and a sentence are no record."""
    assert [f"tool for ana: status {row}" for row in expected] == [
        row.line for row in tool_rows(answered(text))
    ]


def test_a_row_is_about_its_key_in_the_answer_to_one_call() -> None:
    """Other arguments ask for something else; an error states nothing."""
    (one,) = tool_rows(answered("port: 80", '{"host": "alpha"}'))
    (later,) = tool_rows(answered("port: 81", '{"host": "alpha"}'))
    (other,) = tool_rows(answered("port: 81", '{"host": "beta"}'))

    assert one.subject == later.subject != other.subject
    assert "alpha" not in one.subject
    assert [] == [*tool_rows(answered("port: 80", error=True))]
    assert [] == [*tool_rows(answered("port: 80")[1:])]
