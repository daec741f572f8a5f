"""The builder: the same scripts from Python, under the same checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memsim.errors import ScenarioError
from memsim.scenario import Scenario, ScenarioBuilder, load_scenario

YAML = """memsim: 1
name: built
budget: 4k
principals: [ana, ben]
turns:
  - user: My code is X-1.
    facts: {code: {value: X-1, private: true}}
  - assistant: Noted.
  - filler: {turns: 5, domain: coding}
  - filler: 2
  - session: {id: s2, principal: ben, after: 3d}
  - user: I row.
    as: ana
    facts: {sport: row}
  - gap: 36h
  - tool: {name: read, arguments: {path: a.py, n: 3, deep: true}, result: port 8123, lines: 40,
           facts: {port: "8123"}}
  - tools: [{name: a}, {name: b, error: true}]
  - grant: {from: ana, to: ben, facts: [code]}
  - ask: [granted]
  - revoke: {from: ana, to: ben, facts: [code]}
  - forget: {facts: [sport], who: ana, say: Please forget it.}
  - restart
  - repeat: {times: 3, turns: [{user: Hello $i.}, {filler: 1}]}
probes:
  code: {ask: What is my code?, expect: X-1}
  granted: {ask: What is the code?, expect: X-1, as: ben, facts: code}
  revoked: {ask: What is the code?, expect: unknown, not: X-1, as: ben}
expect:
  recall: ">= 0.8"
"""


def built() -> Scenario:
    """The same in Python."""
    return (
        ScenarioBuilder("built", budget="4k", principals=["ana", "ben"])
        .user("My code is X-1.", facts={"code": {"value": "X-1", "private": True}})
        .assistant("Noted.")
        .filler(5, domain="coding")
        .filler(2)
        .session("s2", principal="ben", after="3d")
        .user("I row.", speaker="ana", facts={"sport": "row"})
        .gap("36h")
        .tool(
            "read",
            arguments={"path": "a.py", "n": 3, "deep": True},
            result="port 8123",
            lines=40,
            facts={"port": "8123"},
        )
        .tools({"name": "a"}, {"name": "b", "error": True})
        .grant("ana", "ben", "code")
        .ask("granted")
        .revoke("ana", "ben", "code")
        .forget("sport", who="ana", say="Please forget it.")
        .restart()
        .repeat(3, lambda steps: steps.user("Hello $i.").filler(1))
        .probe("code", ask="What is my code?", expect="X-1")
        .probe("granted", ask="What is the code?", expect="X-1", as_="ben", facts="code")
        .probe("revoked", ask="What is the code?", expect="unknown", not_="X-1", as_="ben")
        .expect("recall", ">= 0.8")
        .build()
    )


def test_python_and_yaml_say_the_same(tmp_path: Path, check: Callable[[Scenario], None]) -> None:
    """Same events, same fingerprint; only path and lines differ."""
    path = tmp_path / "built.yaml"
    path.write_text(YAML, encoding="utf-8")
    written = load_scenario(path)
    made = built()

    check(made)
    assert written.fingerprint == made.fingerprint
    assert [e for e in written.events(3) if type(e).__name__ == "Turn"] == [
        e for e in made.events(3) if type(e).__name__ == "Turn"
    ]
    assert ("<python>", {}) == (made.path, made.expect_lines)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda b: b.user("Hi.", facts={"a": "A-17"}), "fact a is never stated"),
        (lambda b: b.user(""), "user is blank"),
        (lambda b: b.user("a\x00b"), "control character U+0000"),
        (lambda b: b.user("a\ud800b"), "surrogate U+D800"),
        (lambda b: b.filler(0), "turns must be from 1 to"),
        (lambda b: b.filler("20"), "turns must be a whole number"),
        (lambda b: b.filler(True), "turns must be a whole number"),
        (lambda b: b.filler(float("nan")), "turns must be a whole number"),
        (lambda b: b.user(None), "a NoneType is not a value of a script"),
        (lambda b: b.user(b"Hi."), "a bytes is not a value of a script"),
        (lambda b: b.user("Hi.", facts={1: "Hi"}), "a key must be text, not '1'"),
        (lambda b: b.user("Hi.").user("Hi.").add(usr="Hi."), "unknown turn 'usr'"),
        (lambda b: b.user("Hi.").probe("q", ask="a", expect="b"), "which no message says"),
        (
            lambda b: b.repeat(2, lambda s: s.repeat(2, lambda t: t.user("x"))),
            "must not contain another",
        ),
        (lambda b: b, "turns is an empty list"),
    ],
)
def test_wrong_scripts_are_refused_in_the_same_words(
    build: Callable[[ScenarioBuilder], ScenarioBuilder], message: str
) -> None:
    """One validation for both; in Python there is no line to name."""
    with pytest.raises(ScenarioError) as caught:
        build(ScenarioBuilder("x")).build()

    assert message in caught.value.message
    assert str(caught.value).startswith("<python>: ")


def test_an_endless_value_is_refused() -> None:
    """A list that holds itself is too deep, not an endless loop."""
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(ScenarioError, match="nested more than 50 levels"):
        ScenarioBuilder("x").add(user=endless).build()  # type: ignore[arg-type]


def test_a_probe_is_written_once() -> None:
    """The second would silently take the place of the first."""
    builder = ScenarioBuilder("x").user("Hi.").probe("q", ask="a", expect="unknown")

    with pytest.raises(ScenarioError, match="duplicate probe 'q'"):
        builder.probe("q", ask="b", expect="unknown")


def test_a_builder_can_build_more_than_once() -> None:
    """A family of scenarios can share its beginning."""
    builder = ScenarioBuilder("x").user("Hi.")

    assert (1, 2) == (builder.build().turns, builder.user("Ho.").build().turns)
