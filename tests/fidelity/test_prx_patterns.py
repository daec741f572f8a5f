"""Patterns of a policy: what Python's engine finds is found, in time that cannot run away."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsim.clock import Clock
from memsim.systems.prx import access_policy
from memsim.systems.prx.brain import Brain
from memsim.systems.prx.patterns import NotLinear, Pattern

ATOMS = [
    r"a",
    r"b",
    r"[ab]",
    r"[^a]",
    r".",
    r"\w",
    r"\d",
    r"\s",
    r"\D",
    r"\b",
    r"^",
    r"$",
    r"(?:a|bb)",
    r"(?i:k)",
    r"x",
    r"[a-f0-9]",
    r"[^\W_]",
    r"K",
    r"(?s:.)",
]
FLAGS = ("", "", "(?i)", "(?m)", "(?s)")


def drawn(chance: random.Random) -> Iterator[str]:
    """Patterns at random, of atoms that are repeated or not."""
    while True:
        parts = []
        for _ in range(chance.randint(1, 4)):
            atom = chance.choice(ATOMS)
            often = chance.choice(["", "", "*", "+", "?", "{2}", "{1,3}", "*?"])
            parts.append(atom if atom in {"^", "$", r"\b"} else f"({atom}){often}")
        other = chance.choice(["", "", "|" + chance.choice(ATOMS)])
        yield chance.choice(FLAGS) + "".join(parts) + other


def test_what_is_found_is_what_pythons_engine_finds() -> None:
    """But that `$` is the end, and not the newline before it."""
    chance = random.Random(7)
    found = {True: 0, False: 0}
    for written, _ in zip(drawn(chance), range(600), strict=False):
        text = "".join(chance.choice("abKk\u212ax1 \né_") for _ in range(chance.randint(0, 9)))
        if "$" in written and text.endswith("\n"):
            continue
        expected = bool(re.search(written, text))
        assert expected == Pattern(written).search(text), (written, text)
        found[expected] += 1

    assert min(found.values()) > 100


@pytest.mark.parametrize("written", [r"^(\w+\s?)*$", "(a+)+$", "(a|a)*b", "(a*)*b", "a*a*a*a*b"])
def test_no_text_takes_forever(written: str) -> None:
    """An engine that goes back would take longer than there is time."""
    assert not Pattern(written).search("a" * 5_000 + "!")


@pytest.mark.parametrize("written", [r"(a)\1", "(?=a)a", "(?<!a)b", "a{5000}"])
def test_what_has_to_go_back_is_none(written: str) -> None:
    """Or is too large to be followed."""
    with pytest.raises(NotLinear):
        Pattern(written)


def test_a_policy_keeps_what_are_patterns(tmp_path: Path) -> None:
    """A user whose policy holds nonsense is held to the rest of it."""
    now, brain = Clock().now(), Brain(tmp_path / "brain.db")
    access_policy.bind_account(brain, "ana", "chat", "ana-1", now)
    access_policy.set_policy(
        brain, "ana", "member", now, blocked=["[", "(?=x)", "(a+)+$", r"k-\d+"]
    )
    scope = access_policy.CallerScope(channel="chat", chat_type="dm", chat_id="1", sender="ana-1")
    brain.store("said", "The code is K-7741.", "core", now=now)
    brain.store("other", "b" * 3_000, "core", now=now)

    caller = access_policy.caller_of(brain, scope)
    blocked = [access_policy.is_blocked(caller, row) for row in brain.rows(order="m.rowid")]
    brain.close()

    assert 2 == len(caller.blocked)
    assert [True, False] == blocked
